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
  Duration lost_after = Duration::seconds(300);    ///< Its leases are over then.
};

/// Which workers were heard of when. Beats are not journaled: after a restart everybody counts as heard at the
/// start, so that the daemon's own downtime never costs a lease.
class Liveness {
 public:
  explicit Liveness(Patience patience) : patience_(patience) {}

  void heard(WorkerId worker, Instant now);
  void forget(WorkerId worker) noexcept;
  [[nodiscard]] bool suspect(WorkerId worker, Instant now) const noexcept;  ///< Unknown ones are suspect.
  [[nodiscard]] std::vector<WorkerId> lost(Instant now) const;              ///< In order of id.
  [[nodiscard]] std::optional<Instant> next_deadline() const noexcept;      ///< When `lost` may grow next.

 private:
  Patience patience_;
  std::map<WorkerId, Instant> last_heard_;
};

}  // namespace hpsearch::engine
