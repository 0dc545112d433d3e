#include "hpsearch/workers/core/worker_machine.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "hpsearch/engine/alloc/queue.hpp"

namespace hpsearch::workers {

using engine::AttemptKey;
using engine::Duration;
using engine::Instant;
using engine::SlotIndex;

namespace {

// An acknowledged exit is final; a lease that arrives afterwards can only be a repeated message.
constexpr std::size_t remembered_attempts = 4096;
// 1 + 2 + 4 + 8 seconds without acknowledgement on an open connection: the daemon has no such
// session.
constexpr unsigned resends_before_new_session = 4;
// Limits of unacknowledged bytes, for all attempts together and for one: enough to use a slow network, little
// enough that reports kept during an outage don't overflow the connection's queue when the daemon returns. A
// daemon with a backlog grants less (take_credit).
constexpr std::size_t window_of_all = std::size_t{4} * 1024 * 1024;
constexpr std::size_t window_of_one = std::size_t{1} * 1024 * 1024;

// Each is at most a few MiB, most are a few kB: more at once would only share the bandwidth.
constexpr std::size_t most_logs_under_way = 4;
constexpr std::size_t most_logs_waiting = 1000;

bool overlap(const std::vector<SlotIndex>& a, const std::vector<SlotIndex>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&b](SlotIndex slot) { return std::find(b.begin(), b.end(), slot) != b.end(); });
}

std::optional<Instant> earlier(std::optional<Instant> a, std::optional<Instant> b) {
  if (!a || !b) {
    return a ? a : b;
  }
  return std::min(*a, *b);
}

}  // namespace

WorkerMachine::WorkerMachine(WorkerIdentity identity, WorkerRules rules, engine::Draw draw)
    : identity_(std::move(identity)),
      rules_(rules),
      backoff_(rules.first_retry, rules.longest_retry, draw),
      probe_wait_(rules.first_probe) {
  hellos_ = void_hellos_ = identity_.incarnation << 32U;
  take_credit(0);
}

WorkerMachine::State WorkerMachine::state() const noexcept {
  if (over_) {
    return State::over;
  }
  if (draining_) {
    return State::draining;
  }
  return session_ == Session::ready ? State::ready : State::hello;
}

WorkerStatus WorkerMachine::status() const {
  WorkerStatus status{.connected = session_ == Session::ready, .slots = identity_.slots};
  std::set<SlotIndex> unusable;
  for (const engine::SlotTrouble& trouble : troubles()) {
    unusable.insert(trouble.slot);
  }
  for (const UnusableSlot& taken : identity_.shared ? identity_.shared->taken : std::vector<UnusableSlot>()) {
    unusable.insert(taken.slot);
  }
  std::set<SlotIndex> busy;
  for (const auto& [key, attempt] : attempts_) {
    const bool over = attempt.exited();
    ++(over ? status.ended : attempt.waits() ? status.waiting : status.running);
    if (attempt.leaves_leaked_processes()) {
      unusable.insert(attempt.spec().slots.begin(), attempt.spec().slots.end());
    } else if (!over && !attempt.waits()) {
      busy.insert(attempt.spec().slots.begin(), attempt.spec().slots.end());
    }
    status.unacknowledged += attempt.unacknowledged();
    status.attempts.push_back(key);
  }
  for (const SlotIndex slot : busy) {
    unusable.erase(slot);
  }
  status.busy = busy.size();
  status.out_of_use = unusable.size();
  return status;
}

std::vector<Effect> WorkerMachine::start(Instant now, std::vector<SpooledAttempt> found, KnownDaemon known) {
  known_ = known;
  names_known_ = !found.empty();
  AttemptOutput out;
  for (SpooledAttempt& attempt : found) {
    const AttemptKey key = attempt.spec.key;
    attempts_.emplace(key, AttemptMachine(std::move(attempt), rules_.attempt)).first->second.attach(out);
  }
  end_on_broken_slots(out);
  carry_out(std::move(out));
  alone_since_ = now;
  if (rules_.time_limit > Duration{}) {
    ends_at_ = now + rules_.time_limit;
  }
  if (rules_.asks_time_left) {
    effects_.emplace_back(AskTimeLeft{});
  }
  effects_.emplace_back(NewConnection{});
  send_hello(now);
  return std::exchange(effects_, {});
}

std::vector<Effect> WorkerMachine::step(const Input& input, Instant now) {
  if (!over_) {
    std::visit([&](const auto& known) { on_event(known, now); }, input);
    settle(now);
  }
  return std::exchange(effects_, {});
}

