#include "hpsearch/io/net/background.hpp"

#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "hpsearch/io/net/log.hpp"

namespace hpsearch::net {

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
  waiting_.push_back(std::make_shared<Task>(std::move(task)));
  begin();
}

/// The unit, the container or the user limits how many threads there may be, those of programs included.
void Background::begin() {
  while (!waiting_.empty() && threads_.size() < most_threads_) {
    const std::uint64_t number = ++last_;
    try {
      threads_.emplace(
          number, std::thread([this, &loop = loop_, present = present_, number, task = waiting_.front()] {
            Afterwards afterwards = (*task)();
            loop.post([this, present, number, then = std::move(afterwards)] {
              if (!*present) {
                return;
              }
              threads_.at(number).join();
              threads_.erase(number);
              begin();
              then();
            });
          }));
    } catch (const std::system_error& error) {
      if (!std::exchange(retrying_, true)) {
        log(Level::warning, std::string("cannot start a thread, will retry: ") + error.what());
      }
      retry_ = loop_.after(again_after, [this] { begin(); });
      return;
    }
    waiting_.pop_front();
    retrying_ = false;
  }
}

}  // namespace hpsearch::net
