#include "journal/saved_trials.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"

namespace hpsearch::engine {
namespace {

// Of one row, what follows in it.
enum Present : std::uint64_t {
  latest_present = 1,
  best_present = 2,
  best_is_latest = 4,
  awaits_resume = 8,
  has_exited = 16,
  has_ended = 32,
  bracket_present = 64,
  rung_present = 128,
  rank_present = 256,
  size_present = 512,
  keep_present = 1024,
  cutoff_present = 2048,
  is_invalid = 4096,
  row_bound = 8192,
};

std::uint64_t bit(bool value, Present present) {
  return value ? static_cast<std::uint64_t>(present) : 0;
}

bool same_bits(const Measurement& a, const Measurement& b) {
  return a.step == b.step && a.metric == b.metric && std::signbit(a.metric) == std::signbit(b.metric);
}

template <class Number>
void put(DigitWriter& out, const std::optional<Number>& number) {
  if (number) {
    out.count(*number);
  }
}

void save_row(DigitWriter& out, const TrialRecord& trial, const Reason& reason, const TrialRecord* before) {
  const bool same = trial.latest && trial.best && same_bits(*trial.latest, *trial.best);
  out.count(bit(trial.latest.has_value(), latest_present) | bit(trial.best && !same, best_present) |
            bit(same, best_is_latest) | bit(trial.awaits_resume, awaits_resume) |
            bit(trial.exited, has_exited) | bit(trial.ended_at != Instant{}, has_ended) |
            bit(reason.bracket.has_value(), bracket_present) | bit(reason.rung.has_value(), rung_present) |
            bit(reason.rank.has_value(), rank_present) | bit(reason.size.has_value(), size_present) |
            bit(reason.keep.has_value(), keep_present) | bit(reason.cutoff.has_value(), cutoff_present) |
            bit(trial.invalid, is_invalid));
  out.count(static_cast<std::uint64_t>(trial.state));
  out.integer(static_cast<std::int64_t>(trial.id.number() - (before != nullptr ? before->id.number() : 0)));
  out.count(count(trial.length));
  out.count(count(trial.reached));
  for (const MaybeMeasurement* held : {&trial.latest, &trial.best}) {
    if (held->has_value() && !(held == &trial.best && same)) {
      out.count(count((*held)->step));
      out.real((*held)->metric);
    }
  }
  out.count(static_cast<std::uint64_t>(reason.why));
  put(out, reason.bracket);
  put(out, reason.rung);
  put(out, reason.rank);
  put(out, reason.size);
  put(out, reason.keep);
  if (reason.cutoff) {
    out.real(*reason.cutoff);
  }
  out.count(trial.last_lease.number());
  out.count(trial.last_seq);
  out.integer(trial.created_at.micros() - (before != nullptr ? before->created_at.micros() : 0));
  if (trial.ended_at != Instant{}) {
    out.integer((trial.ended_at - trial.created_at).in_micros());
  }
  out.integer(trial.busy.in_micros());
  out.count(trial.attempts);
  out.count(trial.restarts);
}

template <class Number>
std::optional<Number> get(DigitReader& in, std::uint64_t present, Present wanted) {
  return (present & wanted) != 0 ? std::optional(static_cast<Number>(in.count_below(UINT32_MAX)))
                                 : std::nullopt;
}

MaybeMeasurement get_measurement(DigitReader& in) {
  const Units step{in.count()};
  return Measurement{step, in.real()};
}

TrialRecord load_row(DigitReader& in, std::string detail, const TrialRecord* before) {
  TrialRecord trial;
  const std::uint64_t present = in.count_below(row_bound);
  trial.awaits_resume = (present & awaits_resume) != 0;
  trial.exited = (present & has_exited) != 0;
  trial.invalid = (present & is_invalid) != 0;
  trial.state = static_cast<TrialState>(in.count_below(static_cast<std::uint64_t>(TrialState::canceled) + 1));
  trial.id =
      TrialId((before != nullptr ? before->id.number() : 0) + static_cast<std::uint64_t>(in.integer()));
  trial.length = Units{in.count()};
  trial.reached = Units{in.count()};
  if ((present & latest_present) != 0) {
    trial.latest = get_measurement(in);
  }
  if ((present & best_present) != 0) {
    trial.best = get_measurement(in);
  } else if ((present & best_is_latest) != 0) {
    trial.best = trial.latest;
  }
  Reason reason;
  reason.why =
      static_cast<Reason::Why>(in.count_below(static_cast<std::uint64_t>(Reason::Why::experiment_end) + 1));
  const auto level = [&](Present wanted) {
    return (present & wanted) != 0 ? std::optional(static_cast<std::uint32_t>(in.count_below(UINT16_MAX)))
                                   : std::nullopt;
  };
  reason.bracket = level(bracket_present);
  reason.rung = level(rung_present);
  reason.rank = get<std::uint64_t>(in, present, rank_present);
  reason.size = get<std::uint64_t>(in, present, size_present);
  reason.keep = get<std::uint64_t>(in, present, keep_present);
  if ((present & cutoff_present) != 0) {
    reason.cutoff = in.real();
  }
  reason.detail = std::move(detail);
  trial.reason = reason;
  trial.last_lease = LeaseId(in.count());
  trial.last_seq = in.count();
  trial.created_at =
      Instant::from_micros((before != nullptr ? before->created_at.micros() : 0) + in.integer());
  if ((present & has_ended) != 0) {
    trial.ended_at = trial.created_at + Duration::micros(in.integer());
  }
  trial.busy = Duration::micros(in.integer());
  trial.attempts = static_cast<std::uint32_t>(in.count_below(UINT32_MAX));
  trial.restarts = static_cast<std::uint32_t>(in.count_below(UINT32_MAX));
  return trial;
}

void save_live(DigitWriter& out, const LiveAttempt& live) {
  out.count(live.key.attempt.number());
  out.count(live.key.lease.number());
  out.count(live.origin.number());
  out.count(live.worker.number());
  out.count(live.slots.size());
  for (const SlotIndex slot : live.slots) {
    out.count(slot.number());
  }
  out.count(count(live.granted_length));
  out.count(count(live.reached));
  out.count((live.started ? 1U : 0U) + (live.has_unlogged_decision ? 2U : 0U));
  out.count(live.applied_seq);
  out.flag(live.decision.has_value());
  if (live.decision) {
    out.count(live.decision->id.number());
    out.count(static_cast<std::uint64_t>(live.decision->directive));
    out.count(count(live.decision->length));
  }
  out.integer(live.leased_at.micros());
  out.integer(live.checkpoint_at.micros());
  out.count(live.last_digest);
}

LiveAttempt load_live(DigitReader& in, ExperimentId experiment, TrialNumber number) {
  LiveAttempt live;
  const AttemptNumber attempt(in.count());
  live.key = AttemptKey{experiment, number, attempt, LeaseId(in.count())};
  live.origin = LeaseId(in.count());
  live.worker = WorkerId(in.count());
  for (std::uint64_t left = in.count(); left > 0 && in.good(); --left) {
    live.slots.emplace_back(in.count());
  }
  live.granted_length = Units{in.count()};
  live.reached = Units{in.count()};
  const std::uint64_t said = in.count_below(4);
  live.started = (said & 1U) != 0;
  live.has_unlogged_decision = (said & 2U) != 0;
  live.applied_seq = in.count();
  if (in.flag()) {
    Decision decision;
    decision.id = Lsn(in.count());
    decision.directive =
        static_cast<Directive>(in.count_below(static_cast<std::uint64_t>(Directive::kill) + 1));
    decision.length = Units{in.count()};
    live.decision = decision;
  }
  live.leased_at = Instant::from_micros(in.integer());
  live.checkpoint_at = Instant::from_micros(in.integer());
  live.last_digest = in.count();
  return live;
}

std::string save_failure_history(const FailureHistory& failure_history) {
  DigitWriter out;
  out.count(failure_history.crashes);
  out.count(failure_history.crashed_on.number());
  out.flag(failure_history.crashed_elsewhere);
  out.flag(failure_history.lost.has_value());
  if (failure_history.lost) {
    save_live(out, *failure_history.lost);
  }
  return out.take();
}

std::string save_start_failures(const FailureHistory& failure_history) {
  DigitWriter out;
  out.count(failure_history.start_failures);
  out.count(failure_history.last_start_failure.number());
  out.integer(failure_history.not_before.micros());
  return out.take();
}

bool load_start_failures(const std::string& saved, const std::string& why, FailureHistory& failure_history) {
  DigitReader in(saved);
  failure_history.start_failures = in.count();
  failure_history.last_start_failure = WorkerId(in.count());
  failure_history.not_before = Instant::from_micros(in.integer());
  failure_history.why_false = why;
  return in.finished();
}

bool load_failure_history(const std::string& saved, ExperimentId experiment, TrialNumber number,
                          TrialRecord& trial) {
  DigitReader in(saved);
  FailureHistory failure_history;
  failure_history.crashes = static_cast<std::uint32_t>(in.count_below(UINT32_MAX));
  failure_history.crashed_on = WorkerId(in.count());
  failure_history.crashed_elsewhere = in.flag();
  if (in.flag()) {
    failure_history.lost = load_live(in, experiment, number);
  }
  trial.failure_history = std::move(failure_history);
  return in.finished();
}

Value save_kept(const std::vector<KnownCheckpoint>& kept) {
  Value::List list;
  for (const KnownCheckpoint& checkpoint : kept) {
    DigitWriter numbers;
    numbers.count(count(checkpoint.step));
    numbers.count(checkpoint.files);
    numbers.count(checkpoint.bytes);
    numbers.flag(checkpoint.metric.has_value());
    numbers.real(checkpoint.metric.value_or(0));
    list.push_back(Value::List{checkpoint.path, numbers.take()});
  }
  return list;
}

bool load_kept(const Value::List& saved, std::vector<KnownCheckpoint>& kept) {
  for (const Value& value : saved) {
    const Value::List* parts = value.as_list();
    if (parts == nullptr || parts->size() != 2 || parts->front().as_text() == nullptr ||
        parts->back().as_text() == nullptr) {
      return false;
    }
    KnownCheckpoint checkpoint;
    checkpoint.path = *parts->front().as_text();
    DigitReader numbers(*parts->back().as_text());
    checkpoint.step = Units{numbers.count()};
    checkpoint.files = numbers.count();
    checkpoint.bytes = numbers.count();
    const bool measured = numbers.flag();
    const double metric = numbers.real();
    if (measured) {
      checkpoint.metric = metric;
    }
    if (!numbers.finished()) {
      return false;
    }
    kept.push_back(std::move(checkpoint));
  }
  return true;
}

Value save_gang(const Gang& gang) {
  DigitWriter numbers;
  numbers.count(gang.port);
  numbers.count(static_cast<std::uint64_t>(gang.ending));
  numbers.count(static_cast<std::uint64_t>(gang.exit.cause));
  numbers.integer(gang.exit.code);
  numbers.count(gang.ended_by.number());
  numbers.count(gang.members.size());
  for (const Gang::Member& member : gang.members) {
    numbers.count(member.worker.number());
    numbers.flag(member.started);
    numbers.flag(member.gone);
    numbers.flag(member.exited);
    numbers.count(member.slots.size());
    for (const SlotIndex slot : member.slots) {
      numbers.count(slot.number());
    }
  }
  return Value::List{numbers.take(), gang.exit.message, gang.exit.log_tail};
}

bool load_gang(const Value& saved, TrialRecord& trial) {
  const Value::List* parts = saved.as_list();
  const bool texts =
      parts != nullptr && parts->size() == 3 &&
      std::all_of(parts->begin(), parts->end(), [](const Value& part) { return part.as_text() != nullptr; });
  if (!texts || !trial.live) {
    return false;
  }
  DigitReader numbers(*parts->front().as_text());
  Gang gang;
  gang.port = numbers.count();
  gang.ending =
      static_cast<Gang::Ending>(numbers.count_below(static_cast<std::uint64_t>(Gang::Ending::lost) + 1));
  gang.exit.cause = static_cast<ExitReport::Cause>(
      numbers.count_below(static_cast<std::uint64_t>(ExitReport::Cause::checkpoint_gone) + 1));
  gang.exit.code = static_cast<int>(numbers.integer());
  gang.exit.message = *(*parts)[1].as_text();
  gang.exit.log_tail = *(*parts)[2].as_text();
  gang.ended_by = WorkerId(numbers.count());
  for (std::uint64_t left = numbers.count(); left > 0 && numbers.good(); --left) {
    Gang::Member& member = gang.members.emplace_back();
    member.worker = WorkerId(numbers.count());
    member.started = numbers.flag();
    member.gone = numbers.flag();
    member.exited = numbers.flag();
    for (std::uint64_t slots = numbers.count(); slots > 0 && numbers.good(); --slots) {
      member.slots.emplace_back(numbers.count());
    }
  }
  const bool whole = numbers.finished() && gang.members.size() > 1;
  trial.live->gang = std::move(gang);
  return whole;
}

/// Snapshots of older builds name the best and the latest only; the others stay where they are.
void recall_kept(KnownCheckpoints& known) {
  if (!known.best.empty() && known.best != known.latest) {
    known.kept.push_back({known.best, known.best_step, known.best_metric, 0, 0});
  }
  if (!known.latest.empty()) {
    known.kept.push_back({known.latest, known.latest_step,
                          known.best == known.latest ? known.best_metric : std::nullopt, 0, 0});
  }
}

/// What few trials have, by name; empty for most.
Value::Map save_rarities(const TrialRecord& trial, const std::string& detail) {
  Value::Map rare;
  const auto text = [&rare](const char* name, const std::string& held) {
    if (!held.empty()) {
      rare[name] = held;
    }
  };
  text("detail", detail);
  text("other_metrics", trial.other_metrics ? *trial.other_metrics : "");
  text("last_failure", trial.last_failure ? *trial.last_failure : "");
  if (trial.failure_history) {
    rare["mishaps"] = save_failure_history(*trial.failure_history);
    if (trial.failure_history->start_failures > 0) {
      rare["start_failures"] = save_start_failures(*trial.failure_history);
      rare["why_false"] = trial.failure_history->why_false;
    }
  }
  if (trial.live && trial.live->gang) {
    rare["gang"] = save_gang(*trial.live->gang);
  }
  if (trial.checkpoints) {
    const KnownCheckpoints& known = *trial.checkpoints;
    DigitWriter steps;
    steps.count(count(known.latest_step));
    steps.count(count(known.best_step));
    steps.flag(known.best_metric.has_value());
    steps.real(known.best_metric.value_or(0));
    rare["checkpoints"] = Value::List{known.latest, known.best, steps.take()};
    rare["kept_checkpoints"] = save_kept(known.kept);
  }
  return rare;
}

bool load_rarities(const Value::Map& rare, ExperimentId experiment, TrialNumber number, TrialRecord& trial) {
  const auto text = [&rare](const char* name) {
    const Value* held = rare.find(name);
    return held != nullptr ? held->as_text() : nullptr;
  };
  if (const std::string* names = text("other_metrics")) {
    trial.other_metrics = *names;
  }
  if (const std::string* failure = text("last_failure")) {
    trial.last_failure = *failure;
  }
  if (const std::string* failure_history = text("mishaps");
      failure_history != nullptr && !load_failure_history(*failure_history, experiment, number, trial)) {
    return false;
  }
  if (const std::string* starts = text("start_failures")) {
    const std::string* why = text("why_false");
    if (!load_start_failures(*starts, why != nullptr ? *why : "", trial.failure_history.ensure())) {
      return false;
    }
  }
  const Value* checkpoints = rare.find("checkpoints");
  if (checkpoints == nullptr) {
    return true;
  }
  const Value::List* parts = checkpoints->as_list();
  if (parts == nullptr || parts->size() != 3) {
    return false;
  }
  for (const Value& part : *parts) {
    if (part.as_text() == nullptr) {
      return false;
    }
  }
  DigitReader steps(*(*parts)[2].as_text());
  KnownCheckpoints known;
  known.latest = *(*parts)[0].as_text();
  known.best = *(*parts)[1].as_text();
  known.latest_step = Units{steps.count()};
  known.best_step = Units{steps.count()};
  const bool has_metric = steps.flag();
  const double metric = steps.real();
  if (has_metric) {
    known.best_metric = metric;
  }
  if (const Value* kept = rare.find("kept_checkpoints"); kept != nullptr) {
    if (kept->as_list() == nullptr || !load_kept(*kept->as_list(), known.kept)) {
      return false;
    }
  } else {
    recall_kept(known);
  }
  trial.checkpoints = std::move(known);
  return steps.finished();
}

}  // namespace

Value save_trials(const ExperimentRecord& record) {
  DigitWriter rows;
  DigitWriter live;
  Value::List rare;
  const TrialRecord* before = nullptr;
  std::size_t number = 0;
  for (const TrialRecord& trial : record.trials) {
    const Reason reason = trial.reason;
    save_row(rows, trial, reason, before);
    if (trial.live) {
      live.count(number);
      save_live(live, *trial.live);
    }
    Value::Map rarities = save_rarities(trial, reason.detail);
    if (!rarities.empty()) {
      rarities["trial"] = static_cast<std::int64_t>(number);
      rare.emplace_back(std::move(rarities));
    }
    before = &trial;
    ++number;
  }
  return Value::Map{{"count", static_cast<std::int64_t>(record.trials.size())},
                    {"rows", rows.take()},
                    {"live", live.take()},
                    {"running", static_cast<std::int64_t>(record.running.size())},
                    {"rare", std::move(rare)},
                    {"hparams", record.hparams.save()}};
}

bool load_trials(const Value& saved, ExperimentRecord& record) {
  const auto integer = [&saved](const char* name) {
    const Value* held = saved.at_path(name);
    const std::int64_t* number = held != nullptr ? held->as_integer() : nullptr;
    return number != nullptr && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number))
                                             : std::nullopt;
  };
  const auto text = [&saved](const char* name) {
    const Value* held = saved.at_path(name);
    return held != nullptr ? held->as_text() : nullptr;
  };
  const std::optional<std::uint64_t> trials = integer("count");
  const std::optional<std::uint64_t> running = integer("running");
  const std::string* rows = text("rows");
  const std::string* lives = text("live");
  const Value* rare = saved.at_path("rare");
  const Value* hparams = saved.at_path("hparams");
  if (!trials || !running || rows == nullptr || lives == nullptr || rare == nullptr ||
      rare->as_list() == nullptr || hparams == nullptr || !record.hparams.load(*hparams) ||
      record.hparams.size() != *trials) {
    return false;
  }
  DigitReader in(*rows);
  const Value::List& rarities = *rare->as_list();
  std::size_t next_rare = 0;
  for (std::uint64_t number = 0; number < *trials && in.good(); ++number) {
    const Value::Map* mine = nullptr;
    if (next_rare < rarities.size()) {
      const Value* whose = rarities[next_rare].at_path("trial");
      if (whose != nullptr && *whose == Value(static_cast<std::int64_t>(number))) {
        mine = rarities[next_rare].as_map();
        ++next_rare;
      }
    }
    const Value* detail = mine != nullptr ? mine->find("detail") : nullptr;
    const std::string* why = detail != nullptr ? detail->as_text() : nullptr;
    TrialRecord trial =
        load_row(in, why != nullptr ? *why : std::string(), number > 0 ? &record.trials.back() : nullptr);
    if (mine != nullptr && !load_rarities(*mine, record.id, TrialNumber(number), trial)) {
      return false;
    }
    ++record.by_state[static_cast<std::size_t>(trial.state)];
    if (trial.state == TrialState::pending) {
      record.pending.insert(record.pending.end(), TrialNumber(number));
    }
    record.trials.push_back(std::move(trial));
  }
  record.tally.count_anew(record.trials);
  if (!in.finished() || next_rare != rarities.size()) {
    return false;
  }
  DigitReader live(*lives);
  for (std::uint64_t left = *running; left > 0; --left) {
    const TrialNumber number(live.count_below(*trials));
    if (!live.good()) {
      return false;
    }
    TrialRecord& trial = record.trials[number.number()];
    trial.live = load_live(live, record.id, number);
    record.running.insert(number);
  }
  for (const Value& mine : rarities) {
    const Value* gang = mine.at_path("gang");
    const std::int64_t* whose = mine.at_path("trial")->as_integer();  // Each was found by it above.
    if (gang != nullptr && !load_gang(*gang, record.trials[static_cast<std::size_t>(*whose)])) {
      return false;
    }
  }
  return live.finished();
}

}  // namespace hpsearch::engine
