#include "daemon/store/files/disk_space.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "daemon/store/files/file_sync.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1024} * 1024;
constexpr std::uint64_t reserve_bytes = 64 * mib;
constexpr std::uint64_t reserves_per_disk = 64;

struct Watermark {
  Room room;
  std::uint64_t percent;
  std::uint64_t bytes;
};
constexpr std::array<Watermark, 3> watermarks{
    {{Room::exhausted, 2, 256 * mib}, {Room::scarce, 5, 1024 * mib}, {Room::low, 10, 4096 * mib}}};

}  // namespace

const char* name_of(Room room) noexcept {
  switch (room) {
    case Room::ample:
      return "ample";
    case Room::low:
      return "low";
    case Room::scarce:
      return "scarce";
    case Room::exhausted:
      return "exhausted";
  }
  return "";
}

Room DiskSpace::room() const noexcept {
  for (const Watermark& mark : watermarks) {
    if (free < std::min(total / 100 * mark.percent, mark.bytes)) {
      return mark.room;
    }
  }
  return Room::ample;
}

engine::Result<DiskSpace> disk_space_at(const std::string& path) {
  struct statvfs found {};
  if (::statvfs(path.c_str(), &found) != 0) {
    return system_error("cannot tell how much room is left at " + path);
  }
  return DiskSpace{std::uint64_t{found.f_bavail} * found.f_frsize,
                   std::uint64_t{found.f_blocks} * found.f_frsize};
}

void DiskReserve::set_aside(const DiskSpace& space) {
  if (set_aside_) {
    return;
  }
  const Descriptor file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const std::uint64_t size = std::min(reserve_bytes, space.total / reserves_per_disk);
  set_aside_ = static_cast<bool>(file) && ::fallocate(file.get(), 0, 0, static_cast<off_t>(size)) == 0;
  if (file && !set_aside_) {
    ::unlink(path_.c_str());
  }
}

void DiskReserve::give_up() noexcept {
  ::unlink(path_.c_str());
  set_aside_ = false;
}

}  // namespace hpsearch::daemon
