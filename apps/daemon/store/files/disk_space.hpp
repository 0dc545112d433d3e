#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// How much space a file system has left.
enum class Room : std::uint8_t {
  ample,
  low,        ///< Below 10 %, and below 4 GiB: logged once.
  scarce,     ///< Below 5 %, and below 1 GiB: no new experiments.
  exhausted,  ///< Below 2 %, and below 256 MiB: workers keep their reports.
};

[[nodiscard]] const char* name_of(Room room) noexcept;

/// Space of a file system that this process may use, in bytes.
struct DiskSpace {
  std::uint64_t free = 0;
  std::uint64_t total = 0;

  /// Shares of the disk matter on small disks, amounts on large ones: 2 % of many terabytes is room for
  /// years.
  [[nodiscard]] Room room() const noexcept;
};

/// unavailable: the path cannot be examined.
[[nodiscard]] engine::Result<DiskSpace> disk_space_at(const std::string& path);

/// A file that reserves space for the last records before a disk is full: it is removed for them when nothing
/// else is left. 64 MiB, on small file systems a sixty-fourth.
///
/// Owns:    the file, and removes it at a clean end; one that a killed daemon left is used again.
/// Threads: one at a time.
class DiskReserve {
 public:
  explicit DiskReserve(std::string path) : path_(std::move(path)) {}
  DiskReserve(const DiskReserve&) = delete;
  DiskReserve& operator=(const DiskReserve&) = delete;
  ~DiskReserve() { give_up(); }

  /// Makes the file if it is missing; if that fails, there is no reserve.
  void set_aside(const DiskSpace& space);
  [[nodiscard]] bool is_set_aside() const noexcept { return set_aside_; }
  void give_up() noexcept;

 private:
  std::string path_;
  bool set_aside_ = false;
};

}  // namespace hpsearch::daemon
