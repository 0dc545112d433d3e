#include "simulation/cluster/worker_node.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "hpsearch/workers/core/spool.hpp"
#include "simulation/cluster/probes.hpp"

namespace hpsearch::simulation {

using engine::AttemptKey;
using engine::Duration;
using engine::Instant;
using namespace workers;

namespace {

constexpr const char* disk_is_full_text = "no space left on device";

Duration millis(std::uint64_t count) {
  return Duration::millis(static_cast<std::int64_t>(count));
}

}  // namespace

WorkerNode::WorkerNode(VirtualTime& time, Faults& faults, Network& network, Promises& promises,
                       std::set<engine::AttemptKey>& bereaved, std::size_t number, std::uint64_t slots, std::uint64_t seed)
    : time_(time),
      faults_(faults),
      network_(network),
      promises_(promises),
      bereaved_(bereaved),
      number_(number),
      slots_(slots),
      seed_(seed),
      uid_("worker-" + std::to_string(number)),
      draw_(seed, engine::TrialNumber(number), "node"),
      agent_(time) {
  if (faults_.strikes(Fault::orphans_are_ended)) {
    orphans_end_after_ = Duration::seconds(static_cast<std::int64_t>(60 + draw_.below(3'600)));
  } else if (faults_.strikes(Fault::orphans_pause_at_their_rung)) {
    orphans_pause_after_ = Duration::seconds(static_cast<std::int64_t>(20 + draw_.below(600)));
  }
  if (faults_.strikes(Fault::daemon_under_load)) {
    batch_bytes_ = 100 + draw_.below(500);
  }
}

// --- life and death of the agent ---

void WorkerNode::boot() {
  if (agent_.alive()) {
    return;
  }
  ++starts_;
  agent_.begin(time_.now() + Duration::seconds(static_cast<std::int64_t>(draw_.below(1'000'000))));
  asked_to_stop_ = false;
  leaving_ = false;
  WorkerIdentity identity;
  identity.uid = uid_;
  identity.name = uid_;
  identity.incarnation = ++incarnation_;
  identity.boot_id = "boot " + std::to_string(boots_);
  identity.slots = slots_;
  identity.slot_kind = "gpu";
  identity.address = uid_;
  identity.ailing = ailing_;
  note_broken_devices();
  WorkerRules rules;
  rules.orphans_end_after = orphans_end_after_;
  rules.orphans_pause_after = orphans_pause_after_;
  if (batch_bytes_ > 0) {
    rules.attempt.batch_bytes = batch_bytes_;
  }
  in_session_at_ = time_.now();
  machine_.emplace(identity, rules, engine::Draw(seed_ + incarnation_, engine::TrialNumber(number_), "retry"));
  working_ = true;
  for (const Effect& effect : machine_->start(agent_.now(), read_spools(), known_)) {
    std::visit([this](const auto& known) { carry_out(known); }, effect);
  }
  work_off();
}

std::vector<SpooledAttempt> WorkerNode::read_spools() {
  std::vector<SpooledAttempt> found;
  for (auto at = attempts_.begin(); at != attempts_.end();) {
    KeptAttempt& attempt = *at->second;
    auto spooled = read_spool(attempt.spool);
    if (spooled) {
      reached(Probe::attempt_taken_over_by_the_next_agent);
      attempt.mine = false;
      attempt.stuck_told = false;
      attempt.end_told = false;
      found.push_back(*std::move(spooled));
      ++at;
      continue;
    }
    if (attempt.launched) {
      promises_.break_because("I2: the spool of a program that was started cannot be read: " +
                              spooled.error().message);
    }
    at = attempts_.erase(at);  // It was being made.
  }
  return found;
}

void WorkerNode::die() {
  agent_.kill();
  network_.worker_is_gone(number_);
  inputs_.clear();
  working_ = false;
  refused_ = false;
  wake_ = net::Watch();
  wake_at_.reset();
  ++starts_;
  for (const auto& [key, attempt] : attempts_) {
    settle_write(*attempt);
  }
}

/// A write that was under way when its writer died is on the disk wholly, in part or not at all.
void WorkerNode::settle_write(KeptAttempt& attempt) {
  const std::optional<WriteSpool> write = std::exchange(attempt.writing, std::nullopt);
  if (!write) {
    return;
  }
  const std::uint64_t fate = draw_.below(3);
  if (write->anew) {
    attempt.spool = fate == 0 ? write->bytes : attempt.spool;
    return;
  }
  reached(Probe::torn_write_of_a_spool);
  attempt.spool.append(write->bytes, 0, fate == 0   ? write->bytes.size()
                                        : fate == 1 ? draw_.below(write->bytes.size() + 1)
                                                    : 0);
}

void WorkerNode::start_again_after(Duration away) {
  time_.after(away, [this, start = starts_] {
    if (start == starts_) {
      boot();
    }
  });
}

void WorkerNode::crash_agent(Duration away) {
  if (agent_.alive()) {
    die();
    start_again_after(away);
  }
}

/// It is in the middle of something; nothing in a simulated machine takes less than a millisecond.
void WorkerNode::perhaps_crash_at_work() {
  if (faults_.strikes(Fault::agent_crash_at_work)) {
    time_.after(Duration::micros(500), [this, life = starts_, away = millis(100 + draw_.below(60'000))] {
      if (life == starts_) {
        crash_agent(away);
      }
    });
  }
}

void WorkerNode::reboot(Duration away) {
  die();
  ++boots_;
  for (const auto& [key, attempt] : attempts_) {
    lose_program(attempt);
    // What its keeper had not synced was handed in to nobody.
    const std::uint64_t synced = std::max(attempt->handed_in, attempt->dropped);
    if (!attempt->ended && synced < attempt->journal.size()) {
      attempt->journal.resize(synced + draw_.below(attempt->journal.size() - synced + 1));
    }
  }
  start_again_after(away);
}

void WorkerNode::stop_agent(Duration away) {
  if (agent_.alive() && !asked_to_stop_ && !leaving_) {
    asked_to_stop_ = true;
    away_ = away;
    agent_.deliver([this] { push(StopAsked{}); });
  }
}

void WorkerNode::leave(Duration away) {
  if (agent_.alive() && !asked_to_stop_ && !leaving_) {
    leaving_ = true;
    away_ = away;
    agent_.deliver([this] { push(LeaveAsked{}); });
  }
}

void WorkerNode::in_agent_after(std::uint64_t most_millis, std::function<void()> task) {
  time_.after(millis(1 + draw_.below(most_millis)), [this, life = starts_, task = std::move(task)] {
    if (life == starts_) {
      agent_.deliver(task);
    }
  });
}

WorkerNode::Kept WorkerNode::find(const AttemptKey& key) const {
  const auto found = attempts_.find(key);
  return found == attempts_.end() ? nullptr : found->second;
}

bool WorkerNode::runs(const AttemptKey& key) const {
  const Kept kept = find(key);
  return kept != nullptr && kept->runs();
}

bool WorkerNode::holds(const AttemptKey& key) const {
  const Kept kept = find(key);
  // What survives SIGKILL is held by nobody: its worker has ended it, and on a full disk cannot say so before it leaves.
  return agent_.alive() && kept != nullptr && kept->runs() && !kept->stuck;
}

// --- what reaches the agent ---

void WorkerNode::hear(const Frame& frame) {
  agent_.deliver([this, frame] {
    auto decoded = proto::decode_from_daemon(*frame);
    if (decoded) {
      note_credit(decoded->message);
      if (std::holds_alternative<proto::Welcome>(decoded->message)) {
        note_a_day_alone();
      }
      push(FrameReceived{*std::move(decoded)});
    }
  });
}

void WorkerNode::note_credit(const proto::FromDaemon& message) {
  const auto* welcome = std::get_if<proto::Welcome>(&message);
  const auto* ack = std::get_if<proto::Ack>(&message);
  if (welcome == nullptr && ack == nullptr) {
    return;
  }
  const std::uint64_t now = welcome != nullptr ? welcome->credit : ack->credit;
  if (now > 0) {
    reached(Probe::granted_less_credit);
  }
  if (credit_ > 0 && (now == 0 || now > credit_)) {
    reached(Probe::granted_more_credit_again);
  }
  credit_ = now;
}

void WorkerNode::note_a_day_alone() {
  constexpr Duration most_of_a_day = Duration::seconds(20LL * 3'600);
  const bool ran_on = std::any_of(attempts_.begin(), attempts_.end(), [this](const auto& entry) {
    return entry.second->runs() && entry.second->began_at < in_session_at_;
  });
  if (ran_on && time_.now() - in_session_at_ >= most_of_a_day) {
    reached(Probe::programs_ran_on_for_a_day_without_a_daemon);
  }
}

void WorkerNode::push(Input input) {
  inputs_.push_back(std::move(input));
  if (!std::exchange(working_, true)) {
    work_off();
  }
}

void WorkerNode::work_off() {
  while (agent_.alive()) {
    if (std::exchange(refused_, false)) {
      inputs_.emplace_front(SendRefused{});
    }
    if (inputs_.empty()) {
      break;
    }
    const Input input = std::move(inputs_.front());
    inputs_.pop_front();
    for (const Effect& effect : machine_->step(input, agent_.now())) {
      std::visit([this](const auto& known) { carry_out(known); }, effect);
    }
  }
  working_ = false;
  if (!agent_.alive()) {
    return;
  }
  const std::optional<Instant> next = machine_->next_wake();
  if (next == wake_at_ && wake_) {
    return;
  }
  wake_at_ = next;
  wake_ = net::Watch();
  if (next) {
    const std::int64_t wait = std::max<std::int64_t>(0, (*next - agent_.now()).in_micros());
    wake_ = agent_.after(std::chrono::microseconds(wait), [this] {
      wake_ = net::Watch();
      push(TimePassed{});
    });
  }
}

// --- programs and their keepers ---

void WorkerNode::carry_out(const StartProgram& start) {
  perhaps_crash_at_work();
  in_agent_after(800, [this, spec = start.spec] { launch(spec); });
}

void WorkerNode::launch(const engine::LaunchSpec& spec) {
  const Kept kept = find(spec.key);
  if (!kept || kept->spool.empty()) {
    promises_.break_because("I2: a program is started whose lease is not on the worker's disk");
    return;
  }
  kept->mine = true;
  if (disk_is_full() || faults_.strikes(Fault::spool_write_fails)) {  // There it puts down what is to be run.
    reached(Probe::start_failed_by_the_workers_disk);
    push(ProgramNotStarted{spec.key, disk_is_full_text, false, true});
    return;
  }
  if (time_.now() < keepers_die_until_) {
    push(ProgramLost{spec.key, "its keeper has died before it could start"});
    return;
  }
  if (faults_.strikes(Fault::program_cannot_start)) {
    push(ProgramNotStarted{spec.key, "there is no such program"});
    return;
  }
  for (const auto& [key, other] : attempts_) {
    for (const engine::SlotIndex slot : other->spec.slots) {
      const bool taken = std::find(spec.slots.begin(), spec.slots.end(), slot) != spec.slots.end();
      if (other->runs() && taken && !spec.despite_remains) {
        promises_.break_because("I6: two programs on slot " + std::to_string(slot.number()) + " of " + uid_);
      }
    }
  }
  const auto weak = std::weak_ptr(kept);
  Training::World world;
  world.say = [this, weak](bool by_socket, const std::string& line, std::optional<engine::Units> step) {
    if (const Kept said = weak.lock()) {
      program_said(said, by_socket, line, step);
    }
  };
  const bool speaks = spec.rendezvous.rank == 0;  // Of the others nothing but their end counts.
  world.measured = [this, key = spec.key, speaks](engine::Units step, double score) {
    if (speaks) {
      promises_.ledger().measured(key, step, score);
    }
  };
  world.said_invalid = [this, key = spec.key, speaks] {
    if (speaks) {
      promises_.ledger().said_invalid(key);
    }
  };
  world.peer_is_gone = [this, key = spec.key] { return bereaved_.contains(key); };
  world.ended = [this, weak](bool by_signal, int code, Duration children) {
    if (const Kept ended = weak.lock()) {
      program_ended(ended, by_signal, code, children);
    }
  };
  kept->launched = true;
  kept->kept = true;
  kept->began_at = time_.now();
  kept->said_at = time_.now();
  kept->training = std::make_unique<Training>(time_, faults_, spec, seed_, std::move(world));
  kept->training->start();
  push(ProgramStarted{spec.key});
}

void WorkerNode::program_said(const Kept& kept, bool by_socket, const std::string& line,
                              std::optional<engine::Units> step) {
  kept->said_at = time_.now();
  KeptAttempt::Line said{std::nullopt, line, false};
  if (by_socket) {
    said.question = QuestionId{++kept->questions};
    if (step && *step < kept->ahead_below) {
      said.answered = true;
      reached(Probe::answered_by_the_keeper);
      time_.after(millis(1), [kept, answer = kept->ahead_line] {
        if (kept->training) {
          kept->training->hear(answer);
        }
      });
    } else {
      kept->open_question = said.question;
    }
  }
  kept->journal.push_back(std::move(said));
  hand_in(kept);
}

/// What the journal holds and the agent has not heard, in order.
void WorkerNode::hand_in(const Kept& kept) {
  if (!agent_.alive() || !kept->mine) {
    return;
  }
  agent_.deliver([this, kept] {
    while (agent_.alive() && kept->mine && kept->handed_in < kept->journal.size()) {
      const KeptAttempt::Line line = kept->journal[kept->handed_in++];
      push(ProgramSaid{kept->spec.key, line.question, line.text, kept->handed_in, line.answered});
    }
    if (agent_.alive() && kept->mine && kept->stuck && !std::exchange(kept->stuck_told, true)) {
      push(ProgramStuck{kept->spec.key, "process 1 survives SIGKILL"});
    }
    if (!agent_.alive() || !kept->mine || kept->end_told || kept->kept || !kept->launched) {
      return;
    }
    kept->end_told = true;
    if (kept->ended) {
      push(ProgramEnded{kept->spec.key, kept->by_signal, kept->code, "", kept->asked, false});
    } else {
      reached(Probe::program_lost_with_its_keeper);
      push(ProgramLost{kept->spec.key, "nobody saw how it ended"});
    }
  });
}

void WorkerNode::program_ended(const Kept& kept, bool by_signal, int code, Duration children) {
  kept->by_signal = by_signal;
  kept->code = code;
  promises_.ledger().ended(kept->spec.key, uid_, by_signal, code);
  if (by_signal || code != 0) {
    bereave(kept);
  }
  kept->children = true;
  // The keeper waits until the children are gone too, and ends them after a while.
  time_.after(children, [this, kept] {
    if (kept->children) {
      all_gone(kept);
    }
  });
}

/// Its attempt's processes on other workers have lost a peer.
void WorkerNode::bereave(const Kept& kept) {
  if (!kept->spec.rendezvous.addresses.empty()) {
    bereaved_.insert(kept->spec.key);
  }
}

void WorkerNode::all_gone(const Kept& kept) {
  kept->children = false;
  kept->ended = true;
  kept->kept = false;
  hand_in(kept);
}

/// The keeper dies, and its program is ended with it.
void WorkerNode::lose_program(const Kept& kept) {
  if (kept->training && kept->training->alive()) {
    bereave(kept);
  }
  kept->training.reset();
  kept->children = false;
  kept->kept = false;
}

void WorkerNode::break_keepers(Duration time) {
  keepers_die_until_ = std::max(keepers_die_until_, time_.now() + time);
}

void WorkerNode::trouble_devices(Duration time) {
  const bool broken = draw_.below(2) == 0;
  ailing_.clear();
  for (std::uint64_t slot = 0; slot < slots_; ++slot) {
    if (draw_.below(2) == 0) {
      ailing_.push_back({engine::SlotIndex(slot), broken ? "its device is lost" : "its device cannot be asked", broken});
    }
  }
  const auto tell = [this] {
    agent_.deliver([this] {
      note_broken_devices();
      push(DevicesJudged{ailing_});
    });
  };
  tell();
  time_.after(time, [this, tell, number = ++troubles_] {
    if (number == troubles_) {
      ailing_.clear();
      tell();
    }
  });
}

/// What is in a broken device now is ended, though the device may be well again by the time it is signalled.
void WorkerNode::note_broken_devices() {
  for (const auto& [key, kept] : attempts_) {
    const auto& slots = kept->spec.slots;
    kept->own = kept->own || std::any_of(ailing_.begin(), ailing_.end(), [&slots](const AilingSlot& ailing) {
                  return ailing.broken && std::find(slots.begin(), slots.end(), ailing.slot) != slots.end();
                });
  }
}

void WorkerNode::kill_keeper() {
  for (const auto& [key, attempt] : attempts_) {
    if (attempt->kept && draw_.below(2) == 0) {
      lose_program(attempt);
      in_agent_after(2'000, [this, kept = attempt] { hand_in(kept); });
      return;
    }
  }
}

void WorkerNode::carry_out(const AttachProgram& attach) {
  in_agent_after(300, [this, attach] {
    const Kept kept = find(attach.key);
    if (!kept) {
      return;
    }
    kept->mine = true;
    if (!kept->launched) {
      reached(Probe::lease_without_a_program);
      push(ProgramLost{attach.key, "the worker was ended before it could start the program"});
      return;
    }
    if (attach.position < kept->dropped || attach.position > kept->journal.size()) {
      promises_.break_because("I2: a journal is wanted from line " + std::to_string(attach.position) + " on, and has " +
                              std::to_string(kept->dropped) + " to " + std::to_string(kept->journal.size()));
    }
    kept->handed_in = attach.position;
    push(ProgramStarted{attach.key});
    hand_in(kept);
  });
}

void WorkerNode::carry_out(const SignalProgram& signal) {
  const Kept kept = find(signal.key);
  if (!kept || !kept->kept) {
    return;
  }
  const Duration timeout = kept->spec.progress_timeout;
  const bool silent = timeout > Duration{} && time_.now() - kept->said_at >= timeout;
  if (silent && !kept->terminated) {
    reached(Probe::ended_for_saying_nothing);
  }
  const bool orphaned = was_alone_too_long();
  if (orphaned) {
    reached(Probe::orphan_ended);
  }
  note_broken_devices();
  kept->own = kept->own || silent || orphaned;  // Also when it says something after all.
  promises_.program_signalled(signal.key, asked_to_stop_ || kept->own);
  kept->asked = true;
  if (!kept->training->alive()) {
    if (signal.kill && kept->children) {
      all_gone(kept);
    }
  } else if (signal.kill) {
    if (kept->terminated) {
      reached(Probe::killed_after_its_grace);
    }
    kept->training->kill();
    if (!std::exchange(kept->killed, true)) {
      time_.after(Duration::seconds(60), [this, kept] {
        if (kept->kept && kept->training && kept->training->alive()) {
          kept->stuck = true;
          hand_in(kept);
        }
      });
    }
  } else {
    kept->terminated = true;
    kept->training->terminate();
  }
}

void WorkerNode::carry_out(const AnswerProgram& answer) {
  const Kept kept = find(answer.key);
  if (kept && kept->kept && kept->open_question == answer.question) {
    kept->open_question.reset();
    if (answer.line.find(R"("directive":"continue")") == std::string::npos && answer.line.find("error") == std::string::npos) {
      told_to_end(*kept, answer.line);
    }
    kept->said_at = time_.now();
    time_.at(time_.now(), [kept, line = answer.line] {
      if (kept->training) {
        kept->training->hear(line);
      }
    });
  }
}

/// By its own worker only where that may, and once no daemon was there for long.
void WorkerNode::told_to_end(KeptAttempt& kept, const std::string& line) {
  const bool alone = orphans_pause_after_ > Duration{} && time_.now() - in_session_at_ >= orphans_pause_after_;
  if (alone && !kept.own && line.find(R"("pause")") != std::string::npos) {
    kept.own = true;
    reached(Probe::paused_at_its_rung_by_its_worker);
  }
  promises_.program_signalled(kept.spec.key, asked_to_stop_ || kept.own);
}

void WorkerNode::carry_out(const AnswerAhead& ahead) {
  const Kept kept = find(ahead.key);
  if (kept && kept->kept) {
    kept->ahead_below = ahead.below;
    kept->ahead_line = ahead.line;
  }
}

// --- its disk ---

void WorkerNode::carry_out(const WriteSpool& write) {
  Kept& kept = attempts_[write.key];
  if (!kept) {
    kept = std::make_shared<KeptAttempt>();
    if (const auto spooled = read_spool(write.bytes)) {
      kept->spec = spooled->spec;
    } else {
      promises_.break_because("I2: a spool begins with what cannot be read: " + spooled.error().message);
    }
  }
  kept->writing = write;
  perhaps_crash_at_work();
  const std::uint64_t slow = faults_.strikes(Fault::spool_slow) ? 30'000 : 20;
  in_agent_after(slow, [this, kept = kept, number = write.write] {
    if (!kept->writing || kept->writing->write != number) {
      return;
    }
    const WriteSpool written = *std::exchange(kept->writing, std::nullopt);
    if (disk_is_full() || faults_.strikes(Fault::spool_write_fails)) {
      push(SpoolNotWritten{written.key, written.write, disk_is_full_text});
      return;
    }
    kept->spool = written.anew ? written.bytes : kept->spool + written.bytes;
    kept->dropped = std::max(kept->dropped, written.position);
    push(SpoolWritten{written.key, written.write});
  });
}

void WorkerNode::fill_disk(Duration time) {
  disk_full_until_ = std::max(disk_full_until_, time_.now() + time);
}

void WorkerNode::carry_out(const ProbeDisk& /*probe*/) {
  in_agent_after(50, [this] { push(DiskProbed{disk_is_full() ? disk_is_full_text : ""}); });
}

void WorkerNode::carry_out(const DeleteAttempt& remove) {
  const Kept kept = find(remove.key);
  if (!kept) {
    return;
  }
  if (kept->runs()) {
    promises_.break_because("I6: an attempt is forgotten while its program runs on " + uid_);
  }
  kept->mine = false;
  kept->deleted = true;
  kept->writing.reset();
  in_agent_after(50, [this, kept] {
    const auto found = attempts_.find(kept->spec.key);
    if (found != attempts_.end() && found->second == kept) {
      attempts_.erase(found);
    }
  });
}

void WorkerNode::carry_out(const PublishCheckpoint& publish) {
  in_agent_after(20'000, [this, publish, number = draw_.below(1'000'000)] {
    if (faults_.strikes(Fault::checkpoint_fails)) {
      push(CheckpointNotPublished{publish.key, number % 2 == 0, "the checkpoint could not be moved"});
    } else {
      const engine::CheckpointReport saved{publish.step,
                                           "/checkpoints/" + std::to_string(publish.key.lease.number()) + "/" +
                                               std::to_string(engine::count(publish.step)),
                                           1, number};
      promises_.ledger().saved(publish.key, saved);
      push(CheckpointPublished{publish.key, saved});
    }
  });
}

// --- the daemon ---

/// By what it said in a session last; it may have been alone for less.
bool WorkerNode::was_alone_too_long() const {
  return orphans_end_after_ > Duration{} && time_.now() - in_session_at_ >= orphans_end_after_;
}

void WorkerNode::carry_out(const SendMessage& send) {
  if (send.envelope.session_epoch != 0) {
    if (was_alone_too_long()) {  // They were asked to end, and are signalled when they do not.
      for (auto& [key, kept] : attempts_) {
        kept->own = true;
      }
    }
    in_session_at_ = time_.now();
  }
  if (const auto* told = std::get_if<proto::Reports>(&send.message)) {
    for (const engine::Report& report : told->reports) {
      const auto* exit = std::get_if<engine::ExitReport>(&report);
      const bool blamed = exit != nullptr && exit->cause == engine::ExitReport::Cause::could_not_start;
      if (blamed && exit->message.find(disk_is_full_text) != std::string::npos) {
        promises_.break_because("I7: a program is to blame for the disk of " + uid_);
      }
    }
  }
  Frame frame(proto::encode(send.envelope, send.message), send.envelope.session_epoch);
  if (!network_.send_to_daemon(number_, std::move(frame))) {
    refused_ = true;
  }
}

void WorkerNode::carry_out(const NewConnection& /*connection*/) {
  refused_ = false;
  network_.connect(number_);
}

void WorkerNode::carry_out(const ReadLogPart& read) {
  proto::LogPart part;
  part.request = read.request.request;
  part.problem = "there is none";
  inputs_.emplace_back(LogWasRead{std::move(part)});
}

void WorkerNode::carry_out(const Notice& notice) {
  if (notice.text.find("store is older than it was") != std::string::npos) {
    promises_.break_because("I1: " + notice.text);
  }
}

void WorkerNode::carry_out(const EndAgent& end) {
  const bool held = std::any_of(attempts_.begin(), attempts_.end(), [](const auto& entry) { return !entry.second->deleted; });
  if (end.failed && (held || !met_a_foreign_store_)) {
    promises_.break_because("I7: " + uid_ + " is refused for good: " + end.why);
  }
  met_a_foreign_store_ = met_a_foreign_store_ && !end.failed;
  time_.after(Duration::millis(200), [this, life = starts_] {
    if (life == starts_) {
      die();
      start_again_after(away_);
    }
  });
}

}  // namespace hpsearch::simulation
