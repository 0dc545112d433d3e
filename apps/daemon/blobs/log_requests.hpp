#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/wire/wire.hpp"

namespace hpsearch::daemon {

using LogAnswer = std::function<void(const engine::Result<proto::LogPart>&)>;

/// Parts of logs that were requested from workers and have not arrived yet. Every answer is called exactly
/// once.
class LogRequests {
 public:
  /// `patience` is how long a worker may take to read a log.
  explicit LogRequests(engine::Duration patience) : patience_(patience) {}

  /// Null: too many requests are open.
  [[nodiscard]] std::optional<std::uint64_t> next_number();
  void add(std::uint64_t number, engine::WorkerId worker, LogAnswer answer, engine::Instant now);

  /// Drops a part that was not requested from this worker.
  void take(engine::WorkerId worker, const proto::LogPart& part);

  /// Fails the requests that are late. `name_of` names a worker in the error.
  void expire(engine::Instant now, const std::function<std::string(engine::WorkerId)>& name_of);

  /// The worker left a request unanswered, and has sent nothing since: another request would only wait as
  /// long.
  [[nodiscard]] bool is_silent(engine::WorkerId worker) const { return silent_.contains(worker); }
  void heard(engine::WorkerId worker) { silent_.erase(worker); }

  /// Fails all requests.
  void fail_all(const engine::Error& error);

 private:
  struct Request {
    engine::WorkerId worker;
    LogAnswer answer;
    engine::Instant deadline;
  };

  engine::Duration patience_;
  std::uint64_t numbers_ = 0;
  std::map<std::uint64_t, Request> open_;
  std::set<engine::WorkerId> silent_;
};

}  // namespace hpsearch::daemon
