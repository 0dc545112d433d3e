#include "hpsearch/workers/shell/running_programs.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "hpsearch/io/net/log.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"
#include "hpsearch/workers/shell/shim/launch_order.hpp"

namespace hpsearch::workers {

using engine::AttemptKey;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

ProgramNotStarted start_failure(const AttemptKey& key, const std::string& why, bool not_its_fault = false) {
  return {key, why, not_its_fault || reports_scarcity(why), reports_a_bad_disk(why)};
}

}  // namespace

RunningPrograms::RunningPrograms(net::Loop& loop, const WorkerState& state, const WorkerOptions& options,
                                 SlotDevices& devices, Handlers handlers)
    : loop_(loop),
      state_(state),
      options_(options),
      devices_(devices),
      handlers_(std::move(handlers)),
      contexts_(state.contexts(), boot_id(), options.most_context_bytes),
      child_signals_(loop.on_signals({SIGCHLD}, [this](int) { reap_shims(); })),
      spares_(loop, state.spares(), state.incarnation(), options.shim,
              [this](pid_t pid) { shims_.insert(pid); }),
      background_(loop) {
}

RunningPrograms::~RunningPrograms() {
  links_.clear();
  state_.tidy_sockets();
}

void RunningPrograms::hold_devices(const jobs::LaunchSpec& spec, const std::string& mark,
                                   bool had_leaked_processes) {
  const Result<std::string> socket = state_.socket_path(spec.key, "socket");
  if (!socket) {
    return;
  }
  std::vector<std::string> marks{mark_of(*socket)};
  if (!mark.empty()) {
    marks.push_back(mark);
  }
  devices_.hold(spec.key, spec.slots, std::move(marks), had_leaked_processes);
}

void RunningPrograms::carry_out(const StartProgram& start) {
  const AttemptKey key = start.spec.key;
  Result<std::string> report_socket = state_.socket_path(key, "socket");
  Result<std::string> agent_socket = state_.socket_path(key, "agent.socket");
  if (!report_socket || !agent_socket) {
    const std::string why = (report_socket ? agent_socket : report_socket).error().message;
    handlers_.on_input(start_failure(key, why));
    return;
  }
  if (options_.machine.run_as.submitter &&
      std::filesystem::path(*report_socket).parent_path() != state_.attempt(key).root()) {
    handlers_.on_input(start_failure(key, "the path " + state_.attempt(key).root().string() +
                                              " is too long for a socket that the program's user finds; "
                                              "give the worker a shorter --state-dir"));
    return;
  }
  hold_devices(start.spec);
  preparing_[key] = Preparing{start.spec, {*std::move(report_socket), *std::move(agent_socket)}, 0, {}};
  prepare(key);
}

void RunningPrograms::prepare(const AttemptKey& key) {
  Preparing& preparing = preparing_.at(key);
  ++preparing.tries;
  background_.run([this, spec = preparing.spec, machine = options_.machine, directory = state_.attempt(key),
                   setups = state_.setups(), sockets = preparing.sockets]() -> net::Background::Afterwards {
    Result<ContextCache::Tree> tree = ContextCache::Tree();
    std::optional<double> fetched;
    if (!spec.context_digest.empty()) {
      const auto began = std::chrono::steady_clock::now();
      tree = contexts_.provide(spec.context_digest);
      fetched = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      if (!tree) {
        return [this, key = spec.key, why = tree.error()] { not_prepared(key, why); };
      }
    }
    const Status can_meet = meeting_port_is_free(spec);
    Prepared prepared;
    if (can_meet) {
      prepared = prepare_attempt(spec, directory, machine, sockets, setups, tree->get());
    }
    return [this, key = spec.key, spec, prepared = std::move(prepared), can_meet, fetched] {
      preparing_.erase(key);
      if (fetched) {
        handlers_.on_context(*fetched);
      }
      if (!can_meet) {
        handlers_.on_input(
            ProgramNotStarted{key, can_meet.error().message, true});  // The next lease has another port.
        return;
      }
      const Result<pid_t> shim = prepared.made ? start_program(spec) : Result<pid_t>(prepared.made.error());
      if (shim) {
        shims_.insert(*shim);
      } else {
        ProgramNotStarted failure = start_failure(key, shim.error().message, prepared.outage);
        failure.checkpoint_gone = prepared.checkpoint_gone;
        failure.status = prepared.status;
        handlers_.on_input(std::move(failure));
      }
    };
  });
}

