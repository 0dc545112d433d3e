#include "hpsearch/engine/experiment/best_checkpoints.hpp"

#include <algorithm>

namespace hpsearch::engine {

void BestCheckpoints::add(TrialNumber trial, const KnownCheckpoint& checkpoint) {
  if (!checkpoint.metric) {
    return;
  }
  const double metric = *checkpoint.metric;
  const auto before = [&](const Entry& entry) {  // An entry of the same trial is older.
    return entry.metric == metric    ? entry.trial <= trial
           : goal_ == Goal::minimize ? entry.metric < metric
                                     : entry.metric > metric;
  };
  const auto place = std::partition_point(entries_.begin(), entries_.end(), before);
  if (static_cast<std::uint64_t>(place - entries_.begin()) >= most_) {
    return;
  }
  entries_.insert(place, {metric, trial, checkpoint.path});
  if (entries_.size() > most_) {
    entries_.pop_back();
  }
}

void BestCheckpoints::measured(const Trials& trials, TrialNumber trial) {
  if (trials[trial.number()].invalid) {
    return;
  }
  const KnownCheckpoint& checkpoint = trials[trial.number()].checkpoints->kept.back();
  const auto same = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.trial == trial && entry.path == checkpoint.path;
  });
  if (same == entries_.end()) {
    add(trial, checkpoint);
  } else if (same->metric != checkpoint.metric) {
    find_anew(trials);  // It may have become worse than one that is not among these.
  }
}

void BestCheckpoints::gone(const Trials& trials, TrialNumber trial, std::string_view path) {
  const bool was_one = std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.trial == trial && entry.path == path;
  });
  if (was_one) {
    find_anew(trials);
  }
}

void BestCheckpoints::find_anew(const Trials& trials) {
  entries_.clear();
  std::uint64_t number = 0;
  for (const TrialRecord& trial : trials) {
    for (std::size_t i = 0;
         most_ > 0 && !trial.invalid && trial.checkpoints && i < trial.checkpoints->kept.size(); ++i) {
      add(TrialNumber(number), trial.checkpoints->kept[i]);
    }
    ++number;
  }
}

}  // namespace hpsearch::engine
