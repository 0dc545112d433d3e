#include "daemon/sessions/report_credit.hpp"

#include <algorithm>

namespace hpsearch::daemon {

std::uint64_t report_credit(const Load& load, const CreditRules& rules) noexcept {
  if (!load.takes_reports) {
    return rules.least;
  }
  std::uint64_t credit =
      std::min(rules.most, rules.under_way_bytes / std::max<std::uint64_t>(1, load.sessions));
  for (std::uint64_t unstored = load.unstored; unstored > rules.calm_events && credit > rules.least;
       unstored /= 2) {
    credit /= 2;
  }
  return credit >= rules.most ? 0 : std::max(credit, rules.least);
}

}  // namespace hpsearch::daemon
