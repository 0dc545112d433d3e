#include "finalists.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::searchers {

using engine::Finalist;
using engine::Score;
using engine::TrialNumber;
using engine::Value;

namespace {

/// The sample standard deviation; nothing for fewer than two results. Squares of huge differences stay
/// finite.
std::optional<double> deviation_of(const std::vector<double>& results, double mean) {
  double widest = 0;
  for (const double result : results) {
    widest = std::max(widest, std::abs(result - mean));
  }
  if (results.size() < 2 || !std::isfinite(widest)) {
    return std::nullopt;
  }
  double squares = 0;
  for (const double result : results) {
    const double part = widest > 0 ? (result - mean) / widest : 0;
    squares += part * part;
  }
  return widest * std::sqrt(squares / static_cast<double>(results.size() - 1));
}

}  // namespace

Finalists::Configuration& Finalists::at(const Value& hparams) {
  Configuration& configuration = all_[engine::compact_json(hparams)];
  if (configuration.trainings.empty()) {
    configuration.hparams = hparams;
  }
  return configuration;
}

void Finalists::add(const Value& hparams, TrialNumber trial, std::optional<double> metric) {
  std::vector<Finalist::Training>& trainings = at(hparams).trainings;
  const auto place = std::find_if(trainings.begin(), trainings.end(),
                                  [trial](const Finalist::Training& other) { return trial < other.trial; });
  trainings.insert(place, {trial, metric});
}

void Finalists::set(const Value& hparams, TrialNumber trial, std::optional<double> metric) {
  for (Finalist::Training& training : at(hparams).trainings) {
    if (training.trial == trial) {
      training.metric = metric;
    }
  }
}

void Finalists::remove(const Value& hparams, TrialNumber trial) {
  std::erase_if(at(hparams).trainings,
                [trial](const Finalist::Training& training) { return training.trial == trial; });
}

Finalist Finalists::summary_of(const Configuration& configuration) const {
  Finalist finalist;
  finalist.trainings = configuration.trainings;
  std::vector<double> results;
  for (const Finalist::Training& training : configuration.trainings) {
    if (training.metric) {
      results.push_back(*training.metric);
    }
  }
  if (!results.empty()) {
    double mean = 0;
    for (const double result : results) {
      mean += result / static_cast<double>(results.size());
    }
    finalist.mean = mean;
    finalist.deviation = deviation_of(results, mean);
  }
  return finalist;
}

bool Finalists::before(const Finalist& a, const Finalist& b) const noexcept {
  const Score mine = Score::from_metric(a.mean, goal_);
  const Score other = Score::from_metric(b.mean, goal_);
  return mine == other ? a.trainings.front().trial < b.trainings.front().trial : mine < other;
}

void Finalists::choose() {
  std::vector<std::pair<Finalist, const Configuration*>> with_results;
  for (const auto& [text, configuration] : all_) {
    if (Finalist finalist = summary_of(configuration); finalist.mean) {
      with_results.emplace_back(std::move(finalist), &configuration);
    }
  }
  const std::size_t count = std::min<std::uint64_t>(most_, with_results.size());
  std::partial_sort(with_results.begin(), with_results.begin() + static_cast<std::ptrdiff_t>(count),
                    with_results.end(),
                    [this](const auto& a, const auto& b) { return before(a.first, b.first); });
  chosen_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    chosen_.push_back(with_results[i].second);
  }
}

const Finalists::Configuration* Finalists::due() const noexcept {
  const auto fewest = std::min_element(chosen_.begin(), chosen_.end(), [](const auto* a, const auto* b) {
    return a->trainings.size() < b->trainings.size();
  });
  return fewest == chosen_.end() || (*fewest)->trainings.size() >= repeats_ ? nullptr : *fewest;
}

std::uint64_t Finalists::missing() const noexcept {
  std::uint64_t missing = 0;
  for (const Configuration* finalist : chosen_) {
    missing += repeats_ - std::min<std::uint64_t>(repeats_, finalist->trainings.size());
  }
  return missing;
}

std::vector<Finalist> Finalists::ranked() const {
  std::vector<Finalist> finalists;
  for (const Configuration* finalist : chosen_) {
    finalists.push_back(summary_of(*finalist));
  }
  std::sort(finalists.begin(), finalists.end(),
            [this](const Finalist& a, const Finalist& b) { return before(a, b); });
  return finalists;
}

}  // namespace hpsearch::searchers
