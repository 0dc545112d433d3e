#include "daemon/blobs/files_quota.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace hpsearch::daemon {

using engine::ExperimentId;
using engine::Instant;

namespace {

using Entry = std::pair<FileSet, FilesQuota::Weight>;

bool is_worse(const Entry& a, const Entry& b) {
  const auto& [set_a, weight_a] = a;
  const auto& [set_b, weight_b] = b;
  if (weight_a.metric && weight_b.metric && *weight_a.metric != *weight_b.metric) {
    return weight_a.larger_is_better ? *weight_a.metric < *weight_b.metric
                                     : *weight_a.metric > *weight_b.metric;
  }
  if (weight_a.metric.has_value() != weight_b.metric.has_value()) {
    return weight_b.metric.has_value();
  }
  return set_a < set_b;
}

}  // namespace

std::vector<FileSet> FilesQuota::add(const FileSet& set, const Weight& weight, const EndedAt& ended_at) {
  forget(set);
  sets_[set] = weight;
  bytes_ += weight.bytes;
  std::vector<FileSet> gone;
  if (bytes_ <= most_bytes_) {
    return gone;
  }
  if (weight.bytes > most_bytes_) {  // Whatever else went, it would not fit.
    forget(set);
    return {set};
  }
  std::map<ExperimentId, std::vector<Entry>> by_experiment;
  for (const auto& [known, its_weight] : sets_) {
    by_experiment[known.experiment].emplace_back(known, its_weight);
  }
  std::vector<std::tuple<bool, Instant, ExperimentId>> order;
  for (const auto& [experiment, entries] : by_experiment) {
    const std::optional<Instant> ended = ended_at(experiment);
    order.emplace_back(!ended, ended.value_or(Instant{}), experiment);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [goes_on, ended, experiment] : order) {
    std::vector<Entry>& entries = by_experiment.at(experiment);
    std::sort(entries.begin(), entries.end(), is_worse);
    while (!entries.empty() && bytes_ > most_bytes_) {
      const auto worst =
          entries.front().first == set && entries.size() > 2 ? std::next(entries.begin()) : entries.begin();
      gone.push_back(worst->first);
      forget(worst->first);
      entries.erase(worst);
    }
  }
  return gone;
}

void FilesQuota::forget(const FileSet& set) {
  const auto found = sets_.find(set);
  if (found != sets_.end()) {
    bytes_ -= found->second.bytes;
    sets_.erase(found);
  }
}

}  // namespace hpsearch::daemon
