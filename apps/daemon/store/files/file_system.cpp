#include "daemon/store/files/file_system.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "daemon/store/files/file_sync.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

class KernelWriter final : public FileWriter {
 public:
  KernelWriter(int descriptor, std::string path) : file_(descriptor), path_(std::move(path)) {}

  Status write(std::span<const std::byte> bytes) override { return write_all(file_.get(), bytes, path_); }
  Status sync() override {
    return ::fsync(file_.get()) == 0 ? Status(Done{}) : system_error("cannot make " + path_ + " durable");
  }

 private:
  Descriptor file_;
  std::string path_;
};

Result<struct stat> look_at(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    Error error = system_error("cannot look at " + path);
    error.code = errno == ENOENT || errno == ENOTDIR ? Errc::not_found : error.code;
    return error;
  }
  return found;
}

class KernelFiles final : public FileSystem {
 public:
  Result<std::unique_ptr<FileWriter>> create(const std::string& path) override {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) {
      return system_error("cannot write " + path);
    }
    return std::unique_ptr<FileWriter>(std::make_unique<KernelWriter>(file, path));
  }

  Status rename(const std::string& from, const std::string& to) override {
    return ::rename(from.c_str(), to.c_str()) == 0 ? Status(Done{}) : system_error("cannot write " + to);
  }

  Status link(const std::string& from, const std::string& to) override {
    const auto there = identity(to);
    if (const auto wanted = identity(from); wanted && there && *wanted == *there) {
      return Done{};  // rename would leave the draft: for it, two names of one file are the same.
    }
    const std::string draft = to + ".new";
    ::unlink(draft.c_str());
    if (::link(from.c_str(), draft.c_str()) != 0) {
      return system_error("cannot give " + from + " the further name " + draft);
    }
    if (auto renamed = rename(draft, to); !renamed) {
      ::unlink(draft.c_str());
      return renamed;
    }
    return Done{};
  }

  void remove(const std::string& path) noexcept override { ::unlink(path.c_str()); }

  Result<bool> make_directory(const std::string& path) override {
    if (::mkdir(path.c_str(), 0700) == 0) {
      return true;
    }
    return errno == EEXIST ? Result<bool>(false) : system_error("cannot make the directory " + path);
  }

  Status sync_directory(const std::string& path) override { return daemon::sync_directory(path); }

  Result<std::vector<std::byte>> read(const std::string& path) override {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat found {};
    if (!file || ::fstat(file.get(), &found) != 0) {
      Error error = system_error("cannot read " + path);
      error.code = errno == ENOENT || errno == ENOTDIR ? Errc::not_found : error.code;
      return error;
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(found.st_size));
    std::size_t read = 0;
    while (read < bytes.size()) {
      const ssize_t more = ::read(file.get(), bytes.data() + read, bytes.size() - read);
      if (more < 0 && errno != EINTR) {
        return system_error("cannot read " + path);
      }
      if (more == 0) {
        bytes.resize(read);  // The file was truncated meanwhile; callers check the content.
      }
      read += more > 0 ? static_cast<std::size_t>(more) : 0;
    }
    return bytes;
  }

  Result<FileIdentity> identity(const std::string& path) override {
    const auto found = look_at(path);
    return found ? Result(FileIdentity{found->st_dev, found->st_ino}) : found.error();
  }

  Result<std::uint64_t> size(const std::string& path) override {
    const auto found = look_at(path);
    return found ? Result(static_cast<std::uint64_t>(found->st_size)) : found.error();
  }

  std::vector<std::string> names_in(const std::string& directory) override {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  Result<StoreLock> lock_store(const std::string& path) override {
    return StoreLock::take(path, StoreLock::Missing::made);
  }
};

Status write_draft(FileSystem& files, const std::string& draft,
                   std::span<const std::span<const std::byte>> parts) {
  const auto file = files.create(draft);
  if (!file) {
    return file.error();
  }
  for (const std::span<const std::byte> part : parts) {
    if (auto written = (*file)->write(part); !written) {
      return written;
    }
  }
  return (*file)->sync();
}

}  // namespace

FileSystem& kernel_files() noexcept {
  static KernelFiles files;
  return files;
}

Status write_file_durably(FileSystem& files, const std::string& path,
                          std::span<const std::span<const std::byte>> parts) {
  const std::string draft = path + ".new";
  Status written = write_draft(files, draft, parts);
  if (written) {
    written = files.rename(draft, path);
  }
  if (!written) {
    files.remove(draft);
    return written;
  }
  return files.sync_directory(path.substr(0, path.rfind('/') + 1));
}

}  // namespace hpsearch::daemon
