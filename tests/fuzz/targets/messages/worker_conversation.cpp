#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/workers/core/worker_machine.hpp"

// Whatever a daemon says to a worker, and whatever programs, disks and clocks do meanwhile: no slot has two
// programs, nothing is forgotten while its program runs, everything the worker says can be read, what it has
// written down can be read by the next agent, and it never spins.
//
// The input is a sequence of steps, each a byte that says what happens, and its operands. What a worker's own
// machine does is as its shell would do it; only frames and lines are arbitrary.

namespace hpsearch::fuzz {
namespace {

using engine::AttemptKey;
using engine::Duration;
using engine::Instant;
using namespace workers;  // NOLINT(google-build-using-namespace)

constexpr std::size_t most_steps = 80;
constexpr std::uint64_t slots = 2;
constexpr std::uint64_t cluster = 77;

class Machine {
 public:
  Machine() { begin(); }

  void step(Parts& parts) {
    const unsigned what = parts.byte();
    switch (what % 8) {
      case 0:
      case 1:
        return hear(what >= 128, parts.chunk());
      case 2:
        return pass(Duration::millis(static_cast<std::int64_t>(parts.byte()) * parts.byte()));
      case 3:
        return answer(parts.byte());
      case 4:
        return say(parts.byte(), parts.chunk());
      case 5:
        return end_program(parts.byte());
      case 6:
        return what < 128 ? take(machine_->step(SendRefused{}, now_)) : ask_to_end(what);
      default:
        return begin();
    }
  }

 private:
  /// Something the worker wants of its shell, which answers later.
  using Owed = std::variant<StartProgram, AttachProgram, WriteSpool, PublishCheckpoint, ProbeDisk,
                            ReadLogPart, HandOverLog>;

  /// The agent starts, with what an earlier one has left.
  void begin() {
    std::vector<SpooledAttempt> found;
    for (const auto& [key, bytes] : spools_) {
      auto read = read_spool(bytes);
      HPSEARCH_CHECK(read.has_value(), "the next agent can read what is written down");
      HPSEARCH_CHECK(read->spec.key == key, "and it is about that attempt");
      found.push_back(*std::move(read));
    }
    owed_.clear();
    starting_.clear();
    ++incarnation_;
    WorkerRules rules;
    machine_.emplace(WorkerIdentity{.uid = "u",
                                    .name = "w",
                                    .incarnation = incarnation_,
                                    .boot_id = "b",
                                    .pid = 1,
                                    .slots = slots,
                                    .slot_kind = "cpu"},
                     rules, engine::Draw(1, engine::TrialNumber{0}, "retry"));
    take(machine_->start(now_, std::move(found), known_));
  }

  void hear(bool as_it_is, std::string_view bytes) {
    auto framed = proto::decode_from_daemon(bytes_of(bytes));
    if (!framed) {
      return;
    }
    if (!as_it_is) {
      session_ += std::holds_alternative<proto::Welcome>(framed->message) ? 1U : 0U;
      framed->envelope = {cluster, 5, session_, ++heard_};
    }
    take(machine_->step(FrameReceived{*std::move(framed)}, now_));
  }