std::optional<Instant> WorkerMachine::next_wake() const noexcept {
  if (over_) {
    return std::nullopt;
  }
  std::optional<Instant> wake =
      earlier(earlier(leave_at_, abandon_at_), session_ == Session::ready ? beat_at_ : hello_at_);
  if (session_ == Session::ready) {
    wake = earlier(wake, check_checkpoints_at_);
  }
  for (const auto& [key, attempt] : attempts_) {
    wake = earlier(wake, attempt.next_wake());
  }
  const bool waits = std::any_of(attempts_.begin(), attempts_.end(),
                                 [](const auto& entry) { return entry.second.waits_at_length(); });
  wake =
      earlier(wake, draining_ ? std::nullopt : earlier(earlier(useless_at(), gives_back_at()), ask_left_at_));
  return earlier(earlier(earlier(wake, probe_at_), orphans_due()), waits ? pauses_due() : std::nullopt);
}

// --- inputs ---

void WorkerMachine::on_event(const ProgramStarted& started, Instant now) {
  if (AttemptMachine* attempt = find(started.key)) {
    AttemptOutput out;
    attempt->started(now, out);
    carry_out(std::move(out));
  }
}

void WorkerMachine::on_event(const ProgramNotStarted& not_started, Instant now) {
  if (AttemptMachine* attempt = find(not_started.key)) {
    AttemptOutput out;
    using Cause = engine::ExitReport::Cause;
    attempt->not_started(not_started.why,
                         not_started.checkpoint_gone                           ? Cause::checkpoint_gone
                         : not_started.not_its_fault || not_started.disk_fails ? Cause::lost
                                                                               : Cause::could_not_start,
                         not_started.status, out);
    if (not_started.disk_fails) {
      suspect_disk(not_started.why, now, attempt->key());
    }
    carry_out(std::move(out));
  }
}

void WorkerMachine::on_event(const ProgramMessageReceived& said, Instant now) {
  if (AttemptMachine* attempt = find(said.key)) {
    AttemptOutput out;
    attempt->said(said, now, out);
    carry_out(std::move(out));
  }
}

void WorkerMachine::on_event(const CheckpointPublished& published, Instant now) {
  if (AttemptMachine* attempt = find(published.key)) {
    AttemptOutput out;
    attempt->published(published.report, now, out);
    carry_out(std::move(out));
  }
}

void WorkerMachine::on_event(const CheckpointNotPublished& not_published, Instant now) {
  if (AttemptMachine* attempt = find(not_published.key)) {
    AttemptOutput out;
    attempt->not_published(not_published.was_empty, not_published.why, now, out);
    carry_out(std::move(out));
  }
}

void WorkerMachine::on_event(const ProgramEnded& ended, Instant now) {
  if (AttemptMachine* attempt = find(ended.key)) {
    AttemptOutput out;
    const bool remained = attempt->leaves_leaked_processes();
    attempt->ended(ended, out);
    carry_out(std::move(out));
    if (remained && beat_at_) {
      beat_at_ = now;
    }
  }
}

void WorkerMachine::on_event(const ProgramStuck& stuck, Instant /*now*/) {
  if (AttemptMachine* attempt = find(stuck.key)) {
    AttemptOutput out;
    attempt->stuck(stuck.why, out, stuck.end);
    carry_out(std::move(out));
  }
}

void WorkerMachine::on_event(const ProgramLost& lost, Instant now) {
  if (AttemptMachine* attempt = find(lost.key)) {
    AttemptOutput out;
    const bool remained = attempt->leaves_leaked_processes();
    attempt->lost(lost.why, out);
    carry_out(std::move(out));
    if (remained && beat_at_) {
      beat_at_ = now;
    }
  }
}

void WorkerMachine::on_event(const SpoolWritten& written, Instant now) {
  if (AttemptMachine* attempt = find(written.key)) {
    AttemptOutput out;
    const bool reported_leaked_processes = attempt->reports_leaked_processes();
    attempt->spool_written(written.write, now, out);
    carry_out(std::move(out));
    if (attempt->reports_leaked_processes() && !reported_leaked_processes && beat_at_) {
      beat_at_ = now;
    }
  }
}

void WorkerMachine::on_event(const SpoolNotWritten& not_written, Instant now) {
  if (AttemptMachine* attempt = find(not_written.key)) {
    AttemptOutput out;
    attempt->spool_not_written(not_written.write, not_written.why, now, out);
    if (not_written.disk_fails) {
      suspect_disk(not_written.why, now, attempt->key());
    }
    carry_out(std::move(out));
  }
}

