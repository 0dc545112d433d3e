#include "journal/snapshot.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "journal/saved_trials.hpp"

namespace hpsearch::engine {
namespace {

constexpr std::int64_t format = 4;

Error corrupt(const std::string& what) {
  return Error{Errc::corrupt, "the snapshot cannot be read: " + what};
}

/// The text under a name of a saved map; "" and bad when there is none.
class SavedTexts {
 public:
  explicit SavedTexts(const Value& saved) : saved_(saved) {}

  const std::string& text(std::string_view name) {
    static const std::string none;
    const Value* held = saved_.at_path(name);
    const std::string* found = held != nullptr ? held->as_text() : nullptr;
    good_ = good_ && found != nullptr;
    return found != nullptr ? *found : none;
  }
  const Value& value(std::string_view name) {
    static const Value none;
    const Value* held = saved_.at_path(name);
    good_ = good_ && held != nullptr;
    return held != nullptr ? *held : none;
  }
  const Value::List& list(std::string_view name) {
    static const Value::List none;
    const Value::List* found = value(name).as_list();
    good_ = good_ && found != nullptr;
    return found != nullptr ? *found : none;
  }
  [[nodiscard]] bool good() const { return good_; }

 private:
  const Value& saved_;
  bool good_ = true;
};

std::string save_leaked_processes(const WorkerRecord& worker) {
  DigitWriter numbers;
  for (const auto& [key, leaked_processes] : worker.leaked_processes) {
    numbers.flag(true);  // One more.
    numbers.count(key.experiment.number());
    numbers.count(key.trial.number());
    numbers.count(key.attempt.number());
    numbers.count(key.lease.number());
    numbers.flag(leaked_processes.released);
    numbers.count(leaked_processes.slots.size());
    for (const SlotIndex slot : leaked_processes.slots) {
      numbers.count(slot.number());
    }
  }
  numbers.flag(false);
  return numbers.take();
}

/// Takes the slots that are in quarantine.
bool load_leaked_processes(const Value& saved, WorkerRecord& worker) {
  const Value* held = saved.at_path("leaked_processes");
  if (held == nullptr) {
    return true;  // Of a build that did not know of them.
  }
  if (held->as_text() == nullptr) {
    return false;
  }
  DigitReader numbers(*held->as_text());
  while (numbers.flag() && numbers.good()) {
    AttemptKey key;
    key.experiment = ExperimentId(numbers.count());
    key.trial = TrialNumber(numbers.count());
    key.attempt = AttemptNumber(numbers.count());
    key.lease = LeaseId(numbers.count());
    SlotQuarantine leaked_processes;
    leaked_processes.released = numbers.flag();
    for (std::uint64_t left = numbers.count(); left > 0 && numbers.good(); --left) {
      const SlotIndex slot(numbers.count());
      const bool there = slot.number() < worker.slots.total();
      if (there && !leaked_processes.released && !worker.slots.is_free(slot)) {
        return false;
      }
      if (there && !leaked_processes.released) {
        worker.slots.take({slot}, key.lease);
      }
      leaked_processes.slots.push_back(slot);
    }
    worker.leaked_processes.emplace(key, std::move(leaked_processes));
  }
  return numbers.finished();
}

/// Devices, pool, labels and troubles; nothing where there are none, as builds before them wrote it.
void save_offer(const WorkerRecord& worker, Value::Map& saved) {
  Value::List devices;
  for (const SlotDevice& device : worker.devices) {
    DigitWriter numbers;
    numbers.count(device.index);
    numbers.count(device.memory_bytes);
    devices.push_back(Value::Map{{"uuid", device.uuid}, {"name", device.name}, {"numbers", numbers.take()}});
  }
  Value::Map labels;
  for (const auto& [key, value] : worker.labels) {
    labels[key] = value;
  }
  Value::List withdrawn;
  for (const auto& [slot, state] : worker.withdrawn) {
    DigitWriter numbers;
    numbers.count(slot.number());
    numbers.flag(state.released);
    withdrawn.push_back(Value::Map{{"why", state.why}, {"numbers", numbers.take()}});
  }
  if (!devices.empty()) {
    saved["devices"] = std::move(devices);
  }
  if (!worker.pool.empty()) {
    saved["pool"] = worker.pool;
  }
  if (!labels.empty()) {
    saved["labels"] = std::move(labels);
  }
  if (!withdrawn.empty()) {
    saved["withdrawn"] = std::move(withdrawn);
  }
}

/// Makes the ledger, with `slots` slots.
bool load_offer(const Value& saved, std::uint64_t slots, WorkerRecord& worker) {
  static const Value::List none;
  const auto list = [&saved](std::string_view name) -> const Value::List* {
    const Value* held = saved.at_path(name);
    return held == nullptr ? &none : held->as_list();
  };
  const Value::List* devices = list("devices");
  const Value::List* withdrawn = list("withdrawn");
  if (devices == nullptr || withdrawn == nullptr || (!devices->empty() && devices->size() != slots)) {
    return false;
  }
  for (const Value& one : *devices) {
    SavedTexts texts(one);
    SlotDevice device{texts.text("uuid"), texts.text("name")};
    DigitReader numbers(texts.text("numbers"));
    device.index = numbers.count();
    device.memory_bytes = numbers.count();
    if (!texts.good() || !numbers.finished()) {
      return false;
    }
    worker.devices.push_back(std::move(device));
  }
  if (const Value* pool = saved.at_path("pool")) {
    worker.pool = pool->as_text() != nullptr ? *pool->as_text() : "";
  }
  if (const Value* labels = saved.at_path("labels"); labels != nullptr && labels->as_map() != nullptr) {
    for (const auto& [key, value] : *labels->as_map()) {
      worker.labels[key] = value.as_text() != nullptr ? *value.as_text() : "";
    }
  }
  for (const Value& one : *withdrawn) {
    SavedTexts texts(one);
    WithdrawnSlot state{texts.text("why")};
    DigitReader numbers(texts.text("numbers"));
    const SlotIndex slot(numbers.count());
    state.released = numbers.flag();
    if (!texts.good() || !numbers.finished()) {
      return false;
    }
    worker.withdrawn.emplace(slot, std::move(state));
  }
  worker.slots = SlotLedger(slots, shares_of(worker.devices));
  withdraw_those(worker);
  return true;
}

/// Nothing where there are none, as builds before them wrote it.
void save_keys(const std::set<AttemptKey>& keys, const char* name, Value::Map& saved) {
  if (keys.empty()) {
    return;
  }
  DigitWriter numbers;
  numbers.count(keys.size());
  for (const AttemptKey& key : keys) {
    numbers.count(key.experiment.number());
    numbers.count(key.trial.number());
    numbers.count(key.attempt.number());
    numbers.count(key.lease.number());
  }
  saved[name] = numbers.take();
}

bool load_keys(const Value& saved, const char* name, std::set<AttemptKey>& keys) {
  const Value* held = saved.at_path(name);
  if (held == nullptr) {
    return true;
  }
  if (held->as_text() == nullptr) {
    return false;
  }
  DigitReader numbers(*held->as_text());
  for (std::uint64_t left = numbers.count(); left > 0 && numbers.good(); --left) {
    const ExperimentId experiment(numbers.count());
    const TrialNumber trial(numbers.count());
    const AttemptNumber attempt(numbers.count());
    keys.insert({experiment, trial, attempt, LeaseId(numbers.count())});
  }
  return numbers.finished();
}

Value save_worker(const WorkerRecord& worker) {
  DigitWriter numbers;
  numbers.count(worker.id.number());
  numbers.count(worker.incarnation);
  numbers.flag(worker.present);
  numbers.count(worker.slots.total());
  numbers.count(worker.quick_failures.size());
  for (const auto& [experiment, trial] : worker.quick_failures) {
    numbers.count(experiment.number());
    numbers.count(trial.number());
  }
  Value::Map saved{{"uid", worker.uid},
                   {"name", worker.name},
                   {"slot_kind", worker.slot_kind},
                   {"address", worker.address},
                   {"quarantined", worker.quarantined},
                   {"leaked_processes", save_leaked_processes(worker)},
                   {"numbers", numbers.take()}};
  save_offer(worker, saved);
  if (worker.start_failures > 0) {
    DigitWriter starts;
    starts.count(worker.start_failures);
    starts.integer(worker.last_start_failure.micros());
    starts.integer(worker.rests_until.micros());
    saved["start_failures"] = starts.take();
  }
  save_keys(worker.adopted, "adopted", saved);
  save_keys(worker.disowned, "disowned", saved);
  return saved;
}

bool load_start_failures(const Value& saved, WorkerRecord& worker) {
  const Value* held = saved.at_path("start_failures");
  if (held == nullptr) {
    return true;
  }
  if (held->as_text() == nullptr) {
    return false;
  }
  DigitReader numbers(*held->as_text());
  worker.start_failures = numbers.count();
  worker.last_start_failure = Instant::from_micros(numbers.integer());
  worker.rests_until = Instant::from_micros(numbers.integer());
  return numbers.finished();
}

bool load_worker(const Value& saved, EngineState& state) {
  SavedTexts texts(saved);
  WorkerRecord worker;
  worker.uid = texts.text("uid");
  worker.name = texts.text("name");
  worker.slot_kind = texts.text("slot_kind");
  if (const Value* address = saved.at_path("address"); address != nullptr && address->as_text() != nullptr) {
    worker.address = *address->as_text();
  }
  DigitReader numbers(texts.text("numbers"));
  worker.id = WorkerId(numbers.count());
  worker.incarnation = numbers.count();
  worker.present = numbers.flag();
  const std::uint64_t slots = numbers.count_below(most_slots_of_a_worker + 1);
  worker.quarantined = texts.text("quarantined");
  for (std::uint64_t left = numbers.count(); left > 0 && numbers.good(); --left) {
    const ExperimentId experiment(numbers.count());
    worker.quick_failures.emplace_back(experiment, TrialNumber(numbers.count()));
  }
  if (!texts.good() || !numbers.finished() || !load_offer(saved, slots, worker) ||
      !load_leaked_processes(saved, worker) || !load_start_failures(saved, worker) ||
      !load_keys(saved, "adopted", worker.adopted) || !load_keys(saved, "disowned", worker.disowned)) {
    return false;
  }
  state.worker_by_uid[worker.uid] = worker.id;
  state.present_slots[worker.pool] += worker.present ? worker.slots.total() : 0;
  return state.workers.emplace(worker.id, std::move(worker)).second;
}

Value save_notes(const std::vector<ExperimentNote>& notes) {
  Value::List list;
  for (const ExperimentNote& note : notes) {
    DigitWriter numbers;
    numbers.count(note.trial.number());
    numbers.count(note.attempt.number());
    numbers.count(note.attempts);
    list.push_back(Value::Map{{"about", note.about}, {"text", note.text}, {"numbers", numbers.take()}});
  }
  return list;
}

bool load_notes(const Value::List& saved, std::vector<ExperimentNote>& notes) {
  for (const Value& value : saved) {
    SavedTexts texts(value);
    ExperimentNote note;
    note.about = texts.text("about");
    note.text = texts.text("text");
    DigitReader numbers(texts.text("numbers"));
    note.trial = TrialNumber(numbers.count());
    note.attempt = AttemptNumber(numbers.count());
    note.attempts = numbers.count();
    if (!texts.good() || !numbers.finished()) {
      return false;
    }
    notes.push_back(std::move(note));
  }
  return true;
}

Value save_source(const std::optional<SourceCheckpoint>& source) {
  if (!source) {
    return Value();
  }
  DigitWriter numbers;
  numbers.count(source->experiment.number());
  numbers.count(source->trial.number());
  numbers.count(count(source->step));
  return Value::Map{{"path", source->path}, {"numbers", numbers.take()}};
}

bool load_source(const Value* saved, std::optional<SourceCheckpoint>& source) {
  if (saved == nullptr || saved->is_null()) {
    return true;
  }
  SavedTexts texts(*saved);
  SourceCheckpoint& loaded = source.emplace();
  loaded.path = texts.text("path");
  DigitReader numbers(texts.text("numbers"));
  loaded.experiment = ExperimentId(numbers.count());
  loaded.trial = TrialNumber(numbers.count());
  loaded.step = Units{numbers.count()};
  return texts.good() && numbers.finished();
}

Value save_experiment(const ExperimentRecord& record) {
  DigitWriter numbers;
  numbers.count(record.id.number());
  numbers.count(static_cast<std::uint64_t>(record.state));
  numbers.count(static_cast<std::uint64_t>(record.stopping_as));
  numbers.flag(record.stop_at_once);
  numbers.flag(record.best.has_value());
  numbers.count(record.best ? record.best->number() : 0);
  for (const Instant at : {record.created_at, record.ended_at, record.first_lease_at, record.last_release_at,
                           record.slot_time.since()}) {
    numbers.integer(at.micros());
  }
  numbers.integer(record.slot_time.until(record.slot_time.since()).in_micros());
  numbers.integer(record.slot_time.slots());
  return Value::Map{{"numbers", numbers.take()},
                    {"config", record.effective},
                    {"created_with", record.created_with ? *record.created_with : Value()},
                    {"context_directory", record.context_directory},
                    {"context_digest", record.context_digest},
                    {"context_bytes", static_cast<std::int64_t>(record.context_bytes)},
                    {"idempotency_key", record.idempotency_key},
                    {"reason", record.reason},
                    {"condemned", Value::List(record.condemned.begin(), record.condemned.end())},
                    {"notes", save_notes(record.notes)},
                    {"source", save_source(record.source)},
                    {"searcher", record.searcher->save()},
                    {"trials", save_trials(record)}};
}

bool take_slots(EngineState& state, const AttemptKey& key, WorkerId where,
                const std::vector<SlotIndex>& slots) {
  const auto worker = state.workers.find(where);
  if (worker == state.workers.end()) {
    return false;
  }
  for (const SlotIndex slot : slots) {
    if (!worker->second.slots.is_free(slot)) {
      return false;
    }
    worker->second.slots.take({slot}, key.lease);
  }
  worker->second.attempts.insert(key);
  return true;
}

/// Its live attempts hold their slots again.
bool take_slots(EngineState& state, const ExperimentRecord& record) {
  for (const TrialNumber number : record.running) {
    const LiveAttempt& live = *record.trials[number.number()].live;
    if (!live.gang && !take_slots(state, live.key, live.worker, live.slots)) {
      return false;
    }
    for (std::size_t rank = 0; live.gang && rank < live.gang->members.size(); ++rank) {
      const Gang::Member& member = live.gang->members[rank];
      if (!member.gone && !take_slots(state, live.key, member.worker, member.slots)) {
        return false;
      }
    }
  }
  return true;
}

Status load_experiment(const Value& saved, EngineState& state) {
  SavedTexts texts(saved);
  ExperimentRecord record;
  DigitReader numbers(texts.text("numbers"));
  record.id = ExperimentId(numbers.count());
  const std::string which = "experiment " + std::to_string(record.id.number());
  constexpr auto states = static_cast<std::uint64_t>(ExperimentState::failed) + 1;
  record.state = static_cast<ExperimentState>(numbers.count_below(states));
  record.stopping_as = static_cast<ExperimentState>(numbers.count_below(states));
  record.stop_at_once = numbers.flag();
  const bool has_best = numbers.flag();
  const TrialNumber best(numbers.count());
  Instant slot_time_since;
  for (Instant* at : {&record.created_at, &record.ended_at, &record.first_lease_at, &record.last_release_at,
                      &slot_time_since}) {
    *at = Instant::from_micros(numbers.integer());
  }
  const Duration accrued = Duration::micros(numbers.integer());
  record.slot_time = SlotTime(accrued, numbers.integer(), slot_time_since);
  record.effective = texts.value("config");
  record.context_directory = texts.text("context_directory");
  record.idempotency_key = texts.text("idempotency_key");
  record.reason = texts.text("reason");
  const Value& searcher = texts.value("searcher");
  const Value& trials = texts.value("trials");
  if (const Value* condemned = saved.at_path("condemned");
      condemned != nullptr && condemned->as_list() != nullptr) {
    for (const Value& path : *condemned->as_list()) {
      record.condemned.push_back(path.as_text() != nullptr ? *path.as_text() : "");
    }
  }
  // Missing in snapshots of older builds.
  const Value* digest = saved.at_path("context_digest");
  record.context_digest = digest != nullptr && digest->as_text() != nullptr ? *digest->as_text() : "";
  const Value* bytes = saved.at_path("context_bytes");
  record.context_bytes = bytes != nullptr && bytes->as_integer() != nullptr
                             ? static_cast<std::uint64_t>(*bytes->as_integer())
                             : 0;
  const Value* notes = saved.at_path("notes");  // Missing in snapshots of older builds.
  if (notes != nullptr && (notes->as_list() == nullptr || !load_notes(*notes->as_list(), record.notes))) {
    return corrupt(which + ": its notes are malformed");
  }
  if (!load_source(saved.at_path("source"), record.source)) {  // Missing in snapshots of older builds.
    return corrupt(which + ": what its trials begin from is malformed");
  }
  if (!texts.good() || !numbers.finished()) {
    return corrupt(which + " is malformed");
  }
  ParsedConfig parsed = parse_config(record.effective, state.registry, "", 0);
  if (!parsed.config) {
    return corrupt(which + ": its config does not read here: " + describe(parsed.problems.front()));
  }
  record.config = std::move(*parsed.config);
  if (const Value& created_with = texts.value("created_with"); created_with.is_null()) {
    record.searcher = find_kind(state.registry, record.config.searcher.name)->make(record.config);
  } else {
    parsed = parse_config(created_with, state.registry, "", 0);
    if (!parsed.config) {
      return corrupt(which + ": its first config does not read here: " + describe(parsed.problems.front()));
    }
    record.searcher = find_kind(state.registry, parsed.config->searcher.name)->make(*parsed.config);
    record.created_with = created_with;
  }
  if (Status loaded = record.searcher->load(searcher); !loaded) {
    return corrupt(which + ": " + loaded.error().message);
  }
  record.hparams = HparamTable(record.config.space);
  if (!load_trials(trials, record) || (has_best && best.number() >= record.trials.size())) {
    return corrupt(which + ": its trials are malformed");
  }
  if (has_best) {
    record.best = best;
  }
  record.best_checkpoints =
      BestCheckpoints(record.config.retention.save_experiment_best, record.config.searcher.goal());
  record.best_checkpoints.find_anew(record.trials);
  if (!take_slots(state, record)) {
    return corrupt(which + ": a trial runs where there is no such slot");
  }
  if (!record.idempotency_key.empty()) {
    state.by_idempotency_key[record.idempotency_key] = record.id;
  }
  if (!is_ended(record.state)) {
    state.going.insert(record.id);
  }
  const ExperimentId id = record.id;
  if (!state.experiments.emplace(id, std::move(record)).second) {
    return corrupt(which + " stands there twice");
  }
  return Done{};
}

std::string save_numbering(const Numbering& numbering) {
  DigitWriter numbers;
  numbers.count(numbering.spans().size());
  for (const Numbering::Span& span : numbering.spans()) {
    numbers.count(span.behind.number());
    numbers.count(span.from);
  }
  return numbers.take();
}

/// `saved`: nullptr for a log that was never restored.
bool load_numbering(const Value* saved, Numbering& numbering) {
  if (saved == nullptr) {
    return true;
  }
  if (saved->as_text() == nullptr) {
    return false;
  }
  DigitReader numbers(*saved->as_text());
  for (std::uint64_t left = numbers.count(); left > 0 && numbers.good(); --left) {
    const Lsn behind(numbers.count());
    const std::uint64_t from = numbers.count();
    if (!numbering.may_begin_anew(behind, from)) {
      return false;
    }
    numbering.begin_anew(behind, from);
  }
  return numbers.finished();
}

}  // namespace

Value save_state(const EngineState& state) {
  DigitWriter numbers;
  numbers.count(state.last_lsn.number());
  numbers.integer(state.last_instant.micros());
  numbers.count(state.last_trial_id);
  Value::List workers;
  for (const auto& [id, worker] : state.workers) {
    workers.push_back(save_worker(worker));
  }
  Value::List experiments;
  for (const auto& [id, record] : state.experiments) {
    experiments.push_back(save_experiment(record));
  }
  Value::Map saved{{"format", format},
                   {"numbers", numbers.take()},
                   {"workers", std::move(workers)},
                   {"experiments", std::move(experiments)}};
  if (!state.numbering.spans().empty()) {
    saved["restored"] = save_numbering(state.numbering);
  }
  return saved;
}

Status load_state(const Value& saved, EngineState& state) {
  const Value* written = saved.at_path("format");
  if (written == nullptr || written->as_integer() == nullptr) {
    return corrupt("it does not name its format");
  }
  if (*written->as_integer() != format) {
    return Error{Errc::version_mismatch, "the snapshot has format " + std::to_string(*written->as_integer()) +
                                             ", this build reads " + std::to_string(format)};
  }
  SavedTexts texts(saved);
  DigitReader numbers(texts.text("numbers"));
  state.last_lsn = Lsn(numbers.count());
  state.last_instant = Instant::from_micros(numbers.integer());
  state.last_trial_id = numbers.count();
  if (!load_numbering(saved.at_path("restored"), state.numbering)) {
    return corrupt("how its leases are numbered is malformed");
  }
  const Value::List& workers = texts.list("workers");
  const Value::List& experiments = texts.list("experiments");
  if (!texts.good() || !numbers.finished()) {
    return corrupt("it is malformed");
  }
  for (const Value& worker : workers) {
    if (!load_worker(worker, state)) {
      return corrupt("a worker is malformed");
    }
  }
  for (const Value& experiment : experiments) {
    if (Status loaded = load_experiment(experiment, state); !loaded) {
      return loaded;
    }
  }
  for (const auto& [id, record] : state.experiments) {
    const auto from =
        record.source ? state.experiments.find(record.source->experiment) : state.experiments.end();
    if (record.source &&
        (from == state.experiments.end() || record.source->trial.number() >= from->second.trials.size())) {
      return corrupt("experiment " + std::to_string(id.number()) + " begins from a trial that is not there");
    }
  }
  note_delayed_starts(state, state.last_instant);
  for (const auto& [id, worker] : state.workers) {
    note_vacancy(state, worker);
  }
  for (const ExperimentId id : state.going) {
    touch(state, state.experiments.at(id));
  }
  return Done{};
}

}  // namespace hpsearch::engine
