#include "daemon/alloc/slurm.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "hpsearch/engine/base/clock_text.hpp"

namespace hpsearch::daemon::slurm {
namespace {

using engine::AllocationEnd;
using engine::Duration;
using engine::Errc;
using engine::Error;
using engine::QueueSettings;

struct OwnOption {
  std::string_view name;
  std::string_view instead;  ///< Ours; "" = the queue has no such thing.
};
constexpr std::array own_options{OwnOption{"--time", "--time-limit"},
                                 OwnOption{"-t", "--time-limit"},
                                 OwnOption{"--nodes", "--workers-per-alloc"},
                                 OwnOption{"-N", "--workers-per-alloc"},
                                 OwnOption{"--ntasks", "--workers-per-alloc"},
                                 OwnOption{"-n", "--workers-per-alloc"},
                                 OwnOption{"--array", ""},
                                 OwnOption{"-a", ""},
                                 OwnOption{"--output", ""},
                                 OwnOption{"-o", ""},
                                 OwnOption{"--error", ""},
                                 OwnOption{"-e", ""},
                                 OwnOption{"--job-name", "--name"},
                                 OwnOption{"-J", "--name"},
                                 OwnOption{"--signal", ""},
                                 OwnOption{"--requeue", ""},
                                 OwnOption{"--no-requeue", ""},
                                 OwnOption{"--comment", ""},
                                 OwnOption{"--wrap", "--wrap before --"},
                                 OwnOption{"--dependency", ""},
                                 OwnOption{"-d", ""},
                                 OwnOption{"--open-mode", ""},
                                 OwnOption{"--parsable", ""},
                                 OwnOption{"--wait", ""},
                                 OwnOption{"-W", ""},
                                 OwnOption{"--hold", ""},
                                 OwnOption{"-H", ""},
                                 OwnOption{"--test-only", ""}};

/// The option that a word begins: "--time=5" → "--time", "-t5" → "-t".
std::string_view option_in(std::string_view word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

/// One word of a shell, whatever is in it.
std::string shell_word(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) {
    return std::string(text);
  }
  std::string word = "'";
  for (const char c : text) {
    word += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return word + "'";
}

std::int64_t seconds_of(Duration duration) {
  return duration.in_micros() / 1'000'000;
}

/// Reasons of PENDING that do not go by themselves.
bool is_hopeless(std::string_view reason) {
  constexpr std::array<std::string_view, 11> exact{"PartitionConfig",
                                                   "PartitionTimeLimit",
                                                   "PartitionNodeLimit",
                                                   "PartitionDown",
                                                   "BadConstraints",
                                                   "InvalidAccount",
                                                   "InvalidQOS",
                                                   "JobHeldUser",
                                                   "JobHeldAdmin",
                                                   "PartitionInactive",
                                                   "launch failed requeued held"};
  const bool of_limits = (reason.starts_with("Assoc") || reason.starts_with("QOS")) &&
                         reason.find("MaxJobsLimit") == std::string_view::npos &&
                         reason.find("Grp") == std::string_view::npos;
  return of_limits || std::find(exact.begin(), exact.end(), reason) != exact.end();
}

}  // namespace

engine::Status check_arguments(const std::vector<std::string>& arguments) {
  for (const std::string& word : arguments) {
    if (word.find('\0') != std::string::npos) {
      return Error{Errc::bad_request, "an argument for sbatch contains a zero byte"};
    }
    const std::string_view option = word.starts_with('-') ? option_in(word) : std::string_view();
    const auto own = std::find_if(own_options.begin(), own_options.end(),
                                  [&](const OwnOption& one) { return one.name == option; });
    if (own != own_options.end()) {
      return Error{Errc::bad_request,
                   "the argument " + std::string(option) + " for sbatch is set by the queue itself" +
                       (own->instead.empty() ? "; leave it out" : "; use " + std::string(own->instead))};
    }
  }
  return engine::Done{};
}

std::string job_script(const QueueSettings& settings, std::uint64_t workers, const Place& place) {
  const std::string count = std::to_string(workers);
  // Through srun also on one node: when a job is preempted, steps hear of it at once, the script at the end.
  return "#!/bin/bash\n"
         "# Made by hpsearchd: one job with " +
         count + (workers == 1 ? " worker" : " workers") +
         ".\n"
         "trap : TERM  # The rest of this script runs when the workers have ended.\n"
         "if [ -n \"$SLURM_CPUS_PER_TASK\" ]; then export SRUN_CPUS_PER_TASK=\"$SLURM_CPUS_PER_TASK\"; fi\n"
         "srun --overlap --kill-on-bad-exit=0 --nodes=" +
         count + " --ntasks=" + count + " --ntasks-per-node=1 --export=ALL bash " +
         shell_word(place.directory + "/worker.sh") + "\n" +
         (settings.after.empty() ? "" : settings.after + "\n");
}

std::string worker_script(const QueueSettings& settings, const engine::AllocationName& name,
                          const Place& place) {
  std::string command = settings.wrap.empty() ? "" : settings.wrap + " ";
  const auto add = [&command](std::string_view option, const std::string& value) {
    command += " \\\n  " + std::string(option) + " " + value;
  };
  command += shell_word(place.worker);
  if (place.needs_invite) {
    command += " join " + shell_word("@" + place.directory + "/" + invite_file);
  } else {
    add("--daemon", shell_word(place.daemon));
  }
  add("--state-dir", "\"$state\"");
  add("--alloc", shell_word(engine::text_of(name)));
  const std::string own_name = name.queue + "-" + std::to_string(name.number);
  add("--name", settings.workers == 1 ? own_name : own_name + "-\"$SLURM_PROCID\"");
  add("--slots", settings.slots ? std::to_string(*settings.slots) : "auto");
  add("--idle-timeout", std::to_string(seconds_of(settings.idle_timeout)));
  add("--time-limit", std::to_string(seconds_of(settings.time_limit)));
  add("--ends-from", "slurm");
  add("--give-back", std::to_string(seconds_of(settings.give_back)));
  if (!settings.pool.empty()) {
    add("--pool", shell_word(settings.pool));
  }
  for (const auto& [key, value] : settings.labels) {
    add("--label", shell_word(key + "=" + value));
  }
  const std::string root = settings.state_root.empty() ? "${TMPDIR:-/tmp}" : settings.state_root;
  return "#!/bin/bash\n"
         "# Made by hpsearchd: one worker of allocation " +
         engine::text_of(name) +
         ".\n"
         "trap : TERM INT USR1 USR2  # The worker gets these too, and ends by itself.\n"
         "umask 077\n" +
         (settings.before.empty() ? "" : settings.before + " || exit 1\n") + "mkdir -p \"" + root +
         "\" || exit 1\nstate=\"$(mktemp -d \"" + root + "/hpsearch-" + own_name +
         "-XXXXXX\")\" || exit 1\n" + command +
         " &\n"
         "worker=$!\n"
         "wait $worker\n"
         "status=$?\n"
         "while kill -0 $worker 2> /dev/null; do wait $worker; status=$?; done\n"
         "rm -rf \"$state\"\n"
         "exit $status\n";
}

std::string comment_of(std::uint64_t cluster, const engine::AllocationRecord& allocation) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(cluster));
  return "hpsearch/" + std::string(text.data()) + "/" + engine::text_of(allocation.name) + "/" +
         allocation.key;
}

