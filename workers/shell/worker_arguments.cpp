#include "shell/worker_arguments.hpp"

#include <string_view>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/zmq/curve.hpp"
#include "hpsearch/jobs/contract/device_kinds.hpp"

namespace hpsearch::workers {
namespace {

using configuration::integer_in;
using configuration::list_in;
using configuration::Option;
using configuration::seconds_in;
using configuration::Take;
using configuration::text_in;

constexpr double day = 86'400;
constexpr double year = 365 * day;

std::string check_server_key(const std::string& key) {
  return key.empty() || net::is_curve_key(key)
             ? ""
             : "the 64 digits of the daemon's public key (hpsearch keys list)";
}

std::string check_orphan_policy(const std::string& policy) {
  WorkerRules unused;
  return take_orphan_policy(policy, unused)
             ? ""
             : "continue, pause_at_rung, pause_at_rung=SECONDS or stop_after=SECONDS, at least 1";
}

/// "9178" and ":9178" are ports of 127.0.0.1.
Take metrics_address_in(std::string& place) {
  return {Take::Kind::scalar, [&place](const std::string& given) {
            const std::string address =
                given.find(':') == std::string::npos && !given.empty() ? "127.0.0.1:" + given : given;
            place = address.starts_with(":") ? "127.0.0.1" + address : address;
            return std::string();
          }};
}

/// "nvidia, amd, …"
std::string kinds_in_slots() {
  std::string names;
  for (const jobs::DeviceKind& kind : jobs::device_kinds()) {
    names += (names.empty() ? "" : ", ") + kind.name;
  }
  return names;
}

std::vector<Option> own_options(Arguments& arguments) {
  return {
      {.key = "daemon.address",
       .flag = "--daemon",
       .value = "ADDRESS",
       .meaning = "Worker address of hpsearchd: tcp://HOST:PORT or ipc:///PATH",
       .usual = "the daemon that was joined",
       .take = text_in(arguments.daemon)},
      {.key = "daemon.server_key",
       .flag = "--server-key",
       .value = "KEY",
       .meaning =
           "Public key of the daemon, needed over TCP (hpsearch keys list): encrypt the connection and "
           "reject other daemons",
       .take = text_in(arguments.server_key, check_server_key),
       .excludes = {"daemon.server_key_file"}},
      {.key = "daemon.server_key_file",
       .flag = "--server-key-file",
       .value = "FILE",
       .meaning = "File with the key of --server-key",
       .take = text_in(arguments.server_key_file)},
      {.key = "state.directory",
       .flag = "--state-dir",
       .value = "DIR",
       .meaning = "Directory for identity, attempts and logs",
       .usual = "hpsearch-worker-HOST in $HPSEARCH_STATE_HOME, else in $XDG_STATE_HOME/hpsearch, else in "
                ".hpsearch",
       .take = text_in(arguments.state_directory)},
      {.key = "worker.name",
       .flag = "--name",
       .value = "NAME",
       .meaning = "Name of the worker",
       .usual = "the machine's name",
       .take = text_in(arguments.name)},
      {.key = "worker.address",
       .flag = "--address",
       .value = "ADDRESS",
       .meaning = "Address for other workers",
       .usual = "the address from which the route to the daemon leaves",
       .take = text_in(arguments.address)},
      {.key = "worker.pool",
       .flag = "--pool",
       .value = "NAME",
       .meaning = "Resource pool; experiments select one with resources.resource_pool",
       .usual = "default",
       .take = text_in(arguments.pool)},
      {.key = "worker.labels",
       .flag = "--label",
       .value = "KEY=VALUE",
       .meaning = "Label; experiments select labels with resources.labels. Can be repeated",
       .take = list_in(
           arguments.labels,
           [](const std::string& label) { return std::string(labels_from({label}) ? "" : "KEY=VALUE"); })},
  };
}

std::vector<Option> slot_options(Arguments& arguments) {
  return {
      {.key = "slots.offer",
       .flag = "--slots",
       .value = "SLOTS",
       .meaning =
           "Slots: auto (one per device, or one per core without devices), N (the first N devices, or N "
           "CPU slots), 0,2 or GPU-UUID,… (these devices), cpu or cpu:N; …*K makes K slots of each "
           "device; a kind (" +
           kinds_in_slots() + "), alone or before : and one of these, takes its devices only",
       .usual = "auto",
       .take = configuration::scalar_in(arguments.slots.slots)},
      {.key = "slots.share",
       .flag = "--share-slots",
       .value = "NAME",
       .meaning =
           "Share the slots with all searches of this user on this machine that do so, as hpsearch run "
           "and hpsearch.tune: wait in order of arrival while others have them. The value names this "
           "search to others. With --slots, never wait and only mark the slots that trials use",
       .take = text_in(arguments.share_slots)},
      {.key = "slots.gpu_free",
       .flag = "--gpu-free",
       .value = "PERCENT",
       .meaning =
           "With --share-slots: leave out devices that have less free memory, in percent, or processes "
           "of other programs",
       .usual = "90",
       .take = integer_in(arguments.gpu_free, 0, 100)},
      {.key = "slots.max_unslotted",
       .flag = "--max-unslotted",
       .value = "N",
       .meaning = "Most trials with slots_per_trial: 0 that run here at once",
       .usual = "4 for each slot",
       .take = integer_in(arguments.max_unslotted, 0, 1'000'000)},
      {.key = "devices.names",
       .flag = "--devices",
       .value = "NAMES",
       .meaning = "NAME,… of devices that hpsearch cannot find; --slots selects among them",
       .take = text_in(arguments.slots.generic_names)},
      {.key = "devices.variable",
       .flag = "--device-env",
       .value = "VARIABLE",
       .meaning = "Variable that lists the devices of a trial, as named by --devices",
       .take = text_in(arguments.slots.generic_variable)},
      {.key = "devices.check_every",
       .flag = "--device-check",
       .value = "SECONDS",
       .meaning = "Time between health checks of the devices",
       .usual = "15",
       .take = seconds_in(arguments.look_every, 0.05, day)},
      {.key = "devices.deadline",
       .flag = "--device-deadline",
       .value = "SECONDS",
       .meaning = "Timeout of a health check",
       .usual = "20",
       .take = seconds_in(arguments.look_deadline, 0.05, 3'600)},
  };
}

std::vector<Option> program_options(Arguments& arguments) {
  return {
      {.key = "programs.grace",
       .flag = "--grace",
       .value = "SECONDS",
       .meaning = "Time between SIGTERM and SIGKILL",
       .usual = "30",
       .take = seconds_in(arguments.grace, 0, day)},
      {.key = "programs.orphan_policy",
       .flag = "--orphan-policy",
       .value = "POLICY",
       .meaning =
           "Programs while no daemon answers: continue, pause_at_rung[=SECONDS] (those that wait for a "
           "decision write a checkpoint and exit; 120), or stop_after=SECONDS",
       .usual = "continue",
       .take = text_in(arguments.orphan_policy, check_orphan_policy)},
      {.key = "programs.run_as",
       .flag = "--run-as",
       .value = "USER",
       .meaning =
           "As whom programs run: worker (this worker's own user), or submitter (needs root: the Unix user "
           "of the token that submitted the experiment)",
       .usual = "worker",
       .take = configuration::choice_in(arguments.run_as, {"worker", "submitter"})},
      {.key = "programs.min_uid",
       .flag = "--min-uid",
       .value = "UID",
       .meaning = "With --run-as submitter: the smallest uid that programs may run as",
       .usual = "1000",
       .take = integer_in(arguments.min_uid, 1, 4'294'967'294)},
      {.key = "programs.keep_environment",
       .flag = "--keep-environment",
       .value = "NAME",
       .meaning = "With --run-as submitter: a variable of the worker that programs get, beside PATH, LANG, "
                  "LANGUAGE, LC_* and TZ. Can be repeated",
       .take = list_in(arguments.keep_environment)},
      {.key = "metrics.listen",
       .flag = "--metrics",
       .value = "[HOST:]PORT",
       .meaning = "Serve /metrics for Prometheus at this address, to anyone who reaches it; without HOST: "
                  "127.0.0.1",
       .take = metrics_address_in(arguments.metrics)},
      {.key = "log.level",
       .flag = "--log-level",
       .value = "LEVEL",
       .meaning = "Minimum log level: debug, info, warning or error",
       .usual = "info",
       .take = configuration::choice_in(arguments.log_level, {"debug", "info", "warning", "error"}),
       .change = configuration::Change::by_hang_up},
      {.key = "log.format",
       .flag = "--log-format",
       .value = "FORMAT",
       .meaning =
           "How lines of the log are written: text, json (one object each), or journald (with priorities)",
       .usual = "journald if systemd's journal reads the log, else text",
       .take = configuration::choice_in(arguments.log_format, {"text", "json", "journald"}),
       .change = configuration::Change::by_hang_up},
  };
}

std::vector<Option> allocation_options(Arguments& arguments) {
  std::vector<Option> options{
      {.key = "allocation.name",
       .flag = "--alloc",
       .value = "QUEUE/NUMBER",
       .meaning = "The allocation in which it runs, as hpsearch alloc names it; programs do not outlive the "
                  "worker there",
       .take = text_in(arguments.allocation)},
      {.key = "allocation.idle_timeout",
       .flag = "--idle-timeout",
       .value = "SECONDS",
       .meaning = "Time without a trial after which it ends",
       .take = seconds_in(arguments.idle_timeout, 1, year)},
      {.key = "allocation.give_up_after",
       .flag = "--give-up-after",
       .value = "SECONDS",
       .meaning = "With --alloc: time without a daemon after which it ends",
       .usual = "600",
       .take = seconds_in(arguments.give_up_after, 1, year)},
      {.key = "allocation.time_limit",
       .flag = "--time-limit",
       .value = "SECONDS",
       .meaning = "Time from now until its allocation ends",
       .take = seconds_in(arguments.time_limit, 1, year)},
      {.key = "allocation.ends_from",
       .flag = "--ends-from",
       .value = "slurm",
       .meaning = "slurm: squeue says when the job ends, again and again, because administrators extend jobs",
       .usual = "--time-limit",
       .take = configuration::choice_in(arguments.ends_from, {"slurm"})},
      {.key = "allocation.give_back",
       .flag = "--give-back",
       .value = "SECONDS",
       .meaning =
           "Time before the end, or after a warning signal, in which programs save a checkpoint and end",
       .usual = "180",
       .take = seconds_in(arguments.give_back, 1, day)},
      {.key = "allocation.stop_within",
       .flag = "--stop-within",
       .value = "SECONDS",
       .meaning = "With --alloc: time after SIGTERM in which programs save a checkpoint and end",
       .usual = "--grace",
       .take = seconds_in(arguments.stop_within, 1, day)},
  };
  for (Option& option : options) {
    option.group = "Allocations";
  }
  return options;
}

}  // namespace

configuration::Program program_of(Arguments& arguments) {
  configuration::Program program{"hpsearch-worker", {}};
  for (const auto part : {own_options, slot_options, program_options, allocation_options}) {
    for (Option& option : part(arguments)) {
      program.options.push_back(std::move(option));
    }
  }
  return program;
}

engine::Problems conflicts_of(const Arguments& arguments) {
  engine::Problems problems;
  if (const auto labels = labels_from(arguments.labels); !labels) {
    problems.push_back({"worker.labels", labels.error().message, ""});
  }
  if (arguments.run_as != "submitter" && arguments.min_uid) {
    problems.push_back({"programs.min_uid", "is only for programs that run as the submitter", ""});
  }
  if (arguments.run_as != "submitter" && !arguments.keep_environment.empty()) {
    problems.push_back({"programs.keep_environment",
                        "is only for programs that run as the submitter; others have all variables", ""});
  }
  return problems;
}

bool take_orphan_policy(const std::string& policy, WorkerRules& rules) {
  constexpr std::string_view stop_after = "stop_after=";
  constexpr std::string_view pause_at_rung = "pause_at_rung=";
  // A daemon restarts sooner, even with its machine, and a paused program has to be started again.
  constexpr engine::Duration patience = engine::Duration::seconds(120);
  constexpr double longest = 10 * year;
  if (policy == "continue") {
    return true;
  }
  if (policy == "pause_at_rung") {
    rules.orphans_pause_after = patience;
    return true;
  }
  const bool pauses = policy.starts_with(pause_at_rung);
  const std::string number = pauses                           ? policy.substr(pause_at_rung.size())
                             : policy.starts_with(stop_after) ? policy.substr(stop_after.size())
                                                              : "";
  const double seconds = engine::number_in<double>(number).value_or(0);
  if (!(seconds >= 1 && seconds <= longest)) {
    return false;
  }
  (pauses ? rules.orphans_pause_after : rules.orphans_end_after) =
      engine::Duration::micros(static_cast<std::int64_t>(seconds * 1'000'000));
  return true;
}

engine::Result<std::map<std::string, std::string>> labels_from(const std::vector<std::string>& given) {
  std::map<std::string, std::string> labels;
  for (const std::string& label : given) {
    const std::size_t equals = label.find('=');
    if (equals == std::string::npos || equals == 0) {
      return engine::Error{engine::Errc::bad_request, "has \"" + label + "\"; it must be KEY=VALUE"};
    }
    if (!labels.emplace(label.substr(0, equals), label.substr(equals + 1)).second) {
      return engine::Error{engine::Errc::bad_request, "names \"" + label.substr(0, equals) + "\" twice"};
    }
  }
  return labels;
}

}  // namespace hpsearch::workers
