#include "cli/run/run_changes.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/artifacts/tree_difference.hpp"
#include "cli/client/answers.hpp"
#include "cli/client/search_places.hpp"
#include "cli/experiment/changed_limits.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/run/program_files.hpp"
#include "cli/run/run_submission.hpp"
#include "cli/run/same_command.hpp"
#include "cli/submission/context_upload.hpp"
#include "cli/submission/submission.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/api/experiments.hpp"

namespace hpsearch::cli {
namespace {

using engine::Done;
using engine::Value;

constexpr std::size_t most_named_files = 3;
constexpr std::size_t most_sent_files = 100;

/// "train.py changed since 14:02".
std::string edited_text(const RunSession& run, const std::vector<std::string>& changed) {
  std::string names;
  for (std::size_t i = 0; i < changed.size() && i < most_named_files; ++i) {
    names += (i == 0 ? "" : ", ") + printable(changed[i]);
  }
  if (changed.size() > most_named_files) {
    names += " and " + counted(changed.size() - most_named_files, "more file");
  }
  return names + " changed since " + clock_text(run.record.program_at, seconds_now());
}

std::string with_new_program(const RunSession& run) {
  return same_command(run.options.command, "--with-new-program");
}

/// The points that a new search can begin with; "" if there is no result.
std::string best_so_far(const RunSession& run) {
  const auto best = run.client().get(experiment_target(*run.record.experiment, "/best"));
  if (!best || best->is_null()) {
    return "";
  }
  return ". To try the best configuration so far first, add to the searcher:\n  points_to_evaluate: [" +
         engine::compact_json(member(*best, "hparams")) + "]";
}

/// The differences between the command and the one that began the search in the directory; "" if there are
/// none.
std::string changes(const RunSession& run) {
  std::vector<std::string> out = differences(run.record.config, run.file.original);
  std::error_code ignored;
  if (!is_search_of(run.record, run.file_path(), run.state.path()) &&
      (run.record.file == "-" || run.options.file == "-" ||
       std::filesystem::exists(run.record.file, ignored))) {
    out.push_back("the experiment file: " + run.record.file + " -> " + run.file_path().string());
  }
  if (run.options.seed && run.options.seed != run.record.seed) {
    out.push_back("--seed " + std::to_string(*run.options.seed));
  }
  if (run.options.name && run.options.name != run.record.name) {
    out.push_back("--name " + *run.options.name);
  }
  if (!run.context.empty() && run.context != run.record.context_directory) {
    out.push_back("the context directory: " + run.record.context_directory + " -> " + run.context);
  }
  std::string text;
  for (const std::string& change : out) {
    text += (text.empty() ? "" : ", ") + change;
  }
  return text;
}

/// The changed limits of the file; null if other fields have changed, too.
std::optional<Value> only_limits_changed(const RunSession& run) {
  const bool same_command = (!run.options.seed || run.options.seed == run.record.seed) &&
                            (!run.options.name || run.options.name == run.record.name) &&
                            (run.context.empty() || run.context == run.record.context_directory) &&
                            is_search_of(run.record, run.file_path(), run.state.path());
  return same_command ? changed_limits(run.record.config, run.file.original) : std::nullopt;
}

Outcome<Done> change_limits(RunSession& run, const Value& limits, const std::string& changed) {
  const auto answer = run.client().patch(experiment_target(*run.record.experiment), limits);
  if (!answer) {
    Failure failure = answer.failure();
    if (failure.exit == Exit::conflict) {
      failure.message += " (" + changed + "). Start a new search with: " + run.afresh() + best_so_far(run);
    }
    return failure;
  }
  run.view.say("changed: " + changed, true);
  run.record.config = run.file.original;
  run.file = open_experiment_file(run.options.file, {run.record.seed, run.record.name});
  return save_run_record(run.state, run.record);
}

/// Uploads an edited program if the command has --with-new-program; otherwise a conflict. With
/// `limits_change` an ended search may continue, so it needs the flag too.
Outcome<Done> match_program(RunSession& run, bool limits_change) {
  const std::optional<Value> now = program_now(run);
  const std::vector<std::string> changed =
      now ? changed_files(run.record.program, *now) : std::vector<std::string>();
  if (changed.empty()) {
    return Done{};
  }
  const std::string edited = edited_text(run, changed);
  const auto detail =
      read_as<api::ExperimentSummary>(run.client().get(experiment_target(*run.record.experiment)));
  if (!detail) {
    return detail.failure();
  }
  if (engine::is_ended(detail->state) && !limits_change) {
    run.edited = edited;  // Nothing runs: only print a message.
    return Done{};
  }
  const bool packed = needs_packed_context(run.file.tree);
  if (!run.options.with_new_program) {
    return conflict_failure(
        edited + ", and nothing was started. Choose one:\n  " + with_new_program(run) +
        (packed ? "\n    trials that have not reported anything yet run the new program; the "
                  "others keep theirs"
                : "\n    trials run in the directory itself: all that run from now on run "
                  "the new program") +
        "\n  " + run.afresh() + "\n    begins a new search");
  }
  const auto digest = hand_over_context(run);
  if (!digest) {
    return digest.failure();
  }
  Value::List names;
  for (std::size_t i = 0; i < changed.size() && i < most_sent_files; ++i) {
    names.push_back(changed[i]);
  }
  Value::Map program{{"changed", std::move(names)}};
  if (!digest->empty()) {
    program["context_digest"] = *digest;
  }
  const auto answer =
      run.client().post(experiment_target(*run.record.experiment, "/program"), Value(std::move(program)));
  if (!answer) {
    return answer.failure();
  }
  run.view.say(edited + (packed ? ": trials that have not reported anything yet run the new program"
                                : ": trials that run from now on run the new program"),
               true);
  run.record.program = *now;
  run.record.program_at = seconds_now();
  return save_run_record(run.state, run.record);
}

}  // namespace

Outcome<Done> match_record(RunSession& run) {
  if (!run.record.experiment) {
    // The submission was never answered, but may have been accepted.
    const auto known = run.client().get("/api/v1/experiments");
    if (!known) {
      return known.failure();
    }
    if (const Value::List& experiments = list_at(*known, "experiments"); !experiments.empty()) {
      run.record.experiment = count_at(experiments.front(), "id");
    }
  }
  const std::string changed = changes(run);
  const auto limits = changed.empty() ? std::nullopt : only_limits_changed(run);
  if (run.record.experiment && (changed.empty() || limits)) {
    if (const auto same = match_program(run, limits.has_value()); !same) {
      return same.failure();
    }
  }
  if (changed.empty()) {
    run.file = open_experiment_file(run.options.file, {run.record.seed, run.record.name});
    return Done{};
  }
  if (!run.record.experiment) {
    return begin_record(run);
  }
  if (limits) {
    return change_limits(run, *limits, changed);
  }
  const auto detail =
      read_as<api::ExperimentSummary>(run.client().get(experiment_target(*run.record.experiment)));
  if (!detail) {
    return detail.failure();
  }
  return conflict_failure(
      "this command differs from the command that started the search in " + run.state.path().string() + " (" +
      changed + "). That cannot change in a search that " +
      (engine::is_ended(detail->state) ? "has ended (" + std::string(engine::name_of(detail->state)) + ")"
                                       : "exists") +
      ". Start a new one with: " + run.afresh() + "; or use another --state-dir" + best_so_far(run));
}

}  // namespace hpsearch::cli
