#include "hpsearch/workers/shell/worker_program.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/arguments/described_options.hpp"
#include "hpsearch/io/files/state_home.hpp"
#include "hpsearch/io/net/core_files.hpp"
#include "hpsearch/io/net/descriptor_limit.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/io/net/server_names.hpp"
#include "hpsearch/io/zmq/curve.hpp"
#include "hpsearch/io/zmq/invite_token.hpp"
#include "hpsearch/jobs/contract/device_kinds.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/workers/core/devices.hpp"
#include "hpsearch/workers/shell/devices/worker_slots.hpp"
#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/init_process.hpp"
#include "hpsearch/workers/shell/joining.hpp"
#include "hpsearch/workers/shell/ml_mount.hpp"
#include "hpsearch/workers/shell/own_address.hpp"
#include "hpsearch/workers/shell/processes/control_group.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"
#include "hpsearch/workers/shell/slots/slot_keeper.hpp"
#include "hpsearch/workers/shell/worker_loop.hpp"
#include "hpsearch/workers/shell/worker_metrics.hpp"
#include "hpsearch/workers/shell/worker_state.hpp"

extern char** environ;  // NOLINT(readability-identifier-naming): POSIX names it.

namespace hpsearch::workers {
namespace {

// Exit statuses, the same in all programs of hpsearch.
constexpr int exit_ok = 0;
constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr int exit_conflict = 4;
constexpr int exit_storage = 74;

struct Arguments {
  bool joins = false;
  std::string invite;     ///< For join: INVITE, @FILE, "-" or "".
  bool no_start = false;  ///< For join: exits when the daemon has allowed the key.
  std::string daemon;
  std::string state_directory;
  std::string name;
  std::string address;
  std::string log_level = "info";
  SlotArguments slots;
  std::optional<std::uint64_t> max_unslotted;
  std::string pool;
  std::vector<std::string> labels;
  double grace = 30;
  double look_every = 15;
  double look_deadline = 20;
  bool list_devices = false;
  std::string orphan_policy = "continue";
  std::string server_key;
  std::string server_key_file;
  bool show_key = false;
  std::string metrics;
  std::string run_as = "worker";
  std::optional<std::uint64_t> min_uid;
  std::vector<std::string> keep_environment;
  std::string allocation;
  std::optional<double> idle_timeout;
  double give_up_after = 600;
  std::optional<double> time_limit;
  std::string ends_from;
  double give_back = 180;
  std::optional<double> stop_within;
  std::string share_slots;   ///< How other searches name this one; "" = it shares no slots.
  bool slots_given = false;  ///< --slots is among the arguments.
  std::uint64_t gpu_free = 90;
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

/// The directory of this program's file; its companions are installed there.
std::filesystem::path own_directory() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

/// Adds the directory last on the programs' PATH, where it hides nothing: shell scripts find hpsearch-report
/// there.
void add_own_directory(std::map<std::string, std::string>& variables) {
  const std::string own = own_directory().string();
  std::string& path = variables.try_emplace("PATH", "/usr/local/bin:/usr/bin:/bin").first->second;
  if ((":" + path + ":").find(":" + own + ":") == std::string::npos) {
    path += ":" + own;
  }
}

/// Opens descriptors 0, 1 and 2 if they are closed; otherwise pipes and sockets would get their numbers.
void open_standard_streams() {
  int number = 0;
  do {
    number = ::open("/dev/null", O_RDWR);
  } while (number >= 0 && number <= STDERR_FILENO);
  if (number > STDERR_FILENO) {
    ::close(number);
  }
}

/// Whether the signal is ignored: a process started with nohup should outlive the terminal.
bool ignores(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// The policy for programs without a daemon: "continue", "pause_at_rung", "pause_at_rung=SECONDS" or
/// "stop_after=SECONDS".
engine::Status take_orphan_policy(const std::string& policy, WorkerRules& rules) {
  constexpr std::string_view stop_after = "stop_after=";
  constexpr std::string_view pause_at_rung = "pause_at_rung=";
  // A daemon restarts sooner, even with its machine, and a paused program has to be started again.
  constexpr engine::Duration patience = engine::Duration::seconds(120);
  constexpr double longest = 10 * 365 * 86'400.0;
  if (policy == "continue") {
    return engine::Done{};
  }
  if (policy == "pause_at_rung") {
    rules.orphans_pause_after = patience;
    return engine::Done{};
  }
  const bool pauses = policy.starts_with(pause_at_rung);
  const std::string number = pauses                           ? policy.substr(pause_at_rung.size())
                             : policy.starts_with(stop_after) ? policy.substr(stop_after.size())
                                                              : "";
  const double seconds = engine::number_in<double>(number).value_or(0);
  if (!(seconds >= 1 && seconds <= longest)) {
    return engine::Error{
        engine::Errc::bad_request,
        "--orphan-policy is \"" + policy +
            "\"; it must be continue, pause_at_rung, pause_at_rung=SECONDS or stop_after=SECONDS, "
            "at least 1"};
  }
  (pauses ? rules.orphans_pause_after : rules.orphans_end_after) =
      engine::Duration::micros(static_cast<std::int64_t>(seconds * 1'000'000));
  return engine::Done{};
}

/// What a job of Slurm was given; nothing outside of a job. Slurm need not bind processes to their
/// processors.
std::optional<std::uint64_t> cores_of_slurm_job() {
  for (const char* name : {"SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE"}) {
    const char* text = std::getenv("SLURM_JOB_ID") != nullptr ? std::getenv(name) : nullptr;
    if (const auto number = engine::number_in<std::uint64_t>(text != nullptr ? text : ""); number > 0U) {
      return number;
    }
  }
  return std::nullopt;
}

/// The numbers of the processors this process may run on, at least one.
std::vector<std::size_t> usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<std::size_t> processors;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (std::size_t number = 0; number < CPU_SETSIZE; ++number) {
      if (CPU_ISSET(number, &set)) {
        processors.push_back(number);
      }
    }
  }
  return processors.empty() ? std::vector<std::size_t>{0} : processors;
}

std::uint64_t usable_cores() {
  return cores_of_slurm_job().value_or(usable_processors().size());
}

/// The names of the worker's slots in the slot table.
std::vector<std::string> names_in_table(const WorkerOptions& options) {
  std::vector<std::string> names;
  for (const engine::SlotDevice& device : options.devices) {
    names.push_back(device.uuid);
  }
  const std::vector<std::size_t> processors = usable_processors();
  while (names.size() < options.machine.slots) {
    names.push_back("cpu-" + std::to_string(processors[names.size() % processors.size()]));
  }
  return names;
}

/// --share-slots; none without it. A search inside a trial has the trial's slots, which are in use already.
std::unique_ptr<SlotKeeper> keeper_of_slots(net::Loop& loop, const Arguments& arguments,
                                            const WorkerState& state, WorkerOptions& options) {
  if (arguments.share_slots.empty() || std::getenv("HPSEARCH_ATTEMPT_MARK") != nullptr) {
    return nullptr;
  }
  engine::Result<SlotTable> table = SlotTable::open(slot_table_directory());
  if (!table) {
    net::log(net::Level::warning, "slots are not shared with other searches: " + table.error().message);
    return nullptr;
  }
  SlotSharing sharing{.who = arguments.share_slots,
                      .exact = arguments.slots_given,
                      .gpu_free = arguments.gpu_free,
                      .slots = names_in_table(options)};
  for (const std::string& slot : sharing.slots) {
    options.machine.slot_files.push_back(table->claim_file(slot, state.uid()).string());
  }
  return std::make_unique<SlotKeeper>(loop, *std::move(table), std::move(sharing), state.uid(),
                                      options.devices, options.machine.device_kind.noun, options.seen);
}

std::chrono::milliseconds millis(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1'000));
}

engine::Result<std::map<std::string, std::string>> labels_from(const std::vector<std::string>& given) {
  std::map<std::string, std::string> labels;
  for (const std::string& label : given) {
    const std::size_t equals = label.find('=');
    if (equals == std::string::npos || equals == 0) {
      return engine::Error{engine::Errc::bad_request, "--label is \"" + label + "\"; it must be KEY=VALUE"};
    }
    if (!labels.emplace(label.substr(0, equals), label.substr(equals + 1)).second) {
      return engine::Error{engine::Errc::bad_request,
                           "--label names \"" + label.substr(0, equals) + "\" twice"};
    }
  }
  return labels;
}

/// --run-as, --min-uid and --keep-environment.
engine::Result<RunAs> run_as_from(const Arguments& arguments) {
  RunAs run_as;
  run_as.submitter = arguments.run_as == "submitter";
  run_as.min_uid = arguments.min_uid.value_or(run_as.min_uid);
  run_as.keep_environment = arguments.keep_environment;
  const auto wrong = [](const std::string& why) { return engine::Error{engine::Errc::bad_request, why}; };
  if (!run_as.submitter && arguments.run_as != "worker") {
    return wrong("--run-as is \"" + arguments.run_as + "\"; it must be worker or submitter");
  }
  if (!run_as.submitter && arguments.min_uid) {
    return wrong("--min-uid is only for --run-as submitter");
  }
  if (!run_as.submitter && !arguments.keep_environment.empty()) {
    return wrong("--keep-environment is only for --run-as submitter; other programs have all variables");
  }
  if (run_as.submitter && ::geteuid() != 0) {
    return wrong("--run-as submitter needs root, and this worker runs as uid " + std::to_string(::geteuid()) +
                 "; start it as root, or use --run-as worker");
  }
  return run_as;
}

engine::Result<WorkerOptions> options_from(const Arguments& arguments) {
  WorkerOptions options;
  options.daemon = arguments.daemon;
  options.over_ipv6 = net::needs_ipv6(arguments.daemon);
  options.host = host_name();
  options.name = arguments.name.empty() ? options.host : arguments.name;
  options.address = arguments.address.empty() ? own_address(arguments.daemon) : arguments.address;
  if (options.address.empty()) {
    net::log(net::Level::warning, "cannot determine this machine's address: no route to " + arguments.daemon +
                                      ". Trials on several workers will not run here; set --address");
  }
  options.rules.attempt.grace =
      engine::Duration::micros(static_cast<std::int64_t>(arguments.grace * 1'000'000));
  if (const engine::Status taken = take_orphan_policy(arguments.orphan_policy, options.rules); !taken) {
    return taken.error();
  }
  const engine::Result<RunAs> run_as = run_as_from(arguments);
  if (!run_as) {
    return run_as.error();
  }
  options.allocation = arguments.allocation;
  options.machine.is_lent_for_a_while = !arguments.allocation.empty();
  const auto in_micros = [](double seconds) {
    return engine::Duration::micros(static_cast<std::int64_t>(seconds * 1'000'000));
  };
  options.rules.ends_when_idle_for = in_micros(arguments.idle_timeout.value_or(0));
  if (!arguments.allocation.empty()) {
    options.rules.ends_when_alone_for = in_micros(arguments.give_up_after);
  }
  options.rules.time_limit = in_micros(arguments.time_limit.value_or(0));
  options.rules.give_back = in_micros(arguments.give_back);
  options.rules.asks_time_left = arguments.ends_from == "slurm";
  options.machine.run_as = *run_as;
  options.shim = own_directory() / "hpsearch-shim";
  options.kills_by = ControlGroup::may_be_made() ? "cgroup" : "process table";
  const std::filesystem::path determined_host = own_directory() / "hpsearch-determined";
  if (::access(determined_host.c_str(), X_OK) == 0) {
    options.machine.determined_host = determined_host.string();
  }
  const std::filesystem::path ranks_host = own_directory() / "hpsearch-ranks";
  if (::access(ranks_host.c_str(), X_OK) == 0) {
    options.machine.ranks_host = ranks_host.string();
  }
  options.machine.cores = usable_cores();
  options.pool = arguments.pool;
  engine::Result<std::map<std::string, std::string>> labels = labels_from(arguments.labels);
  if (!labels) {
    return labels.error();
  }
  options.labels = *std::move(labels);
  options.machine.environment = own_environment();
  add_own_directory(options.machine.environment);
  SlotArguments slots = arguments.slots;
  slots.look_every = millis(arguments.look_every);
  slots.look_deadline = millis(arguments.look_deadline);
  if (const engine::Status found = find_slots(slots, options); !found) {
    return found.error();
  }
  return options;
}

/// --server-key, or the content of --server-key-file; "" = neither.
engine::Result<std::string> server_key_from(const Arguments& arguments) {
  const bool from_file = !arguments.server_key_file.empty();
  std::string key = arguments.server_key;
  if (from_file) {
    engine::Result<std::string> text = read_file(arguments.server_key_file, 4'096);
    if (!text) {
      return engine::Error{engine::Errc::bad_request, "--server-key-file: " + text.error().message};
    }
    key = *std::move(text);
    key.erase(key.find_last_not_of(" \t\r\n") + 1);
  } else if (key.empty()) {
    return key;
  }
  if (!net::is_curve_key(key)) {
    return engine::Error{
        engine::Errc::bad_request,
        (from_file ? "--server-key-file " + arguments.server_key_file + " has \"" : "--server-key is \"") +
            key.substr(0, 100) +
            "\"; it must be the 64 digits of the daemon's public key (hpsearch keys list)"};
  }
  return key;
}

/// hpsearch-worker-HOST in the state home: machines may share it.
engine::Result<std::string> usual_state_directory() {
  const auto home = files::StateHome::of_environment();
  return home ? engine::Result<std::string>(home->path() / ("hpsearch-worker-" + host_name())) : home.error();
}

/// The daemon of the invite, or of the one that was used before if this one can't be read any more.
engine::Result<JoinedDaemon> join_daemon(const Arguments& arguments) {
  const auto text = invite_text(arguments.invite);
  const auto invite = text ? net::InviteToken::read(*text) : engine::Result<net::InviteToken>(text.error());
  if (invite) {
    return join(arguments.state_directory, *invite, arguments.name.empty() ? host_name() : arguments.name);
  }
  const auto before = joined_daemon(arguments.state_directory);
  if (before && *before) {
    net::log(net::Level::info,
             invite.error().message + "; this worker has joined " + (*before)->address + " before");
    return **before;
  }
  return invite.error();
}

/// Fills in the daemon that the worker joins now or has joined before. An address or a key in the arguments
/// goes first.
engine::Status take_daemon(Arguments& arguments) {
  if (arguments.joins) {
    if (!arguments.daemon.empty() || !arguments.server_key.empty() || !arguments.server_key_file.empty()) {
      return engine::Error{engine::Errc::bad_request,
                           "join takes the daemon's address and key from the invite; leave --daemon and "
                           "--server-key out"};
    }
    const auto daemon = join_daemon(arguments);
    if (!daemon) {
      return daemon.error();
    }
    arguments.daemon = daemon->address;
    arguments.server_key = daemon->server_key;
    return engine::Done{};
  }
  if (!arguments.daemon.empty()) {
    return engine::Done{};
  }
  const auto joined = joined_daemon(arguments.state_directory);
  if (!joined) {
    return joined.error();
  }
  if (!*joined) {
    return engine::Error{engine::Errc::bad_request,
                         "no daemon is given, and this worker has joined none (" + arguments.state_directory +
                             "). Run hpsearch-worker join with an invite (hpsearch worker invite), or give "
                             "--daemon"};
  }
  arguments.daemon = (*joined)->address;
  if (arguments.server_key_file.empty() && arguments.server_key.empty()) {
    arguments.server_key = (*joined)->server_key;
  }
  return engine::Done{};
}

/// Works while a worker runs: the key is made only once.
int show_key(const std::string& state_directory) {
  std::error_code unknown;
  const std::filesystem::path absolute =
      std::filesystem::absolute(state_directory, unknown).lexically_normal();
  if (const engine::Status made = make_private_directory(absolute); !made) {
    return fail(exit_storage, made.error().message);
  }
  const engine::Result<net::CurveKeys> keys = net::curve_keys_in(state_directory);
  if (!keys) {
    return fail(exit_storage, keys.error().message);
  }
  std::cout << keys->public_key << std::endl;
  return exit_ok;
}

int list_devices(const SlotArguments& slots) {
  const engine::Result<engine::Value> devices = listed_devices(slots);
  if (!devices) {
    return fail(exit_usage, devices.error().message);
  }
  std::cout << proto::pretty_json(*devices) << std::endl;
  ::_exit(exit_ok);  // Doesn't unload the driver's library, which may hang.
}

int run(Arguments arguments) {
  if (arguments.list_devices) {
    return list_devices(arguments.slots);
  }
  if (arguments.state_directory.empty()) {
    auto usual = usual_state_directory();
    if (!usual) {
      return fail(exit_usage, usual.error().message);
    }
    arguments.state_directory = *std::move(usual);
  }
  if (arguments.show_key) {
    return show_key(arguments.state_directory);
  }
  if (!net::set_log_level(arguments.log_level)) {
    return fail(exit_usage,
                "--log-level is \"" + arguments.log_level + "\"; it must be debug, info, warning or error");
  }
  open_standard_streams();
  ::signal(SIGPIPE, SIG_IGN);
  if (const engine::Status taken = take_daemon(arguments); !taken) {
    return fail(taken.error().code == engine::Errc::bad_request   ? exit_usage
                : taken.error().code == engine::Errc::unavailable ? exit_failed
                                                                  : exit_storage,
                taken.error().message);
  }
  const engine::Result<std::string> server_key = server_key_from(arguments);
  if (!server_key) {
    return fail(exit_usage, server_key.error().message);
  }
  if (arguments.no_start) {
    return exit_ok;
  }
  engine::Result<WorkerOptions> options = options_from(arguments);
  if (!options) {
    return fail(exit_usage, options.error().message);
  }
  if (::access(options->shim.c_str(), X_OK) != 0) {
    return fail(exit_usage, "there is no program " + options->shim.string() +
                                "; it belongs beside hpsearch-worker, which cannot run trials without it");
  }
  if (options->machine.run_as.submitter || is_open_to_users(arguments.state_directory)) {
    ::umask(
        0077);  // Users of programs may pass through the directory, and must not read the worker's own files.
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
  if (const engine::Status opened =
          options->machine.run_as.submitter ? state->open_to_users() : engine::Status(engine::Done{});
      !opened) {
    return fail(opened.error().code == engine::Errc::bad_request ? exit_usage : exit_storage,
                opened.error().message);
  }
  net::forbid_core_files();
  net::raise_descriptor_limit(RLIM_INFINITY);  // Every program needs several here, and opens its own.
  if (!all_processes()) {
    return fail(
        exit_failed,
        "/proc does not show this worker's own process; without it what programs leave behind cannot be "
        "found and ended");
  }
  static_cast<void>(can_mount());  // Asked while a process can be made: the answer is kept.
  engine::Result<std::vector<SpooledAttempt>> found = state->take_over();
  if (!found) {
    return fail(found.error().code == engine::Errc::unavailable ? exit_storage : exit_failed,
                found.error().message);
  }
  if (const engine::Status kept = keep_slots_of(*state, arguments.slots, !found->empty(), *options); !kept) {
    return fail(kept.error().code == engine::Errc::unavailable ? exit_storage : exit_failed,
                kept.error().message);
  }
  options->version = HPSEARCH_VERSION;
  options->metrics = arguments.metrics;
  options->max_unslotted = arguments.max_unslotted.value_or(usual_max_unslotted(options->machine.slots));
  if (!found->empty()) {
    net::log(net::Level::info,
             "taking over " + std::to_string(found->size()) + " attempts of an earlier run");
  }
  if (!server_key->empty()) {
    engine::Result<net::CurveKeys> keys = net::curve_keys_in(arguments.state_directory);
    if (!keys) {
      return fail(exit_storage, keys.error().message);
    }
    options->curve = net::CurveClient{*server_key, *std::move(keys)};
  }
  net::Loop loop;
  int status = exit_ok;
  const auto on_end = [&loop, &status](bool failed, const std::string& why) {
    if (failed) {
      status = fail(exit_failed, why);
    }
    loop.stop();
  };
  std::unique_ptr<SlotKeeper> slots = keeper_of_slots(loop, arguments, *state, *options);
  for (const SpooledAttempt& attempt : slots ? *found : std::vector<SpooledAttempt>()) {
    slots->adopt(attempt.spec.key, attempt.spec.slots);
  }
  WorkerLoop worker(loop, *state, *options, on_end, std::move(slots));
  const auto stop = [&worker](int) {
    net::log(net::Level::info, "asked to stop: ending programs");
    worker.stop();
  };
  const bool in_allocation = !options->allocation.empty();
  const engine::Duration stop_within =
      arguments.stop_within
          ? engine::Duration::micros(static_cast<std::int64_t>(*arguments.stop_within * 1'000'000))
          : options->rules.attempt.grace;
  const auto give_back = [&worker, &options, stop_within](int number) {
    const bool is_warning = number != SIGTERM;
    net::log(net::Level::info, is_warning ? "warned that the job ends soon" : "asked to stop");
    const engine::Duration within = is_warning ? options->rules.give_back : stop_within;
    worker.give_back(within, is_warning);
  };
  const net::Watch signals = loop.on_signals({SIGINT}, stop);
  const net::Watch hang_up = ignores(SIGHUP) ? net::Watch() : loop.on_signals({SIGHUP}, stop);
  const net::Watch end =
      in_allocation ? loop.on_signals({SIGTERM}, give_back) : loop.on_signals({SIGTERM}, stop);
  // Other schedulers warn with these before they end a job, and then no next worker comes.
  const net::Watch warnings = in_allocation ? loop.on_signals({SIGUSR1, SIGUSR2}, give_back) : net::Watch();
  const net::Watch leave = in_allocation ? net::Watch() : loop.on_signals({SIGUSR1}, [&worker](int) {
    net::log(net::Level::info, "asked to leave: programs run on for the next worker");
    worker.leave();
  });
  if (const engine::Status started = worker.start(*std::move(found)); !started) {
    return fail(started.error().code == engine::Errc::unavailable ? exit_failed : exit_usage,
                started.error().message);
  }
  net::log(net::Level::info, "worker " + options->name + " with " + std::to_string(options->machine.slots) +
                                 " " + options->machine.device_kind.slot_kind + " slots connects to " +
                                 arguments.daemon);
  loop.run();
  return status;
}

/// Overwrites a secret in the arguments, which other users of the machine can read.
void hide_argument(int argc, char** argv, const std::string& secret) {
  if (secret.starts_with(net::InviteToken::prefix)) {
    for (char* argument : std::span(argv, static_cast<std::size_t>(argc))) {
      if (argument == secret) {
        std::fill_n(argument, secret.size(), '*');
      }
    }
  }
}

/// "nvidia, amd, …"
std::string kinds_in_slots() {
  std::string names;
  for (const jobs::DeviceKind& kind : jobs::device_kinds()) {
    names += (names.empty() ? "" : ", ") + kind.name;
  }
  return names;
}

int main_of(int argc, char** argv) {
  CLI::App app{"Runs trials of hpsearch experiments on the GPUs, other devices or cores of this machine."};
  app.name("hpsearch-worker");
  app.set_version_flag("--version", std::string("hpsearch-worker ") + HPSEARCH_VERSION);
  Arguments arguments;
  app.add_option("--daemon", arguments.daemon,
                 "Worker address of hpsearchd: tcp://HOST:PORT or ipc:///PATH (default: the daemon that was "
                 "joined)");
  app.add_option("--state-dir", arguments.state_directory,
                 "Directory for identity, attempts and logs (default: hpsearch-worker-HOST in "
                 "$HPSEARCH_STATE_HOME, else in $XDG_STATE_HOME/hpsearch, else in .hpsearch)");
  CLI::Option* slots = app.add_option(
      "--slots", arguments.slots.slots,
      "Slots: auto (one per device, or one per core without devices), N (the first N devices, or N CPU "
      "slots), 0,2 or GPU-UUID,… (these devices), cpu or cpu:N; …*K makes K slots of each device; a kind (" +
          kinds_in_slots() + "), alone or before : and one of these, takes its devices only (auto)");
  app.add_option("--share-slots", arguments.share_slots,
                 "Share the slots with all searches of this user on this machine that do so, as hpsearch run "
                 "and hpsearch.tune: wait in order of arrival while others have them. The value names this "
                 "search to others. With --slots, wait for nobody and only mark the slots that trials use")
      ->type_name("NAME");
  app.add_option("--gpu-free", arguments.gpu_free,
                 "With --share-slots: leave out devices that have less free memory, in percent, or processes "
                 "of other programs (90)")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{100}));
  app.add_option("--devices", arguments.slots.generic_names,
                 "NAME,… of devices that hpsearch cannot find; --slots selects among them")
      ->type_name("NAMES");
  app.add_option("--device-env", arguments.slots.generic_variable,
                 "Variable that lists the devices of a trial, as named by --devices")
      ->type_name("VARIABLE");
  app.add_option("--max-unslotted", arguments.max_unslotted,
                 "Most trials with slots_per_trial: 0 that run here at once (4 for each slot)")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1'000'000}));
  app.add_option("--pool", arguments.pool,
                 "Resource pool; experiments select one with resources.resource_pool (default)");
  app.add_option("--label", arguments.labels,
                 "KEY=VALUE; experiments select labels with resources.labels. Can be repeated");
  app.add_option("--device-check", arguments.look_every, "Seconds between health checks of the devices (15)")
      ->check(CLI::Range(0.05, 86'400.0));
  app.add_option("--device-deadline", arguments.look_deadline, "Timeout of a health check in seconds (20)")
      ->check(CLI::Range(0.05, 3'600.0));
  app.add_flag("--list-devices", arguments.list_devices,
               "Print the devices of this machine as JSON and exit; --slots can name a kind");
  app.add_option("--name", arguments.name, "Name of the worker (default: the machine's name)");
  app.add_option(
      "--address", arguments.address,
      "Address for other workers (default: the address from which the route to the daemon leaves)");
  app.add_option("--grace", arguments.grace, "Seconds between SIGTERM and SIGKILL (30)")
      ->check(CLI::Range(0.0, 86'400.0));
  app.add_option(
      "--orphan-policy", arguments.orphan_policy,
      "Programs while no daemon answers: continue, pause_at_rung[=SECONDS] (those that wait for a decision "
      "write a checkpoint and exit; 120), or stop_after=SECONDS (continue)");
  app.add_option(
      "--run-as", arguments.run_as,
      "As whom programs run: worker (this worker's own user), or submitter (needs root: the Unix user "
      "of the token that submitted the experiment) (worker)");
  app.add_option("--min-uid", arguments.min_uid,
                 "With --run-as submitter: the smallest uid that programs may run as (1000)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{4'294'967'294}));
  app.add_option("--keep-environment", arguments.keep_environment,
                 "With --run-as submitter: a variable of the worker that programs get; may be given several "
                 "times (none but PATH, LANG, LANGUAGE, LC_* and TZ)");
  CLI::Option* server_key = app.add_option(
      "--server-key", arguments.server_key,
      "Public key of the daemon, needed over TCP (hpsearch keys list): encrypt the connection and "
      "reject other daemons");
  app.add_option("--server-key-file", arguments.server_key_file, "File with the key of --server-key")
      ->type_name("FILE")
      ->excludes(server_key);
  app.add_flag("--show-key", arguments.show_key,
               "Print the public key of --state-dir, for hpsearch keys allow, and exit");
  app.add_option("--metrics", arguments.metrics,
                 "Serve /metrics for Prometheus at this [HOST:]PORT, to anyone who reaches it; without HOST: "
                 "127.0.0.1 (off)")
      ->transform([](const std::string& given) {
        const std::string address = given.find(':') == std::string::npos ? "127.0.0.1:" + given : given;
        return address.front() == ':' ? "127.0.0.1" + address : address;
      });
  app.add_flag_callback(
      "--describe-metrics",
      [] {
        std::cout << describe_worker_metrics() << std::flush;
        throw CLI::Success();
      },
      "Print what each metric of --metrics is, as a table in Markdown, and exit");
  arguments::add_describing_option(app);
  app.add_option("--alloc", arguments.allocation,
                 "QUEUE/NUMBER: the allocation in which it runs, as hpsearch alloc names it; programs do not "
                 "outlive the worker there")
      ->group("Allocations");
  app.add_option("--idle-timeout", arguments.idle_timeout,
                 "Ends after so many seconds without a trial (it waits for ever)")
      ->check(CLI::Range(1.0, 31'536'000.0))
      ->group("Allocations");
  app.add_option("--give-up-after", arguments.give_up_after,
                 "With --alloc: ends after so many seconds without a daemon (600)")
      ->check(CLI::Range(1.0, 31'536'000.0))
      ->group("Allocations");
  app.add_option("--time-limit", arguments.time_limit,
                 "Seconds from now until its allocation ends (no end is known)")
      ->check(CLI::Range(1.0, 31'536'000.0))
      ->group("Allocations");
  app.add_option("--ends-from", arguments.ends_from,
                 "slurm: squeue tells when the job ends, again and again, because administrators extend jobs "
                 "(--time-limit)")
      ->check(CLI::IsMember({"slurm"}))
      ->group("Allocations");
  app.add_option("--give-back", arguments.give_back,
                 "Seconds before the end, or after a warning signal, in which programs save a checkpoint and "
                 "end (180)")
      ->check(CLI::Range(1.0, 86'400.0))
      ->group("Allocations");
  app.add_option("--stop-within", arguments.stop_within,
                 "With --alloc: seconds after SIGTERM in which programs save a checkpoint and end (--grace)")
      ->check(CLI::Range(1.0, 86'400.0))
      ->group("Allocations");
  app.add_option("--log-level", arguments.log_level, "debug, info, warning or error (info)");
  CLI::App& join = *app.add_subcommand(
      "join",
      "Join a daemon with an invite of hpsearch worker invite, then run trials with the options above");
  join.fallthrough();
  join.add_option(
      "INVITE", arguments.invite,
      "@FILE reads the invite from a file; without it or with -, it comes from the standard input. "
      "As an argument, other users of this machine may see it before it is used");
  join.add_flag("--no-start", arguments.no_start,
                "Exit after joining; later, hpsearch-worker with the same --state-dir starts the worker");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_ok : exit_usage;
  }
  arguments.joins = join.parsed();
  arguments.slots_given = slots->count() > 0;
  hide_argument(argc, argv, arguments.invite);
  return run(std::move(arguments));
}

}  // namespace

int run_worker_program(int argc, char** argv) {
  become_init_if_first();
  try {
    return main_of(argc, argv);
  } catch (const std::exception& error) {
    return fail(exit_failed, error.what());
  }
}

}  // namespace hpsearch::workers
