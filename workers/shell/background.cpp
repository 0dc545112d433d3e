#include "hpsearch/workers/shell/background.hpp"

#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "hpsearch/net/log.hpp"

namespace hpsearch::workers {

namespace {

constexpr std::chrono::milliseconds again_after{500};

}  // namespace

Background::~Background() {
  *present_ = false;
  for (auto& [number, thread] : threads_) {
    thread.join();
  }
}

void Background::run(Task task) {
  begin(++last_, std::make_shared<Task>(std::move(task)));
}

/// How many threads there may be is bounded, those of programs included, by the unit, the container or the
/// user.
void Background::begin(std::uint64_t number, const std::shared_ptr<Task>& task) {
  try {
    threads_.emplace(number, std::thread([this, &loop = loop_, present = present_, number, task] {
                       Afterwards afterwards = (*task)();
                       loop.post([this, present, number, then = std::move(afterwards)] {
                         if (!*present) {
                           return;
                         }
                         threads_.at(number).join();
                         threads_.erase(number);
                         then();
                       });
                     }));
  } catch (const std::system_error& error) {
    if (waiting_.empty()) {
      net::log(net::Level::warning,
               std::string("no thread can be begun, which is tried again: ") + error.what());
    }
    waiting_[number] = loop_.after(again_after, [this, number, task] {
      const net::Watch done = std::move(waiting_.at(number));
      waiting_.erase(number);
      begin(number, task);
    });
  }
}

}  // namespace hpsearch::workers