void WorkerMachine::on_event(const JournalNotWritten& not_written, Instant now) {
  suspect_disk(not_written.why, now);
}

void WorkerMachine::on_event(const DiskProbed& probed, Instant now) {
  if (disk_suspicion_) {
    const std::string why = std::move(disk_suspicion_->why);
    disk_suspicion_.reset();
    if (probed.why.empty()) {
      disk_proved_at_ =
          now;  // Only one attempt's files could not be written, and its program can cause that.
    } else {
      disk_fails(why, now);
    }
    return;
  }
  if (disk_trouble_.empty()) {
    return;
  }
  if (!probed.why.empty()) {
    probe_at_ = now + backoff_.about(probe_wait_);
    return;
  }
  notice(Notice::Level::info, "the state directory can be written again");
  disk_trouble_.clear();
  probe_at_.reset();
  disk_well_since_ = now;
  if (beat_at_) {
    beat_at_ = now;
  }
}

/// No attempt is stopped: an experiment may use another directory, or store nothing.
void WorkerMachine::on_event(const CheckpointRootChecked& checked, Instant now) {
  if (checked.root != checkpoint_root_) {
    return;  // The daemon uses another directory now.
  }
  check_checkpoints_at_.reset();
  if (!checked.why.empty()) {
    check_checkpoints_at_ = now + backoff_.about(rules_.check_checkpoints_after);
  }
  if (std::exchange(checkpoint_problem_, checked.why) == checked.why) {
    return;
  }
  notice(checked.why.empty() ? Notice::Level::info : Notice::Level::warning,
         checked.why.empty()
             ? "checkpoints can be stored in " + checkpoint_root_ + " now"
             : "checkpoints of experiments without checkpoint_storage cannot be stored: " + checked.why);
  if (beat_at_) {
    beat_at_ = now;
  }
}

/// A write failed. A probe finds out whether the disk fails, or a program has changed its own
/// files. Until then the attempt sends nothing, because its trial would come back at once.
void WorkerMachine::suspect_disk(const std::string& why, Instant now, const std::optional<AttemptKey>& of) {
  const bool proved = disk_proved_at_ && now - *disk_proved_at_ < rules_.first_probe;
  if (disk_trouble_.empty() && !disk_suspicion_ && !proved) {
    disk_suspicion_ = Suspicion{why, of};
    effects_.emplace_back(ProbeDisk{});
  }
}

/// Running programs continue; new ones aren't started.
void WorkerMachine::disk_fails(const std::string& why, Instant now) {
  // If probes succeed but writes still fail, the wait grows each time, because each try costs a trial a
  // start.
  const bool soon = disk_well_since_ && now - *disk_well_since_ < rules_.longest_probe;
  probe_wait_ = soon ? std::min(rules_.longest_probe, probe_wait_ + probe_wait_) : rules_.first_probe;
  probe_at_ = now + backoff_.about(probe_wait_);
  disk_trouble_ = why;
  notice(Notice::Level::error,
         "no trial is begun here until the state directory can be written again: " + why);
  if (session_ == Session::ready) {
    send_beat(now);
  }
}

void WorkerMachine::on_event(const LogWasRead& read, Instant /*now*/) {
  send(read.part);
}

void WorkerMachine::on_event(const LogHandedOver& handed, Instant /*now*/) {
  if (AttemptMachine* attempt = find(handed.key)) {
    AttemptOutput out;
    attempt->log_handed_over(handed.delivery, handed.problem, out);
    carry_out(std::move(out));
  }
}

void WorkerMachine::on_event(const StopAsked& /*asked*/, Instant now) {
  const bool again = std::exchange(draining_, true);
  stop_asked_at_ = again ? stop_asked_at_ : now;
  AttemptOutput out;
  for (auto& [key, attempt] : attempts_) {
    if (again) {
      attempt.kill_now(out);
      attempt.give_up_log("its worker was asked to end at once", out);
    } else {
      attempt.end_now(now, out);
    }
  }
  if (!again && session_ == Session::ready) {
    send_beat(
        now);  // Before the exits, because otherwise the daemon would lease their trials to this worker.
  }
  carry_out(std::move(out));
}

void WorkerMachine::on_event(const SendingFiles& sending, Instant /*now*/) {
  sends_files_ = sending.goes_on;
}

