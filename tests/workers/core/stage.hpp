#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/workers/core/worker_machine.hpp"

namespace hpsearch::workers::test {

using engine::AttemptKey;
using engine::AttemptNumber;
using engine::Decision;
using engine::Directive;
using engine::Draw;
using engine::Duration;
using engine::ExperimentId;
using engine::Instant;
using engine::LeaseId;
using engine::Lsn;
using engine::SlotIndex;
using engine::TrialNumber;
using engine::Units;
using engine::WelcomeWorker;
using engine::WorkerId;
using jobs::LaunchSpec;
using Fate = engine::WelcomeWorker::Fate;

inline AttemptKey key_of(std::uint64_t trial, std::uint64_t lease) {
  return AttemptKey{ExperimentId{1}, TrialNumber{trial}, AttemptNumber{1}, LeaseId{lease}};
}

inline proto::Lease lease_of(const AttemptKey& key, std::uint64_t slot) {
  LaunchSpec spec;
  spec.key = key;
  spec.slots = {SlotIndex{slot}};
  spec.length = Units{3};
  spec.metric = "acc";
  return {spec};
}

/// A worker with two slots, a daemon that sends what the test needs, and a clock.
class Stage {
 public:
  explicit Stage(WorkerRules rules = Stage::rules()) : Stage({}, {}, rules) {}
  /// With attempts and the known daemon of an earlier agent.
  Stage(std::vector<SpooledAttempt> found, KnownDaemon known, WorkerRules rules = Stage::rules())
      : machine_({.uid = "u", .name = "w", .incarnation = 4, .boot_id = "b", .slots = 2, .slot_kind = "cpu"},
                 rules, Draw(1, TrialNumber{0}, "retry")) {
    take(machine_.start(now_, std::move(found), known));
  }

  static WorkerRules rules() {
    WorkerRules rules;
    rules.attempt.spool_within = Duration::seconds(0);
    return rules;
  }

  WorkerMachine& machine() { return machine_; }
  [[nodiscard]] Instant now() const { return now_; }

  void step(const Input& input) { take(machine_.step(input, now_)); }
  void say(proto::FromDaemon message, std::optional<proto::Envelope> envelope = std::nullopt) {
    step(FrameReceived{{envelope.value_or(envelope_), std::move(message)}});
  }
  /// Wakes the machine until the time has passed, like its shell.
  void pass(Duration time) {
    const Instant end = now_ + time;
    while (machine_.next_wake() && *machine_.next_wake() <= end) {
      now_ = std::max(now_, *machine_.next_wake());
      step(TimePassed{});
    }
    now_ = end;
  }
  void welcome(std::vector<WelcomeWorker::Attempt> attempts = {}, std::uint64_t session = 1) {
    envelope_.session_epoch = session;
    say(proto::Welcome{WorkerId{7}, 10'000, std::move(attempts)});
  }
  void run(const AttemptKey& key, std::uint64_t slot) {
    say(lease_of(key, slot));
    step(ProgramStarted{key});
  }
  proto::Envelope& envelope() { return envelope_; }
  /// From now on, requested writes are only done when the test does them.
  void slow_disk() { slow_disk_ = true; }
  /// Writes fail for that reason; "" = they succeed.
  void bad_disk(std::string why) { bad_disk_ = std::move(why); }

  template <class Wanted>
  std::vector<Wanted> said() {
    std::vector<Wanted> found;
    for (const Effect& effect : effects_) {
      const auto* send = std::get_if<SendMessage>(&effect);
      if (send != nullptr && std::holds_alternative<Wanted>(send->message)) {
        found.push_back(std::get<Wanted>(send->message));
      }
    }
    return found;
  }
  template <class Wanted>
  std::vector<Wanted> wanted() {
    std::vector<Wanted> found;
    for (const Effect& effect : effects_) {
      if (const auto* one = std::get_if<Wanted>(&effect)) {
        found.push_back(*one);
      }
    }
    return found;
  }
  std::vector<SendMessage> sends() { return wanted<SendMessage>(); }
  void clear() { effects_.clear(); }

 private:
  void take(std::vector<Effect> effects) {
    std::vector<Input> answers;
    for (Effect& effect : effects) {
      const auto* write = std::get_if<WriteSpool>(&effect);
      if (write != nullptr && !bad_disk_.empty()) {
        answers.emplace_back(SpoolNotWritten{write->key, write->write, bad_disk_});
      } else if (write != nullptr && !slow_disk_) {
        answers.emplace_back(
            SpoolWritten{write->key, write->write});  // A disk on which every write succeeds at once.
      } else if (std::holds_alternative<ProbeDisk>(effect)) {
        answers.emplace_back(DiskProbed{bad_disk_});
      }
      effects_.push_back(std::move(effect));
    }
    for (const Input& answer : answers) {
      take(machine_.step(answer, now_));
    }
  }

  WorkerMachine machine_;
  std::vector<Effect> effects_;
  Instant now_ = Instant::from_micros(1'000'000'000);
  bool slow_disk_ = false;
  std::string bad_disk_;
  proto::Envelope envelope_{.cluster = 77, .daemon_epoch = 5, .session_epoch = 1, .msg_no = 1};
};

}  // namespace hpsearch::workers::test