  void pass(Duration wait) {
    const Instant end = now_ + wait;
    for (int round = 0; machine_->next_wake() && *machine_->next_wake() <= end; ++round) {
      HPSEARCH_CHECK(round < 20'000, "the worker waits between two looks at the clock");
      now_ = std::max(now_, *machine_->next_wake());
      take(machine_->step(TimePassed{}, now_));
    }
    now_ = end;
  }

  void answer(unsigned how) {
    if (owed_.empty()) {
      return;
    }
    const auto chosen = owed_.begin() + static_cast<std::ptrdiff_t>(how / 2 % owed_.size());
    const Owed owed = std::move(*chosen);
    owed_.erase(chosen);
    std::visit([this, well = how % 2 == 0](const auto& wanted) { answer(wanted, well); }, owed);
  }
  void answer(const StartProgram& start, bool well) {
    starting_.erase(start.spec.key);
    if (well) {
      running_[start.spec.key] = start.spec.slots;
      return take(machine_->step(ProgramStarted{start.spec.key}, now_));
    }
    take(machine_->step(ProgramNotStarted{start.spec.key, "there is no such program"}, now_));
  }
  void answer(const AttachProgram& attach, bool /*well*/) {
    if (running_.contains(attach.key)) {
      return take(machine_->step(ProgramStarted{attach.key}, now_));
    }
    take(machine_->step(ProgramLost{attach.key, "nothing is left of it"}, now_));
  }
  void answer(const WriteSpool& write, bool well) {
    if (!well) {
      return take(machine_->step(SpoolNotWritten{write.key, write.write, "no space left on device"}, now_));
    }
    std::string& spool = spools_[write.key];
    spool = write.anew ? write.bytes : spool + write.bytes;
    take(machine_->step(SpoolWritten{write.key, write.write}, now_));
  }
  void answer(const PublishCheckpoint& publish, bool well) {
    if (well) {
      return take(machine_->step(CheckpointPublished{publish.key, {publish.step, "/c", 1, 10}}, now_));
    }
    take(machine_->step(CheckpointNotPublished{publish.key, false, "no space left on device"}, now_));
  }
  void answer(const ProbeDisk& /*probe*/, bool well) {
    take(machine_->step(DiskProbed{well ? "" : "no space left on device"}, now_));
  }
  void answer(const ReadLogPart& read, bool well) {
    take(machine_->step(LogWasRead{{read.request.request, 0, 4, well ? "text" : "", well ? "" : "none"}},
                        now_));
  }

  void answer(const HandOverLog& hand_over, bool well) {
    take(machine_->step(LogHandedOver{hand_over.key, hand_over.delivery, well ? "" : "no room"}, now_));
  }

  void say(unsigned who, std::string_view line) {
    if (const auto* key = program(who)) {
      take(machine_->step(
          ProgramMessageReceived{*key, QuestionId{++questions_}, understood(parse_socket_line(line))}, now_));
    }
  }
  void end_program(unsigned how) {
    if (const auto* key = program(how / 4)) {
      const ProgramEnded ended{*key, how % 2 == 1, static_cast<int>(how % 4), "tail"};
      running_.erase(ended.key);
      take(machine_->step(ended, now_));
    }
  }
  const AttemptKey* program(unsigned number) const {
    if (running_.empty()) {
      return nullptr;
    }
    const AttemptKey& key =
        std::next(running_.begin(), static_cast<std::ptrdiff_t>(number % running_.size()))->first;
    // Its agent must have found it first.
    const auto unfound = [&key](const Owed& owed) {
      const auto* attach = std::get_if<AttachProgram>(&owed);
      return attach != nullptr && attach->key == key;
    };
    return std::any_of(owed_.begin(), owed_.end(), unfound) ? nullptr : &key;
  }
  void ask_to_end(unsigned how) {
    take(how % 16 < 8 ? machine_->step(StopAsked{}, now_) : machine_->step(LeaveAsked{}, now_));
  }

  void take(const std::vector<Effect>& effects) {
    HPSEARCH_CHECK(effects.size() < 10'000, "one step asks for little");
    for (const Effect& effect : effects) {
      std::visit([this](const auto& wanted) { note(wanted); }, effect);
    }
  }
  void note(const SendMessage& send) {
    const proto::Bytes frame = proto::encode(send.envelope, send.message);
    HPSEARCH_CHECK(frame.size() <= proto::max_frame_bytes, "no frame is too large");
    HPSEARCH_CHECK(proto::decode_from_worker(frame).has_value(), "what the worker says can be read");
  }
  void note(const StartProgram& start) {
    HPSEARCH_CHECK(spools_.contains(start.spec.key), "no program runs of which nothing is written down");
    std::set<engine::SlotIndex> mine(start.spec.slots.begin(), start.spec.slots.end());
    HPSEARCH_CHECK(mine.size() == start.spec.slots.size(), "a slot is named once");
    for (const auto* others : {&running_, &starting_}) {
      for (const auto& [key, theirs] : *others) {
        HPSEARCH_CHECK(
            std::none_of(theirs.begin(), theirs.end(), [&mine](auto slot) { return mine.contains(slot); }),
            "no slot has two programs");
      }
    }
    for (const engine::SlotIndex slot : mine) {
      HPSEARCH_CHECK(slot.number() < slots, "a slot is one that there is");
    }
    starting_[start.spec.key] = start.spec.slots;
    owed_.emplace_back(start);
  }
  void note(const DeleteAttempt& deleted) {
    HPSEARCH_CHECK(!running_.contains(deleted.key) && !starting_.contains(deleted.key),
                   "nothing is forgotten while its program runs");
    spools_.erase(deleted.key);
  }
  void note(const RememberDaemon& remember) { known_ = remember.daemon; }
  void note(const EndAgent& /*end*/) {}
  template <class Wanted>
  void note(const Wanted& wanted) {
    if constexpr (std::is_constructible_v<Owed, const Wanted&>) {
      owed_.emplace_back(wanted);
    }
  }

  std::optional<WorkerMachine> machine_;
  Instant now_ = Instant::from_micros(1'000'000'000);
  std::uint64_t incarnation_ = 0;
  std::uint64_t session_ = 0;
  std::uint64_t heard_ = 0;
  std::uint64_t questions_ = 0;
  std::vector<Owed> owed_;
  std::map<AttemptKey, std::vector<engine::SlotIndex>> starting_;
  // What outlives the agent.
  std::map<AttemptKey, std::string> spools_;
  std::map<AttemptKey, std::vector<engine::SlotIndex>> running_;
  KnownDaemon known_;
};

void run_worker_conversation(std::string_view bytes) {
  Machine machine;
  Parts parts(bytes);
  for (std::size_t step = 0; step < most_steps && !parts.done(); ++step) {
    machine.step(parts);
  }
}

std::string hear(const proto::FromDaemon& message) {
  const proto::Bytes frame = proto::encode(proto::Envelope{.cluster = cluster}, message);
  return '\0' + as_chunk({reinterpret_cast<const char*>(frame.data()), frame.size()});
}

Seeds worker_conversation_seeds() {
  const AttemptKey key{engine::ExperimentId{1}, engine::TrialNumber{2}, engine::AttemptNumber{1},
                       engine::LeaseId{40}};
  jobs::LaunchSpec spec;
  spec.key = key;
  spec.slots = {engine::SlotIndex{0}};
  spec.length = engine::Units{3};
  spec.metric = "acc";
  spec.hand_over_log = true;
  jobs::LaunchSpec next = spec;
  next.key.trial = engine::TrialNumber{3};
  next.key.lease = engine::LeaseId{41};
  const std::string welcome = hear(proto::Welcome{.worker = engine::WorkerId{7}, .attempts = {}});
  const std::string well{'\3', '\0'};
  const std::string badly{'\3', '\1'};
  const std::string wait{'\2', '\x7F', '\x7F'};
  const std::string again{'\7'};
  const std::string exit{'\5', '\0'};
  const std::string started = welcome + hear(proto::Lease{spec}) + well + well;
  const std::string report =
      std::string{'\4', '\0'} + as_chunk(R"({"type":"report","step":3,"metrics":{"acc":0.5}})");
  const std::string checkpoint = std::string{'\4', '\0'} + as_chunk(R"({"type":"checkpoint","step":3})");
  const std::string stop =
      hear(proto::Decide{key, {engine::Lsn{90}, engine::Directive::stop, engine::Units{3}}});
  Seeds all{
      started + report + well + wait + hear(proto::Ack{key, 1}) + stop + well + exit + well +
          hear(proto::Ack{key, 2}),
      started + checkpoint + well + again + well + welcome + report + well + exit + well +
          hear(proto::Nack{key, 1}) + wait,
      started + badly + wait + hear(proto::Fenced{key}) + wait + exit + well + wait,
      started + hear(proto::Hold{key}) + hear(proto::Resync{}) + wait + hear(proto::RetryAfter{500}) + wait +
          welcome,
      started + hear(proto::Fenced{key}) + hear(proto::Lease{next}) + well + well + wait + exit + well + well,
  };
  std::string every = started;
  for (const std::string& golden : files_in("tests/golden/wire_v1/from_daemon")) {
    every += '\0' + as_chunk(golden) + well;
  }
  all.push_back(every + wait);
  return all;
}

const Registered worker_conversation_target({"worker_conversation", run_worker_conversation,
                                             worker_conversation_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
