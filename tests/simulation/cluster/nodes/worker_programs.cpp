#include <algorithm>
#include <utility>

#include "hpsearch/workers/core/spool.hpp"
#include "simulation/cluster/faults/probes.hpp"
#include "simulation/cluster/nodes/worker_node.hpp"

// A worker's programs and their shims.

namespace hpsearch::simulation {

using engine::Duration;
using namespace workers;

namespace {

constexpr const char* disk_is_full_text = "no space left on device";

Duration millis(std::uint64_t count) {
  return Duration::millis(static_cast<std::int64_t>(count));
}

}  // namespace

void WorkerNode::carry_out(const StartProgram& start) {
  perhaps_crash_at_work();
  in_agent_after(800, [this, spec = start.spec] { launch(spec); });
}

void WorkerNode::launch(const jobs::LaunchSpec& spec) {
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
  if (time_.now() < shims_die_until_) {
    push(ProgramLost{spec.key, "its shim has died before it could start"});
    return;
  }
  if (faults_.strikes(Fault::program_cannot_start)) {
    push(ProgramNotStarted{spec.key, "there is no such program"});
    return;
  }
  for (const auto& [key, other] : attempts_) {
    for (const engine::SlotIndex slot : other->spec.slots) {
      const bool taken = std::find(spec.slots.begin(), spec.slots.end(), slot) != spec.slots.end();
      if (other->runs() && taken && !spec.despite_leaked_processes) {
        promises_.break_because("I6: two programs on slot " + std::to_string(slot.number()) + " of " + uid_);
      }
    }
  }
  const auto weak = std::weak_ptr(kept);
  Training::Surroundings world;
  world.say = [this, weak](bool by_socket, const std::string& line, std::optional<engine::Units> step) {
    if (const Kept said = weak.lock()) {
      on_program_message(said, by_socket, line, step);
    }
  };
  const bool speaks = spec.rendezvous.rank == 0;  // Of the others nothing but their end counts.
  world.measured = [this, key = spec.key, weak, speaks](engine::Units step, double score) {
    if (const Kept measured = weak.lock(); measured && speaks) {
      ++measured->measured;
      promises_.ledger().measured(key, step, score);
    }
  };
  world.reported_invalid = [this, key = spec.key, speaks] {
    if (speaks) {
      promises_.ledger().reported_invalid(key);
    }
  };
  world.kill_shim = [this, weak] {
    if (const Kept dying = weak.lock()) {
      lose_program(dying);
      in_agent_after(2'000, [this, dying] { hand_in(dying); });
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
  if (time_.now() < programs_fail_until_) {
    kept->training->fail_at_once();
  } else {
    kept->training->start();
  }
  push(ProgramStarted{spec.key});
}

void WorkerNode::on_program_message(const Kept& kept, bool by_socket, const std::string& line,
                                    std::optional<engine::Units> step) {
  kept->said_at = time_.now();
  KeptAttempt::Line said{std::nullopt, line, false, kept->measured};
  if (by_socket) {
    said.question = QuestionId{++kept->questions};
    if (step && *step < kept->ahead_below) {
      said.answered = true;
      reached(Probe::answered_by_the_shim);
      time_.after(millis(1), [kept, answer = kept->ahead_line] {
        if (kept->training) {
          kept->training->on_event(answer);
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
      push(ProgramMessageReceived{
          kept->spec.key, line.question,
          understood(line.question ? parse_socket_line(line.text) : parse_stdout_payload(line.text)),
          kept->handed_in, line.answered});
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
      reached(Probe::program_lost_with_its_shim);
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
  // The shim waits until the children are gone too, and ends them after a while: when they survive SIGTERM,
  // after the grace that the agent gave them, which may itself not live to end them.
  const bool survive = kept->terminated && children > Duration();
  time_.after(survive ? std::max(kept->leave_until - time_.now(), Duration()) : children, [this, kept] {
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

/// The shim dies, and its program is ended with it.
void WorkerNode::lose_program(const Kept& kept) {
  if (kept->training && kept->training->alive()) {
    bereave(kept);
  }
  kept->training.reset();
  kept->children = false;
  kept->kept = false;
}

void WorkerNode::break_shims(Duration time) {
  shims_die_until_ = std::max(shims_die_until_, time_.now() + time);
}

void WorkerNode::break_programs(Duration time) {
  programs_fail_until_ = std::max(programs_fail_until_, time_.now() + time);
}

void WorkerNode::trouble_devices(Duration time) {
  const bool broken = draw_.below(2) == 0;
  unusable_.clear();
  for (std::uint64_t slot = 0; slot < slots_; ++slot) {
    if (draw_.below(2) == 0) {
      unusable_.push_back(
          {engine::SlotIndex(slot), broken ? "its device is lost" : "its device cannot be asked", broken});
    }
  }
  const auto tell = [this] {
    agent_.deliver([this] {
      note_broken_devices();
      push(DevicesJudged{unusable_});
    });
  };
  tell();
  time_.after(time, [this, tell, number = ++troubles_] {
    if (number == troubles_) {
      unusable_.clear();
      tell();
    }
  });
}

/// What is in a broken device now is ended, though the device may be well again by the time it is signalled.
void WorkerNode::note_broken_devices() {
  for (const auto& [key, kept] : attempts_) {
    const auto& slots = kept->spec.slots;
    kept->own =
        kept->own || std::any_of(unusable_.begin(), unusable_.end(), [&slots](const UnusableSlot& unusable) {
          return unusable.broken && std::find(slots.begin(), slots.end(), unusable.slot) != slots.end();
        });
  }
}

void WorkerNode::kill_shim() {
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
      promises_.break_because("I2: a journal is wanted from line " + std::to_string(attach.position) +
                              " on, and has " + std::to_string(kept->dropped) + " to " +
                              std::to_string(kept->journal.size()));
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
  // Also when it says something after all, and by the agent after the one that was stopped.
  kept->own = kept->own || silent || orphaned || asked_to_stop_;
  promises_.program_signalled(signal.key, kept->own);
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
    if (!std::exchange(kept->terminated, true)) {
      kept->leave_until = time_.now() + signal.grace;
    }
    kept->training->terminate();
  }
}

void WorkerNode::carry_out(const AnswerProgram& answer) {
  const Kept kept = find(answer.key);
  if (kept && kept->kept && kept->open_question == answer.question) {
    kept->open_question.reset();
    if (answer.line.find(R"("directive":"continue")") == std::string::npos &&
        answer.line.find("error") == std::string::npos) {
      asked_to_end(*kept, answer.line);
    }
    kept->said_at = time_.now();
    time_.at(time_.now(), [kept, line = answer.line] {
      if (kept->training) {
        kept->training->on_event(line);
      }
    });
  }
}

/// By its own worker only where that may, and once no daemon was there for long.
void WorkerNode::asked_to_end(KeptAttempt& kept, const std::string& line) {
  const bool alone =
      orphans_pause_after_ > Duration{} && time_.now() - in_session_at_ >= orphans_pause_after_;
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

}  // namespace hpsearch::simulation
