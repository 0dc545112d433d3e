#include "preview.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "advice.hpp"
#include "halving/expected_promotions.hpp"
#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/searchers/proposer.hpp"

namespace hpsearch::searchers {

using engine::Cardinality;
using engine::ExperimentConfig;
using engine::Preview;
using engine::Units;

namespace {

/// How many trials are expected to train to each length.
std::vector<Cardinality> expected_reach(const AshaSettings& settings, bool stop_once) {
  std::vector<Cardinality> reach{settings.trials};
  auto expected = static_cast<double>(settings.trials);
  std::uint64_t best = settings.trials;
  while (reach.size() < settings.lengths.size()) {
    if (stop_once) {
      expected = expected_to_pass(expected, settings.divisor);
      reach.push_back(std::min(reach.back(), static_cast<Cardinality>(std::round(expected))));
    } else {
      best = settings.divisor.part_of(best);
      reach.push_back(best);
    }
  }
  return reach;
}

}  // namespace

Cardinality plus(Cardinality a, Cardinality b) noexcept {
  return a > engine::past_counting - b ? engine::past_counting : a + b;
}

Cardinality times(Cardinality a, Cardinality b) noexcept {
  return b != 0 && a > engine::past_counting / b ? engine::past_counting : a * b;
}

std::string quoted(const Divisor& divisor) {
  return divisor.whole() != 0 ? std::to_string(divisor.whole()) : engine::python_float(divisor.value());
}

std::string in_unit(Units length, const ExperimentConfig& config) {
  return engine::amount(length, config.unit);
}

std::uint64_t trials_to_run(const ExperimentConfig& config) {
  const std::optional<Cardinality> supply = supply_of(config);
  const std::uint64_t asked = config.searcher.max_trials;
  return supply && *supply < asked ? static_cast<std::uint64_t>(*supply) : asked;
}

ComposedSearcher::Limits changeable_limits(const ExperimentConfig& config) {
  return {config.searcher.max_trials, config.searcher.max_trials, supply_of(config)};
}

Preview preview_flat(Cardinality trials, Units max_length, std::uint64_t share) {
  Preview preview;
  preview.trials = trials;
  preview.brackets.push_back({{max_length}, trials, share, {trials}});
  preview.final_counts[max_length] = trials;
  preview.full_length = times(trials, engine::count(max_length));
  preview.total_length = preview.full_length;
  preview.expected_length = preview.full_length;
  return preview;
}

void preview_bracket(Preview& preview, const AshaSettings& settings, std::uint64_t rungs_asked,
                     bool stop_once, std::uint64_t share, std::string_view bracket) {
  const std::vector<Units>& lengths = settings.lengths;
  preview.trials = plus(preview.trials, settings.trials);
  preview.brackets.push_back({lengths, settings.trials, share, {}});
  const std::vector<Cardinality>& reach = preview.brackets.back().reach = expected_reach(settings, stop_once);
  for (std::size_t rung = 0; rung < lengths.size(); ++rung) {
    const std::uint64_t further =
        engine::count(lengths[rung]) - (rung > 0 ? engine::count(lengths[rung - 1]) : 0);
    preview.expected_length = plus(preview.expected_length, times(reach[rung], further));
  }
  preview.full_length = plus(preview.full_length, times(settings.trials, engine::count(lengths.back())));
  if (lengths.size() < rungs_asked) {
    preview.warnings.push_back(
        std::string(bracket) + " has " + std::to_string(lengths.size()) + " rungs instead of " +
        std::to_string(rungs_asked) +
        ", because the lengths of the others are equal; raise max_length or lower the divisor");
  }

  std::uint64_t at_rung = settings.trials;
  for (std::size_t rung = 0; rung < lengths.size(); ++rung) {
    const bool is_top = rung + 1 == lengths.size();
    std::uint64_t go_on = 0;
    if (!is_top) {
      // With equal metrics the stopping type lets everybody pass: each newcomer ranks ahead of its equals.
      go_on = stop_once ? at_rung : settings.divisor.part_of(at_rung);
    }
    if (at_rung > go_on) {
      Cardinality& finals = preview.final_counts[lengths[rung]];
      finals = plus(finals, at_rung - go_on);
      preview.total_length = plus(preview.total_length, times(at_rung - go_on, engine::count(lengths[rung])));
    }
    if (!is_top && go_on == 0) {
      preview.warnings.push_back("no trial in " + std::string(bracket) + " trains beyond length " +
                                 std::to_string(engine::count(lengths[rung])) + ": a divisor of " +
                                 quoted(settings.divisor) + " promotes none of " + std::to_string(at_rung) +
                                 (at_rung == 1 ? " trial" : " trials") +
                                 "; raise max_trials, lower the divisor or use fewer rungs");
      return;
    }
    at_rung = go_on;
  }
}

namespace {

/// Rungs that a program which reports once in min_validation_period never reports at. A program that
/// validates on demand reports at each.
void warn_of_sparse_reports(Preview& preview, const ExperimentConfig& config,
                            const std::vector<Units>& lengths) {
  const std::optional<Units> period = config.min_validation_period;
  if (!period || lengths.front() >= *period || config.program_traits.validates_on_demand) {
    return;
  }
  const auto first_seen = std::lower_bound(lengths.begin(), lengths.end(), *period);
  std::string missed;
  for (auto length = lengths.begin(); length != first_seen; ++length) {
    missed += (missed.empty() ? "" : ", ") + std::to_string(engine::count(*length));
  }
  preview.warnings.push_back(
      (first_seen - lengths.begin() == 1 ? "the rung at " : "the rungs at ") + missed + " " + config.unit +
      (first_seen - lengths.begin() == 1 ? " is" : " are") + " below min_validation_period, which is " +
      in_unit(*period, config) +
      ": trials are judged there by what they report later; let the program report at least every " +
      in_unit(lengths.front(), config) + ", or use fewer rungs");
}

/// Where nothing can be resumed, the promotion type trains every promoted trial from its start.
void warn_of_lost_training(Preview& preview, const ExperimentConfig& config) {
  if (!config.searcher.stop_once && config.program_traits.begins_anew) {
    preview.warnings.push_back(
        "the program saves no checkpoints (program_traits.begins_anew), so a promoted trial trains from its "
        "start again. Set stop_once: true to train without pauses");
  }
}

}  // namespace

void warn_of_rungs(Preview& preview, const ExperimentConfig& config) {
  // The longest bracket comes first, and has the rungs of all others and shorter ones.
  const std::vector<Units> lengths = preview.brackets.front().lengths;
  if (lengths.size() > 1) {
    warn_of_sparse_reports(preview, config, lengths);
    warn_of_lost_training(preview, config);
    warn_of_short_rung(preview, config);
  }
}

void warn_of_small_space(Preview& preview, const ExperimentConfig& config) {
  const std::uint64_t trials = trials_to_run(config);
  if (trials < config.searcher.max_trials) {
    preview.warnings.push_back("the space has only " + std::to_string(trials) +
                               (trials == 1 ? " configuration" : " configurations") +
                               " and on_duplicate is reject, so there will be " + std::to_string(trials) +
                               (trials == 1 ? " trial instead of " : " trials instead of ") +
                               std::to_string(config.searcher.max_trials));
  }
}

}  // namespace hpsearch::searchers
