#pragma once

#include <map>
#include <optional>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::engine {

/// How long silence may last.
struct Patience {
  Duration suspect_after = Duration::seconds(45);  ///< No new leases then; nothing is killed.
  Duration lost_after =
      Duration::seconds(300);  ///< Leases are over then, at the earliest: see lease_patience.
  Duration after_start =
      Duration::seconds(300);  ///< At least so long everybody has after a start of the daemon.
};

/// No attempt is waited for longer, unless its experiment or the daemon's lost_after says so.
inline constexpr Duration longest_lease_patience = Duration::seconds(3600);

/// How long the worker of an attempt may be silent before the attempt is lost: what its experiment says, else
/// `lost_after` or a tenth of the time since its last checkpoint, whichever is more, up to an hour. What
/// would have to be trained again is weighed against the wait.
[[nodiscard]] Duration lease_patience(Duration lost_after, std::optional<Duration> experiments,
                                      Duration since_checkpoint) noexcept;

/// A worker of which nothing was heard for a while.
struct Silence {
  WorkerId worker;
  Instant heard;
  Duration at_least;  ///< Nothing of it is lost before.
};

/// Which workers were heard of when. Beats are not journaled: after a restart everybody counts as heard at
/// the start and has `after_start` to come back, so that the daemon's own downtime never costs a lease.
class Liveness {
 public:
  explicit Liveness(Patience patience) : patience_(patience) {}

  void heard(WorkerId worker, Instant now);
  void restored(WorkerId worker, Instant now);  ///< The log knows it, and the daemon has just started.
  /// We did not listen until now, so silence before means nothing. Promises made by restored()
  /// stand.
  void did_not_listen(Instant now) noexcept;
  void forget(WorkerId worker) noexcept;
  void set_patience(Patience patience) noexcept { patience_ = patience; }
  [[nodiscard]] const Patience& patience() const noexcept { return patience_; }
  [[nodiscard]] bool suspect(WorkerId worker, Instant now) const noexcept;  ///< Unknown ones are suspect.
  [[nodiscard]] std::vector<Silence> silent(Instant now) const;  ///< All that are suspect, in order of id.

 private:
  struct Heard {
    Instant at;
    bool restored = false;
  };
  Patience patience_;
  std::map<WorkerId, Heard> last_heard_;
};

}  // namespace hpsearch::engine
