#include "hpsearch/engine/config/search_doubts.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "hpsearch/engine/config/metric_direction.hpp"
#include "space/range_notes.hpp"

namespace hpsearch::engine {
namespace {

void note_repeats(const ExperimentConfig& config, std::vector<Doubt>& doubts) {
  const SearcherConfig& searcher = config.searcher;
  const bool draws = searcher.name != "grid" && searcher.name != "single";
  const std::optional<Cardinality> all = config.space.cardinality();
  if (!draws || !all || *all < 2 || *all >= searcher.max_trials) {
    return;
  }
  const std::string there_are = "is " + std::to_string(searcher.max_trials) + ", and there are only " +
                                to_text(*all) + " different configurations: ";
  if (searcher.on_duplicate == OnDuplicate::reject) {
    doubts.push_back({Doubt::About::repeats,
                      {"searcher.max_trials", there_are + "the search ends when all were tried", ""}});
  } else {
    doubts.push_back({Doubt::About::repeats,
                      {"searcher.max_trials",
                       there_are + "at least " + to_text(searcher.max_trials - *all) +
                           " trials repeat an earlier one, with another seed",
                       "on_duplicate: reject, to train each once"}});
  }
}

void note_wide_ranges(const ExperimentConfig& config, std::vector<Doubt>& doubts) {
  constexpr std::uint64_t exact = std::uint64_t{1} << 53U;
  if (config.searcher.name == "grid" || config.searcher.sampler == SamplerName::random) {
    return;
  }
  for (const Space::Leaf& leaf : config.space.leaves()) {
    const auto* range = std::get_if<IntParameter>(&leaf.parameter);
    if (range == nullptr || range->step || range->scale == Scale::log ||
        static_cast<std::uint64_t>(range->maxval) - static_cast<std::uint64_t>(range->minval) <= exact) {
      continue;
    }
    doubts.push_back(
        {Doubt::About::wide_range,
         {"hyperparameters." + leaf.path,
          "has more than 2^53 values, and searcher.sampler reaches only some of them, such as the "
          "even ones",
          "sampler: random, which draws every value"}});
  }
}

}  // namespace

std::vector<Doubt> doubts_of(const ExperimentConfig& config) {
  using About = Doubt::About;
  std::vector<Doubt> doubts;
  const std::span<const Space::Leaf> leaves = config.space.leaves();
  const bool nothing_varies =
      std::all_of(leaves.begin(), leaves.end(), [](const auto& leaf) { return is_constant(leaf.parameter); });
  if (nothing_varies && config.searcher.max_trials > 1) {
    doubts.push_back({About::nothing_varies,
                      {"hyperparameters",
                       "hold nothing to search: all " + std::to_string(config.searcher.max_trials) +
                           " trials run the same configuration, with different seeds",
                       "at least one with a type: int, double, log or categorical"}});
  }
  if (!nothing_varies && config.searcher.name == "single") {
    doubts.push_back(
        {About::nothing_varies,
         {"hyperparameters", "hold ranges, and a single search runs one configuration: it is drawn from them",
          "random or grid as searcher.name, to try several"}});
  }
  const std::optional<bool> by_name = smaller_is_better_by_name(config.searcher.metric);
  if (by_name && *by_name != config.searcher.smaller_is_better) {
    doubts.push_back(
        {About::direction,
         {"searcher.smaller_is_better",
          std::string("is ") + (*by_name ? "false" : "true") + ", and the search " +
              (*by_name ? "maximises" : "minimises") + " \"" + config.searcher.metric + "\"",
          *by_name ? "true, if smaller values are better" : "false, if larger values are better"}});
  }
  for (const Space::Leaf& leaf : leaves) {
    const auto* range = std::get_if<LogParameter>(&leaf.parameter);
    if (auto note =
            range != nullptr ? note_of_exponents(*range, "hyperparameters." + leaf.path) : std::nullopt) {
      doubts.push_back({About::exponents, *std::move(note)});
    }
  }
  note_repeats(config, doubts);
  note_wide_ranges(config, doubts);
  return doubts;
}

std::vector<std::string> doubts_to_confirm(const ExperimentConfig& config) {
  std::vector<std::string> texts;
  for (const Doubt& doubt : doubts_of(config)) {
    if (is_worth_asking(doubt.about)) {
      texts.push_back(describe(doubt.note));
    }
  }
  return texts;
}

}  // namespace hpsearch::engine