std::vector<std::string> submission(const QueueSettings& settings, const engine::AllocationName& name,
                                    std::uint64_t workers, const std::string& comment,
                                    const std::string& directory, bool only_tests) {
  const std::string count = std::to_string(workers);
  std::vector<std::string> words{"sbatch",
                                 "--parsable",
                                 "--no-requeue",
                                 "--open-mode=append",
                                 "--export=ALL",
                                 "--job-name=hpsearch-" + name.queue + "-" + std::to_string(name.number),
                                 "--comment=" + comment,
                                 "--nodes=" + count + "-" + count,
                                 "--ntasks=" + count,
                                 "--ntasks-per-node=1",
                                 "--time=" + time_text(settings.time_limit),
                                 "--output=" + directory + "/%N.out"};
  if (only_tests) {
    words.emplace_back("--test-only");
  }
  words.insert(words.end(), settings.arguments.begin(), settings.arguments.end());
  words.push_back(directory + "/job.sh");
  return words;
}

std::vector<std::string> job_list() {
  return {"squeue", "--me", "--noheader", "--states=all", "--format=%i|%T|%k|%r"};
}

std::vector<Job> read_jobs(std::string_view text) {
  std::vector<Job> jobs;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    std::array<std::string_view, 4> parts;
    std::string_view rest = line;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::size_t bar = i + 1 < parts.size() ? rest.find('|') : rest.size();
      parts[i] = rest.substr(0, bar);
      rest.remove_prefix(std::min(rest.size(), parts[i].size() + 1));
    }
    if (!parts[0].empty() && !parts[1].empty()) {
      jobs.push_back({std::string(parts[0]), std::string(parts[1]),
                      std::string(parts[2] == "(null)" ? "" : parts[2]), std::string(parts[3])});
    }
  }
  return jobs;
}

std::optional<std::string> key_in(const Job& job, std::uint64_t cluster) {
  engine::AllocationRecord none;
  const std::string beginning =
      comment_of(cluster, none).substr(0, std::string_view("hpsearch/").size() + 17);
  const std::size_t slash = job.comment.rfind('/');
  if (!job.comment.starts_with(beginning) || slash < beginning.size()) {
    return std::nullopt;
  }
  return job.comment.substr(slash + 1);
}

