#include <algorithm>
#include <utility>

#include "hpsearch/engine/space/formula.hpp"
#include "hpsearch/engine/space/space.hpp"
#include "space/leaves.hpp"

namespace hpsearch::engine {
namespace {

// A condition that one in a thousand configurations satisfies is missed by all of them once in 10^9 draws.
constexpr std::uint64_t most_tries = 20'000;

// The number of draws of allowed_share(): a share of one in a hundred is exact to a fifth.
constexpr std::uint64_t drawn_for_share = 2'000;

}  // namespace

void Space::constrain(std::span<const std::string> conditions, std::string_view at, Problems& problems) {
  conditions_.clear();
  const Names names(leaves_);
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    Result<Formula> formula = Formula::parse_condition(conditions[i], names);
    if (formula) {
      conditions_.push_back(std::make_shared<const Formula>(*std::move(formula)));
    } else {
      problems.push_back({std::string(at) + (conditions.size() > 1 ? "[" + std::to_string(i) + "]" : ""),
                          "is \"" + conditions[i] + "\": " + formula.error().message, ""});
    }
  }
}

bool satisfies(const Formula& condition, std::span<const Space::Leaf> leaves, const Value& configuration) {
  const auto find = [&](std::size_t leaf) { return configuration.at_keys(leaves[leaf].keys); };
  const bool is_whole = std::all_of(condition.names().begin(), condition.names().end(),
                                    [&](std::size_t leaf) { return find(leaf) != nullptr; });
  return !is_whole || condition.holds([&](std::size_t leaf) { return *find(leaf); });
}

bool Space::allows(const Value& configuration) const {
  return std::all_of(conditions_.begin(), conditions_.end(),
                     [&](const auto& condition) { return satisfies(*condition, leaves_, configuration); });
}

Space::AllowedShare Space::allowed_share() const {
  AllowedShare share;
  for (; share.drawn < drawn_for_share; ++share.drawn) {
    share.allowed += allows(draw(0, TrialNumber(share.drawn))) ? 1U : 0U;
  }
  return share;
}

Value Space::sample(std::uint64_t seed, TrialNumber trial) const {
  Value drawn = draw(seed, trial);
  for (std::uint64_t redraw = 1; redraw < most_tries && !allows(drawn); ++redraw) {
    drawn = draw(Draw(seed, TrialNumber(redraw), "where").bits(), trial);
  }
  return drawn;
}

}  // namespace hpsearch::engine
