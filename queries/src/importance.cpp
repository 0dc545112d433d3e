#include "hpsearch/queries/importance.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <variant>

#include "json_text.hpp"

namespace hpsearch::queries {

namespace {

constexpr std::size_t most_grid_points = 50;
constexpr std::size_t least_best = 2;
constexpr double prior_weight = 1;  // A flat density counts as one result more.
constexpr double least_density = 1e-12;
constexpr std::size_t least_results = 32;
constexpr std::size_t results_per_hyperparameter = 8;

/// Where the values of a hyperparameter with a range fall on a grid of equal steps on its own scale.
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

/// Scott's rule, from the quartiles or the deviation, whichever is less; never much less than a step.
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
  constexpr double least = 0.5 / 1.64;  // Nine tenths of a kernel lie within its step.
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

/// Of categories: each one that occurs spreads a part of its weight evenly over all.
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

/// Finite results by length, over all brackets.
using Results = std::map<engine::Units, std::vector<std::pair<std::uint64_t, double>>>;

Results results_of(const RungLadder& ladder) {
  Results results;
  const double sign = ladder.smaller_is_better ? 1 : -1;
  for (const RungLadder::Bracket& bracket : ladder.brackets) {
    for (const RungLadder::Rung& rung : bracket.rungs) {
      auto& at_length = results[rung.length];
      for (const RungLadder::Result& result : rung.results) {
        if (result.metric) {
          at_length.emplace_back(result.trial.number(), sign * *result.metric);
        }
      }
    }
  }
  return results;
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

std::string importance_json(const RungLadder& ladder, const Columns& columns, const engine::Space& space,
                            std::optional<std::uint64_t> rung) {
  std::vector<const engine::Space::Leaf*> leaves;
  for (const engine::Space::Leaf& leaf : space.leaves()) {
    if (!engine::is_constant(leaf.parameter)) {
      leaves.push_back(&leaf);
    }
  }
  const std::uint64_t needed = std::max(least_results, results_per_hyperparameter * leaves.size());
  const Results all = results_of(ladder);
  auto chosen = all.end();
  std::uint64_t number = 0;
  std::uint64_t chosen_number = 0;
  std::size_t most = 0;
  for (auto at = all.begin(); at != all.end(); ++at, ++number) {
    const bool better =
        rung ? *rung == number : at->second.size() >= needed || (most < needed && at->second.size() > most);
    if (better || chosen == all.end()) {
      chosen = at;
      chosen_number = number;
      most = at->second.size();
    }
  }
  JsonText json;
  json.open('{').member("metric", ladder.metric);
  const std::size_t count = chosen == all.end() ? 0 : chosen->second.size();
  json.member("rung", chosen_number).key("length");
  if (chosen == all.end()) {
    json.null();
  } else {
    json.put(chosen->first);
  }
  json.member("results", std::uint64_t{count}).member("needed", needed).member("gamma", importance_gamma);
  json.key("hyperparameters").open('[');
  const bool enough = count >= needed && !leaves.empty();
  if (enough) {
    std::vector<double> losses;
    std::vector<ImportanceInput> inputs;
    for (const engine::Space::Leaf* leaf : leaves) {
      inputs.push_back({leaf->parameter, leaf->path, {}});
    }
    for (const auto& [trial, loss] : chosen->second) {
      losses.push_back(loss);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        inputs[i].values.push_back(columns.columns[i].numbers[static_cast<std::size_t>(trial)]);
      }
    }
    const std::vector<double> shares = ped_anova(losses, inputs);
    std::vector<std::size_t> order(inputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return shares[b] < shares[a]; });
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      json.open('{')
          .member("name", inputs[order[rank]].name)
          .member("share", shares[order[rank]])
          .member("rank", std::uint64_t{rank + 1})
          .close('}');
    }
  }
  json.close(']');
  json.member("reason", enough ? std::string()
                        : leaves.empty()
                            ? "no hyperparameter varies"
                            : "too few results: " + std::to_string(count) + " of " + std::to_string(needed));
  return json.close('}').take();
}

}  // namespace hpsearch::queries
