#include "history.hpp"

#include <algorithm>
#include <cmath>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::searchers::model {

using engine::TrialNumber;
using engine::Units;

void History::earlier(std::span<const double> place) {
  HPSEARCH_CHECK(place.size() == axes_, "a coordinate for each axis");
  places_.insert(places_.end(), place.begin(), place.end());
  latest_.push_back(none);
  ++version_;
}

void History::earlier_result(Units length, double goal_score) {
  record(TrialNumber(latest_.size() - 1), length, goal_score);
  ++version_;
}

void History::created(std::span<const double> place, std::uint64_t fingerprint, Units target) {
  HPSEARCH_CHECK(place.size() == axes_, "a coordinate for each axis");
  const TrialNumber trial(latest_.size());
  places_.insert(places_.end(), place.begin(), place.end());
  latest_.push_back(none);
  started_.insert(fingerprint);
  pending_.push_back({trial, target});
  ++version_;
}

void History::promoted(TrialNumber trial, Units target) {
  HPSEARCH_CHECK(trial.number() < latest_.size(), "only trials that exist are promoted");
  Units before{};
  static_cast<void>(ends_pending(trial, &before));
  pending_.push_back({trial, target});
  ++version_;
}

bool History::ends_pending(TrialNumber trial, Units* target) {
  const auto found = std::find_if(pending_.begin(), pending_.end(),
                                  [trial](const Pending& pending) { return pending.trial == trial; });
  if (found == pending_.end()) {
    return false;
  }
  *target = found->target;
  pending_.erase(found);
  ++version_;
  return true;
}

void History::record(TrialNumber trial, Units length, double goal_score) {
  const bool usable = std::isfinite(goal_score);
  results_.push_back({trial, length, goal_score});
  double& latest = latest_[trial.number()];
  if (latest > none) {
    by_latest_.erase({-latest, trial.number()});
  }
  latest = none;
  if (usable) {
    latest = goal_score;
    by_latest_.emplace(-latest, trial.number());
  }
}

void History::result(TrialNumber trial, Units length, double goal_score) {
  Units target{};
  if (ends_pending(trial, &target)) {
    record(trial, length, goal_score);
  }
}

void History::failed(TrialNumber trial) {
  Units target{};
  if (ends_pending(trial, &target)) {
    record(trial, target, none);
  }
}

void History::gone(TrialNumber trial) {
  Units target{};
  static_cast<void>(ends_pending(trial, &target));
}

void History::invalid(TrialNumber trial) {
  gone(trial);
  double& latest = latest_[trial.number()];
  if (latest > none) {
    by_latest_.erase({-latest, trial.number()});
    latest = none;
    ++version_;
  }
}

std::span<const double> History::ascending(std::size_t count) const {
  const auto add = [this](std::size_t from, std::size_t to, std::vector<double>& scores) {
    const auto old = static_cast<std::ptrdiff_t>(scores.size());
    for (std::size_t i = from; i < to; ++i) {
      if (std::isfinite(results_[i].goal_score)) {
        scores.push_back(results_[i].goal_score);
      }
    }
    std::sort(scores.begin() + old, scores.end());
    std::inplace_merge(scores.begin(), scores.begin() + old, scores.end());
  };
  if (count == results_.size()) {
    add(sorted_count_, count, sorted_);
    sorted_count_ = count;
    return sorted_;
  }
  prefix_.clear();
  add(0, count, prefix_);
  return prefix_;
}

std::vector<TrialNumber> History::best(std::size_t count) const {
  std::vector<TrialNumber> trials;
  for (const auto& [score, trial] : by_latest_) {
    if (trials.size() == count) {
      break;
    }
    trials.emplace_back(trial);
  }
  return trials;
}

std::vector<double> History::latest(std::size_t count) const {
  std::vector<double> latest(latest_.size(), none);
  for (std::size_t i = 0; i < count; ++i) {
    const Result& result = results_[i];
    double& score = latest[result.trial.number()];
    score = none;
    if (std::isfinite(result.goal_score)) {
      score = result.goal_score;
    }
  }
  return latest;
}

}  // namespace hpsearch::searchers::model
