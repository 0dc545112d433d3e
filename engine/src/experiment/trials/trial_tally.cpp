#include "hpsearch/engine/experiment/trial_tally.hpp"

#include <algorithm>

namespace hpsearch::engine {
namespace {

Units asked_and_reached(const TrialRecord& trial) {
  return std::min(trial.length, trial.reached);
}

}  // namespace

std::optional<Units> own_length(const TrialRecord& trial) {
  const Units length = asked_and_reached(trial);
  return trial.trains_no_further && length > Units{} ? std::optional(length) : std::nullopt;
}

/// The first length beyond this one.
std::vector<TrialTally::Length>::iterator TrialTally::above(Units length) {
  return std::upper_bound(lengths_.begin(), lengths_.end(), length,
                          [](Units wanted, const Length& entry) { return wanted < entry.length; });
}

TrialTally::Length& TrialTally::at(const Trials& trials, Units length) {
  const auto next = above(length);
  if (next != lengths_.begin() && std::prev(next)->length == length) {
    return *std::prev(next);
  }
  Length added{length};
  for (const TrialRecord& trial : trials) {
    added.reached += trial.reached >= length ? 1U : 0U;
    added.closed += is_closed(trial.state) && asked_and_reached(trial) >= length ? 1U : 0U;
  }
  return *lengths_.insert(next, added);
}

void TrialTally::pass(Units before, Units now, std::uint64_t Length::*count) {
  for (auto passed = above(before); passed != lengths_.end() && passed->length <= now; ++passed) {
    ++((*passed).*count);
  }
}

void TrialTally::created(const Trials& trials, Units length) {
  ++at(trials, length).asked;
}

void TrialTally::asked(const Trials& trials, Units before, Units length) {
  --at(trials, before).asked;
  ++at(trials, length).asked;
}

void TrialTally::got_to(const TrialRecord& trial, Units before) {
  if (trial.reached == before) {
    return;
  }
  pass(before, trial.reached, &Length::reached);
  if (is_closed(trial.state)) {  // Its program may go on for a while.
    pass(std::min(trial.length, before), asked_and_reached(trial), &Length::closed);
  }
}

void TrialTally::own(const Trials& trials, std::optional<Units> before, std::optional<Units> now) {
  if (before == now) {
    return;
  }
  if (before) {
    --at(trials, *before).own;
  }
  if (now) {
    ++at(trials, *now).own;
  }
}

void TrialTally::closed(const TrialRecord& trial) {
  pass(Units{}, asked_and_reached(trial), &Length::closed);
}

void TrialTally::reopened(const TrialRecord& trial) {
  for (Length& length : lengths_) {
    length.closed -= length.length <= asked_and_reached(trial) ? 1U : 0U;
  }
}

void TrialTally::count_anew(const Trials& trials) {
  *this = TrialTally();
  const auto add = [this](Units length) {
    const auto next = above(length);
    if (next == lengths_.begin() || std::prev(next)->length != length) {
      lengths_.insert(next, Length{length});
    }
  };
  for (const TrialRecord& trial : trials) {
    add(trial.length);
    if (const std::optional<Units> own = own_length(trial)) {
      add(*own);
    }
  }
  for (const TrialRecord& trial : trials) {
    ++at(trials, trial.length).asked;
    own(trials, std::nullopt, own_length(trial));
    got_to(trial, Units{});  // It counts the closed ones too.
    trained(trial.trained);
  }
}

std::vector<TrialTally::Rung> TrialTally::rungs() const {
  std::vector<Rung> rungs;
  for (const Length& entry : lengths_) {
    if (entry.asked > 0) {
      rungs.push_back({entry.length, entry.reached});
    }
  }
  return rungs;
}

std::vector<TrialTally::Final> TrialTally::finals() const {
  std::vector<Final> finals;
  std::uint64_t further = 0;  // Closed trials that got to the length above.
  for (auto entry = lengths_.rbegin(); entry != lengths_.rend(); ++entry) {
    if (entry->asked + entry->own > 0) {
      if (entry->closed > further) {
        finals.push_back({entry->length, entry->closed - further});
      }
      further = entry->closed;
    }
  }
  std::reverse(finals.begin(), finals.end());
  return finals;
}

}  // namespace hpsearch::engine
