#include "cli/client/live_stream.hpp"

#include <algorithm>
#include <utility>

#include "cli/client/interrupts.hpp"

namespace hpsearch::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds between_tries{1'000};
constexpr std::chrono::seconds longest_silence{45};  // The daemon sends a comment every 15 s.

}  // namespace

void LiveStream::leave() {
  reading_.reset();
  parser_ = {};
}

Outcome<std::vector<net::StreamMessage>> LiveStream::next(milliseconds patience) {
  std::vector<net::StreamMessage> messages;
  const auto begin = steady_clock::now();
  if (!reading_) {
    if (begin < connect_at_) {
      nap(std::min(patience, std::chrono::duration_cast<milliseconds>(connect_at_ - begin)));
      return messages;
    }
    connect_at_ = begin + between_tries;
    auto opened = client_.stream(target_, last_id_);
    if (!opened) {
      if (opened.failure().exit == Exit::unreachable || opened.failure().exit == Exit::storage) {
        return messages;
      }
      return opened.failure();
    }
    reading_.emplace(std::move(*opened));
    heard_ = begin;
  }
  auto piece = reading_->read(patience);
  const auto now = steady_clock::now();
  if (!piece || !*piece || (now - heard_ > longest_silence && (*piece)->empty())) {
    leave();
    return messages;
  }
  if (!(*piece)->empty()) {
    heard_ = now;
    messages = parser_.take(**piece);
  }
  for (const net::StreamMessage& message : messages) {
    last_id_ = message.id.empty() ? last_id_ : message.id;
  }
  return messages;
}

}  // namespace hpsearch::cli
