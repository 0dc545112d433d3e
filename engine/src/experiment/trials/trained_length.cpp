#include "experiment/trials/trained_length.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "applier.hpp"
#include "hpsearch/engine/base/amount.hpp"

namespace hpsearch::engine {
namespace {

Units next(Units step) {
  return Units{count(step) + 1};
}

void add(ExperimentRecord& record, TrialRecord& trial, Units more) {
  trial.trained = Units{count(trial.trained) + count(more)};
  record.tally.trained(more);
}

void get_to(ExperimentRecord& record, TrialRecord& trial, Units step) {
  const std::optional<Units> own = own_length(trial);
  const Units before = std::exchange(trial.reached, std::max(trial.reached, step));
  record.tally.got_to(trial, before);
  record.tally.own(record.trials, own, own_length(trial));
}

/// The steps of its last attempt, the highest of which was `reached`, are one more than they say.
void count_from_one(ExperimentRecord& record, TrialRecord& trial, TrialNumber number, Units reached) {
  if (!std::exchange(trial.from_zero, false)) {
    return;
  }
  add(record, trial, Units{1});
  get_to(record, trial, next(reached));
  if (trial.latest) {
    trial.latest->step = next(trial.latest->step);
  }
  if (trial.best && trial.best_is_recent) {
    trial.best->step = next(trial.best->step);
  }
  if (const auto ahead = record.ahead.find(number); ahead != record.ahead.end()) {
    for (Measurement& measured : ahead->second) {
      measured.step = next(measured.step);
    }
  }
}

/// It was promoted and has no checkpoint: what it trained before is trained again.
void note_that_it_began_anew(ExperimentRecord& record, const TrialRecord& trial, Units before, Units step) {
  const auto& unit = record.config.unit;
  take_note(record, trial.live->key,
            {.about = "anew",
             .text = "it was promoted to " + amount(trial.length, unit) + " and began anew, at " +
                     std::to_string(count(step)) + ": it left no checkpoint, so what it had (" +
                     amount(before, unit) +
                     ") is trained again, and counts again. Save one in HPSEARCH_CHECKPOINT_DIR and go on "
                     "from HPSEARCH_LATEST_CHECKPOINT, or set searcher.stop_once: true"});
}

}  // namespace

void count_training(ExperimentRecord& record, TrialRecord& trial, Units step) {
  LiveAttempt& live = *trial.live;
  const Units before = trial.reached;
  if (!live.first_step) {
    live.first_step = step;
    trial.from_zero = step == Units{};
    if (step < live.began_at) {
      live.began_at = Units{};  // It did not take its checkpoint.
    } else if (live.began_at == Units{} && step > before) {
      live.began_at = before;  // It keeps what it needs by itself.
    } else if (live.began_at == Units{} && before > Units{} && !trial.checkpoints &&
               trial.reason.why() == Reason::Why::promoted) {
      note_that_it_began_anew(record, trial, before, step);
    }
  }
  const Units top = std::max(live.reached, live.began_at);
  if (step > top) {
    const Units more{count(step) - count(top)};
    add(record, trial, more);
    live.stride = std::max(live.stride, more);
    live.went_on = live.went_on || live.reached >= live.granted_length;
  }
  live.reached = std::max(live.reached, step);
  get_to(record, trial, step);
}

void finish_training(ExperimentRecord& record, TrialRecord& trial) {
  const LiveAttempt& live = *trial.live;
  if (live.started && !live.first_step && !std::exchange(trial.trained_unreported, true)) {
    ++record.unreported;
  }
  if (record.counts_from_zero) {
    count_from_one(record, trial, live.key.trial, live.reached);
  }
}

void complete_last_unit(ExperimentRecord& record, TrialNumber number) {
  TrialRecord& trial = record.trials[number.number()];
  const std::string all = amount(trial.length, record.config.unit);
  const AttemptKey key{record.id, number, AttemptNumber(trial.attempts), trial.last_lease};
  if (!trial.from_zero) {
    if (!record.counts_from_zero) {
      take_note(
          record, key,
          {.about = "one_short",
           .text = "its last report is one short of " + all + ", and it ended well: it has completed them"});
    }
    add(record, trial, Units{1});
    get_to(record, trial, trial.length);
    return;
  }
  take_note(record, key,
            {.about = "from_zero",
             .text = "its steps count from 0, and the last of " + all + " is " +
                     std::to_string(count(trial.length) - 1) +
                     ": they are counted from 1. Report what was trained in all, epoch + 1"});
  record.counts_from_zero = true;
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    TrialRecord& other = record.trials[i];
    if (other.from_zero && !other.live) {
      count_from_one(record, other, TrialNumber(i), other.reached);
    }
  }
}

void set_trains_no_further(ExperimentRecord& record, TrialRecord& trial, bool value) {
  const std::optional<Units> own = own_length(trial);
  trial.trains_no_further = value;
  record.tally.own(record.trials, own, own_length(trial));
}

void end_at(ExperimentRecord& record, TrialNumber number, Units step) {
  TrialRecord& trial = record.trials[number.number()];
  if (trial.trains_no_further) {
    return;  // At its next length.
  }
  set_trains_no_further(record, trial, true);
  OwnLengths& own = record.own_lengths;
  own.in_a_row = own.last == step ? own.in_a_row + 1 : 1;
  own.last = step;
  own.trained += count(step);
  ++own.trials;
  const std::string& unit = record.config.unit;
  const std::string length = std::to_string(count(step));
  const bool has_name = unit == "epochs" || unit == "batches" || unit == "records";
  take_note(record, AttemptKey{record.id, number, AttemptNumber(trial.attempts), trial.last_lease},
            {.about = "own_length",
             .text = "its program ended well at " + amount(step, unit) + ", and it was to train up to " +
                     amount(record.config.searcher.max_length, unit) +
                     ": what it reported there counts at every length. If your program trains " +
                     amount(step, unit) +
                     ", set searcher.max_length: " + (has_name ? "{" + unit + ": " + length + "}" : length)});
}

bool went_its_own_way(const ExperimentRecord& record, TrialNumber number) {
  constexpr std::size_t more_than_one_step = 2;  // One report may be on its way when the pause is decided.
  const auto ahead = record.ahead.find(number);
  return ahead != record.ahead.end() && ahead->second.size() >= more_than_one_step;
}

bool ends_where_others_do(const ExperimentRecord& record, const TrialRecord& trial) {
  constexpr std::uint64_t enough = 2;
  const OwnLengths& own = record.own_lengths;
  const auto goes_further = [&own](const TrialRecord& other) { return other.reached > own.last; };
  return own.in_a_row >= enough && trial.reached == own.last &&
         std::none_of(record.trials.begin(), record.trials.end(), goes_further);
}

void note_ahead(ExperimentRecord& record, TrialNumber number, const Measurement& measured) {
  constexpr std::size_t most = 256;
  std::vector<Measurement>& ahead = record.ahead[number];
  if (ahead.size() < most) {
    ahead.push_back(measured);
  }
}

}  // namespace hpsearch::engine