/// A signal from outside may come again, and later than another one that left more time.
void WorkerMachine::on_event(const GiveBackAsked& asked, Instant now) {
  constexpr Duration near = Duration::seconds(900);
  const bool at_its_end = asked.is_warning && ends_at_ && *ends_at_ - now <= near;
  give_back(at_its_end         ? std::string(engine::left_at_its_end)
            : asked.is_warning ? "its time is almost over"
                               : "asked to stop",
            now + asked.within, now);
}

void WorkerMachine::on_event(const AttemptsMeasured& measured, Instant /*now*/) {
  measured_ = measured.now;
}

/// Asks again in a quarter of the time that is left: the end may have been moved, and not into the past.
void WorkerMachine::on_event(const TimeLeftLearned& learned, Instant now) {
  constexpr Duration tolerance = Duration::seconds(5);
  constexpr Duration shortest = Duration::seconds(10);
  constexpr Duration longest = Duration::seconds(300);
  if (learned.left) {
    const Instant end = now + *learned.left;
    const bool moved = !ends_at_ || end - *ends_at_ > tolerance || *ends_at_ - end > tolerance;
    ends_at_ = end;
    if (moved && beat_at_) {
      beat_at_ = now;
    }
  }
  const auto until_then = gives_back_at() ? *gives_back_at() - now : longest;
  ask_left_at_ = now + std::clamp(Duration::micros(until_then.in_micros() / 4), shortest, longest);
}

std::optional<Instant> WorkerMachine::gives_back_at() const noexcept {
  return ends_at_ && !given_back_by_ ? std::optional(*ends_at_ - rules_.give_back) : std::nullopt;
}

std::optional<engine::TimeLeft> WorkerMachine::time_left(Instant now) const noexcept {
  if (!ends_at_) {
    return std::nullopt;
  }
  const Duration left = std::max(*ends_at_ - now, Duration{});
  return engine::TimeLeft{left, std::max(left - rules_.give_back, Duration{})};
}

void WorkerMachine::watch_its_end(Instant now) {
  if (draining_) {
    return;
  }
  if (ask_left_at_ && now >= *ask_left_at_) {
    ask_left_at_.reset();
    effects_.emplace_back(AskTimeLeft{});
  }
  if (const auto at = gives_back_at(); at && now >= *at) {
    give_back(std::string(engine::left_at_its_end), *ends_at_, now);
  }
}

void WorkerMachine::give_back(const std::string& why, Instant until, Instant now) {
  until = ends_at_ ? std::min(until, *ends_at_) : until;
  if (given_back_by_ && until >= *given_back_by_) {
    return;
  }
  given_back_by_ = until;
  const bool first = !std::exchange(draining_, true);
  if (first) {
    stop_asked_at_ = now;
    draining_because_ = why;
    notice(Notice::Level::info, "ends its programs: " + why);
  }
  // Most of a long time is for checkpoints; of a short one a third, and half for what ignores the request.
  constexpr Duration enough = Duration::seconds(60);
  const Duration time = std::max(until - now, Duration{});
  const auto part = [time](std::int64_t of) { return Duration::micros(time.in_micros() / of); };
  const Duration reserve = std::min(enough, part(3) + part(3));
  const GiveBack order{
      why == engine::left_at_its_end ? "its worker's time is over" : "its worker ends: " + why,
      until - reserve, until - std::min(Duration::micros(enough.in_micros() / 2), part(6))};
  AttemptOutput out;
  for (auto& [key, attempt] : attempts_) {
    attempt.give_back(order, now, out);
  }
  if (first && session_ == Session::ready) {
    send_beat(
        now);  // Before the exits, because otherwise the daemon would lease their trials to this worker.
  }
  carry_out(std::move(out));
}

void WorkerMachine::on_event(const LeaveAsked& /*asked*/, Instant /*now*/) {
  over_ = true;  // Without a GOODBYE, which would mean that the programs have exited.
  effects_.emplace_back(EndAgent{false, "asked to leave its programs to the next worker"});
}

void WorkerMachine::on_event(const DevicesJudged& judged, Instant now) {
  if (identity_.unusable == judged.unusable) {
    return;
  }
  for (const UnusableSlot& unusable : judged.unusable) {
    if (std::find(identity_.unusable.begin(), identity_.unusable.end(), unusable) ==
        identity_.unusable.end()) {
      notice(Notice::Level::error,
             "slot " + std::to_string(unusable.slot.number()) + " is out of use: " + unusable.why);
    }
  }
  for (const UnusableSlot& before : identity_.unusable) {
    const bool still =
        std::any_of(judged.unusable.begin(), judged.unusable.end(),
                    [&before](const UnusableSlot& unusable) { return unusable.slot == before.slot; });
    if (!still) {
      notice(Notice::Level::info, "slot " + std::to_string(before.slot.number()) + " is well again");
    }
  }
  identity_.unusable = judged.unusable;
  AttemptOutput out;
  end_on_broken_slots(out);
  carry_out(std::move(out));
  if (beat_at_) {
    beat_at_ = now;  // Before the daemon leases them again.
  }
}

