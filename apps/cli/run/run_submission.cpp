#include "cli/run/run_submission.hpp"

#include <optional>
#include <string>
#include <vector>

#include "cli/experiment/file_report.hpp"
#include "cli/experiment/prior_results.hpp"
#include "cli/experiment/start_check.hpp"
#include "cli/render/text.hpp"
#include "cli/run/program_files.hpp"
#include "cli/submission/context_report.hpp"
#include "cli/submission/context_upload.hpp"
#include "cli/submission/git_state.hpp"
#include "cli/submission/submission.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/search_doubts.hpp"

namespace hpsearch::cli {

using engine::Done;
using engine::Value;

namespace {

/// The files of the program: those that trials get or, if they run in the directory, the files that the
/// entrypoint names.
Outcome<context::ContextListing> look_at_program(const RunSession& run, const std::string& directory,
                                                 const Value& tree) {
  return needs_packed_context(tree) ? look_at_context(directory, run.options.context_limit)
                                    : Outcome<context::ContextListing>(named_by_entrypoint(directory, tree));
}

/// Asks on a terminal before a useless search starts.
Outcome<Done> confirm(const RunSession& run) {
  if (run.options.yes || engine::doubts_to_confirm(*run.file.config).empty()) {
    return Done{};
  }
  const std::optional<bool> answer = run.output.ask("Is this meant? Start the search?");
  if (run.interrupts.count() > 0) {
    return Failure{Exit::interrupted, engine::Errc::unavailable, "interrupted before the search started"};
  }
  return answer.value_or(true)
             ? Outcome<Done>(Done{})
             : usage_failure("not started: change " + run.file.path + ", then run the same command again");
}

}  // namespace

Outcome<Done> begin_record(RunSession& run) {
  if (run.context.empty()) {
    const auto context = context_directory(std::nullopt, run.options.file);
    if (!context) {
      return context.failure();
    }
    run.context = *context;
  }
  read_prior(run.file, {}, run.output);
  check_start(run.file, run.options.on_slurm
                            ? StartPlace{.context = run.context, .machine = StartPlace::Machine::worker}
                            : StartPlace{run.context, StartPlace::Machine::this_one, run.options.slots});
  if (!run.file.problems.empty()) {
    return usage_failure(run.file.path + " has " + counted(run.file.problems.size(), "problem"));
  }
  report_notes(run.file, run.output);
  if (const auto wanted = confirm(run); !wanted) {
    return wanted.failure();
  }
  const bool packed = needs_packed_context(run.file.tree);
  const auto listing = look_at_program(run, run.context, run.file.tree);
  if (!listing && packed) {
    return listing.failure();
  }
  if (packed) {
    for (const std::string& line : context_report(*listing)) {
      run.view.say(printable(line), true);
    }
  }
  run.record = RunRecord{};
  run.record.file = run.file_path().string();
  run.record.state_directory = run.state.path().string();
  run.record.context_directory = run.context;
  run.record.config = run.file.original;
  if (listing) {
    auto program = program_files(run.context, listing->files, run.file.tree, run.file_path());
    if (!program) {
      return program.failure();
    }
    run.record.program = *std::move(program);
    run.record.program_at = seconds_now();
  }
  run.record.seed = run.options.seed;
  run.record.name = run.options.name;
  run.record.idempotency_key = fresh_key();
  run.record.allow_network_filesystem = run.options.allow_network_filesystem;
  run.resumes = false;
  return save_run_record(run.state, run.record);
}

std::optional<Value> program_now(const RunSession& run) {
  const auto listing = look_at_program(run, run.record.context_directory, run.file.tree);
  if (!listing) {
    return std::nullopt;
  }
  const auto now =
      program_files(run.record.context_directory, listing->files, run.file.tree, run.file_path());
  return now ? std::optional(*now) : std::nullopt;
}

Outcome<std::string> hand_over_context(const RunSession& run) {
  if (!needs_packed_context(run.file.tree)) {
    return std::string();
  }
  const auto listing = look_at_context(run.record.context_directory, run.options.context_limit);
  return listing ? upload_context(run.client(), run.record.context_directory, listing->files)
                 : Outcome<std::string>(listing.failure());
}

Outcome<Done> submit(RunSession& run) {
  const auto digest = hand_over_context(run);
  if (!digest) {
    return digest.failure();
  }
  const std::string& directory = run.record.context_directory;
  const auto submitted = submit_experiment(
      run.client(), run.file, {directory, *digest, git_state(directory, run.state.path().string())},
      run.record.idempotency_key);
  if (!submitted) {
    return submitted.failure();
  }
  if (!submitted->note.empty()) {
    run.view.say(printable(submitted->note), true);
  }
  run.record.experiment = submitted->experiment;
  return save_run_record(run.state, run.record);
}

}  // namespace hpsearch::cli
