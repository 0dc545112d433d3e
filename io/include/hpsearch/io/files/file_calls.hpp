#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hpsearch::files {

/// The system calls of check_file_system(): the kernel's, or in tests those of a faulty file system. A
/// failure returns -1 and sets errno.
class FileCalls {
 public:
  FileCalls() = default;
  FileCalls(const FileCalls&) = delete;
  FileCalls& operator=(const FileCalls&) = delete;
  virtual ~FileCalls() = default;

  /// Opens for reading and writing, with O_EXCL.
  [[nodiscard]] virtual int create(const std::string& path);
  /// Opens for reading and writing.
  [[nodiscard]] virtual int open(const std::string& path);
  virtual void close(int file);
  [[nodiscard]] virtual int write(int file, std::string_view bytes);
  [[nodiscard]] virtual int sync(int file);
  /// The whole content.
  [[nodiscard]] virtual int read(int file, std::string& into);
  /// Takes an exclusive lock of the open file description.
  [[nodiscard]] virtual int lock(int file);

  enum class ChildsLock : std::uint8_t { granted, refused, failed };
  /// The result of a child process that opens the file and locks it.
  [[nodiscard]] virtual ChildsLock lock_in_child(const std::string& path);

  [[nodiscard]] virtual int rename(const std::string& from, const std::string& to);
  [[nodiscard]] virtual int sync_directory(const std::string& path);
  virtual void remove(const std::string& path);
};

}  // namespace hpsearch::files
