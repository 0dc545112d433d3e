#include "daemon/blobs/checkpoint_space.hpp"

#include <chrono>
#include <utility>

#include "daemon/store/files/disk_space.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::chrono::minutes look_every{1};

}  // namespace

CheckpointSpace::CheckpointSpace(net::Loop& loop, std::string root)
    : root_(std::move(root)), clock_(loop.every(look_every, [this] { look(); })), disk_(loop, 1) {
  look();
}

void CheckpointSpace::look() {
  if (looking_) {
    return;
  }
  looking_ = true;
  disk_.run([this, root = root_] {
    const auto space = disk_space_at(root);
    return [this, free = space ? std::optional(space->free) : std::nullopt] {
      looking_ = false;
      free_ = free;
    };
  });
}

}  // namespace hpsearch::daemon
