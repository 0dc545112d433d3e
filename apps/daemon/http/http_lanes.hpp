#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "daemon/access/fair_queue.hpp"

namespace hpsearch::daemon {

struct Call;
struct RequestContext;
struct Route;

/// The part of the daemon that a request keeps busy. Requests of one lane wait for each other, and clients
/// take turns. Other requests don't wait for them.
enum class Lane : std::uint8_t {
  none,         ///< Short requests run at once.
  experiments,  ///< The loop and the memory, for reads of whole experiments.
  logs,         ///< Workers that read logs.
  checkpoints,  ///< The storage of checkpoints.
  checks,       ///< Threads that check configurations.
};

/// How a route is queued.
struct Queued {
  Lane lane = Lane::none;
  /// Queued only if the query has one of these parameters; empty: always.
  std::span<const std::string_view> only_with{};
};

class Lanes {
 public:
  explicit Lanes(net::Timeline& timeline);
  [[nodiscard]] FairQueue& of(Lane lane) { return queues_.at(static_cast<std::size_t>(lane) - 1); }

 private:
  std::array<FairQueue, 4> queues_;
};

/// The number of requests of each lane that run at once.
inline constexpr std::size_t most_experiment_reads = 3;
inline constexpr std::size_t most_log_searches = 8;
inline constexpr std::size_t most_checkpoint_reads = 4;

/// Carries the call out when it is its client's turn. 503: too many wait.
void carry_out_in_turn(RequestContext& context, const Route& route, Call call);

}  // namespace hpsearch::daemon
