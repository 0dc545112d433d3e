#include "daemon/blobs/kept_quota.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace hpsearch::daemon {

using engine::ExperimentId;
using engine::Instant;
using Kind = KeptItem::Kind;

namespace {

using Entry = std::pair<KeptItem, KeptQuota::Weight>;

bool is_worse(const Entry& a, const Entry& b) {
  const auto& [item_a, weight_a] = a;
  const auto& [item_b, weight_b] = b;
  if (weight_a.metric && weight_b.metric && *weight_a.metric != *weight_b.metric) {
    return weight_a.larger_is_better ? *weight_a.metric < *weight_b.metric
                                     : *weight_a.metric > *weight_b.metric;
  }
  if (weight_a.metric.has_value() != weight_b.metric.has_value()) {
    return weight_b.metric.has_value();
  }
  return item_a < item_b;
}

KeptItem behind(ExperimentId experiment) {
  return {ExperimentId(experiment.number() + 1), Kind::files, {}, {}};
}

}  // namespace

std::uint64_t bytes_on_disk(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t block = 4096;
  return (bytes + block - 1) / block * block;
}

void KeptQuota::add(const KeptItem& item, std::uint64_t bytes) noexcept {
  bytes_ += bytes;
  log_bytes_ += item.kind == Kind::logs ? bytes : 0;
}

void KeptQuota::subtract(const KeptItem& item, std::uint64_t bytes) noexcept {
  bytes_ -= bytes;
  log_bytes_ -= item.kind == Kind::logs ? bytes : 0;
}

void KeptQuota::count(const KeptItem& item, const Weight& weight) {
  if (const auto before = items_.find(item); before != items_.end()) {
    subtract(item, before->second.bytes);
    items_.erase(before);
  }
  if (weight.bytes > 0) {
    add(item, weight.bytes);
    items_.emplace(item, weight);
  }
}

void KeptQuota::count_file(const KeptItem& item, std::uint64_t bytes, std::uint64_t before) {
  const auto known = items_.find(item);
  const std::uint64_t counted = known == items_.end() ? 0 : known->second.bytes;
  count(item, {.bytes = counted - std::min(counted, bytes_on_disk(before)) + bytes_on_disk(bytes)});
}

void KeptQuota::forget(ExperimentId experiment) {
  for (auto at = items_.lower_bound({experiment, Kind::files, {}, {}});
       at != items_.end() && at->first.experiment == experiment; at = items_.erase(at)) {
    subtract(at->first, at->second.bytes);
  }
}

std::vector<ExperimentId> KeptQuota::by_age(const EndedAt& ended_at) const {
  std::vector<std::tuple<bool, Instant, ExperimentId>> order;
  for (auto at = items_.begin(); at != items_.end(); at = items_.lower_bound(behind(at->first.experiment))) {
    const std::optional<Instant> ended = ended_at(at->first.experiment);
    order.emplace_back(!ended, ended.value_or(Instant{}), at->first.experiment);
  }
  std::sort(order.begin(), order.end());
  std::vector<ExperimentId> experiments;
  for (const auto& [goes_on, ended, experiment] : order) {
    experiments.push_back(experiment);
  }
  return experiments;
}

void KeptQuota::take(KeptItem item, std::vector<KeptItem>& surplus) {
  surplus.push_back(item);
  forget(item);
}

void KeptQuota::take_logs_beyond_limit(const EndedAt& ended_at, std::vector<KeptItem>& surplus) {
  if (log_bytes_ <= most_log_bytes_) {
    return;
  }
  for (const ExperimentId experiment : by_age(ended_at)) {
    for (auto log = items_.lower_bound({experiment, Kind::logs, {}, {}});
         log_bytes_ > most_log_bytes_ && log != items_.end() && log->first.experiment == experiment;) {
      take((log++)->first, surplus);
    }
  }
}

std::vector<KeptItem> KeptQuota::take_surplus(const EndedAt& ended_at, const KeptItem& latest) {
  std::vector<KeptItem> surplus;
  take_logs_beyond_limit(ended_at, surplus);
  if (bytes_ <= most_bytes_) {
    return surplus;
  }
  if (const auto found = items_.find(latest); found != items_.end() && found->second.bytes > most_bytes_) {
    take(latest, surplus);
  }
  for (const ExperimentId experiment : by_age(ended_at)) {
    const auto logs = items_.lower_bound({experiment, Kind::logs, {}, {}});
    std::vector<Entry> files(items_.lower_bound({experiment, Kind::files, {}, {}}), logs);
    std::sort(files.begin(), files.end(), is_worse);
    while (!files.empty() && bytes_ > most_bytes_) {
      const auto worst =
          files.front().first == latest && files.size() > 2 ? std::next(files.begin()) : files.begin();
      take(worst->first, surplus);
      files.erase(worst);
    }
    for (auto log = logs;
         bytes_ > most_bytes_ && log != items_.end() && log->first.experiment == experiment;) {
      take((log++)->first, surplus);
    }
    if (bytes_ <= most_bytes_) {
      break;
    }
  }
  return surplus;
}

}  // namespace hpsearch::daemon
