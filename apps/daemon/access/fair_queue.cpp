#include "daemon/access/fair_queue.hpp"

#include <utility>

namespace hpsearch::daemon {

FairQueue::FairQueue(net::Timeline& timeline, Bounds bounds)
    : timeline_(timeline), bounds_(bounds), self_(std::make_shared<FairQueue*>(this)) {
}

bool FairQueue::has_room(const std::string& client) const {
  const auto found = clients_.find(client);
  return waiting_ < bounds_.waiting &&
         (found == clients_.end() || found->second.waiting.size() < bounds_.waiting_of_one);
}

void FairQueue::add(const std::string& client, Begin begin) {
  ++waiting_;
  add_to(&Client::waiting, client, std::move(begin));
}

void FairQueue::add_part(const std::string& client, Begin begin) {
  add_to(&Client::parts, client, std::move(begin));
}

void FairQueue::add_to(std::deque<Begin> Client::*line, const std::string& client, Begin begin) {
  Client& its = clients_[client];
  if (its.parts.empty() && its.waiting.empty()) {
    turns_.push_back(client);
  }
  (its.*line).push_back(std::move(begin));
  begin_what_may();
}

void FairQueue::done(const std::string& client) {
  const auto found = clients_.find(client);
  --found->second.running;
  --running_;
  forget_if_idle(found);
  begin_what_may();
}

std::shared_ptr<const void> FairQueue::hold(const std::string& client, std::size_t bytes) {
  clients_[client].unread_bytes += bytes;
  unread_bytes_ += bytes;
  return {static_cast<const void*>(this), [self = std::weak_ptr(self_), client, bytes](const void*) {
            const auto queue = self.lock();
            if (queue == nullptr) {
              return;
            }
            const auto found = (*queue)->clients_.find(client);
            found->second.unread_bytes -= bytes;
            (*queue)->unread_bytes_ -= bytes;
            (*queue)->forget_if_idle(found);
            (*queue)->begin_what_may();
          }};
}

std::deque<FairQueue::Begin>* FairQueue::next_of(Client& client) const noexcept {
  if (client.running >= bounds_.running_of_one) {
    return nullptr;
  }
  if (!client.parts.empty()) {
    return &client.parts;
  }
  const bool is_read =
      client.unread_bytes < bounds_.unread_bytes_of_one && unread_bytes_ < bounds_.unread_bytes;
  return is_read && !client.waiting.empty() ? &client.waiting : nullptr;
}

void FairQueue::begin_what_may() {
  for (auto turn = turns_.begin(); turn != turns_.end() && running_ < bounds_.running;) {
    Client& its = clients_.at(*turn);
    std::deque<Begin>* line = next_of(its);
    if (line == nullptr) {
      ++turn;
      continue;
    }
    timeline_.post([self = std::weak_ptr(self_), begin = std::move(line->front())] {
      if (!self.expired()) {
        begin();
      }
    });
    line->pop_front();
    waiting_ -= line == &its.waiting ? 1U : 0U;
    ++its.running;
    ++running_;
    const std::string client = std::move(*turn);
    turns_.erase(turn);
    if (!its.parts.empty() || !its.waiting.empty()) {
      turns_.push_back(client);
    }
    turn = turns_.begin();
  }
}

void FairQueue::forget_if_idle(Clients::iterator client) {
  const Client& its = client->second;
  if (its.parts.empty() && its.waiting.empty() && its.running == 0 && its.unread_bytes == 0) {
    clients_.erase(client);
  }
}

}  // namespace hpsearch::daemon
