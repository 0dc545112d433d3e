#include "simulation/cluster/nodes/worker_node.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "hpsearch/workers/core/spool.hpp"
#include "simulation/cluster/faults/probes.hpp"

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
                       std::set<engine::AttemptKey>& bereaved, std::size_t number, std::uint64_t slots,
                       std::uint64_t seed)
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
  identity.name = "worker-" + std::to_string(number_);
  identity.incarnation = ++incarnation_;
  identity.boot_id = "boot " + std::to_string(boots_);
  identity.slots = slots_;
  identity.slot_kind = "gpu";
  identity.address = uid_;
  identity.unusable = unusable_;
  note_broken_devices();
  WorkerRules rules;
  rules.orphans_end_after = orphans_end_after_;
  rules.orphans_pause_after = orphans_pause_after_;
  if (batch_bytes_ > 0) {
    rules.attempt.batch_bytes = batch_bytes_;
  }
  in_session_at_ = time_.now();
  machine_.emplace(identity, rules,
                   engine::Draw(seed_ + incarnation_, engine::TrialNumber(number_), "retry"));
  working_ = true;
  for (const Effect& effect : machine_->start(agent_.now(), read_spools(), known_)) {
    std::visit([this](const auto& known) { carry_out(known); }, effect);
  }
  work_off();
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
    // What its shim had not synced was handed in to nobody.
    const std::uint64_t synced = std::max(attempt->handed_in, attempt->dropped);
    if (!attempt->ended && synced < attempt->journal.size()) {
      attempt->journal.resize(synced + draw_.below(attempt->journal.size() - synced + 1));
      if (attempt->spec.rendezvous.rank == 0) {
        promises_.ledger().forgot_behind(key,
                                         attempt->journal.empty() ? 0 : attempt->journal.back().measured);
      }
    }
  }
  start_again_after(away);
}

void WorkerNode::stop_agent(Duration away) {
  if (agent_.alive() && !asked_to_stop_ && !leaving_) {
    asked_to_stop_ = true;
    away_ = away;
    agent_.deliver([this] {
      has_to_end_soon();
      push(StopAsked{});
    });
  }
}

void WorkerNode::has_to_end_soon() {
  const WorkerRules rules;
  // A signal, a write and a look at the disk take a while here.
  const Duration most = rules.attempt.grace + rules.longest_goodbye + Duration::seconds(60);
  time_.after(most, [this, life = starts_, standstills = standstills_] {
    if (life == starts_ && standstills == standstills_) {
      promises_.break_because("I13: " + uid_ + " was asked to stop minutes ago" +
                              (disk_is_full() ? ", and its disk is full" : ""));
    }
  });
}

void WorkerNode::evict(Duration away) {
  stop_agent(away);
}

void WorkerNode::replace(Duration away) {
  die();
  for (const auto& [key, attempt] : attempts_) {
    lose_program(attempt);
    attempt->mine = false;
    attempt->deleted = true;
  }
  attempts_.clear();
  known_ = {};
  incarnation_ = 0;
  ++boots_;
  uid_ = "worker-" + std::to_string(number_) + "." + std::to_string(++machines_);
  start_again_after(away);
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
  // What survives SIGKILL is held by nobody: its worker has ended it, and on a full disk cannot say so before
  // it leaves.
  return agent_.alive() && kept != nullptr && kept->runs() && !kept->stuck;
}

// --- what reaches the agent ---

void WorkerNode::on_event(const Frame& frame) {
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

void WorkerNode::carry_out(const CheckCheckpointRoot& check) {
  inputs_.emplace_back(CheckpointRootChecked{check.root, ""});
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

/// Soon, late, not at all, or never answered.
void WorkerNode::carry_out(const HandOverLog& hand_over) {
  const bool slow = faults_.strikes(Fault::checkpoint_fails);
  in_agent_after(slow ? 90'000 : 200, [this, hand_over, well = !faults_.strikes(Fault::checkpoint_fails)] {
    push(LogHandedOver{hand_over.key, hand_over.delivery, well ? "" : "the daemon answered with status 507"});
  });
}

void WorkerNode::carry_out(const Notice& notice) {
  if (notice.text.find("store is older than it was") != std::string::npos) {
    promises_.break_because("I1: " + notice.text);
  }
}

void WorkerNode::carry_out(const EndAgent& end) {
  if (end.why.find("cannot be written down") != std::string::npos) {
    reached(Probe::stopped_with_untold_exits);
  }
  const bool held = std::any_of(attempts_.begin(), attempts_.end(),
                                [](const auto& entry) { return !entry.second->deleted; });
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
