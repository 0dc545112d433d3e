#include "hpsearch/proto/views/importance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <variant>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/proto/sentences/phrase.hpp"
#include "hpsearch/proto/views/compared_results.hpp"
#include "views/json_text.hpp"
#include "views/regression_forest.hpp"

namespace hpsearch::views {

namespace {

constexpr std::size_t most_grid_points = 50;
constexpr std::size_t least_best = 2;
constexpr double prior_weight = 1;  // The weight of a uniform density, in results.
constexpr double least_density = 1e-12;
constexpr std::size_t resamples = 40;  // Resamples of the results, for the deviation of a share.
constexpr std::size_t forests = 8;
constexpr std::size_t trees = 12;
constexpr std::size_t most_forest_rows = 1'000;
constexpr std::size_t forest_draws = 1'500;

/// The values of a hyperparameter with a range, on a grid with equal steps on its own scale.
struct Grid {
  double low = 0;
  double high = 1;
  bool is_log = false;
  std::size_t points = most_grid_points;

  [[nodiscard]] std::size_t place_of(double value) const {
    const double on_scale = is_log ? std::log(value) : value;
    const double step = (high - low) / static_cast<double>(points - 1);
    const double place = std::ceil((on_scale - low) / step - 0.5);
    return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(points - 1)));
  }
};

std::size_t points_between(double low, double high, double step) {
  return std::min(most_grid_points, static_cast<std::size_t>(std::lround((high - low) / step)) + 1);
}

struct GridOf {
  Grid operator()(const engine::IntParameter& it) const {
    const auto low = static_cast<double>(it.minval);
    const auto high = static_cast<double>(it.maxval);
    if (it.scale == engine::Scale::log) {
      const double doublings = std::ceil(std::log2(high - low + 1)) + 1;
      return {std::log(low), std::log(high), true,
              std::min(most_grid_points, static_cast<std::size_t>(doublings))};
    }
    return {low, high, false, points_between(low, high, static_cast<double>(it.step.value_or(1)))};
  }
  Grid operator()(const engine::DoubleParameter& it) const {
    if (it.scale == engine::Scale::log) {
      return {std::log(it.minval), std::log(it.maxval), true};
    }
    return {it.minval, it.maxval, false,
            it.step ? points_between(it.minval, it.maxval, *it.step) : most_grid_points};
  }
  Grid operator()(const engine::LogParameter& it) const {
    const double scale = std::log(it.base);
    return {std::min(it.minval * scale, it.maxval * scale), std::max(it.minval * scale, it.maxval * scale),
            true};
  }
  template <class Other>
  Grid operator()(const Other& /*it*/) const {
    return {};
  }
};

double normal_below(double z) {
  return 0.5 * std::erfc(-z / std::sqrt(2.0));
}

/// Adds a normal density around a point of the grid, cut off half a step outside of it.
void add_kernel(std::vector<double>& density, double weight, double middle, double deviation) {
  const auto below = [&](double edge) { return normal_below((edge - middle) / deviation); };
  const double whole = below(static_cast<double>(density.size()) - 0.5) - below(-0.5);
  for (std::size_t i = 0; i < density.size(); ++i) {
    const auto at = static_cast<double>(i);
    density[i] += weight * (below(at + 0.5) - below(at - 0.5)) / whole;
  }
}

/// Scott's rule, from the quartiles or the deviation, whichever is smaller; at least about half a step.
double bandwidth(const std::vector<double>& counts, double results) {
  double mean = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    mean += static_cast<double>(i) * counts[i] / results;
  }
  double squares = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    squares += (static_cast<double>(i) - mean) * (static_cast<double>(i) - mean) * counts[i];
  }
  const double deviation = std::sqrt(squares / std::max(1.0, results - 1));
  const double quarter = std::floor(results / 4);
  const double three_quarters = std::floor(results * 3 / 4);
  double first = -1;
  double third = -1;
  double last = 0;
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) {
      continue;
    }
    sum += counts[i];
    last = static_cast<double>(i);
    first = first < 0 && sum >= quarter ? last : first;
    third = third < 0 && sum > three_quarters ? last : third;
  }
  third = third < 0 ? last : third;
  constexpr double least = 0.5 / 1.64;  // Nine tenths of a kernel are within its step.
  return std::max(least, 1.059 * std::min((third - first) / 1.34, deviation) * std::pow(results, -0.2));
}

