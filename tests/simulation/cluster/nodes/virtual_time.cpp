#include "simulation/cluster/nodes/virtual_time.hpp"

#include <algorithm>
#include <utility>

namespace hpsearch::simulation {

void VirtualTime::at(engine::Instant when, Task task) {
  queue_.push_back({std::max(when, now_), ++planned_, std::move(task)});
  std::push_heap(queue_.begin(), queue_.end(), later);
}

bool VirtualTime::step() {
  if (queue_.empty()) {
    return false;
  }
  std::pop_heap(queue_.begin(), queue_.end(), later);
  const Planned next = std::move(queue_.back());
  queue_.pop_back();
  now_ = next.when;
  ++happened_;
  next.task();
  return true;
}

}  // namespace hpsearch::simulation
