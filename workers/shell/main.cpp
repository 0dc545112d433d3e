#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "hpsearch/net/log.hpp"
#include "hpsearch/net/loop.hpp"
#include "hpsearch/workers/shell/control_group.hpp"
#include "hpsearch/workers/shell/gpu_probe.hpp"
#include "hpsearch/workers/shell/worker_loop.hpp"
#include "hpsearch/workers/shell/worker_state.hpp"

extern char** environ;  // NOLINT(readability-identifier-naming): POSIX names it.

namespace hpsearch::workers {
namespace {

// Exit statuses, the same in every program of the house.
constexpr int exit_ok = 0;
constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr int exit_conflict = 4;
constexpr int exit_storage = 74;

struct Arguments {
  std::string daemon;
  std::string state_directory;
  std::string name;
  std::string log_level = "info";
  std::uint64_t slots = 0;  ///< 0 = as many as there are GPUs, else cores.
  double grace = 30;
  std::string orphan_policy = "continue";
};

int fail(int status, const std::string& message) {
  std::cerr << "hpsearch-worker: " << message << "\n";
  return status;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "worker";
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view assignment = *at;
    const std::size_t equals = assignment.find('=');
    if (equals != std::string_view::npos && equals > 0) {
      variables.emplace(assignment.substr(0, equals), assignment.substr(equals + 1));
    }
  }
  return variables;
}

/// Where this program's file lies; its companion is installed beside it.
std::filesystem::path own_directory() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

/// Last on the programs' PATH, where nothing of theirs is shadowed: shell scripts find hpsearch-report there.
void add_own_directory(std::map<std::string, std::string>& variables) {
  const std::string own = own_directory().string();
  std::string& path = variables.try_emplace("PATH", "/usr/local/bin:/usr/bin:/bin").first->second;
  if ((":" + path + ":").find(":" + own + ":") == std::string::npos) {
    path += ":" + own;
  }
}

/// Descriptors 0, 1 and 2 must exist, or pipes and sockets would get their numbers.
void open_standard_streams() {
  int number = 0;
  do {
    number = ::open("/dev/null", O_RDWR);
  } while (number >= 0 && number <= STDERR_FILENO);
  if (number > STDERR_FILENO) {
    ::close(number);
  }
}

/// Whoever started us with nohup wants us to outlive the terminal.
bool ignores(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// Every program costs a handful of descriptors here.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

/// "continue" or "stop_after=SECONDS"; how long programs run on without a daemon, 0 for ever.
engine::Result<engine::Duration> orphans_end_after(const std::string& policy) {
  constexpr std::string_view stop_after = "stop_after=";
  constexpr double longest = 10 * 365 * 86'400.0;
  if (policy == "continue") {
    return engine::Duration{};
  }
  const std::string number = policy.starts_with(stop_after) ? policy.substr(stop_after.size()) : "";
  double seconds = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), seconds);
  if (error != std::errc{} || end != number.data() + number.size() || !(seconds >= 1 && seconds <= longest)) {
    return engine::Error{engine::Errc::bad_request, "--orphan-policy is \"" + policy +
                                                        "\"; it must be continue or stop_after=SECONDS, at least 1"};
  }
  return engine::Duration::micros(static_cast<std::int64_t>(seconds * 1'000'000));
}

engine::Result<WorkerOptions> options_from(const Arguments& arguments) {
  WorkerOptions options;
  options.daemon = arguments.daemon;
  options.name = arguments.name.empty() ? host_name() : arguments.name;
  options.rules.attempt.grace =
      engine::Duration::micros(static_cast<std::int64_t>(arguments.grace * 1'000'000));
  const engine::Result<engine::Duration> orphans = orphans_end_after(arguments.orphan_policy);
  if (!orphans) {
    return orphans.error();
  }
  options.rules.orphans_end_after = *orphans;
  options.shim = own_directory() / "hpsearch-shim";
  options.kills_by = ControlGroup::may_be_made() ? "cgroup" : "process table";
  const std::filesystem::path determined_host = own_directory() / "hpsearch-determined";
  if (::access(determined_host.c_str(), X_OK) == 0) {
    options.machine.determined_host = determined_host.string();
  }
  options.machine.cores = usable_cores();
  options.machine.environment = own_environment();
  add_own_directory(options.machine.environment);
  std::vector<std::string> devices = probe_gpus();
  if (arguments.slots > devices.size() && !devices.empty()) {
    return engine::Error{
        engine::Errc::bad_request,
        "--slots is " + std::to_string(arguments.slots) + ", but this machine has " +
            std::to_string(devices.size()) +
            " GPUs; a slot is a whole GPU (CUDA_VISIBLE_DEVICES= makes slots of processors)"};
  }
  options.slot_kind = devices.empty() ? "cpu" : "gpu";
  const std::uint64_t found = devices.empty() ? options.machine.cores : devices.size();
  options.machine.slots = arguments.slots == 0 ? found : arguments.slots;
  if (!devices.empty()) {
    devices.resize(options.machine.slots);
  }
  options.machine.devices = std::move(devices);
  return options;
}