std::vector<double> density_on_grid(const std::vector<double>& counts) {
  const double results = std::accumulate(counts.begin(), counts.end(), 0.0);
  std::vector<double> density(counts.size(), 0.0);
  const double deviation = results > 0 ? bandwidth(counts, results) : 1;
  const double all = results + prior_weight;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) {
      add_kernel(density, counts[i] / all, static_cast<double>(i), deviation);
    }
  }
  const auto width = static_cast<double>(counts.size());
  add_kernel(density, prior_weight / all, 0.5 * (width - 1), width);
  return density;
}

/// The density of categories: each one that occurs spreads a part of its weight evenly over all.
std::vector<double> density_of_categories(const std::vector<double>& counts) {
  const double results = std::accumulate(counts.begin(), counts.end(), 0.0);
  const auto occurring = static_cast<double>(
      std::count_if(counts.begin(), counts.end(), [](double count) { return count > 0; }));
  const auto categories = static_cast<double>(counts.size());
  const double even = prior_weight / (occurring + 1);
  const double all = results + prior_weight;
  const double row = 1 + even * categories;
  std::vector<double> density(counts.size(), 0.0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    density[i] = counts[i] / all / row + results / all * even / row + prior_weight / all / categories;
  }
  return density;
}

double divergence(const std::vector<double>& best, const std::vector<double>& all) {
  double sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double of_all = all[i] + least_density;
    const double ratio = (best[i] + least_density) / of_all - 1;
    sum += of_all * ratio * ratio;
  }
  return sum;
}

double importance_of(const ImportanceInput& input, const std::vector<bool>& is_best) {
  const auto* categorical = std::get_if<engine::CategoricalParameter>(&input.parameter);
  const Grid grid = std::visit(GridOf{}, input.parameter);
  const std::size_t points = categorical != nullptr ? categorical->vals.size() : grid.points;
  if (points < 2) {
    return 0;
  }
  std::vector<double> all(points, 0.0);
  std::vector<double> best(points, 0.0);
  for (std::size_t i = 0; i < input.values.size(); ++i) {
    const double value = input.values[i];
    if (std::isnan(value)) {
      continue;
    }
    const std::size_t place =
        categorical != nullptr ? std::min(points - 1, static_cast<std::size_t>(value)) : grid.place_of(value);
    all[place] += 1;
    best[place] += is_best[i] ? 1 : 0;
  }
  return categorical != nullptr ? divergence(density_of_categories(best), density_of_categories(all))
                                : divergence(density_on_grid(best), density_on_grid(all));
}

std::vector<bool> best_part(const std::vector<double>& losses) {
  std::vector<double> sorted = losses;
  std::sort(sorted.begin(), sorted.end());
  const auto part =
      static_cast<std::size_t>(std::ceil(importance_gamma * static_cast<double>(losses.size())));
  const double cutoff = sorted[std::min(sorted.size(), std::max(part, least_best)) - 1];
  std::vector<bool> is_best;
  for (const double loss : losses) {
    is_best.push_back(loss <= cutoff);
  }
  return is_best;
}

std::vector<Share> summed(const std::vector<std::vector<double>>& samples) {
  std::vector<Share> shares(samples.front().size());
  const auto count = static_cast<double>(samples.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    double sum = 0;
    double squares = 0;
    for (const std::vector<double>& sample : samples) {
      sum += sample[i];
      squares += sample[i] * sample[i];
    }
    shares[i].mean = sum / count;
    shares[i].deviation = std::sqrt(std::max(0.0, squares / count - shares[i].mean * shares[i].mean));
  }
  return shares;
}

/// The value of a hyperparameter in a configuration, in the form of ImportanceInput::values.
double value_of(const engine::Value& hparams, const engine::Space::Leaf& leaf) {
  const engine::Value* value = hparams.at_keys(leaf.keys);
  if (value == nullptr) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (const auto* categorical = std::get_if<engine::CategoricalParameter>(&leaf.parameter)) {
    const auto found = std::find(categorical->vals.begin(), categorical->vals.end(), *value);
    return static_cast<double>(found - categorical->vals.begin());
  }
  return value->number_or(std::numeric_limits<double>::quiet_NaN());
}

/// A compared trial; smaller is better.
struct Judged {
  std::uint64_t trial = 0;
  std::size_t shorter =
      0;            ///< The number of lengths between the longest that it reached and the compared one.
  double loss = 0;  ///< The loss at the longest length that it reached.
};

using Lengths = std::map<engine::Units, std::vector<const RungLadder::Result*>>;

Lengths lengths_of(const RungLadder& ladder) {
  Lengths lengths;
  for (const RungLadder::Bracket& bracket : ladder.brackets) {
    for (const RungLadder::Rung& rung : bracket.rungs) {
      std::vector<const RungLadder::Result*>& results = lengths[rung.length];
      for (const RungLadder::Result& result : rung.results) {
        results.push_back(&result);
      }
    }
  }
  return lengths;
}

