#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// How much room a file system has left.
enum class Room : std::uint8_t {
  ample,
  low,        ///< Below 10 %, and below 4 GiB: said once.
  scarce,     ///< Below 5 %, and below 1 GiB: no new experiments.
  exhausted,  ///< Below 2 %, and below 256 MiB: what workers report stays with them.
};

[[nodiscard]] const char* name_of(Room room) noexcept;

/// Of a file system, in bytes, as far as they are ours to use.
struct DiskSpace {
  std::uint64_t free = 0;
  std::uint64_t total = 0;

  /// Shares of the disk matter on small ones, amounts on large ones: 2 % of many terabytes is room for years.
  [[nodiscard]] Room room() const noexcept;
};

/// unavailable: the path cannot be looked at.
[[nodiscard]] engine::Result<DiskSpace> disk_space_at(const std::string& path);

/// A file that holds room for the last records of a disk that fills up: when nothing else is left, it is
/// given up for them. 64 MiB, on small file systems a sixty-fourth.
///
/// Owns:    the file, and takes it away at a clean end; one that a killed daemon left is used again.
/// Threads: one at a time.
class DiskReserve {
 public:
  explicit DiskReserve(std::string path) : path_(std::move(path)) {}
  DiskReserve(const DiskReserve&) = delete;
  DiskReserve& operator=(const DiskReserve&) = delete;
  ~DiskReserve() { give_up(); }

  /// Sets the room aside, unless it is already; where that cannot be done, there is no reserve.
  void set_aside(const DiskSpace& space);
  [[nodiscard]] bool is_set_aside() const noexcept { return set_aside_; }
  void give_up() noexcept;

 private:
  std::string path_;
  bool set_aside_ = false;
};

}  // namespace hpsearch::daemon