/// Starts it in the spare for its slots, if there is one; otherwise in a new shim.
Result<pid_t> RunningPrograms::start_program(const jobs::LaunchSpec& spec) {
  const Result<LaunchOrder> order = read_launch_order(state_.attempt(spec.key).launch());
  std::optional<SpareShims::Taken> spare =
      order ? spares_.take(spec, order->program) : std::optional<SpareShims::Taken>();
  if (spare) {
    hold_devices(spec, spare->mark);
    const pid_t pid = spare->shim.pid;
    link(spec.key).run_in(std::move(spare->shim));
    spares_.attempt_started(spec, order->program);
    return pid;
  }
  const Result<pid_t> started = link(spec.key).start(options_.shim);
  if (started && order) {
    spares_.attempt_started(spec, order->program);
  }
  return started;
}

/// The context can't be provided. Tries again, because the daemon may be starting, or the disk may get space.
void RunningPrograms::not_prepared(const AttemptKey& key, const Error& why) {
  Preparing& preparing = preparing_.at(key);
  const bool may_help = why.code == Errc::unavailable;
  if (may_help && preparing.tries < options_.context_tries) {
    net::log(net::Level::warning, why.message + "; trying again");
    preparing.again =
        loop_.after(options_.context_wait * (1U << (preparing.tries - 1)), [this, key] { prepare(key); });
    return;
  }
  preparing_.erase(key);
  handlers_.on_input(start_failure(key, why.message, may_help));
}

/// Creates the attempt's connection to its shim.
ShimClient& RunningPrograms::link(const AttemptKey& key) {
  ShimClient::Handlers handlers;
  handlers.on_started = [this, key](const JournalStarted& started) {
    net::log(net::Level::debug, state_.attempt(key).root().string() + " is kept by its " + started.means);
    handlers_.on_input(ProgramStarted{key});
    devices_.look_for_strangers(key);
  };
  handlers.on_not_started = [this, key](const std::string& why) {
    handlers_.on_input(start_failure(key, why));
  };
  handlers.on_message = [this, key](const JournalMessageReceived& said, std::uint64_t position) {
    const auto question = said.question == 0 ? std::nullopt : std::optional(QuestionId{said.question});
    handlers_.on_input(ProgramMessageReceived{key, question, said.message, position, said.answered});
  };
  handlers.on_unwritten = [this](const std::string& why) { handlers_.on_input(JournalNotWritten{why}); };
  handlers.on_stuck = [this, key](const JournalStuck& stuck) {
    handlers_.on_input(ProgramStuck{
        key, "process " + std::to_string(stuck.pid) + " survives SIGKILL, probably stuck in the kernel"});
  };
  handlers.on_ended = [this, key](const JournalEnded& ended) {
    spares_.attempt_ended(key);
    handlers_.on_end(
        key, ProgramEnded{key, ended.by_signal, ended.code, ended.log_tail, ended.asked, ended.out_of_memory},
        ended.by_signal || ended.code != 0);
  };
  handlers.on_lost = [this, key](const std::string& why) {
    spares_.attempt_ended(key);
    handlers_.on_end(key, ProgramLost{key, why}, true);
  };
  auto& made = links_[key];
  made = std::make_unique<ShimClient>(loop_, state_.attempt(key), std::move(handlers));
  return *made;
}

void RunningPrograms::reap_shims() {
  // One by one, because this process may have other children, from the script that it replaced.
  std::erase_if(shims_, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
}

void RunningPrograms::carry_out(const AttachProgram& attach) {
  link(attach.key).attach(attach.position);
}

void RunningPrograms::carry_out(const AnswerAhead& ahead) {
  if (ShimClient* shim = find(ahead.key)) {
    shim->answer_ahead(count(ahead.below), ahead.line);
  }
}

void RunningPrograms::carry_out(const SignalProgram& signal) {
  if (ShimClient* shim = find(signal.key)) {
    shim->signal(signal.kill         ? ShimClient::Signal::kill
                 : signal.checkpoint ? ShimClient::Signal::checkpoint
                                     : ShimClient::Signal::terminate,
                 std::chrono::milliseconds(signal.grace.in_micros() / 1'000));
  }
}

void RunningPrograms::carry_out(const AnswerProgram& answer) {
  if (ShimClient* shim = find(answer.key)) {
    shim->answer(answer.question.number(), answer.line);
  }
}

void RunningPrograms::drop_journal_before(const AttemptKey& key, std::uint64_t position) {
  if (ShimClient* shim = find(key)) {
    shim->drop_before(position);
  }
}

void RunningPrograms::forget(const AttemptKey& key) {
  const auto found = links_.find(key);
  if (found != links_.end()) {
    // One of its own handlers may be the caller.
    loop_.post([link = std::shared_ptr<ShimClient>(std::move(found->second))] { static_cast<void>(link); });
    links_.erase(found);
  }
  devices_.forget(key);
}

ShimClient* RunningPrograms::find(const AttemptKey& key) {
  const auto found = links_.find(key);
  return found == links_.end() ? nullptr : found->second.get();
}

}  // namespace hpsearch::workers
