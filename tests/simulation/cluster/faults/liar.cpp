#include "simulation/cluster/faults/liar.hpp"

#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "simulation/cluster/faults/probes.hpp"

namespace hpsearch::simulation {

using engine::AttemptKey;
using engine::ExitReport;

Liar::Liar(VirtualTime& time, Faults& faults, Network& network, Promises& promises, std::size_t number,
           std::uint64_t seed)
    : DishonestPeer(time, faults, network, promises, number, seed, "liar"), slots_(1 + draw_.below(2)) {
}

void Liar::introduce() {
  proto::Hello hello;
  hello.uid = liar_uid;
  hello.name = liar_uid;
  hello.incarnation = incarnation_;
  hello.boot_id = "boot " + std::to_string(draw_.below(3));
  hello.slots = slots_;
  hello.slot_kind = "gpu";
  hello.address = liar_uid;
  for (std::uint64_t count = draw_.below(4); count > 0; --count) {
    hello.held.push_back(some_held());
  }
  envelope_.session_epoch = 0;
  say(hello);
}

void Liar::on_event(const Frame& frame) {
  const auto framed = proto::decode_from_daemon(*frame);
  if (!framed) {
    return;
  }
  if (const auto* welcome = std::get_if<proto::Welcome>(&framed->message)) {
    envelope_ = framed->envelope;
    for (const engine::WelcomeWorker::Attempt& attempt : welcome->attempts) {
      if (attempt.fate == engine::WelcomeWorker::Fate::go_on &&
          promises_.belongs_to_another(attempt.key, liar_uid)) {
        promises_.break_because("I3: a worker may go on with what another one was leased");
      }
    }
  } else if (std::holds_alternative<proto::Resync>(framed->message)) {
    introduce();
  } else if (std::holds_alternative<proto::Refused>(framed->message)) {
    ++incarnation_;
  } else if (const auto* lease = std::get_if<proto::Lease>(&framed->message)) {
    leased_.try_emplace(lease->spec.key, 0);
  }
}

AttemptKey Liar::some_attempt() {
  const auto pick = [this](const auto& attempts) {
    auto at = attempts.begin();
    std::advance(at, static_cast<long>(draw_.below(attempts.size())));
    return at->first;
  };
  AttemptKey key{engine::ExperimentId(1), engine::TrialNumber(0), engine::AttemptNumber(1),
                 engine::LeaseId(1)};
  if (!leased_.empty() && draw_.below(3) != 0) {
    key = pick(leased_);
  } else if (!promises_.attempts().empty()) {
    key = pick(promises_.attempts());
  }
  if (draw_.below(8) == 0) {
    key.lease = engine::LeaseId(draw_.below(3) == 0 ? std::numeric_limits<std::uint64_t>::max()
                                                    : key.lease.number() + 1 + draw_.below(20));
  }
  return key;
}

engine::HeldAttempt Liar::some_held() {
  engine::HeldAttempt held;
  held.key = some_attempt();
  held.exited = draw_.below(4) == 0;
  held.last_seq = draw_.below(20);
  held.first_seq = draw_.below(held.last_seq + 2);
  held.last_decision = engine::Lsn(draw_.below(promises_.durable().number() + 5));
  for (std::uint64_t count = draw_.below(3); count > 0; --count) {
    held.slots.emplace_back(draw_.below(slots_ + 1));
  }
  held.length = engine::Units{draw_.below(100)};
  held.unkillable = held.exited && draw_.below(3) == 0;
  return held;
}

ExitReport Liar::some_exit() {
  static constexpr ExitReport::Cause causes[] = {
      ExitReport::Cause::exited,         ExitReport::Cause::signaled,
      ExitReport::Cause::ended_by_agent, ExitReport::Cause::could_not_start,
      ExitReport::Cause::out_of_memory,  ExitReport::Cause::lost,
      ExitReport::Cause::no_progress,    ExitReport::Cause::checkpoint_gone};
  ExitReport exit;
  exit.cause = causes[draw_.below(std::size(causes))];
  exit.code = static_cast<int>(draw_.below(256));
  exit.unkillable = draw_.below(6) == 0;
  return exit;
}

engine::Report Liar::some_report() {
  const engine::Units step{draw_.below(20)};
  switch (draw_.below(6)) {
    case 0:
      return some_exit();
    case 1:
      return engine::CheckpointReport{step, "/checkpoints/that/is/not/there", 1, draw_.below(1'000'000)};
    case 2:
      return engine::InvalidHparamsReport{"it says so"};
    case 3:
      return engine::MetricsReport{step, {}};
    default:
      return engine::MetricsReport{step, {{"score", draw_.unit()}}};
  }
}

void Liar::lie() {
  if (!connected([this] { introduce(); })) {
    return;
  }
  faults_.struck(Fault::lying_worker);
  switch (draw_.below(10)) {
    case 0:
      incarnation_ += draw_.below(2);
      introduce();
      break;
    case 1: {
      proto::Beat beat;
      beat.progress.push_back({some_attempt(), engine::Units{draw_.below(50)}, draw_.below(100'000)});
      say(beat);
      break;
    }
    case 2:
      say(proto::DecisionAck{some_attempt(), engine::Lsn(draw_.below(promises_.durable().number() + 5))});
      break;
    case 3:
      say(proto::Goodbye{"it is still there"});
      break;
    case 4:
    case 5:
      say(proto::Started{some_attempt()});
      break;
    default: {
      const AttemptKey key = some_attempt();
      const auto own = leased_.find(key);
      const std::uint64_t used = own == leased_.end() ? draw_.below(10) : own->second;
      const std::uint64_t first = 1 + used - std::min(used, draw_.below(4));
      proto::Reports reports{key, first, {}};
      for (std::uint64_t count = 1 + draw_.below(3); count > 0; --count) {
        reports.reports.push_back(some_report());
      }
      if (own != leased_.end()) {
        if (first <= used) {
          reached(Probe::other_reports_under_used_numbers);
        }
        own->second = std::max(used, first + reports.reports.size() - 1);
      }
      say(reports);
    }
  }
}

}  // namespace hpsearch::simulation
