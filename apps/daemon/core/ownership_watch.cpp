#include "daemon/core/ownership_watch.hpp"

#include <chrono>
#include <utility>

namespace hpsearch::daemon {
namespace {

constexpr std::chrono::seconds look_every{1};

}  // namespace

OwnershipWatch::OwnershipWatch(net::Timeline& loop, StateDirectory& directory, const EventStore& store,
                               Lost lost)
    : directory_(directory), store_(store), lost_(std::move(lost)) {
  clock_ = loop.every(look_every, [this] { look(); });
}

void OwnershipWatch::look() {
  engine::Status ours = store_.check_ours();
  if (ours) {
    ours = directory_.check_ours();
  }
  if (!ours && lost_) {
    std::exchange(lost_, nullptr)(ours.error());
  }
}

}  // namespace hpsearch::daemon