/// All trials with a result at the length or a shorter one, best first.
std::vector<Judged> judged(const Lengths& lengths, Lengths::const_iterator chosen, double sign) {
  std::map<std::uint64_t, Judged> trials;
  std::size_t shorter = 0;
  for (auto at = chosen;; --at, ++shorter) {
    for (const RungLadder::Result* result : at->second) {
      if (result->metric || !result->nonfinite.empty()) {
        const double loss = result->metric ? sign * *result->metric : std::numeric_limits<double>::infinity();
        trials.emplace(result->trial.number(), Judged{result->trial.number(), shorter, loss});
      }
    }
    if (at == lengths.begin()) {
      break;
    }
  }
  std::vector<Judged> ordered;
  for (const auto& [number, trial] : trials) {
    ordered.push_back(trial);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const Judged& a, const Judged& b) {
    return std::pair(a.shorter, a.loss) < std::pair(b.shorter, b.loss);
  });
  return ordered;
}

/// Their ranks in that order; equal results share one.
std::vector<double> places_of(const std::vector<Judged>& ordered) {
  std::vector<double> places;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const bool is_equal =
        i > 0 && ordered[i].shorter == ordered[i - 1].shorter && ordered[i].loss == ordered[i - 1].loss;
    places.push_back(is_equal ? places.back() : static_cast<double>(i));
  }
  return places;
}

/// The targets that a forest learns. A sampler that learns tries most configurations near the best one: with
/// ranks, the many small differences there would outweigh the few large ones elsewhere. Outliers of the
/// losses are cut, and trials that stopped earlier or diverged follow, in their order.
std::vector<double> targets_of(const std::vector<Judged>& ordered) {
  constexpr double spreads = 3;
  std::vector<double> losses;
  for (const Judged& trial : ordered) {
    if (trial.shorter == 0 && std::isfinite(trial.loss)) {
      losses.push_back(trial.loss);
    }
  }
  const double best = losses.empty() ? 0 : losses.front();
  const double lower = losses.empty() ? 0 : losses[(losses.size() - 1) / 4];
  const double upper = losses.empty() ? 0 : losses[3 * (losses.size() - 1) / 4];
  const double worst = losses.empty()  ? 0
                       : upper > lower ? std::min(losses.back(), upper + spreads * (upper - lower))
                                       : losses.back();
  if (!(worst > best) || !std::isfinite(worst - best)) {
    return places_of(ordered);
  }
  const auto others = static_cast<double>(ordered.size() - losses.size());
  std::vector<double> targets;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const auto behind = static_cast<double>(i - std::min(i, losses.size() - 1));
    targets.push_back(i < losses.size() ? std::min(losses[i], worst)
                                        : worst + (worst - best) * behind / others);
  }
  return targets;
}

void put_shares(JsonText& json, const std::vector<ImportanceInput>& inputs,
                const std::vector<Share>& shares) {
  std::vector<std::size_t> order(inputs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shares[b].mean < shares[a].mean; });
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    json.open('{')
        .member("name", inputs[order[rank]].name)
        .member("share", shares[order[rank]].mean)
        .member("deviation", shares[order[rank]].deviation)
        .member("rank", std::uint64_t{rank + 1})
        .close('}');
  }
}

}  // namespace

std::vector<double> ped_anova(const std::vector<double>& losses,
                              const std::vector<ImportanceInput>& hyperparameters) {
  const std::vector<bool> is_best = best_part(losses);
  std::vector<double> shares;
  for (const ImportanceInput& input : hyperparameters) {
    shares.push_back(importance_of(input, is_best));
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) {
    share = sum > 0 ? share / sum : 1 / static_cast<double>(shares.size());
  }
  return shares;
}

std::vector<Share> shares_of_draws(const std::vector<double>& losses,
                                   const std::vector<ImportanceInput>& hyperparameters) {
  std::vector<std::vector<double>> samples;
  engine::Draw draw(1, engine::TrialNumber(0), "importance.resamples");
  for (std::size_t sample = 0; sample < resamples; ++sample) {
    std::vector<double> some;
    std::vector<ImportanceInput> inputs;
    for (const ImportanceInput& input : hyperparameters) {
      inputs.push_back({input.parameter, input.name, {}});
    }
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const auto row = static_cast<std::size_t>(draw.below(losses.size()));
      some.push_back(losses[row]);
      for (std::size_t j = 0; j < inputs.size(); ++j) {
        inputs[j].values.push_back(hyperparameters[j].values[row]);
      }
    }
    samples.push_back(ped_anova(some, inputs));
  }
  std::vector<Share> shares = summed(samples);
  const std::vector<double> whole = ped_anova(losses, hyperparameters);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    shares[i].mean = whole[i];
  }
  return shares;
}

