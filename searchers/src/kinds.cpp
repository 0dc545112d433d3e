#include "kinds.hpp"

#include <algorithm>
#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/searchers/proposer.hpp"

namespace hpsearch::searchers {

using engine::Cardinality;
using engine::ExperimentConfig;
using engine::Preview;
using engine::Units;

namespace {

constexpr Cardinality most = ~Cardinality{0};

std::string shown(const Divisor& divisor) {
  return divisor.whole() != 0 ? std::to_string(divisor.whole()) : engine::python_float(divisor.value());
}

}  // namespace

Cardinality plus(Cardinality a, Cardinality b) noexcept {
  return a > most - b ? most : a + b;
}

Cardinality times(Cardinality a, Cardinality b) noexcept {
  return b != 0 && a > most / b ? most : a * b;
}

std::uint64_t trials_to_run(const ExperimentConfig& config) {
  const std::optional<Cardinality> supply = supply_of(config);
  const std::uint64_t asked = config.searcher.max_trials;
  return supply && *supply < asked ? static_cast<std::uint64_t>(*supply) : asked;
}

ComposedSearcher::Limits changeable_limits(const ExperimentConfig& config) {
  return {config.searcher.max_trials, config.searcher.max_trials, supply_of(config)};
}

void check_points(const ExperimentConfig& config, engine::Problems& problems) {
  const std::vector<engine::Value>& points = config.searcher.points_to_evaluate;
  if (points.size() > config.searcher.max_trials) {
    problems.push_back({"searcher.points_to_evaluate", "has " + std::to_string(points.size()) + " points",
                        "at most max_trials, which is " + std::to_string(config.searcher.max_trials)});
  }
  if (config.searcher.on_duplicate != engine::OnDuplicate::reject) {
    return;
  }
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto [first, is_new] = seen.emplace(engine::compact_json(points[i]), i);
    if (!is_new) {
      problems.push_back({"searcher.points_to_evaluate[" + std::to_string(i) + "]",
                          "is the same as points_to_evaluate[" + std::to_string(first->second) + "]",
                          "each point once, or on_duplicate: allow"});
    }
  }
}

Preview preview_flat(Cardinality trials, Units max_length, std::uint64_t share) {
  Preview preview;
  preview.trials = trials;
  preview.brackets.push_back({{max_length}, trials, share});
  preview.final_counts[max_length] = trials;
  preview.full_length = times(trials, engine::count(max_length));
  preview.total_length = preview.full_length;
  return preview;
}

void preview_bracket(Preview& preview, const AshaSettings& settings, std::uint64_t rungs_asked,
                     bool stop_once, std::uint64_t share, std::string_view bracket) {
  const std::vector<Units>& lengths = settings.lengths;
  preview.trials = plus(preview.trials, settings.trials);
  preview.brackets.push_back({lengths, settings.trials, share});
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
      preview.warnings.push_back("nobody in " + std::string(bracket) + " trains beyond length " +
                                 std::to_string(engine::count(lengths[rung])) + ": of " +
                                 std::to_string(at_rung) + (at_rung == 1 ? " trial" : " trials") +
                                 " a divisor of " + shown(settings.divisor) +
                                 " promotes none; raise max_trials, lower the divisor or use fewer rungs");
      return;
    }
    at_rung = go_on;
  }
}

void warn_of_small_space(Preview& preview, const ExperimentConfig& config) {
  const std::uint64_t trials = trials_to_run(config);
  if (trials < config.searcher.max_trials) {
    preview.warnings.push_back("the space has only " + std::to_string(trials) +
                               " configurations and on_duplicate is reject, so there will be " +
                               std::to_string(trials) + " trials instead of " +
                               std::to_string(config.searcher.max_trials));
  }
}

}  // namespace hpsearch::searchers
