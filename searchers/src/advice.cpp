#include "advice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/searchers/adaptive_asha.hpp"
#include "hpsearch/searchers/asha.hpp"
#include "preview.hpp"

namespace hpsearch::searchers {

using engine::AshaMode;
using engine::Cardinality;
using engine::ExperimentConfig;
using engine::Preview;
using engine::SearcherConfig;
using engine::Units;

namespace {

/// So early, results say nothing about the last ones: on curves of 52 epochs a first rung at 1 epoch did no
/// better than random search, while 3 of 52, 5 of 52 and 3 of 81 clearly did. The bound lies between 1.9 %
/// and 3.7 %.
bool is_too_short(Units first, Units whole) {
  return 30 * Cardinality{engine::count(first)} < engine::count(whole);
}

/// The best that was measured have their first rung at 3 of 52 and of 81.
double distance_from_a_twentieth(Units first, Units whole) {
  const double twentieths =
      20 * static_cast<double>(engine::count(first)) / static_cast<double>(engine::count(whole));
  return std::max(twentieths, 1 / twentieths);
}

/// Rungs of a divisor are three times as long as those below, so they may miss the twentieth. Above a
/// twelfth, as 5 of 52, rungs of a divisor of 2 come nearer (3 of 52), and these measured at least as good.
bool is_rather_long(Units first, Units whole) {
  return 12 * Cardinality{engine::count(first)} > engine::count(whole);
}

/// Nothing longer was measured than 5 of 52.
bool is_as_measured(Units first, Units whole) {
  return 10 * Cardinality{engine::count(first)} <= engine::count(whole);
}

// Mean normalised regret after 10, 30 and 100 full trainings, from the table of docs/benchmarks.md; a test
// compares.
constexpr std::string_view divisor_3_regret =
    "0.33, 0.26 and 0.21";  // One bracket from epoch 3 on; of 2 likewise.
constexpr std::string_view divisor_2_regret = "0.33, 0.26 and 0.20";
constexpr std::string_view random_regret = "0.41, 0.33 and 0.27";
constexpr std::string_view standard_regret = "0.34, 0.28 and 0.22";
constexpr std::string_view conservative_regret = "0.35, 0.28 and 0.23";

// The same with a model and with random draws, from the samplers' table of docs/benchmarks.md; a test
// compares.
struct ModelGain {
  std::string_view name;  // The name of the searcher.
  std::uint64_t enough;   // Full trainings, from which on it was better.
  std::string_view modelled;
  std::string_view drawn;
};
constexpr std::array<ModelGain, 3> model_gains = {{
    {"adaptive_asha", 10, "0.21, 0.11 and 0.05", "0.35, 0.28 and 0.22"},
    {"async_halving", 10, "0.19, 0.09 and 0.04", "0.34, 0.28 and 0.20"},
    // The model chooses two of the first ten trainings.
    {"random", 30, "0.37, 0.17 and 0.06", "0.40, 0.34 and 0.27"},
}};

/// Other settings of a searcher.
struct Proposal {
  SearcherConfig searcher;
  std::vector<Units> lengths;  ///< The lengths of the longest bracket.
};

enum class Brackets : std::uint8_t { as_they_are, one };

/// The searcher with so many rungs in its longest bracket, said in the fields that say it now.
SearcherConfig with_rungs(SearcherConfig searcher, double divisor, std::uint64_t rungs, Brackets brackets) {
  searcher.divisor = divisor;
  if (searcher.num_rungs > 0) {
    searcher.num_rungs = rungs;
  } else if (searcher.bracket_rungs.empty()) {
    searcher.max_rungs = rungs;
    searcher.mode = brackets == Brackets::one ? AshaMode::aggressive : searcher.mode;
  } else if (brackets == Brackets::one || searcher.bracket_rungs.size() == 1) {
    searcher.bracket_rungs = {rungs};
  } else {
    searcher.bracket_rungs = {rungs, rungs - 1};
  }
  return searcher;
}

/// Its longest bracket has so many rungs, and with equal metrics somebody reaches the top of every one.
bool is_climbed(const SearcherConfig& searcher, std::uint64_t rungs, std::uint64_t trials) {
  const Divisor divisor(searcher.divisor);
  const std::vector<BracketPlan> plan = searcher.num_rungs > 0
                                            ? std::vector<BracketPlan>{{searcher.num_rungs, trials}}
                                            : plan_brackets(searcher, trials);
  return plan.front().rungs == rungs &&
         std::all_of(plan.begin(), plan.end(), [&](const BracketPlan& bracket) {
           std::uint64_t going_on = bracket.trials;
           for (std::uint64_t rung = 1; rung < bracket.rungs; ++rung) {
             going_on = divisor.part_of(going_on);
           }
           return going_on > 0;
         });
}

/// With this divisor, the settings whose first rung is nearest to a twentieth of the full length.
std::optional<Proposal> nearest(const ExperimentConfig& config, double divisor_value, Brackets brackets) {
  const Units whole = config.searcher.max_length;
  const std::uint64_t trials = trials_to_run(config);
  const Divisor divisor(divisor_value);
  const std::uint64_t most_rungs = divisor.log_of(std::min(engine::count(whole), trials), 64) + 1;
  const Units period =
      config.program_traits.validates_on_demand ? Units{1} : config.min_validation_period.value_or(Units{1});
  std::optional<Proposal> best;
  for (std::uint64_t rungs = 2; rungs <= most_rungs; ++rungs) {
    const std::vector<Units> lengths = rung_lengths(whole, divisor, rungs);
    if (is_too_short(lengths.front(), whole) || lengths.front() < period) {
      break;
    }
    SearcherConfig searcher = with_rungs(config.searcher, divisor_value, rungs, brackets);
    if (is_climbed(searcher, rungs, trials) &&
        (!best || distance_from_a_twentieth(lengths.front(), whole) <
                      distance_from_a_twentieth(best->lengths.front(), whole))) {
      best = Proposal{std::move(searcher), lengths};
    }
  }
  return best;
}

/// What the measurements speak for, as far as the trials and their length allow it: a divisor of 3, or what
/// the user has between 2 and 3.
std::optional<Proposal> better(const ExperimentConfig& config, Brackets brackets) {
  const double asked = config.searcher.divisor;
  const double gentle = asked >= 2 && asked <= 3 ? asked : 3;
  const Units whole = config.searcher.max_length;
  std::optional<Proposal> best = nearest(config, gentle, brackets);
  if (!best || is_rather_long(best->lengths.front(), whole)) {
    std::optional<Proposal> other = nearest(config, 2, brackets);
    if (other && (!best || distance_from_a_twentieth(other->lengths.front(), whole) <
                               distance_from_a_twentieth(best->lengths.front(), whole))) {
      best = std::move(other);
    }
  }
  return best;
}

/// "divisor: 3 and max_rungs: 4 (rungs at 37, 111, 333, 1000)"; `before` are settings that go with these.
std::string quoted(const Proposal& proposal, const std::string& before, std::string_view where) {
  const SearcherConfig& searcher = proposal.searcher;
  std::string text = before + "divisor: " + quoted(Divisor(searcher.divisor)) + " and ";
  if (searcher.num_rungs > 0) {
    text += "num_rungs: " + std::to_string(searcher.num_rungs);
  } else if (searcher.bracket_rungs.empty()) {
    text += "max_rungs: " + std::to_string(searcher.max_rungs);
  } else {
    std::string rungs;
    for (const std::uint64_t count : searcher.bracket_rungs) {
      rungs += (rungs.empty() ? "" : ", ") + std::to_string(count);
    }
    text += "bracket_rungs: [" + rungs + "]";
  }
  std::string lengths;
  for (const Units length : proposal.lengths) {
    lengths += (lengths.empty() ? "" : ", ") + std::to_string(engine::count(length));
  }
  return text + " (rungs at " + lengths + std::string(where) + ")";
}

/// "; consider divisor: …", or nothing where nothing is better.
std::string considering(const ExperimentConfig& config, std::size_t brackets) {
  const std::optional<Proposal> proposal = better(config, Brackets::as_they_are);
  return proposal ? "; consider " + quoted(*proposal, "", brackets > 1 ? " in the longest bracket" : "") : "";
}

/// "2 %", "0.4 %"
std::string percent(std::uint64_t part, std::uint64_t whole) {
  const double tenths = std::round(static_cast<double>(part) / static_cast<double>(whole) * 1000);
  const auto rounded = static_cast<std::uint64_t>(tenths);
  return (rounded == 0        ? "less than 0.1"
          : rounded % 10 == 0 ? std::to_string(rounded / 10)
                              : std::to_string(rounded / 10) + "." + std::to_string(rounded % 10)) +
         " %";
}

/// The measurement of one bracket with about the proposed divisor, compared with another.
std::string measured(const Proposal& proposal, std::string_view finds, std::string_view instead) {
  const bool is_two = proposal.searcher.divisor == 2;
  return std::string(is_two ? "divisor 2 " : "divisor 3 ") + std::string(finds) +
         " better configurations with the same training (mean regret " +
         std::string(is_two ? divisor_2_regret : divisor_3_regret) +
         " after 10, 30 and 100 full trainings of 52 epochs, instead of " + std::string(instead) +
         "; docs/benchmarks.md); consider ";
}

}  // namespace

void warn_of_short_rung(Preview& preview, const ExperimentConfig& config) {
  const std::vector<Units>& lengths = preview.brackets.front().lengths;
  if (lengths.size() == 1 || trials_to_run(config) == 1 || !is_too_short(lengths.front(), lengths.back())) {
    return;
  }
  const std::uint64_t first = engine::count(lengths.front());
  preview.warnings.push_back("the first rung trains " + std::to_string(first) + " of " +
                             in_unit(lengths.back(), config) + " (" +
                             percent(first, engine::count(lengths.back())) +
                             "): such early results often mislead, and halving may be no better than random "
                             "search (docs/benchmarks.md: "
                             "from epoch 1 of 52 it was not better, from epoch 3 it was)" +
                             considering(config, preview.brackets.size()));
}

void warn_of_one_rung(Preview& preview, const ExperimentConfig& config) {
  const SearcherConfig& searcher = config.searcher;
  const std::uint64_t trials = trials_to_run(config);
  if (!searcher.bracket_rungs.empty() || searcher.max_rungs == 1 || deepest_bracket(searcher, trials) > 1) {
    return;
  }
  const Divisor divisor(searcher.divisor);
  const bool has_few = divisor.log_of(trials, 1) == 0;
  const bool is_short = divisor.log_of(engine::count(searcher.max_length), 1) == 0;
  const std::string few = (trials < searcher.max_trials ? "the number of configurations" : "max_trials") +
                          std::string(", which is ") + std::to_string(trials) + ",";
  const std::string brief = "max_length, which is " + in_unit(searcher.max_length, config) + ",";
  preview.warnings.push_back(
      "there is only one rung, so every trial trains to the end, as in random search: " +
      (has_few && is_short ? few + " and " + brief + " are"
       : has_few           ? few + " is"
                           : brief + " is") +
      " below the divisor of " + quoted(divisor) + "; raise " + (has_few && is_short ? "both" : "it") +
      " or lower the divisor" + considering(config, 1));
}

void advise_one_bracket(Preview& preview, const ExperimentConfig& config) {
  const std::optional<Proposal> proposal =
      preview.brackets.size() > 1 ? better(config, Brackets::one) : std::nullopt;
  if (!proposal || !is_as_measured(proposal->lengths.front(), proposal->lengths.back())) {
    return;
  }
  const bool has_mode = config.searcher.bracket_rungs.empty();
  const bool is_conservative = has_mode && config.searcher.mode == AshaMode::conservative;
  preview.advice.push_back(std::to_string(preview.brackets.size()) +
                           " brackets protect against misleading early results. If results don't mislead, "
                           "use one bracket: in benchmarks, " +
                           measured(*proposal, "found",
                                    std::string(is_conservative ? conservative_regret : standard_regret) +
                                        " of mode: " + (is_conservative ? "conservative" : "standard") +
                                        " with divisor 4") +
                           quoted(*proposal, has_mode ? "mode: aggressive, " : "", ""));
}

void advise_halving(Preview& preview, const ExperimentConfig& config) {
  ExperimentConfig halving = config;
  halving.searcher.num_rungs = 1;
  const std::optional<Proposal> proposal = better(halving, Brackets::one);
  if (!proposal || !is_as_measured(proposal->lengths.front(), proposal->lengths.back())) {
    return;
  }
  preview.advice.push_back(
      "random search trains every trial to the end. If early results predict late ones, use halving: in "
      "benchmarks, " +
      measured(*proposal, "finds", random_regret) + "name: async_halving, " +
      quoted(*proposal, config.program_traits.begins_anew ? "stop_once: true, " : "", ""));
}

void advise_model(Preview& preview, const ExperimentConfig& config) {
  const auto* gain = std::find_if(model_gains.begin(), model_gains.end(), [&config](const ModelGain& one) {
    return one.name == config.searcher.name;
  });
  if (gain == model_gains.end()) {
    return;
  }
  const auto& leaves = config.space.leaves();
  const auto searched = std::count_if(leaves.begin(), leaves.end(), [](const engine::Space::Leaf& leaf) {
    return !engine::is_constant(leaf.parameter);
  });
  const Cardinality enough =
      Cardinality{gain->enough} * Cardinality{engine::count(config.searcher.max_length)};
  if (config.searcher.sampler != engine::SamplerName::random || searched < 2 ||
      preview.expected_length < enough) {
    return;
  }
  preview.advice.push_back(
      "configurations are drawn at random. A model learns from the results: on LCBench, it found better ones "
      "with the same training (mean regret " +
      std::string(gain->modelled) + " after 10, 30 and 100 full trainings of 52 epochs, instead of " +
      std::string(gain->drawn) + "; docs/benchmarks.md); consider sampler: model");
}

}  // namespace hpsearch::searchers
