#include "hpsearch/searchers/adaptive_asha.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "advice.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/searchers/asha.hpp"
#include "hpsearch/searchers/composed_searcher.hpp"
#include "hpsearch/searchers/tournament.hpp"
#include "kinds.hpp"

namespace hpsearch::searchers {

using engine::AshaMode;
using engine::ExperimentConfig;
using engine::SearcherConfig;

namespace {

constexpr std::array<std::string_view, 9> fields = {
    "bracket_rungs", "divisor",      "max_concurrent_trials", "max_rungs", "max_trials",
    "mode",          "on_duplicate", "points_to_evaluate",    "stop_once",
};
constexpr std::array<std::string_view, 1> required = {"max_trials"};

// Lengths have fewer than 64 doublings, so only divisors close to 1 can want more rungs; what they want then
// is a smaller max_rungs.
constexpr std::uint64_t most_rungs = 100;

/// A natural number of any size: weights like 4^99/7 are compared exactly.
class Natural {
 public:
  explicit Natural(std::uint64_t number) : words_{number} {}

  Natural& operator*=(std::uint64_t factor) {
    engine::Cardinality carry = 0;
    for (std::uint64_t& word : words_) {
      carry += engine::Cardinality{word} * factor;
      word = static_cast<std::uint64_t>(carry);
      carry >>= 64U;
    }
    if (carry != 0) {
      words_.push_back(static_cast<std::uint64_t>(carry));
    }
    return *this;
  }

  Natural& operator+=(const Natural& other) {
    words_.resize(std::max(words_.size(), other.words_.size()), 0);
    engine::Cardinality carry = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      carry += words_[i];
      carry += i < other.words_.size() ? other.words_[i] : 0;
      words_[i] = static_cast<std::uint64_t>(carry);
      carry >>= 64U;
    }
    if (carry != 0) {
      words_.push_back(static_cast<std::uint64_t>(carry));
    }
    return *this;
  }

  friend bool operator<=(const Natural& a, const Natural& b) {
    for (std::size_t i = std::max(a.words_.size(), b.words_.size()); i-- > 0;) {
      if (a.word(i) != b.word(i)) {
        return a.word(i) < b.word(i);
      }
    }
    return true;
  }

 private:
  [[nodiscard]] std::uint64_t word(std::size_t i) const noexcept { return i < words_.size() ? words_[i] : 0; }