void WorkerMachine::on_event(const SlotsTaken& taken, Instant now) {
  identity_.shared = taken;
  if (beat_at_) {
    beat_at_ = now;  // Others wait for the answer.
  }
}

void WorkerMachine::on_event(const TimePassed& /*passed*/, Instant now) {
  AttemptOutput out;
  bool is_unanswered = false;
  for (auto& [key, attempt] : attempts_) {
    attempt.check_timers(now, out);
    is_unanswered = is_unanswered || attempt.unanswered_resends() > resends_before_new_session;
  }
  carry_out(std::move(out));
  end_orphans(now);
  if (probe_at_ && now >= *probe_at_) {
    probe_at_.reset();
    effects_.emplace_back(ProbeDisk{});
  }
  if (check_checkpoints_at_ && now >= *check_checkpoints_at_ && session_ == Session::ready) {
    check_checkpoints_at_.reset();
    effects_.emplace_back(CheckCheckpointRoot{checkpoint_root_, known_.cluster});
  }
  if (session_ == Session::ready && is_unanswered) {
    notice(Notice::Level::warning, "the daemon does not acknowledge reports; starting a new session");
    lose_session(now);
  }
  if (session_ == Session::ready && beat_at_ && now >= *beat_at_) {
    beat_at_ = now + backoff_.about(beat_every_);
    send_beat(now);
  }
  if (session_ == Session::hello && hello_at_ && now >= *hello_at_) {
    if (hello_sent_) {
      effects_.emplace_back(NewConnection{});  // Messages may be lost with the old connection.
    }
    send_hello(now);
  }
}

void WorkerMachine::on_message(const proto::Lease& lease, Instant now) {
  const AttemptKey& key = lease.spec.key;
  AttemptOutput out;
  if (AttemptMachine* attempt = find(key)) {
    attempt->lease_again(out);
  } else if (!draining_ && !done_.contains(key)) {
    AttemptMachine& fresh = attempts_.emplace(key, AttemptMachine(lease.spec, rules_.attempt)).first->second;
    if (const std::string why = missing_slot(lease.spec); !why.empty()) {
      fresh.refuse(why, out);
    } else if (const std::string problem = problem_of(lease.spec, false); !problem.empty()) {
      fresh.node_failed(problem, out);  // It was leased before the daemon got the problem.
    }
  }
  carry_out(std::move(out));
  start_waiting_attempts(now);
}

/// For any grant, each attempt may have one batch in flight (settle): its acknowledgement brings the next
/// grant. So no grant has to be sent separately, and no report waits for a grant
/// forever.
void WorkerMachine::take_credit(std::uint64_t granted) noexcept {
  credit_ = granted == 0 ? window_of_all : std::min<std::uint64_t>(granted, window_of_all);
}

void WorkerMachine::on_message(const proto::Ack& ack, Instant now) {
  take_credit(ack.credit);
  if (AttemptMachine* attempt = find(ack.key)) {
    AttemptOutput out;
    attempt->answered(ack.upto, now, out);
    carry_out(std::move(out));
  }
}

void WorkerMachine::on_message(const proto::Nack& nack, Instant now) {
  if (AttemptMachine* attempt = find(nack.key)) {
    attempt->resend_from(nack.expect, now);
  }
}

void WorkerMachine::on_message(const proto::Decide& decide, Instant now) {
  AttemptMachine* attempt = find(decide.key);
  if (attempt == nullptr) {
    send(proto::DecisionAck{
        decide.key, decide.decision.id});  // The attempt is over; the daemon needn't repeat the decision.
    return;
  }
  AttemptOutput out;
  attempt->decided(decide.decision, now, out);
  carry_out(std::move(out));
}

void WorkerMachine::on_message(const proto::Fenced& fenced, Instant /*now*/) {
  if (AttemptMachine* attempt = find(fenced.key)) {
    AttemptOutput out;
    attempt->fenced(out);
    carry_out(std::move(out));
  }
}

