#include "simulation/cluster/worker_node.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "simulation/cluster/probes.hpp"

namespace hpsearch::simulation {

using engine::AttemptKey;
using engine::Duration;
using engine::Instant;
using namespace workers;

namespace {

// One connection per program is enough: what two of them do to each other is AttemptMachine's own test.
constexpr ConnectionId only_connection{1};

}  // namespace

WorkerNode::WorkerNode(VirtualTime& time, Faults& faults, Network& network, Promises& promises, std::size_t number,
                       std::uint64_t slots, std::uint64_t seed)
    : time_(time),
      faults_(faults),
      network_(network),
      promises_(promises),
      number_(number),
      slots_(slots),
      seed_(seed),
      uid_("worker-" + std::to_string(number)),
      draw_(seed, engine::TrialNumber(number), "node"),
      agent_(time) {
}

// --- life and death ---

void WorkerNode::boot() {
  if (agent_.alive()) {
    return;
  }
  ++starts_;
  // What an earlier agent left running is ended first: nobody could hear it any more.
  for (const auto& [order, program] : std::map(living_)) {
    reached(Probe::agent_ends_what_an_earlier_one_left);
    program->known_to_agent = false;
    promises_.program_signalled(program->spec.key, true);
    if (program->training->alive()) {
      program->training->kill();
    } else {
      all_gone(program);
    }
  }
  if (!living_.empty()) {
    start_again_after(Duration::millis(50));
    return;
  }
  agent_.begin(time_.now() + Duration::seconds(static_cast<std::int64_t>(draw_.below(1'000'000))));
  asked_to_stop_ = false;
  WorkerIdentity identity;
  identity.uid = uid_;
  identity.name = uid_;
  identity.incarnation = ++incarnation_;
  identity.boot_id = "boot " + std::to_string(boots_);
  identity.slots = slots_;
  identity.slot_kind = "gpu";
  machine_.emplace(identity, WorkerRules{}, engine::Draw(seed_ + incarnation_, engine::TrialNumber(number_), "retry"));
  working_ = true;
  for (const Effect& effect : machine_->start(agent_.now())) {
    std::visit([this](const auto& known) { carry_out(known); }, effect);
  }
  work_off();
}

void WorkerNode::die() {
  agent_.kill();
  network_.disconnect(number_);
  inputs_.clear();
  working_ = false;
  refused_ = false;
  wake_ = net::Watch();
  wake_at_.reset();
  programs_.clear();
  ++starts_;
}

void WorkerNode::start_again_after(Duration away) {
  time_.after(away, [this, start = starts_] {
    if (start == starts_) {
      boot();
    }
  });
}

void WorkerNode::crash_agent(Duration away) {
  if (!agent_.alive()) {
    return;
  }
  die();
  start_again_after(away);
}

void WorkerNode::reboot(Duration away) {
  die();
  ++boots_;
  for (const auto& [order, program] : std::map(living_)) {
    program->known_to_agent = false;
    program->training->kill();
    program->gone = true;
  }
  living_.clear();
  start_again_after(away);
}

void WorkerNode::stop_agent(Duration away) {
  if (!agent_.alive() || asked_to_stop_) {
    return;
  }
  asked_to_stop_ = true;
  away_ = away;
  agent_.deliver([this] { push(StopAsked{}); });
}

bool WorkerNode::runs(const AttemptKey& key) const {
  return std::any_of(living_.begin(), living_.end(),
                     [&key](const auto& entry) { return entry.second->spec.key == key; });
}

bool WorkerNode::holds(const AttemptKey& key) const {
  const auto found = programs_.find(key);
  return agent_.alive() && found != programs_.end() && !found->second->gone;
}

// --- what reaches the agent ---

void WorkerNode::hear(const Frame& frame) {
  agent_.deliver([this, frame] {
    auto decoded = proto::decode_from_daemon(*frame);
    if (decoded) {
      push(FrameReceived{*std::move(decoded)});
    }
  });
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

// --- programs ---

void WorkerNode::carry_out(const StartProgram& start) {
  time_.after(Duration::millis(static_cast<std::int64_t>(1 + draw_.below(800))),
              [this, spec = start.spec, life = starts_] {
                if (life == starts_ && agent_.alive()) {
                  agent_.deliver([this, spec] { start_program(spec); });
                }
              });
}

void WorkerNode::start_program(const engine::LaunchSpec& spec) {
  if (faults_.strikes(Fault::program_cannot_start)) {
    push(ProgramNotStarted{spec.key, "there is no such program"});
    return;
  }
  for (const auto& [order, other] : living_) {
    for (const engine::SlotIndex slot : other->spec.slots) {
      if (std::find(spec.slots.begin(), spec.slots.end(), slot) != spec.slots.end()) {
        promises_.break_because("I6: two programs on slot " + std::to_string(slot.number()) + " of " + uid_);
      }
    }
  }
  auto program = std::make_shared<Program>();
  program->spec = spec;
  program->ends = ++programs_started_;
  Training::World world;
  world.say = [this, weak = std::weak_ptr(program)](bool by_socket, const std::string& line) {
    const auto said = weak.lock();
    if (said && said->known_to_agent && agent_.alive()) {
      agent_.deliver([this, key = said->spec.key, by_socket, line] {
        push(ProgramSaid{key, by_socket ? std::optional(only_connection) : std::nullopt, line});
      });
    }
  };
  world.measured = [this, key = spec.key](engine::Units step, double score) {
    promises_.program_said(key, step, score);
  };
  world.said_invalid = [this, key = spec.key] { promises_.program_said_invalid(key); };
  world.ended = [this, weak = std::weak_ptr(program)](bool by_signal, int code, Duration children) {
    if (const auto ended = weak.lock()) {
      program_ended(ended, by_signal, code, children);
    }
  };
  program->training = std::make_unique<Training>(time_, faults_, spec, seed_, std::move(world));
  programs_[spec.key] = program;
  living_[program->ends] = program;
  program->training->start();
  push(ProgramStarted{spec.key});
}

void WorkerNode::program_ended(const std::shared_ptr<Program>& program, bool by_signal, int code, Duration children) {
  program->by_signal = by_signal;
  program->code = code;
  // The shell waits until the children are gone too, and ends them after a while.
  time_.after(children, [this, program] { all_gone(program); });
}

void WorkerNode::all_gone(const std::shared_ptr<Program>& program) {
  if (std::exchange(program->gone, true)) {
    return;
  }
  living_.erase(program->ends);
  if (program->known_to_agent && agent_.alive()) {
    agent_.deliver([this, key = program->spec.key, by_signal = program->by_signal, code = program->code] {
      push(ProgramEnded{key, by_signal, code, ""});
    });
  }
}

void WorkerNode::carry_out(const SignalProgram& signal) {
  const auto found = programs_.find(signal.key);
  if (found == programs_.end() || found->second->gone) {
    return;
  }
  promises_.program_signalled(signal.key, asked_to_stop_);
  Program& program = *found->second;
  if (!program.training->alive()) {
    if (signal.kill) {
      all_gone(found->second);
    }
  } else if (signal.kill) {
    if (program.terminated) {
      reached(Probe::killed_after_its_grace);
    }
    program.training->kill();
  } else {
    program.terminated = true;
    program.training->terminate();
  }
}

void WorkerNode::carry_out(const AnswerProgram& answer) {
  const auto found = programs_.find(answer.key);
  if (found != programs_.end()) {
    time_.at(time_.now(), [program = found->second, line = answer.line] { program->training->hear(line); });
  }
}

void WorkerNode::carry_out(const PublishCheckpoint& publish) {
  time_.after(Duration::millis(static_cast<std::int64_t>(5 + draw_.below(20'000))),
              [this, publish, life = starts_, number = draw_.below(1'000'000)] {
                if (life != starts_) {
                  return;
                }
                agent_.deliver([this, publish, number] {
                  if (faults_.strikes(Fault::checkpoint_fails)) {
                    push(CheckpointNotPublished{publish.key, number % 2 == 0, "the checkpoint could not be moved"});
                  } else {
                    push(CheckpointPublished{
                        publish.key,
                        {publish.step, "/checkpoints/" + std::to_string(publish.key.lease.number()) + "/" +
                                           std::to_string(engine::count(publish.step)),
                         1, number}});
                  }
                });
              });
}

void WorkerNode::carry_out(const DeleteAttempt& remove) {
  const auto found = programs_.find(remove.key);
  if (found != programs_.end() && !found->second->gone) {
    promises_.break_because("I6: an attempt is forgotten while its program runs on " + uid_);
  }
  programs_.erase(remove.key);
}

// --- the daemon ---

void WorkerNode::carry_out(const SendMessage& send) {
  const auto frame = std::make_shared<const proto::Bytes>(proto::encode(send.envelope, send.message));
  if (!network_.send_to_daemon(number_, frame)) {
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
  if (end.failed) {
    promises_.break_because("I7: " + uid_ + " is refused for good: " + end.why);
  }
  time_.after(Duration::millis(200), [this, life = starts_] {
    if (life == starts_) {
      die();
      start_again_after(away_);
    }
  });
}

}  // namespace hpsearch::simulation
