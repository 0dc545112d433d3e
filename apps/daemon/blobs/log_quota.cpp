#include "daemon/blobs/log_quota.hpp"

#include <algorithm>
#include <tuple>

namespace hpsearch::daemon {

using engine::ExperimentId;
using engine::Instant;
using engine::TrialNumber;

namespace {

/// As much as a file takes at least: most logs are short, and there are many.
std::uint64_t on_disk(std::uint64_t bytes) {
  constexpr std::uint64_t block = 4096;
  return (bytes + block - 1) / block * block;
}

}  // namespace

void LogQuota::add(ExperimentId experiment, TrialNumber trial, std::uint64_t bytes, std::uint64_t before) {
  std::uint64_t& of_trial = kept_[experiment][trial];
  const std::uint64_t gone = std::min(of_trial, on_disk(before));
  of_trial = of_trial - gone + on_disk(bytes);
  bytes_ = bytes_ - gone + on_disk(bytes);
}

void LogQuota::note_removed_up_to(ExperimentId experiment, TrialNumber trial) {
  TrialNumber& upto = removed_up_to_.try_emplace(experiment, trial).first->second;
  upto = std::max(upto, trial);
}

void LogQuota::forget(ExperimentId experiment) {
  if (const auto kept = kept_.find(experiment); kept != kept_.end()) {
    for (const auto& [trial, bytes] : kept->second) {
      bytes_ -= bytes;
    }
    kept_.erase(kept);
  }
  removed_up_to_.erase(experiment);
}

LogQuota::Trials LogQuota::take_surplus(const EndedAt& ended_at) {
  Trials surplus;
  if (bytes_ <= most_bytes_) {
    return surplus;
  }
  std::vector<std::tuple<bool, Instant, ExperimentId>> order;
  for (const auto& [experiment, trials] : kept_) {
    const std::optional<Instant> ended = ended_at(experiment);
    order.emplace_back(!ended, ended.value_or(Instant{}), experiment);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [goes_on, ended, experiment] : order) {
    std::map<TrialNumber, std::uint64_t>& trials = kept_.at(experiment);
    while (!trials.empty() && bytes_ > most_bytes_) {
      const auto [trial, bytes] = *trials.begin();
      trials.erase(trials.begin());
      bytes_ -= bytes;
      note_removed_up_to(experiment, trial);
      surplus.emplace_back(experiment, trial);
    }
    if (trials.empty()) {
      kept_.erase(experiment);
    }
  }
  return surplus;
}

bool LogQuota::was_removed(ExperimentId experiment, TrialNumber trial) const {
  const auto removed = removed_up_to_.find(experiment);
  const auto kept = kept_.find(experiment);
  return removed != removed_up_to_.end() && trial <= removed->second &&
         (kept == kept_.end() || !kept->second.contains(trial));
}

}  // namespace hpsearch::daemon