void WorkerMachine::on_message(const proto::Hold& hold, Instant /*now*/) {
  if (AttemptMachine* attempt = find(hold.key)) {
    attempt->hold();
  }
}

void WorkerMachine::on_message(const proto::Wanted& wanted, Instant /*now*/) {
  effects_.emplace_back(SlotsWanted{wanted.slots, wanted.number});
}

void WorkerMachine::on_message(const proto::ReadLog& request, Instant /*now*/) {
  effects_.emplace_back(ReadLogPart{request});
}

// --- helpers ---

void WorkerMachine::carry_out(AttemptOutput out) {
  for (Effect& effect : out.effects) {
    effects_.push_back(std::move(effect));
  }
  for (proto::FromWorker& message : out.messages) {
    send(std::move(message));
  }
}

/// Starts a few deliveries at a time, in the order of their keys. If logs come faster than the daemon accepts
/// them, the number of waiting ones must not grow without limit.
void WorkerMachine::hand_over_logs(Instant now, AttemptOutput& out) {
  const auto count = [this](bool (AttemptMachine::*which)() const noexcept) {
    return static_cast<std::size_t>(std::count_if(
        attempts_.begin(), attempts_.end(), [which](const auto& entry) { return (entry.second.*which)(); }));
  };
  std::size_t waiting = count(&AttemptMachine::log_waits);
  std::size_t under_way = waiting > 0 ? count(&AttemptMachine::log_under_way) : 0;
  for (auto at = attempts_.begin(); at != attempts_.end() && waiting > 0; ++at) {
    if (!at->second.log_waits()) {
      continue;
    }
    if (waiting > most_logs_waiting) {
      at->second.give_up_log("more than " + std::to_string(most_logs_waiting) + " logs wait to be taken",
                             out);
    } else if (under_way < most_logs_under_way) {
      at->second.hand_over_log(now, out);
      ++under_way;
    } else {
      return;
    }
    --waiting;
  }
}

void WorkerMachine::settle(Instant now) {
  start_waiting_attempts(now);
  AttemptOutput out;
  if (session_ == Session::ready) {
    hand_over_logs(now, out);
  }
  const std::size_t window = std::clamp(credit_ / std::max<std::size_t>(1, attempts_.size()),
                                        rules_.attempt.batch_bytes, window_of_one);
  const std::optional<Instant> pauses = pauses_due();
  for (auto at = attempts_.begin(); at != attempts_.end();) {
    if (at->second.finished()) {
      done_.insert(at->first);
      adopted_.erase(at->first);
      at = attempts_.erase(at);
      continue;
    }
    if (pauses && now >= *pauses && at->second.waits_at_length()) {
      at->second.pause_alone(now, out);
    }
    at->second.spool(now, out);
    if (session_ == Session::ready && !(disk_suspicion_ && disk_suspicion_->of == at->first)) {
      at->second.send(now, window, out);
    }
    ++at;
  }
  while (done_.size() > remembered_attempts) {
    done_.erase(done_.begin());
  }
  carry_out(std::move(out));
  end_when_useless(now);
  watch_its_end(now);
  end_when_done(now);
}

void WorkerMachine::start_waiting_attempts(Instant /*now*/) {
  if (draining_) {
    return;
  }
  for (auto& [key, attempt] : attempts_) {
    if (attempt.waits() && !must_wait(attempt)) {
      attempt.start();
    }
  }
}

/// Whether the slots are still used: the daemon may lease slots whose old program is being ended, or the same
/// attempt again.
bool WorkerMachine::must_wait(const AttemptMachine& attempt) const {
  return std::any_of(attempts_.begin(), attempts_.end(), [&attempt](const auto& entry) {
    const AttemptMachine& other = entry.second;
    const AttemptKey& a = attempt.key();
    const AttemptKey& b = other.key();
    const bool same_place =
        a.experiment == b.experiment && a.trial == b.trial && engine::label_of(a) == engine::label_of(b);
    const bool same_slots = overlap(other.spec().slots, attempt.spec().slots);
    const bool leaked_processes = other.leaves_leaked_processes() && !attempt.spec().despite_leaked_processes;
    const bool uses_them = !other.waits() && !other.exited() && !other.leaves_leaked_processes();
    return &other != &attempt &&
           ((uses_them && (same_place || same_slots)) || (leaked_processes && same_slots));
  });
}

void WorkerMachine::end_on_broken_slots(AttemptOutput& out) {
  for (auto& [key, attempt] : attempts_) {
    if (const std::string why = problem_of(attempt.spec(), true); !why.empty()) {
      attempt.node_failed(why, out);
    }
  }
}

