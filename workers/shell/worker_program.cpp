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
#include <variant>
#include <vector>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/arguments/described_options.hpp"
#include "hpsearch/io/configuration/command_line.hpp"
#include "hpsearch/io/files/state_home.hpp"
#include "hpsearch/io/net/core_files.hpp"
#include "hpsearch/io/net/descriptor_limit.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/io/net/server_names.hpp"
#include "hpsearch/io/net/service_manager.hpp"
#include "hpsearch/io/zmq/curve.hpp"
#include "hpsearch/io/zmq/invite_token.hpp"
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
#include "shell/worker_arguments.hpp"

extern char** environ;  // NOLINT(readability-identifier-naming): POSIX names it.

namespace hpsearch::workers {
namespace {

// Exit statuses, the same in all programs of hpsearch.
constexpr int exit_ok = 0;
constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr int exit_conflict = 4;
constexpr int exit_storage = 74;

int fail(int status, const std::string& message) {
  net::log(net::Level::error, message);
  return status;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data() : "worker";
}

/// Whether a variable configures this worker: workers and daemons that its programs start have nothing of it.
bool configures_worker(std::string_view name) {
  constexpr std::string_view prefix = "HPSEARCH_WORKER_";
  return name == "CONFIGURATION_DIRECTORY" ||
         (name.starts_with(prefix) && name.find("__", prefix.size()) != std::string_view::npos);
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view assignment = *at;
    const std::size_t equals = assignment.find('=');
    if (equals != std::string_view::npos && equals > 0 && !configures_worker(assignment.substr(0, equals))) {
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

/// Whether a terminal controls this process: SIGHUP means then that the terminal was closed.
bool has_terminal() {
  const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (terminal >= 0) {
    ::close(terminal);
  }
  return terminal >= 0;
}

/// Reads the configuration again, and does what it can without a restart.
void reload(Arguments& arguments) {
  Arguments read;
  const configuration::Program program = program_of(read);
  configuration::Reread again = configuration::read_again(program, arguments.command_line, arguments.given,
                                                          [&read] { return conflicts_of(read); });
  const configuration::RereadSentences said = configuration::sentences_of(program, again);
  if (!said.problem.empty()) {
    net::log(net::Level::error, said.problem);
    return;
  }
  Arguments changed;
  static_cast<void>(configuration::store(program_of(changed), again.values));
  net::set_log_level(changed.log_level);
  net::set_log_format(changed.log_format);
  arguments.given = std::move(again.values);
  net::log(net::Level::info,
           said.changed.empty() ? "the configuration was read again: no value changed" : said.changed);
  if (!said.need_restart.empty()) {
    net::log(net::Level::warning, said.need_restart);
  }
}

/// Whether the signal is ignored: a process started with nohup should outlive the terminal.
bool ignores(int number) {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
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

/// --run-as, --min-uid and --keep-environment.
engine::Result<RunAs> run_as_from(const Arguments& arguments) {
  RunAs run_as;
  run_as.submitter = arguments.run_as == "submitter";
  run_as.min_uid = arguments.min_uid.value_or(run_as.min_uid);
  run_as.keep_environment = arguments.keep_environment;
  if (run_as.submitter && ::geteuid() != 0) {
    return engine::Error{engine::Errc::bad_request,
                         "--run-as submitter needs root, and this worker runs as uid " +
                             std::to_string(::geteuid()) + "; start it as root, or use --run-as worker"};
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
  take_orphan_policy(arguments.orphan_policy, options.rules);
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
                           "--server-key out (daemon.address and daemon.server_key in configuration files)"};
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
  if (arguments.show_key) {
    return show_key(arguments.state_directory);
  }
  net::set_log_level(arguments.log_level);
  net::set_log_format(arguments.log_format);
  open_standard_streams();
  ::signal(SIGPIPE, SIG_IGN);
  net::ServiceManager service = net::ServiceManager::of_environment();
  service.status("looks for devices, and for programs of an earlier run");
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
  const auto on_end = [&loop, &service, &status](bool failed, const std::string& why) {
    if (failed) {
      service.status(why);
      status = fail(exit_failed, why);
    }
    loop.stop();
  };
  std::unique_ptr<SlotKeeper> slots = keeper_of_slots(loop, arguments, *state, *options);
  for (const SpooledAttempt& attempt : slots ? *found : std::vector<SpooledAttempt>()) {
    slots->adopt(attempt.spec.key, attempt.spec.slots);
  }
  WorkerLoop worker(loop, *state, *options, on_end, std::move(slots));
  const auto stop = [&worker, &service](int) {
    net::log(net::Level::info, "asked to stop: ending programs");
    service.stopping("ends its programs");
    worker.stop();
  };
  const bool in_allocation = !options->allocation.empty();
  const engine::Duration stop_within =
      arguments.stop_within
          ? engine::Duration::micros(static_cast<std::int64_t>(*arguments.stop_within * 1'000'000))
          : options->rules.attempt.grace;
  const auto give_back = [&worker, &options, &service, stop_within](int number) {
    const bool is_warning = number != SIGTERM;
    net::log(net::Level::info, is_warning ? "warned that the job ends soon" : "asked to stop");
    const engine::Duration within = is_warning ? options->rules.give_back : stop_within;
    service.stopping("its programs save checkpoints and end");
    worker.give_back(within, is_warning);
  };
  const net::Watch signals = loop.on_signals({SIGINT}, stop);
  const std::string offer = "worker " + options->name + " offers " + std::to_string(options->machine.slots) +
                            " " + options->machine.device_kind.slot_kind + " slots to " + arguments.daemon;
  const bool reloads = !has_terminal();
  const net::Watch hang_up =
      ignores(SIGHUP) ? net::Watch()
                      : loop.on_signals({SIGHUP}, [&arguments, &service, offer, reloads, stop](int number) {
                          if (!reloads) {
                            stop(number);
                            return;
                          }
                          service.reloading();
                          reload(arguments);
                          service.ready(offer);
                        });
  const net::Watch end =
      in_allocation ? loop.on_signals({SIGTERM}, give_back) : loop.on_signals({SIGTERM}, stop);
  // Other schedulers warn with these before they end a job, and then no next worker comes.
  const net::Watch warnings = in_allocation ? loop.on_signals({SIGUSR1, SIGUSR2}, give_back) : net::Watch();
  const net::Watch leave =
      in_allocation ? net::Watch() : loop.on_signals({SIGUSR1}, [&worker, &service](int) {
        net::log(net::Level::info, "asked to leave: programs run on for the next worker");
        service.stopping("its programs run on for the next worker");
        worker.leave();
      });
  if (const engine::Status started = worker.start(*std::move(found)); !started) {
    return fail(started.error().code == engine::Errc::unavailable ? exit_failed : exit_usage,
                started.error().message);
  }
  net::log(net::Level::info, "worker " + options->name + " with " + std::to_string(options->machine.slots) +
                                 " " + options->machine.device_kind.slot_kind + " slots connects to " +
                                 arguments.daemon);
  service.ready(offer);
  const net::Watch repeats = loop.every(std::chrono::seconds(10), [] { net::write_repeats(); });
  loop.run();
  net::write_repeats(/*all=*/true);
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

int main_of(int argc, char** argv) {
  Arguments arguments;
  const configuration::Program program = program_of(arguments);
  CLI::App app{"Runs trials of hpsearch experiments on the GPUs, other devices or cores of this machine."};
  app.name(program.name);
  app.set_version_flag("--version", std::string("hpsearch-worker ") + HPSEARCH_VERSION);
  const configuration::Flags flags(app, program);
  app.add_flag("--list-devices", arguments.list_devices,
               "Print the devices of this machine as JSON and exit; --slots can name a kind");
  app.add_flag("--show-key", arguments.show_key,
               "Print the public key of --state-dir, for hpsearch keys allow, and exit");
  app.add_flag_callback(
      "--describe-metrics",
      [] {
        std::cout << describe_worker_metrics() << std::flush;
        throw CLI::Success();
      },
      "Print what each metric of --metrics is, as a table in Markdown, and exit");
  arguments::add_describing_option(app);
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
  hide_argument(argc, argv, arguments.invite);
  arguments.command_line = flags.taken();
  auto settled = configuration::settle(program, arguments.command_line,
                                       [&arguments] { return conflicts_of(arguments); });
  if (const int* code = std::get_if<int>(&settled)) {
    return *code;
  }
  auto& reading = std::get<configuration::Reading>(settled);
  arguments.slots_given = reading.values.contains("slots.offer");
  if (arguments.state_directory.empty()) {
    auto usual = usual_state_directory();
    if (!usual) {
      return fail(exit_usage, usual.error().message);
    }
    arguments.state_directory = *std::move(usual);
    reading.values["state.directory"] = {{arguments.state_directory}, {}};
  }
  if (configuration::answers(program, arguments.command_line, reading)) {
    return exit_ok;
  }
  arguments.given = std::move(reading.values);
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
