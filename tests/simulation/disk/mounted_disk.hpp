#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "daemon/store/files/file_system.hpp"
#include "simulation/disk/disk_image.hpp"

struct sqlite3_vfs;

namespace hpsearch::simulation {

/// What a process asks of a disk that may change it. Reading and looking are no calls.
enum class DiskCall : std::uint8_t {
  create,
  write,
  truncate,
  sync,
  rename,
  link,
  remove,
  make_directory,
  sync_directory
};

/// A disk as one process of its machine uses it, by SQLite and beside it. It dies with the process or the
/// machine: from then on every call fails, and what is left in the process changes nothing any more.
///
/// As SQLite's own unix files do, it syncs the directory of a journal that it may have made with the journal.
/// Threads: one at a time; mounts of other disks do not matter.
class MountedDisk final : public daemon::FileSystem {
 public:
  /// The image must outlive this, and this every database that is opened on it.
  explicit MountedDisk(DiskImage& image);
  MountedDisk(const MountedDisk&) = delete;
  MountedDisk& operator=(const MountedDisk&) = delete;
  ~MountedDisk() override;

  /// Asked before each call, which is carried out if it says 0 and fails with what errno it says otherwise.
  /// It may let this die. A sync that fails has synced nothing, and leaves nothing to be synced.
  std::function<int(DiskCall call, const std::string& path)> before;
  [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }

  void die() noexcept { dead_ = true; }

  [[nodiscard]] engine::Result<std::unique_ptr<daemon::FileWriter>> create(const std::string& path) override;
  [[nodiscard]] engine::Status rename(const std::string& from, const std::string& to) override;
  [[nodiscard]] engine::Status link(const std::string& from, const std::string& to) override;
  void remove(const std::string& path) noexcept override;
  [[nodiscard]] engine::Result<bool> make_directory(const std::string& path) override;
  [[nodiscard]] engine::Status sync_directory(const std::string& path) override;
  [[nodiscard]] engine::Result<std::vector<std::byte>> read(const std::string& path) override;
  [[nodiscard]] engine::Result<daemon::FileIdentity> identity(const std::string& path) override;
  [[nodiscard]] engine::Result<std::uint64_t> size(const std::string& path) override;
  [[nodiscard]] std::vector<std::string> names_in(const std::string& directory) override;
  /// Whoever mounts the disk is the only one that has it.
  [[nodiscard]] engine::Result<daemon::StoreLock> lock_store(const std::string& /*path*/) override {
    return daemon::StoreLock();
  }
  [[nodiscard]] const char* sqlite_name() const noexcept override { return name_.c_str(); }

  /// The calls themselves: 0, or an errno.
  [[nodiscard]] int call(DiskCall call, const std::string& path);
  [[nodiscard]] bool dead() const noexcept { return dead_; }
  [[nodiscard]] DiskImage& image() noexcept { return image_; }

 private:
  DiskImage& image_;
  std::string name_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  std::uint64_t calls_ = 0;
  bool dead_ = false;
};

}  // namespace hpsearch::simulation
