#include "daemon/core/past_states.hpp"

#include <chrono>
#include <utility>
#include <vector>

namespace hpsearch::daemon {
namespace {

constexpr std::size_t most_waiting_looks = 32;
constexpr std::size_t events_at_once =
    4'096;  // The store commits nothing while they are read: a few milliseconds.
constexpr std::chrono::seconds kept_for{60};

}  // namespace

void PastStates::look(engine::Lsn lsn, Look look, Answer answer) {
  if (waiting_.size() >= most_waiting_looks) {
    answer(engine::Error{engine::Errc::unavailable, "too many requests for past states wait; try again"});
    return;
  }
  waiting_.push_back({lsn, std::move(look), std::move(answer)});
  if (!busy_) {
    busy_ = true;
    forget_ = net::Watch{};
    go_on();
  }
}

void PastStates::go_on() {
  const engine::Lsn wanted = waiting_.front().lsn;
  if (replica_ == nullptr || replica_->engine.last_lsn() > wanted) {
    replica_ = std::make_shared<Replica>(runtime_.registry());
  }
  if (const engine::Lsn present = replica_->engine.last_lsn(); present < wanted) {
    read_on(present, wanted);
    return;
  }
  background_->run([this, alive = std::weak_ptr(alive_), replica = replica_,
                    look = waiting_.front().look]() -> net::Background::Afterwards {
    auto text = std::make_shared<std::string>(look(replica->engine, replica->at));
    return [this, alive, text] {
      if (!alive.expired()) {
        finish(std::move(*text));
      }
    };
  });
}

void PastStates::read_on(engine::Lsn from, engine::Lsn to) {
  const std::size_t count = std::min<std::size_t>(events_at_once, to.number() - from.number());
  runtime_.read([this, alive = std::weak_ptr(alive_), replica = replica_, from,
                 count](EventStore& store) -> Committer::Then {
    auto events = std::make_shared<engine::Result<std::vector<engine::Event>>>(store.read(from, count));
    return [this, alive, replica, events] {
      if (alive.expired()) {
        return;
      }
      if (!*events) {
        finish(events->error());
        return;
      }
      background_->run([this, alive, replica, events]() -> net::Background::Afterwards {
        for (const engine::Event& event : **events) {
          if (const engine::Status taken = replica->engine.replay(event); !taken) {
            replica->problem = taken.error();
            break;
          }
          replica->at = event.at;
        }
        const bool none = (*events)->empty();
        return [this, alive, replica, none] {
          if (alive.expired()) {
            return;
          }
          if (none || replica->problem) {
            replica_.reset();
            finish(replica->problem.value_or(
                engine::Error{engine::Errc::not_found, "the log has no such event"}));
            return;
          }
          go_on();
        };
      });
    };
  });
}

void PastStates::finish(const engine::Result<std::string>& answer) {
  const Answer to = std::move(waiting_.front().answer);
  waiting_.pop_front();
  if (waiting_.empty()) {
    busy_ = false;
    forget_ = runtime_.loop().after(kept_for, [this] { replica_.reset(); });
  } else {
    go_on();
  }
  to(answer);
}

}  // namespace hpsearch::daemon
