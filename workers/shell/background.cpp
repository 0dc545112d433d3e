#include "hpsearch/workers/shell/background.hpp"

#include <utility>

namespace hpsearch::workers {

Background::~Background() {
  *present_ = false;
  for (auto& [number, thread] : threads_) {
    thread.join();
  }
}

void Background::run(Task task) {
  const std::uint64_t number = ++last_;
  threads_.emplace(number,
                   std::thread([this, &loop = loop_, present = present_, number, work = std::move(task)] {
                     Afterwards afterwards = work();
                     loop.post([this, present, number, then = std::move(afterwards)] {
                       if (!*present) {
                         return;
                       }
                       threads_.at(number).join();
                       threads_.erase(number);
                       then();
                     });
                   }));
}

}  // namespace hpsearch::workers