Standing standing_of(const Job& job) {
  using Phase = Standing::Phase;
  const std::string& state = job.state;
  constexpr std::array<std::string_view, 5> waiting{"PENDING", "CONFIGURING", "REQUEUED", "RESV_DEL_HOLD",
                                                    "SPECIAL_EXIT"};
  if (std::find(waiting.begin(), waiting.end(), state) != waiting.end()) {
    return {Phase::waits, is_hopeless(job.reason)};
  }
  struct Ended {
    std::string_view state;
    AllocationEnd end;
    bool processes_ended;
  };
  constexpr std::array ends{Ended{"COMPLETED", AllocationEnd::completed, false},
                            Ended{"CANCELLED", AllocationEnd::canceled_there, true},
                            Ended{"TIMEOUT", AllocationEnd::time_limit, true},
                            Ended{"PREEMPTED", AllocationEnd::preempted, true},
                            Ended{"NODE_FAIL", AllocationEnd::node_failed, false},
                            Ended{"BOOT_FAIL", AllocationEnd::node_failed, false},
                            Ended{"REVOKED", AllocationEnd::canceled_there, false},
                            Ended{"DEADLINE", AllocationEnd::time_limit, false},
                            Ended{"OUT_OF_MEMORY", AllocationEnd::failed, false},
                            Ended{"FAILED", AllocationEnd::failed, false}};
  const auto found =
      std::find_if(ends.begin(), ends.end(), [&state](const Ended& one) { return one.state == state; });
  if (found != ends.end()) {
    return {Phase::ended, false, found->end, found->processes_ended};
  }
  return {Phase::runs};  // COMPLETING and SUSPENDED too, and states of later releases: nothing is over.
}

namespace {

/// KEY=VALUE of a line of scontrol; "" = it has none.
std::string_view value_in(std::string_view line, std::string_view key) {
  const std::string wanted = " " + std::string(key) + "=";
  const std::size_t at = line.find(wanted);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = line.substr(at + wanted.size());
  return rest.substr(0, rest.find(' '));
}

/// The partitions that the arguments name, each with a comma on both sides.
std::string partitions_in(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if ((word == "-p" || word == "--partition") && i + 1 < arguments.size()) {
      return "," + arguments[i + 1] + ",";
    }
    if (word.starts_with("--partition=")) {
      return "," + word.substr(word.find('=') + 1) + ",";
    }
    if (word.starts_with("-p")) {
      return "," + word.substr(2) + ",";
    }
  }
  return "";
}

}  // namespace

std::vector<std::string> problems_with_partition(std::string_view text, const QueueSettings& settings) {
  std::vector<std::string> problems;
  const std::string wanted = partitions_in(settings.arguments);
  while (!text.empty()) {
    const std::string line = " " + std::string(text.substr(0, text.find('\n'))) + " ";
    text.remove_prefix(std::min(text.size(), line.size() - 1));
    const std::string name(value_in(line, "PartitionName"));
    const bool is_meant = wanted.empty() ? value_in(line, "Default") == "YES"
                                         : wanted.find("," + name + ",") != std::string::npos;
    if (name.empty() || !is_meant) {
      continue;
    }
    if (const auto most = engine::duration_from_clock_text(value_in(line, "MaxTime"));
        most && *most < settings.time_limit) {
      problems.push_back("partition " + name + " runs jobs for at most " +
                         std::string(value_in(line, "MaxTime")) + ", and this one asks for " +
                         time_text(settings.time_limit) + " (--time-limit); it would wait for ever");
    }
    const auto most_nodes = value_in(line, "MaxNodes");
    if (!most_nodes.empty() && most_nodes.find_first_not_of("0123456789") == std::string_view::npos &&
        most_nodes.size() < 10 && std::stoull(std::string(most_nodes)) < settings.workers) {
      problems.push_back("partition " + name + " gives at most " + std::string(most_nodes) +
                         " nodes to a job, and this one asks for " + std::to_string(settings.workers));
    }
    if (const auto state = value_in(line, "State"); !state.empty() && state != "UP") {
      problems.push_back("partition " + name + " is " + std::string(state) + " and starts no jobs");
    }
  }
  return problems;
}

std::string time_text(Duration time) {
  const std::int64_t seconds = seconds_of(time);
  constexpr std::int64_t day = 86'400;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%lld-%02lld:%02lld:%02lld", static_cast<long long>(seconds / day),
                static_cast<long long>(seconds % day / 3'600), static_cast<long long>(seconds % 3'600 / 60),
                static_cast<long long>(seconds % 60));
  return text.data();
}

}  // namespace hpsearch::daemon::slurm
