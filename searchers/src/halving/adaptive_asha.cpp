#include "hpsearch/searchers/adaptive_asha.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "advice.hpp"
#include "big_unsigned.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/searchers/asha.hpp"
#include "hpsearch/searchers/composed_searcher.hpp"
#include "hpsearch/searchers/repeats.hpp"
#include "hpsearch/searchers/tournament.hpp"
#include "preview.hpp"

namespace hpsearch::searchers {

using engine::AshaMode;
using engine::ExperimentConfig;
using engine::SearcherConfig;

namespace {

constexpr std::array<std::string_view, 17> fields = {
    "anneal",
    "bracket_rungs",
    "divisor",
    "finalists",
    "max_concurrent_trials",
    "max_rungs",
    "max_trials",
    "mode",
    "model",
    "on_duplicate",
    "points_to_evaluate",
    "prior",
    "repeats",
    "sampler",
    "stop_diverged",
    "stop_once",
    "tpe",
};
constexpr std::array<std::string_view, 1> required = {"max_trials"};

// Lengths have fewer than 64 doublings, so only divisors close to 1 can want more rungs; what they want then
// is a smaller max_rungs.
constexpr std::uint64_t most_rungs = 100;

/// floor(n · part / whole), for a part that is not above the whole.
std::uint64_t floor_of_share(std::uint64_t n, const BigUnsigned& part, const BigUnsigned& whole) {
  BigUnsigned wanted = part;
  wanted *= n;
  std::uint64_t lowest = 0;
  std::uint64_t highest = n;
  while (lowest < highest) {
    const std::uint64_t middle = highest - (highest - lowest) / 2;
    BigUnsigned reached = whole;
    reached *= middle;
    if (reached <= wanted) {
      lowest = middle;
    } else {
      highest = middle - 1;
    }
  }
  return lowest;
}

/// d^(R-1)/R for every number of rungs R, times whatever makes all of them whole: what they have in common
/// does not matter.
std::map<std::uint64_t, BigUnsigned> whole_weights(const Divisor& divisor,
                                                   const std::vector<std::uint64_t>& rungs) {
  const Divisor::Exact d = divisor.exact();
  const std::set<std::uint64_t> counts(rungs.begin(), rungs.end());
  const std::uint64_t fewest = *counts.begin();
  const std::uint64_t most = *counts.rbegin();
  std::map<std::uint64_t, BigUnsigned> weights;
  BigUnsigned power(1);  // A power of the odd part; each continues from the one below it.
  std::uint64_t reached = fewest;
  for (const std::uint64_t count : counts) {
    for (; reached < count; ++reached) {
      power *= d.odd;
    }
    BigUnsigned weight = power;
    for (const std::uint64_t other : counts) {
      weight *= other == count ? 1 : other;
    }
    weight <<= d.twos < 0 ? static_cast<std::uint64_t>(-d.twos) * (most - count)
                          : static_cast<std::uint64_t>(d.twos) * (count - fewest);
    weights.emplace(count, std::move(weight));
  }
  return weights;
}

/// floor(trials · w_b / Σ w) for every bracket. In doubles an exact share would often come out one less.
std::vector<std::uint64_t> floors_of_shares(std::uint64_t trials, const Divisor& divisor,
                                            const std::vector<std::uint64_t>& rungs) {
  const std::map<std::uint64_t, BigUnsigned> weights = whole_weights(divisor, rungs);
  BigUnsigned sum(0);
  for (const std::uint64_t count : rungs) {
    sum += weights.at(count);
  }
  std::map<std::uint64_t, std::uint64_t> floors;
  for (const auto& [count, weight] : weights) {
    floors.emplace(count, floor_of_share(trials, weight, sum));
  }
  std::vector<std::uint64_t> shares;
  shares.reserve(rungs.size());
  for (const std::uint64_t count : rungs) {
    shares.push_back(floors.at(count));
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
                          "is " + std::to_string(searcher.max_rungs) + ", which with a divisor of " +
                              quoted(Divisor(searcher.divisor)) + " comes to more than " +
                              std::to_string(most_rungs) + " rungs",
                          "at most " + std::to_string(most_rungs) + ", or a larger divisor"});
    }
  }
}

std::unique_ptr<engine::Searcher> make(const ExperimentConfig& config) {
  return make_adaptive_asha(config, make_sampler(config));
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
  advise_model(preview, config);
  preview_repeats(preview, config);
  return preview;
}

}  // namespace

std::unique_ptr<engine::Searcher> make_adaptive_asha(const ExperimentConfig& config,
                                                     std::unique_ptr<Sampler> sampler) {
  const SearcherConfig& searcher = config.searcher;
  Tournament::Makers makers;
  makers.bracket = [searcher, late_starts = sampler != nullptr](const BracketPlan& bracket) {
    AshaSettings settings = settings_of(searcher, bracket);
    settings.late_starts = late_starts;
    return make_asha(std::move(settings), searcher.stop_once);
  };
  makers.shares = [divisor = Divisor(searcher.divisor)](std::uint64_t trials,
                                                        const std::vector<std::uint64_t>& rungs) {
    return share_out(trials, divisor, rungs);
  };
  auto search = std::make_unique<ComposedSearcher>(
      std::make_unique<Tournament>(plan_brackets(searcher, trials_to_run(config)), std::move(makers),
                                   searcher.max_concurrent_trials),
      make_sampling_proposer(config, std::move(sampler)), changeable_limits(config));
  return with_repeats(config, std::move(search), preview);
}

std::uint64_t deepest_bracket(const SearcherConfig& searcher, std::uint64_t trials) {
  const Divisor divisor(searcher.divisor);
  const std::uint64_t n = std::min(engine::count(searcher.max_length), trials);
  return divisor.log_of(n, std::min(searcher.max_rungs - 1, most_rungs)) + 1;
}

std::vector<std::uint64_t> share_out(std::uint64_t trials, const Divisor& divisor,
                                     const std::vector<std::uint64_t>& rungs) {
  HPSEARCH_CHECK(!rungs.empty() && trials >= rungs.size(), "every bracket has at least one trial");
  std::vector<std::uint64_t> shares = floors_of_shares(trials, divisor, rungs);
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
