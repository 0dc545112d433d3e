#include "hpsearch/workers/core/attempt_end.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/workers/core/memory_failure.hpp"
#include "hpsearch/workers/core/setup_failure.hpp"

namespace hpsearch::workers {

using engine::ExitReport;

namespace {

std::string signal_text(int number) {
  constexpr std::array<std::pair<int, std::string_view>, 9> names{
      {{2, "SIGINT"},
       {4, "SIGILL"},
       {6, "SIGABRT"},
       {7, "SIGBUS"},
       {8, "SIGFPE"},
       {9, "SIGKILL; perhaps the machine ran out of memory"},
       {11, "SIGSEGV"},
       {13, "SIGPIPE"},
       {15, "SIGTERM"}}};
  std::string text = "ended by signal " + std::to_string(number);
  for (const auto& [known, name] : names) {
    if (known == number) {
      text.append(" (").append(name).append(")");
    }
  }
  return text;
}

std::string status_text(int code) {
  switch (code) {
    case 0:
      return "";
    case 75:
      return "exit status 75: it asks to be run again";
    case 126:
      return "exit status 126: the command is not executable";
    case 127:
      return "exit status 127: the command was not found";
    default:
      return "exit status " + std::to_string(code);
  }
}

/// What the program said when it got no more memory. Of one that another killed, or that asks to be run
/// again, nothing.
std::optional<std::string> memory_text(const ProgramEnded& program) {
  constexpr int run_again = 75;
  constexpr int abort = 6;
  constexpr std::size_t longest = 300;
  const bool ended_itself =
      program.by_signal ? program.code == abort : program.code != 0 && program.code != run_again;
  const auto line = ended_itself ? memory_failure_of(program.log_tail) : std::nullopt;
  if (!line) {
    return std::nullopt;
  }
  return "ran out of memory: " + std::string(line->substr(0, longest));
}

}  // namespace

ExitReport exit_report(const AttemptEnd& end, bool kill_decided, const jobs::LaunchSpec& spec) {
  using enum ExitReport::Cause;
  const bool is_known = end.program.has_value();
  const bool is_lost = end.lost_because.has_value();
  const ProgramEnded program = end.program.value_or(ProgramEnded{});
  const bool failed = program.by_signal || program.code != 0;
  // If a machine is lost, the other parts of its attempt are killed. The lost part counts as lost, and not as
  // killed.
  const bool is_lost_part = is_lost && kill_decided && !spec.rendezvous.addresses.empty();
  const bool killed_here = !is_lost_part && (end.signaled_by_us || (is_lost && kill_decided));
  // A program that its worker paused has neither failed nor succeeded, with any exit status.
  const bool paused_here = !end.paused_because.empty() && is_known && !is_lost;
  const auto setup = failed && !program.by_signal ? setup_failure_of(program.log_tail) : std::nullopt;
  const auto memory = memory_text(program);
  const std::string no_steps = end.standstill.empty()
                                   ? "no report from it for " +
                                         std::to_string(spec.progress_timeout.in_micros() / 1'000'000) +
                                         " s (progress_timeout)"
                                   : end.standstill;

  struct Row {
    bool applies;
    ExitReport::Cause cause;
    std::string message;
    bool has_log = false;
  };
  const Row rows[] = {
      {!end.node_failure.empty() && (failed || !is_known), lost, end.node_failure, true},
      {end.no_progress, no_progress, "ended: " + no_steps, true},
      {killed_here || paused_here, ended_by_agent,
       end.paused_because.empty() || kill_decided ? "" : "paused by its worker: " + end.paused_because},
      {is_lost || !is_known, lost, end.lost_because.value_or("")},
      {failed && program.out_of_memory, out_of_memory, "ran out of memory: the kernel ended it", true},
      {setup.has_value(), could_not_start, setup.value_or(""), true},
      {memory.has_value(), out_of_memory, memory.value_or(""), true},
      {program.by_signal, signaled, signal_text(program.code), true},
      {true, exited, status_text(program.code), failed},
  };
  const Row& row =
      *std::find_if(std::begin(rows), std::end(rows), [](const Row& one) { return one.applies; });

  ExitReport report{.cause = row.cause,
                    .code = row.cause == could_not_start ? status_same_everywhere : program.code,
                    .message = row.message,
                    .log_tail = row.has_log ? program.log_tail : ""};
  report.unkillable = end.leaked_processes;
  if (end.leaked_processes) {
    report.message.append(report.message.empty() ? "" : "; ").append(end.stuck_because);
  }
  if (!end.lost_checkpoint.empty()) {
    report.message.append(report.message.empty() ? "" : "; ")
        .append("a checkpoint was not taken: " + end.lost_checkpoint);
  }
  return report;
}

}  // namespace hpsearch::workers
