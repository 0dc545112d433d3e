#include "daemon/alloc/programs.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "daemon/alloc/worker_script.hpp"
#include "hpsearch/io/net/run_command.hpp"

namespace hpsearch::daemon {
namespace {

using engine::AllocationEnd;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using Phase = Standing::Phase;

constexpr std::chrono::seconds program_limit{60};  ///< Clients in Python take seconds to start.
constexpr char between = '.';                      ///< In a job's name: each scheduler allows it.

struct State {
  std::string_view word;
  Standing standing;
};
/// The states that a status program may print. None of them says that the processes of the job have ended.
constexpr std::array states{State{"waiting", {Phase::waits}},
                            State{"will_not_start", {Phase::waits, true}},
                            State{"running", {Phase::runs}},
                            State{"other", {Phase::unclear}},
                            State{"completed", {Phase::ended, false, AllocationEnd::completed}},
                            State{"failed", {Phase::ended, false, AllocationEnd::failed}},
                            State{"canceled", {Phase::ended, false, AllocationEnd::canceled_there}},
                            State{"time_limit", {Phase::ended, false, AllocationEnd::time_limit}},
                            State{"preempted", {Phase::ended, false, AllocationEnd::preempted}},
                            State{"node_failed", {Phase::ended, false, AllocationEnd::node_failed}}};

std::string allowed_states() {
  std::string all;
  for (const State& state : states) {
    all += (all.empty() ? "" : ", ") + std::string(state.word);
  }
  return all;
}

/// The first word of the line, which is removed from it.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t\r")));
  const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
  line.remove_prefix(word.size());
  return word;
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  return begin == std::string_view::npos ? "" : std::string(text.substr(begin, end - begin + 1));
}

bool is_program(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(path, unknown) && ::access(path.c_str(), X_OK) == 0;
}

ProgramSet set_named(const std::string& name) {
  for (const ProgramSet& set : built_in_sets()) {
    if (set.name == name) {
      return set;
    }
  }
  return {name, false, name + "/submit", name + "/status", name + "/cancel"};
}

net::CommandAnswer run(const ProgramSet& set, std::string_view which, const std::string& program,
                       std::vector<std::string> arguments, const std::vector<std::string>& variables = {}) {
  std::vector<std::string> words = {program};
  if (set.is_built_in) {
    words = {"/bin/sh", "-c", program, set.name + " " + std::string(which)};
  }
  words.insert(words.end(), std::make_move_iterator(arguments.begin()),
               std::make_move_iterator(arguments.end()));
  return net::run_command(words, program_limit, variables);
}

std::vector<std::string> submission_words(const JobOrder& order) {
  std::vector<std::string> words{order.directory + "/job.sh"};
  words.insert(words.end(), order.settings.arguments.begin(), order.settings.arguments.end());
  return words;
}

std::vector<std::string> submission_variables(const JobOrder& order) {
  return {"HPSEARCH_JOB_NAME=" + order.mark.text(between),
          "HPSEARCH_TIME_LIMIT=" + std::to_string(order.settings.time_limit.in_micros() / 1'000'000),
          "HPSEARCH_OUTPUT=" + order.directory + "/job.out"};
}

}  // namespace

Programs::Programs(const std::string& name, std::uint64_t cluster)
    : set_(set_named(name)), cluster_(cluster) {
}

Status Programs::check_settings(const engine::QueueSettings& settings) const {
  if (!set_.is_built_in && !set_.name.starts_with('/')) {
    std::string known;
    for (const ProgramSet& set : built_in_sets()) {
      known += ", " + set.name;
    }
    return Error{Errc::bad_request, "the backend is \"" + set_.name +
                                        "\"; it must be slurm, kubernetes, kubernetes/NAMESPACE" + known +
                                        ", or the path of a directory, from /, with the programs submit, "
                                        "status and cancel"};
  }
  if (!set_.is_built_in) {
    for (const std::string& program : {set_.submit, set_.status, set_.cancel}) {
      if (!is_program(program)) {
        return Error{Errc::bad_request, "the backend is " + set_.name + ", and " + program +
                                            " is no program that the daemon can run"};
      }
    }
  }
  if (settings.workers != 1) {
    return Error{Errc::bad_request, "an allocation has " + std::to_string(settings.workers) +
                                        " workers (workers-per-alloc); the backend " + set_.name +
                                        " runs one worker in each job"};
  }
  const auto has_zero = [](const std::string& word) { return word.find('\0') != std::string::npos; };
  if (std::any_of(settings.arguments.begin(), settings.arguments.end(), has_zero)) {
    return Error{Errc::bad_request, "an argument of the queue contains a zero byte"};
  }
  return Done{};
}

