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

/// A text/event-stream of a daemon that outlives breaks: it connects again, behind the last message it had.
class LiveStream {
 public:
  /// `client` has to outlive it. `last_id`: behind which message it begins; "" = as the target says.
  LiveStream(const Client& client, std::string target, std::string last_id = "")
      : client_(client), target_(std::move(target)), last_id_(std::move(last_id)) {}

  /// What came within `patience`; returns with the first messages. Nothing comes while the daemon is away.
  /// The failure is the daemon's refusal.
  [[nodiscard]] Outcome<std::vector<net::StreamMessage>> next(std::chrono::milliseconds patience);

  /// Something came over it lately. False: the daemon is away, or was not reached yet.
  [[nodiscard]] bool connected() const noexcept { return reading_.has_value(); }

 private:
  using Moment = std::chrono::steady_clock::time_point;
  void leave();

  const Client& client_;
  std::string target_;
  std::string last_id_;
  std::optional<net::HttpReading> reading_;
  net::StreamParser parser_;
  Moment connect_at_;  ///< Not before.
  Moment heard_;
};

}  // namespace hpsearch::cli