int run(const Arguments& arguments) {
  if (!net::set_log_level(arguments.log_level)) {
    return fail(exit_usage,
                "--log-level is \"" + arguments.log_level + "\"; it must be debug, info, warning or error");
  }
  open_standard_streams();
  raise_descriptor_limit();
  ::signal(SIGPIPE, SIG_IGN);
  engine::Result<WorkerOptions> options = options_from(arguments);
  if (!options) {
    return fail(exit_usage, options.error().message);
  }
  if (::access(options->shim.c_str(), X_OK) != 0) {
    return fail(exit_usage, "there is no program " + options->shim.string() +
                                "; it belongs beside hpsearch-worker, which cannot run trials without it");
  }
  const engine::Result<WorkerState> state = WorkerState::open(arguments.state_directory);
  if (!state) {
    switch (state.error().code) {
      case engine::Errc::wrong_state:
        return fail(exit_conflict, state.error().message);
      case engine::Errc::corrupt:
        return fail(exit_failed, state.error().message);
      default:
        return fail(exit_storage, state.error().message);
    }
  }
  engine::Result<std::vector<SpooledAttempt>> found = state->take_over();
  if (!found) {
    return fail(exit_failed, found.error().message);
  }
  if (!found->empty()) {
    net::log(net::Level::info, "taking over " + std::to_string(found->size()) + " attempts of an earlier run");
  }
  net::Loop loop;
  int status = exit_ok;
  const auto end = [&loop, &status](bool failed, const std::string& why) {
    if (failed) {
      status = fail(exit_failed, why);
    }
    loop.stop();
  };
  WorkerLoop worker(loop, *state, *options, end);
  const auto stop = [&worker](int) {
    net::log(net::Level::info, "asked to stop: ending programs");
    worker.stop();
  };
  const net::Watch signals = loop.on_signals({SIGTERM, SIGINT}, stop);
  const net::Watch hang_up = ignores(SIGHUP) ? net::Watch() : loop.on_signals({SIGHUP}, stop);
  const net::Watch leave = loop.on_signals({SIGUSR1}, [&worker](int) {
    net::log(net::Level::info, "asked to leave: programs run on for the next worker");
    worker.leave();
  });
  if (const engine::Status started = worker.start(*std::move(found)); !started) {
    return fail(exit_usage, started.error().message);
  }
  net::log(net::Level::info, "worker " + options->name + " with " + std::to_string(options->machine.slots) +
                                 " " + options->slot_kind + " slots knocks at " + arguments.daemon);
  loop.run();
  return status;
}

int main_of(int argc, char** argv) {
  CLI::App app{"Runs the trials of hpsearch experiments on this machine's GPUs or processors."};
  app.name("hpsearch-worker");
  app.set_version_flag("--version", std::string("hpsearch-worker ") + HPSEARCH_VERSION);
  Arguments arguments;
  app.add_option("--daemon", arguments.daemon, "Where hpsearchd listens for workers: tcp://HOST:PORT")
      ->required();
  app.add_option("--state-dir", arguments.state_directory, "What this worker keeps: identity, attempts, logs")
      ->required();
  app.add_option("--slots", arguments.slots, "Trials' slots; by default one per GPU, else one per core")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{4096}));
  app.add_option("--name", arguments.name, "Name for people; by default the machine's");
  app.add_option("--grace", arguments.grace, "Seconds a program has to end before it is killed (30)")
      ->check(CLI::Range(0.0, 86'400.0));
  app.add_option("--orphan-policy", arguments.orphan_policy,
                 "What becomes of programs while no daemon answers: continue (they run on), or stop_after=SECONDS");
  app.add_option("--log-level", arguments.log_level, "debug, info, warning or error (info)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_ok : exit_usage;
  }
  return run(arguments);
}

}  // namespace
}  // namespace hpsearch::workers

int main(int argc, char** argv) {
  try {
    return hpsearch::workers::main_of(argc, argv);
  } catch (const std::exception& error) {
    return hpsearch::workers::fail(hpsearch::workers::exit_failed, error.what());
  }
}
