#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/client.hpp"
#include "cli/verbs/failure.hpp"
#include "hpsearch/io/http/event_stream.hpp"
#include "hpsearch/io/http/http_reading.hpp"

namespace hpsearch::cli {

/// A text/event-stream of a daemon that survives interruptions: it reconnects after the last message.
class LiveStream {
 public:
  /// `client` must outlive it. `last_id`: the message after which it begins; "" = as the target says.
  LiveStream(const Client& client, std::string target, std::string last_id = "")
      : client_(client), target_(std::move(target)), last_id_(std::move(last_id)) {}

  /// The messages that arrive within `patience`; returns with the first ones. Nothing arrives while the
  /// daemon is unreachable. The failure is the daemon's refusal.
  [[nodiscard]] Outcome<std::vector<net::StreamMessage>> next(std::chrono::milliseconds patience);

  /// Whether the stream is connected. False: the daemon is unreachable, or was not reached yet.
  [[nodiscard]] bool connected() const noexcept { return reading_.has_value(); }

 private:
  using Moment = std::chrono::steady_clock::time_point;
  void leave();

  const Client& client_;
  std::string target_;
  std::string last_id_;
  std::optional<net::HttpReading> reading_;
  net::StreamParser parser_;
  Moment connect_at_;  ///< Earliest time of the next try.
  Moment heard_;
};

}  // namespace hpsearch::cli
