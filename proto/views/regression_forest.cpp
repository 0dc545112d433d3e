#include "views/regression_forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace hpsearch::views {

namespace {

constexpr std::size_t deepest = 12;
constexpr std::size_t least_rows = 4;  // Nodes with fewer are not split.

/// Sum and number of targets.
struct Part {
  double sum = 0;
  double count = 0;
  void add(double target) {
    sum += target;
    count += 1;
  }
  [[nodiscard]] double gain() const { return count > 0 ? sum * sum / count : 0; }
};

}  // namespace

struct Forest::Split {
  double gain = 0;  ///< The decrease of the squared error; 0 if there is no split.
  std::size_t feature = 0;
  double threshold = 0;
};

bool Forest::goes_left(bool is_category, double value, double threshold) noexcept {
  if (std::isnan(threshold)) {
    return std::isnan(value);
  }
  return is_category ? value == threshold : value <= threshold;
}

Forest::Forest(const std::vector<Feature>& features, const std::vector<double>& targets, std::size_t trees,
               engine::Draw& draw)
    : features_(&features) {
  for (const Feature& feature : features) {
    is_category_.push_back(feature.is_category);
  }
  for (std::size_t tree = 0; tree < trees; ++tree) {
    std::vector<std::size_t> rows(targets.size());
    for (std::size_t& row : rows) {
      row = static_cast<std::size_t>(draw.below(targets.size()));
    }
    roots_.push_back(grow(targets, std::move(rows), 0));
  }
  features_ = nullptr;
}

Forest::Split Forest::best_split(const std::vector<double>& targets, std::vector<std::size_t>& rows) const {
  Part all;
  for (const std::size_t row : rows) {
    all.add(targets[row]);
  }
  Split best;
  const auto consider = [&](const Part& left, std::size_t feature, double threshold) {
    const Part right{all.sum - left.sum, all.count - left.count};
    const double gain = left.gain() + right.gain() - all.gain();
    if (left.count > 0 && right.count > 0 && gain > best.gain + 1e-12) {
      best = {gain, feature, threshold};
    }
  };
  for (std::size_t feature = 0; feature < features_->size(); ++feature) {
    const std::vector<double>& values = (*features_)[feature].values;
    Part missing;
    std::map<double, Part> categories;
    std::vector<std::pair<double, double>> ordered;
    for (const std::size_t row : rows) {
      if (std::isnan(values[row])) {
        missing.add(targets[row]);
      } else if (is_category_[feature]) {
        categories[values[row]].add(targets[row]);
      } else {
        ordered.emplace_back(values[row], targets[row]);
      }
    }
    consider(missing, feature, std::numeric_limits<double>::quiet_NaN());
    for (const auto& [category, part] : categories) {
      consider(part, feature, category);
    }
    std::sort(ordered.begin(), ordered.end());
    Part left;
    for (std::size_t i = 0; i + 1 < ordered.size(); ++i) {
      left.add(ordered[i].second);
      if (ordered[i].first < ordered[i + 1].first) {
        consider(left, feature, ordered[i].first + (ordered[i + 1].first - ordered[i].first) / 2);
      }
    }
  }
  return best;
}

std::size_t Forest::grow(const std::vector<double>& targets, std::vector<std::size_t> rows,
                         std::size_t depth) {
  const std::size_t here = nodes_.size();
  nodes_.emplace_back();
  double sum = 0;
  for (const std::size_t row : rows) {
    sum += targets[row];
  }
  nodes_[here].mean = sum / static_cast<double>(rows.size());
  if (depth == deepest || rows.size() < least_rows) {
    return here;
  }
  const Split split = best_split(targets, rows);
  if (!(split.gain > 0)) {
    return here;
  }
  const std::vector<double>& values = (*features_)[split.feature].values;
  const auto middle = std::partition(rows.begin(), rows.end(), [&](std::size_t row) {
    return goes_left(is_category_[split.feature], values[row], split.threshold);
  });
  const std::size_t yes = grow(targets, {rows.begin(), middle}, depth + 1);
  const std::size_t no = grow(targets, {middle, rows.end()}, depth + 1);
  Node& node = nodes_[here];
  node.is_leaf = false;
  node.feature = split.feature;
  node.threshold = split.threshold;
  node.yes = yes;
  node.no = no;
  return here;
}

double Forest::at(const std::vector<double>& values) const {
  double sum = 0;
  for (const std::size_t root : roots_) {
    const Node* node = &nodes_[root];
    while (!node->is_leaf) {
      node =
          &nodes_[goes_left(is_category_[node->feature], values[node->feature], node->threshold) ? node->yes
                                                                                                 : node->no];
    }
    sum += node->mean;
  }
  return sum / static_cast<double>(roots_.size());
}

}  // namespace hpsearch::views