std::string WorkerMachine::problem_of(const jobs::LaunchSpec& spec, bool broken_only) const {
  if (spec.despite_leaked_processes) {
    return "";  // An operator has decided.
  }
  if (!disk_trouble_.empty() && !broken_only) {
    return "its worker's disk failed: " + disk_trouble_;
  }
  for (const UnusableSlot& unusable : identity_.unusable) {
    const bool named = std::find(spec.slots.begin(), spec.slots.end(), unusable.slot) != spec.slots.end();
    if (named && (unusable.broken || !broken_only)) {
      return "its node failed: " + unusable.why;
    }
  }
  return "";
}

std::vector<engine::SlotTrouble> WorkerMachine::troubles() const {
  std::vector<engine::SlotTrouble> all;
  for (const UnusableSlot& unusable : identity_.unusable) {
    all.push_back({unusable.slot, unusable.why});
  }
  for (std::uint64_t number = 0; number < identity_.slots && !disk_trouble_.empty(); ++number) {
    const SlotIndex slot(number);
    const bool is_reported =
        std::any_of(all.begin(), all.end(), [slot](const auto& trouble) { return trouble.slot == slot; });
    if (!is_reported) {
      all.push_back(
          {slot, number == 0 ? disk_trouble_ : "its worker's disk takes nothing"});  // Keeps a beat short.
    }
  }
  return all;
}

std::optional<proto::SharedSlots> WorkerMachine::shared_slots() const {
  if (!identity_.shared) {
    return std::nullopt;
  }
  proto::SharedSlots shared{.number = identity_.shared->number};
  for (const UnusableSlot& taken : identity_.shared->taken) {
    shared.taken.push_back({taken.slot, taken.why});
  }
  return shared;
}

std::string WorkerMachine::missing_slot(const jobs::LaunchSpec& spec) const {
  for (const SlotIndex slot : spec.slots) {
    if (slot.number() >= identity_.slots) {
      return "slot " + std::to_string(slot.number()) + " was leased, but worker " + identity_.name +
             " has only " + std::to_string(identity_.slots);
    }
  }
  return "";
}

void WorkerMachine::end_when_done(Instant now) {
  const bool refused = session_ == Session::refused;
  if (!(draining_ || refused)) {
    return;
  }
  if (std::any_of(attempts_.begin(), attempts_.end(),
                  [](const auto& entry) { return !entry.second.exited(); })) {
    drop_unknown_attempts(now);
    return;
  }
  abandon_at_.reset();
  // Files on the node of an allocation are lost when it has ended; elsewhere the next worker sends them.
  const bool must_send = sends_files_ && session_ == Session::ready && !identity_.allocation.empty();
  if (!refused && (!attempts_.empty() || must_send)) {
    // Waits briefly for the exits: if they are sent now, their trials run elsewhere at once. Exits that are
    // not on disk can't be sent, and a slow disk needs time.
    if (!leave_at_) {
      leave_at_ = now + rules_.longest_goodbye;
    }
    if (!disk_trouble_.empty()) {
      leave_at_ = std::min(*leave_at_, end_of_grace(now));  // Space may become free, but it is unknown when.
    }
    const bool heard = session_ == Session::ready;  // Otherwise the daemon accepts no logs.
    if (!exits_written_ && !must_send &&
        std::all_of(attempts_.begin(), attempts_.end(), [heard](const auto& entry) {
          return entry.second.all_written() && !(heard && entry.second.log_pending());
        })) {
      exits_written_ = true;
      leave_at_ = std::min(*leave_at_, now + rules_.goodbye);
    }
    if (now < *leave_at_) {
      return;
    }
  }
  if (!refused) {
    send(proto::Goodbye{draining_because_});
  }
  over_ = true;
  effects_.emplace_back(EndAgent{refused && !draining_, refused ? refused_because_ : draining_because_});
}

std::optional<Instant> WorkerMachine::useless_at() const noexcept {
  if (session_ == Session::ready) {
    return idle_since_ && rules_.ends_when_idle_for > Duration{}
               ? std::optional(*idle_since_ + rules_.ends_when_idle_for)
               : std::nullopt;
  }
  return rules_.ends_when_alone_for > Duration{} ? std::optional(alone_since_ + rules_.ends_when_alone_for)
                                                 : std::nullopt;
}

