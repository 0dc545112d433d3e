#include "hpsearch/engine/experiment/kept_reason.hpp"

#include <limits>
#include <optional>
#include <string>

#include "event_checks.hpp"
#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::engine {
namespace {

template <class Small, class Number>
bool fits(const std::optional<Number>& number) {
  return !number || *number < std::numeric_limits<Small>::max();
}

template <class Small, class Number>
Small keep(const std::optional<Number>& number) {
  constexpr Small none = std::numeric_limits<Small>::max();
  HPSEARCH_CHECK(fits<Small>(number), "levels and counts of a reason are those of a search in memory");
  return number ? static_cast<Small>(*number) : none;
}

template <class Number, class Small>
std::optional<Number> give(Small kept) {
  return kept == std::numeric_limits<Small>::max() ? std::nullopt : std::optional<Number>(kept);
}

}  // namespace

std::string EventChecks::reason(const Reason& reason) {
  const bool kept = fits<std::uint16_t>(reason.bracket) && fits<std::uint16_t>(reason.rung) &&
                    fits<std::uint32_t>(reason.rank) && fits<std::uint32_t>(reason.size) &&
                    fits<std::uint32_t>(reason.keep);
  return kept ? "" : "the numbers of its reason are too large";
}

KeptReason::KeptReason(const Reason& reason)
    : why_(reason.why),
      has_cutoff_(reason.cutoff.has_value()),
      has_at_(reason.at.has_value()),
      bracket_(keep<std::uint16_t>(reason.bracket)),
      rung_(keep<std::uint16_t>(reason.rung)),
      rank_(keep<std::uint32_t>(reason.rank)),
      size_(keep<std::uint32_t>(reason.size)),
      keep_(keep<std::uint32_t>(reason.keep)),
      cutoff_(reason.cutoff.value_or(0)),
      at_(reason.at.value_or(Units{})) {
  if (!reason.detail.empty()) {
    detail_ = Box<std::string>(reason.detail);
  }
  if (reason.near || reason.near_rank || reason.results || reason.spread || reason.expected || reason.value) {
    rare_ = Box<Rare>(
        {reason.near, reason.near_rank, reason.results, reason.spread, reason.expected, reason.value});
  }
}

KeptReason::operator Reason() const {
  Reason reason;
  reason.why = why_;
  reason.bracket = give<std::uint32_t>(bracket_);
  reason.rung = give<std::uint32_t>(rung_);
  reason.rank = give<std::uint64_t>(rank_);
  reason.size = give<std::uint64_t>(size_);
  reason.keep = give<std::uint64_t>(keep_);
  if (has_cutoff_) {
    reason.cutoff = cutoff_;
  }
  if (has_at_) {
    reason.at = at_;
  }
  reason.detail = detail();
  if (rare_) {
    reason.near = rare_->near;
    reason.near_rank = rare_->near_rank;
    reason.results = rare_->results;
    reason.spread = rare_->spread;
    reason.expected = rare_->expected;
    reason.value = rare_->value;
  }
  return reason;
}

}  // namespace hpsearch::engine