  std::vector<std::uint64_t> words_;  // Least significant first.
};

/// floor(n · part / whole), for a part that is not above the whole.
std::uint64_t floor_of_share(std::uint64_t n, const Natural& part, const Natural& whole) {
  Natural wanted = part;
  wanted *= n;
  std::uint64_t lowest = 0;
  std::uint64_t highest = n;
  while (lowest < highest) {
    const std::uint64_t middle = highest - (highest - lowest) / 2;
    Natural reached = whole;
    reached *= middle;
    if (reached <= wanted) {
      lowest = middle;
    } else {
      highest = middle - 1;
    }
  }
  return lowest;
}

std::vector<std::uint64_t> exact_shares(std::uint64_t trials, std::uint64_t divisor,
                                        const std::vector<std::uint64_t>& rungs) {
  // d^(R-1)/R over the common denominator Π R.
  std::vector<Natural> weights;
  Natural sum(0);
  for (std::size_t b = 0; b < rungs.size(); ++b) {
    Natural weight(1);
    for (std::uint64_t power = 1; power < rungs[b]; ++power) {
      weight *= divisor;
    }
    for (std::size_t other = 0; other < rungs.size(); ++other) {
      weight *= other == b ? 1 : rungs[other];
    }
    sum += weight;
    weights.push_back(std::move(weight));
  }
  std::vector<std::uint64_t> shares;
  shares.reserve(weights.size());
  for (const Natural& weight : weights) {
    shares.push_back(floor_of_share(trials, weight, sum));
  }
  return shares;
}

std::vector<std::uint64_t> rounded_shares(std::uint64_t trials, double divisor,
                                          const std::vector<std::uint64_t>& rungs) {
  // Weights relative to that of the most rungs, so that no power overflows.
  std::vector<double> weights;
  for (const std::uint64_t count : rungs) {
    double weight = 1;
    for (std::uint64_t power = count; power < rungs.front(); ++power) {
      weight /= divisor;
    }
    weights.push_back(weight / static_cast<double>(count));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::uint64_t> shares;
  for (const double weight : weights) {
    const double share = static_cast<double>(trials) * weight / sum;
    shares.push_back(share < static_cast<double>(trials) ? static_cast<std::uint64_t>(share) : trials);
  }
  return shares;
}

std::vector<std::uint64_t> rungs_of_brackets(const SearcherConfig& searcher, std::uint64_t trials) {
  std::vector<std::uint64_t> rungs = searcher.bracket_rungs;
  if (rungs.empty()) {
    const std::uint64_t deepest = deepest_bracket(searcher, trials);
    std::uint64_t shallowest = deepest;
    switch (searcher.mode) {
      case AshaMode::aggressive:
        break;
      case AshaMode::standard:
        shallowest = (deepest - 1) / 2 + 1;
        break;
      case AshaMode::conservative:
        shallowest = 1;
        break;
    }
    for (std::uint64_t count = deepest; count >= shallowest; --count) {
      rungs.push_back(count);
    }
  }
  std::sort(rungs.begin(), rungs.end(), std::greater<>());
  return rungs;
}

AshaSettings settings_of(const SearcherConfig& searcher, const BracketPlan& bracket) {
  const Divisor divisor(searcher.divisor);
  return {rung_lengths(searcher.max_length, divisor, bracket.rungs), divisor, bracket.trials,
          searcher.goal()};
}

void check(const ExperimentConfig& config, engine::Problems& problems) {
  const SearcherConfig& searcher = config.searcher;
  if (searcher.bracket_rungs.size() > most_rungs) {
    problems.push_back({"searcher.bracket_rungs",
                        "asks for " + std::to_string(searcher.bracket_rungs.size()) + " brackets",
                        "at most " + std::to_string(most_rungs)});
  } else if (searcher.bracket_rungs.empty() && searcher.max_trials > 0 && searcher.divisor > 1) {
    const std::uint64_t deepest = deepest_bracket(searcher, searcher.max_trials);
    if (deepest > most_rungs) {
      problems.push_back({"searcher.max_rungs",
                          "leads to " + std::to_string(deepest) + " rungs with this divisor",
                          "at most " + std::to_string(most_rungs)});
    }
  }
}

std::unique_ptr<engine::Searcher> make(const ExperimentConfig& config) {
  const SearcherConfig& searcher = config.searcher;
  Tournament::Makers makers;
  makers.bracket = [searcher](const BracketPlan& bracket) {
    return make_asha(settings_of(searcher, bracket), searcher.stop_once);
  };
  makers.shares = [divisor = Divisor(searcher.divisor)](std::uint64_t trials,
                                                        const std::vector<std::uint64_t>& rungs) {
    return share_out(trials, divisor, rungs);
  };
  return std::make_unique<ComposedSearcher>(
      std::make_unique<Tournament>(plan_brackets(searcher, trials_to_run(config)), std::move(makers),
                                   searcher.max_concurrent_trials),
      make_random_proposer(config), changeable_limits(config));
}

engine::Preview preview(const ExperimentConfig& config) {
  const SearcherConfig& searcher = config.searcher;
  const std::uint64_t trials = trials_to_run(config);
  const std::vector<BracketPlan> plan = plan_brackets(searcher, trials);
  engine::Preview preview;
  for (std::size_t b = 0; b < plan.size(); ++b) {
    preview_bracket(preview, settings_of(searcher, plan[b]), plan[b].rungs, searcher.stop_once,
                    Tournament::share(searcher.max_concurrent_trials, plan.size(), b),
                    "bracket " + std::to_string(b));
  }
  const std::size_t asked = rungs_of_brackets(searcher, trials).size();
  if (plan.size() < asked) {
    preview.warnings.push_back("only " + std::to_string(plan.size()) + " of " + std::to_string(asked) +
                               " brackets exist, one for each trial; raise max_trials");
  }
  warn_of_rungs(preview, config);
  warn_of_one_rung(preview, config);
  warn_of_small_space(preview, config);
  advise_one_bracket(preview, config);
  return preview;
}

}  // namespace

std::uint64_t deepest_bracket(const SearcherConfig& searcher, std::uint64_t trials) {
  const Divisor divisor(searcher.divisor);
  return std::min({searcher.max_rungs, divisor.log_of(engine::count(searcher.max_length)) + 1,
                   divisor.log_of(trials) + 1});
}

std::vector<std::uint64_t> share_out(std::uint64_t trials, const Divisor& divisor,
                                     const std::vector<std::uint64_t>& rungs) {
  HPSEARCH_CHECK(!rungs.empty() && trials >= rungs.size(), "every bracket has at least one trial");
  std::vector<std::uint64_t> shares = divisor.whole() != 0 ? exact_shares(trials, divisor.whole(), rungs)
                                                           : rounded_shares(trials, divisor.value(), rungs);
  std::uint64_t others = 0;
  for (std::size_t b = 1; b < shares.size(); ++b) {
    shares[b] = std::max<std::uint64_t>(shares[b], 1);
    others += shares[b];
  }
  // Divisors close to 1 weigh the last brackets most, and rounding all others up to one trial may then take
  // more than there is: the largest gives it back.
  for (; others >= trials; --others) {
    --*std::max_element(shares.begin() + 1, shares.end());
  }
  shares.front() = trials - others;
  return shares;
}

std::vector<BracketPlan> plan_brackets(const SearcherConfig& searcher, std::uint64_t trials) {
  HPSEARCH_CHECK(trials > 0, "a search has at least one trial");
  std::vector<std::uint64_t> rungs = rungs_of_brackets(searcher, trials);
  if (rungs.size() > trials) {
    rungs.resize(static_cast<std::size_t>(trials));
  }
  const std::vector<std::uint64_t> shares = share_out(trials, Divisor(searcher.divisor), rungs);
  std::vector<BracketPlan> plan;
  for (std::size_t b = 0; b < rungs.size(); ++b) {
    plan.push_back({rungs[b], shares[b]});
  }
  return plan;
}

engine::SearcherKind adaptive_asha_kind() noexcept {
  return {"adaptive_asha", fields, required, check, make, preview};
}

}  // namespace hpsearch::searchers