std::vector<JobFile> Programs::files_of(const JobOrder& order) const {
  const std::string& after = order.settings.after;
  const std::string job =
      "#!/bin/bash\n"
      "# Made by hpsearchd: one job with one worker.\n"
      "trap : TERM INT USR1 USR2  # The worker gets these too, and ends by itself.\n"
      "bash " +
      shell_word(order.directory + "/worker.sh") + " >> " + shell_word(order.directory + "/worker.out") +
      " 2>&1\nstatus=$?\n" + (after.empty() ? "" : after + "\n") + "exit $status\n";
  return {{"worker.sh", worker_script(order, {})}, {"job.sh", job}};
}

std::string Programs::submission_text(const JobOrder& order) const {
  std::string command = "#";
  for (const std::string& variable : submission_variables(order)) {
    command += " " + variable;
  }
  command += " " + (set_.is_built_in ? set_.name + "/submit" : set_.submit);
  for (const std::string& word : submission_words(order)) {
    command += " " + shell_word(word);
  }
  return command + "\n" + (set_.is_built_in ? "\n# " + set_.name + "/submit\n" + set_.submit : "");
}

std::string Programs::cancel_text(const std::string& job) const {
  return (set_.is_built_in ? "the cancel command of " + set_.name : set_.cancel) + " " + job;
}

JobSubmission Programs::submit(const JobOrder& order) {
  const net::CommandAnswer answer =
      run(set_, "submit", set_.submit, submission_words(order), submission_variables(order));
  const std::string job = trimmed(answer.output);
  if (!answer.succeeded()) {
    return {answer.was_refused() ? JobSubmission::Outcome::refused : JobSubmission::Outcome::unknown, "",
            answer.complaint()};
  }
  if (job.empty() || job.find_first_of(" \t\n") != std::string::npos) {
    return {JobSubmission::Outcome::unknown, "",
            "submit printed \"" + job.substr(0, 200) + "\"; it must print the id of the job, one word"};
  }
  return {JobSubmission::Outcome::taken, job};
}

Result<std::vector<BackendJob>> Programs::list() {
  const net::CommandAnswer answer = run(set_, "status", set_.status, {mark_beginning(cluster_, between)});
  if (!answer.succeeded()) {
    return Error{Errc::unavailable, answer.complaint()};
  }
  return read_status(answer.output, cluster_);
}

Status Programs::cancel(const std::string& job) {
  const net::CommandAnswer answer = run(set_, "cancel", set_.cancel, {job});
  return answer.succeeded() ? Status(Done{}) : Error{Errc::unavailable, answer.complaint()};
}

BackendCheck Programs::check(const JobOrder&) {
  // Nothing asks these schedulers about a job without submitting it.
  const auto jobs = list();
  return {jobs.has_value(),
          {jobs ? set_.name + " lists jobs; whether it takes this one is known when it is submitted"
                : set_.name + " does not list jobs: " + jobs.error().message}};
}

Result<std::vector<BackendJob>> read_status(std::string_view text, std::uint64_t cluster) {
  std::vector<BackendJob> jobs;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view whole = line;
    const std::string_view id = take_word(line);
    const std::string_view name = take_word(line);
    const std::string_view word = take_word(line);
    if (id.empty()) {
      continue;
    }
    const auto state =
        std::find_if(states.begin(), states.end(), [&](const State& one) { return one.word == word; });
    if (state == states.end()) {
      return Error{Errc::bad_request,
                   "line " + std::to_string(number) + " of status is \"" + std::string(whole.substr(0, 200)) +
                       "\"; it must be ID NAME STATE [REASON], and the state one of " + allowed_states()};
    }
    if (auto key = key_in_mark(name, cluster, between)) {
      jobs.push_back({std::string(id), *std::move(key), std::string(word), trimmed(line), state->standing});
    }
  }
  return jobs;
}

}  // namespace hpsearch::daemon