std::vector<Share> shares_of_forest(const std::vector<double>& losses,
                                    const std::vector<ImportanceInput>& hyperparameters,
                                    const engine::Space& space) {
  std::vector<ImportanceInput> drawn;
  for (const ImportanceInput& input : hyperparameters) {
    drawn.push_back({input.parameter, input.name, {}});
  }
  for (std::size_t i = 0; i < forest_draws; ++i) {
    const engine::Value hparams = space.sample(1, engine::TrialNumber(i));
    std::size_t place = 0;
    for (const engine::Space::Leaf& leaf : space.leaves()) {
      if (!engine::is_constant(leaf.parameter)) {
        drawn[place++].values.push_back(value_of(hparams, leaf));
      }
    }
  }
  engine::Draw draw(1, engine::TrialNumber(0), "importance.forests");
  std::vector<std::vector<double>> samples;
  for (std::size_t forest = 0; forest < forests; ++forest) {
    std::vector<Forest::Feature> features;
    for (const ImportanceInput& input : hyperparameters) {
      features.push_back({std::holds_alternative<engine::CategoricalParameter>(input.parameter), {}});
    }
    std::vector<double> targets;
    for (std::size_t i = 0; i < std::min(losses.size(), most_forest_rows); ++i) {
      const auto row = static_cast<std::size_t>(draw.below(losses.size()));
      targets.push_back(losses[row]);
      for (std::size_t j = 0; j < features.size(); ++j) {
        features[j].values.push_back(hyperparameters[j].values[row]);
      }
    }
    const Forest grown(features, targets, trees, draw);
    std::vector<double> expected;
    std::vector<double> values(drawn.size());
    for (std::size_t i = 0; i < forest_draws; ++i) {
      for (std::size_t j = 0; j < drawn.size(); ++j) {
        values[j] = drawn[j].values[i];
      }
      expected.push_back(grown.at(values));
    }
    samples.push_back(ped_anova(expected, drawn));
  }
  return summed(samples);
}

std::string importance_json(const RungLadder& ladder, const Columns& columns, const engine::Space& space,
                            std::optional<std::uint64_t> rung, bool sampler_learns,
                            sentences::Language language) {
  std::vector<ImportanceInput> inputs;
  for (const engine::Space::Leaf& leaf : space.leaves()) {
    if (!engine::is_constant(leaf.parameter)) {
      inputs.push_back({leaf.parameter, leaf.path, {}});
    }
  }
  const Lengths lengths = lengths_of(ladder);
  std::vector<ComparedResults::Length> counts;
  for (const auto& [length, results] : lengths) {
    counts.push_back({length, static_cast<std::uint64_t>(std::count_if(
                                  results.begin(), results.end(),
                                  [](const auto* result) { return result->metric.has_value(); }))});
  }
  const std::optional<std::size_t> usual = compared_length(counts);
  const std::size_t number =
      rung && usual ? std::min<std::size_t>(*rung, counts.size() - 1) : usual.value_or(0);
  const std::uint64_t count = usual ? counts[number].results : 0;
  std::vector<Judged> ordered;
  if (usual) {
    ordered = judged(lengths, lengths.find(counts[number].length), ladder.smaller_is_better ? 1 : -1);
  }
  JsonText json;
  json.open('{').member("metric", ladder.metric).member("rung", std::uint64_t{number}).key("length");
  if (usual) {
    json.put(counts[number].length);
  } else {
    json.null();
  }
  json.member("results", count)
      .member("others", std::uint64_t{ordered.size()} - count)
      .member("needed", enough_results)
      .member("gamma", importance_gamma)
      .member("method", sampler_learns ? "forest" : "results")
      .key("hyperparameters")
      .open('[');
  const bool enough = count >= enough_results && !inputs.empty();
  if (enough) {
    for (const Judged& trial : ordered) {
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        inputs[i].values.push_back(columns.columns[i].numbers[static_cast<std::size_t>(trial.trial)]);
      }
    }
    put_shares(json, inputs,
               sampler_learns ? shares_of_forest(targets_of(ordered), inputs, space)
                              : shares_of_draws(places_of(ordered), inputs));
  }
  json.close(']');
  json.member("reason", enough ? std::string()
                        : inputs.empty()
                            ? say(language, {"no hyperparameter varies", "没有变化的超参数"})
                            : say(language, {"too few results: {0} of {1}", "结果太少：{1} 个中的 {0} 个"},
                                  count, enough_results));
  return json.close('}').take();
}

}  // namespace hpsearch::views