/// What an allocation costs is of no use then: it ends like a worker that is asked to stop.
void WorkerMachine::end_when_useless(Instant now) {
  if (session_ != Session::ready || !attempts_.empty() || sends_files_) {
    idle_since_.reset();
  } else if (!idle_since_) {
    idle_since_ = now;
  }
  const std::optional<Instant> at = useless_at();
  if (draining_ || !at || now < *at) {
    return;
  }
  const bool idle = session_ == Session::ready;
  draining_ = true;
  stop_asked_at_ = now;
  draining_because_ = idle ? std::string(engine::left_idle) : "no daemon";
  notice(Notice::Level::info, idle ? "ends: it had no trial for so long (--idle-timeout)"
                                   : "ends: no daemon answered for so long (--give-up-after)");
  AttemptOutput out;
  for (auto& [key, attempt] : attempts_) {
    attempt.end_now(now, out);
  }
  if (idle) {
    send_beat(now);  // Or the daemon leases to this very worker.
  }
  carry_out(std::move(out));
}

/// A worker that is asked to stop should take no longer than the grace of its programs.
Instant WorkerMachine::end_of_grace(Instant now) const noexcept {
  return std::max(stop_asked_at_ + rules_.attempt.grace, now + rules_.goodbye);
}

/// The end of a program is known once its shim has written it. After all are killed, the worker doesn't wait
/// forever for a failing disk: the next agent reads the ends.
void WorkerMachine::drop_unknown_attempts(Instant now) {
  const bool killed = std::all_of(attempts_.begin(), attempts_.end(), [](const auto& entry) {
    return entry.second.exited() || entry.second.was_killed();
  });
  if (!draining_ || !killed || disk_trouble_.empty()) {
    abandon_at_.reset();
    return;
  }
  if (!abandon_at_) {
    abandon_at_ = end_of_grace(now);
  }
  if (now >= *abandon_at_) {
    over_ = true;  // Without a GOODBYE: the ends of some programs haven't been sent.
    effects_.emplace_back(
        EndAgent{false, "asked to stop; how its programs ended cannot be written down: " + disk_trouble_});
  }
}

std::optional<Instant> WorkerMachine::orphans_due() const noexcept {
  const bool waits = rules_.orphans_end_after > Duration{} && !orphans_ended_ && session_ != Session::ready;
  return waits && !attempts_.empty() ? std::optional(alone_since_ + rules_.orphans_end_after) : std::nullopt;
}

/// Waiting programs get no decision before a daemon returns, and can then resume from their checkpoints.
/// Programs below their lengths still train.
std::optional<Instant> WorkerMachine::pauses_due() const noexcept {
  const bool alone = rules_.orphans_pause_after > Duration{} && session_ != Session::ready;
  return alone ? std::optional(alone_since_ + rules_.orphans_pause_after) : std::nullopt;
}

/// Ends programs whose daemon is away. Their trials resume from their last checkpoints when a daemon returns.
/// For machines that cost more than repeated training.
void WorkerMachine::end_orphans(Instant now) {
  const std::optional<Instant> due = orphans_due();
  if (!due || now < *due) {
    return;
  }
  orphans_ended_ = true;
  notice(Notice::Level::warning, "no daemon for " +
                                     std::to_string(rules_.orphans_end_after.in_micros() / 1'000'000) +
                                     " s: its programs are ended (--orphan-policy)");
  AttemptOutput out;
  for (auto& [key, attempt] : attempts_) {
    attempt.end_now(now, out);
  }
  carry_out(std::move(out));
}

void WorkerMachine::notice(Notice::Level level, std::string text) {
  effects_.emplace_back(Notice{level, std::move(text)});
}

std::optional<Keeping> WorkerMachine::keeping(const AttemptKey& key) {
  const AttemptMachine* attempt = find(key);
  return attempt == nullptr ? std::nullopt : std::optional(attempt->keeping());
}

AttemptMachine* WorkerMachine::find(const AttemptKey& key) {
  const auto at = attempts_.find(key);
  if (at != attempts_.end()) {
    return &at->second;
  }
  const auto renamed = std::find_if(adopted_.begin(), adopted_.end(),
                                    [&](const auto& entry) { return current_key(entry.first) == key; });
  return renamed == adopted_.end() ? nullptr : &attempts_.at(renamed->first);
}

AttemptKey WorkerMachine::current_key(AttemptKey key) const {
  const auto at = adopted_.find(key);
  if (at != adopted_.end()) {
    key.lease = at->second;
  }
  return key;
}

}  // namespace hpsearch::workers
