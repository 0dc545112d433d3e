#include "daemon/alloc/slurm.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "daemon/alloc/worker_script.hpp"
#include "hpsearch/engine/base/clock_text.hpp"
#include "hpsearch/io/net/run_command.hpp"

namespace hpsearch::daemon {
namespace slurm {
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

constexpr char between = '/';  ///< In the comment of a job.

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

std::vector<std::string> submission(const JobOrder& order, bool only_tests) {
  const std::string count = std::to_string(order.workers);
  std::vector<std::string> words{"sbatch",
                                 "--parsable",
                                 "--no-requeue",
                                 "--open-mode=append",
                                 "--export=ALL",
                                 "--job-name=hpsearch-" + worker_name(order.mark.name),
                                 "--comment=" + order.mark.text(between),
                                 "--nodes=" + count + "-" + count,
                                 "--ntasks=" + count,
                                 "--ntasks-per-node=1",
                                 "--time=" + time_text(order.settings.time_limit),
                                 "--output=" + order.directory + "/%N.out"};
  if (only_tests) {
    words.emplace_back("--test-only");
  }
  words.insert(words.end(), order.settings.arguments.begin(), order.settings.arguments.end());
  words.push_back(order.directory + "/job.sh");
  return words;
}

std::vector<std::string> job_list() {
  return {"squeue", "--me", "--noheader", "--states=all", "--format=%i|%T|%k|%r"};
}

std::vector<BackendJob> read_jobs(std::string_view text, std::uint64_t cluster) {
  std::vector<BackendJob> jobs;
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
    const auto [id, state, comment, reason] = parts;
    if (auto key = key_in_mark(comment, cluster, between); key && !id.empty() && !state.empty()) {
      const Standing standing = standing_of(state, reason);
      const bool says_why = standing.phase == Standing::Phase::waits && reason != "None";
      jobs.push_back({std::string(id), *std::move(key), std::string(state),
                      std::string(says_why ? reason : ""), standing});
    }
  }
  return jobs;
}

Standing standing_of(std::string_view state, std::string_view reason) {
  using Phase = Standing::Phase;
  constexpr std::array<std::string_view, 5> waiting{"PENDING", "CONFIGURING", "REQUEUED", "RESV_DEL_HOLD",
                                                    "SPECIAL_EXIT"};
  if (std::find(waiting.begin(), waiting.end(), state) != waiting.end()) {
    return {Phase::waits, is_hopeless(reason)};
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
      std::find_if(ends.begin(), ends.end(), [state](const Ended& one) { return one.state == state; });
  if (found != ends.end()) {
    return {Phase::ended, false, found->end, found->processes_ended};
  }
  // COMPLETING and SUSPENDED, and states of later releases: nothing is over.
  return {state == "RUNNING" ? Phase::runs : Phase::unclear};
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

}  // namespace slurm

namespace {

constexpr std::chrono::seconds command_limit{30};

net::CommandAnswer run(const std::vector<std::string>& words) {
  return net::run_command(words, command_limit);
}

std::string job_script(const JobOrder& order) {
  const std::string count = std::to_string(order.workers);
  const std::string& after = order.settings.after;
  // Through srun also on one node: when a job is preempted, steps hear of it at once, the script at the end.
  return "#!/bin/bash\n"
         "# Made by hpsearchd: one job with " +
         count + (order.workers == 1 ? " worker" : " workers") +
         ".\n"
         "trap : TERM  # The rest of this script runs when the workers have ended.\n"
         "if [ -n \"$SLURM_CPUS_PER_TASK\" ]; then export SRUN_CPUS_PER_TASK=\"$SLURM_CPUS_PER_TASK\"; fi\n"
         "srun --overlap --kill-on-bad-exit=0 --nodes=" +
         count + " --ntasks=" + count + " --ntasks-per-node=1 --export=ALL bash " +
         shell_word(order.directory + "/worker.sh") + "\n" + (after.empty() ? "" : after + "\n");
}

}  // namespace

engine::Status Slurm::check_settings(const engine::QueueSettings& settings) const {
  return slurm::check_arguments(settings.arguments);
}

std::vector<JobFile> Slurm::files_of(const JobOrder& order) const {
  return {{"worker.sh", worker_script(order, {order.workers == 1 ? "" : "$SLURM_PROCID", "slurm"})},
          {"job.sh", job_script(order)}};
}

std::string Slurm::submission_text(const JobOrder& order) const {
  std::string command = "#";
  for (const std::string& word : slurm::submission(order)) {
    command += " " + word;
  }
  return command + "\n";
}

std::string Slurm::cancel_text(const std::string& job) const {
  return "scancel " + job;
}

JobSubmission Slurm::submit(const JobOrder& order) {
  const net::CommandAnswer answer = run(slurm::submission(order));
  if (answer.succeeded()) {
    return {JobSubmission::Outcome::taken, answer.output.substr(0, answer.output.find_first_of(";\n"))};
  }
  return {answer.was_refused() ? JobSubmission::Outcome::refused : JobSubmission::Outcome::unknown, "",
          answer.complaint()};
}

engine::Result<std::vector<BackendJob>> Slurm::list() {
  const net::CommandAnswer answer = run(slurm::job_list());
  if (!answer.succeeded()) {
    return engine::Error{engine::Errc::unavailable, answer.complaint()};
  }
  return slurm::read_jobs(answer.output, cluster_);
}

engine::Status Slurm::cancel(const std::string& job) {
  const net::CommandAnswer answer = run({"scancel", "--", job});
  return answer.succeeded() ? engine::Status(engine::Done{})
                            : engine::Error{engine::Errc::unavailable, answer.complaint()};
}

BackendCheck Slurm::check(const JobOrder& order) {
  BackendCheck check;
  const net::CommandAnswer tested = run(slurm::submission(order, true));
  check.would_start = tested.succeeded();
  check.findings.push_back(tested.succeeded() ? "Slurm would take the job: " + tested.complaint()
                                              : "Slurm would refuse the job: " + tested.complaint());
  if (tested.succeeded()) {
    // A job above the partition's limits is taken, and then waits for ever.
    const net::CommandAnswer partitions = run({"scontrol", "--oneliner", "show", "partition"});
    for (std::string& problem : slurm::problems_with_partition(partitions.output, order.settings)) {
      check.would_start = false;
      check.findings.push_back(std::move(problem));
    }
  }
  return check;
}

}  // namespace hpsearch::daemon
