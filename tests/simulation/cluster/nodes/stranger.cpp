#include "simulation/cluster/nodes/stranger.hpp"

#include <limits>
#include <memory>
#include <string>
#include <variant>

#include "simulation/cluster/faults/probes.hpp"

namespace hpsearch::simulation {

using engine::AttemptKey;

Stranger::Stranger(VirtualTime& time, Faults& faults, Network& network, Promises& promises,
                   std::size_t number, std::uint64_t seed)
    : DishonestPeer(time, faults, network, promises, number, seed, "stranger") {
}

void Stranger::introduce(const std::string& uid, std::uint64_t incarnation) {
  proto::Hello hello;
  hello.uid = uid;
  hello.name = "stranger";
  hello.incarnation = incarnation;
  hello.boot_id = "elsewhere";
  hello.slots = 0;
  hello.slot_kind = "cpu";
  const proto::Envelope known = envelope_;
  envelope_.session_epoch = 0;
  say(hello);
  envelope_ = known;
}

void Stranger::on_event(const Frame& frame) {
  const auto framed = proto::decode_from_daemon(*frame);
  if (framed && std::holds_alternative<proto::Welcome>(framed->message)) {
    if (names_ > 1) {
      reached(Probe::two_names_on_one_connection);
    }
    envelope_ = framed->envelope;
  } else if (framed && std::holds_alternative<proto::Resync>(framed->message)) {
    introduce("stranger", 1);
  }
}

AttemptKey Stranger::some_attempt(bool forged) {
  const auto& attempts = promises_.attempts();
  AttemptKey key{engine::ExperimentId(1), engine::TrialNumber(0), engine::AttemptNumber(1),
                 engine::LeaseId(1)};
  if (!attempts.empty()) {
    auto at = attempts.begin();
    std::advance(at, static_cast<long>(draw_.below(attempts.size())));
    key = at->first;
  }
  if (forged) {
    key.lease = engine::LeaseId(draw_.below(3) == 0 ? std::numeric_limits<std::uint64_t>::max()
                                                    : key.lease.number() + 1 + draw_.below(20));
  }
  return key;
}

void Stranger::act(Fault kind, const std::string& some_uid) {
  if (!connected([this] { introduce("stranger", 1); })) {
    return;
  }
  faults_.struck(kind);
  switch (kind) {
    case Fault::random_bytes: {
      proto::Bytes bytes(draw_.below(200));
      for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(draw_.below(256));
      }
      static_cast<void>(network_.send_to_daemon(number_, Frame(std::move(bytes), 0)));
      break;
    }
    case Fault::foreign_reports:
    case Fault::forged_lease: {
      const AttemptKey key = some_attempt(kind == Fault::forged_lease);
      const engine::MetricsReport report{engine::Units{draw_.below(20)}, {{"score", draw_.unit()}}};
      switch (draw_.below(4)) {
        case 0:
          say(proto::Reports{key, 1 + draw_.below(5), {report, engine::ExitReport{}}});
          break;
        case 1:
          say(proto::Started{key});
          break;
        case 2:
          say(proto::DecisionAck{key, engine::Lsn(std::numeric_limits<std::uint64_t>::max())});
          break;
        default:
          say(proto::Reports{
              key, draw_.below(2) == 0 ? 0 : std::numeric_limits<std::uint64_t>::max() - 1, {report}});
      }
      break;
    }
    case Fault::raised_epoch: {
      const proto::Envelope known = envelope_;
      envelope_.daemon_epoch += 1 + draw_.below(1'000'000);
      if (draw_.below(2) == 0) {
        envelope_.session_epoch += 1 + draw_.below(1'000);
      }
      say(proto::Beat{});
      introduce(std::string(who_has_seen_a_later_daemon), 1);
      envelope_ = known;
      break;
    }
    case Fault::stolen_name:
      introduce(some_uid, 0);  // From an old copy of its state directory.
      break;
    case Fault::second_name:
      names_ += draw_.below(2);
      introduce("stranger-" + std::to_string(1 + draw_.below(1 + names_)), 1);
      if (draw_.below(3) == 0) {
        time_.after(engine::Duration::millis(500), [this] { say(proto::Goodbye{"it was somebody else"}); });
      }
      break;
    default:
      break;
  }
}

}  // namespace hpsearch::simulation
