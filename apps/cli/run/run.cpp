#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "cli/client/answers.hpp"
#include "cli/client/last_summary.hpp"
#include "cli/client/search_places.hpp"
#include "cli/experiment/file_report.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "cli/run/run_changes.hpp"
#include "cli/run/run_directory.hpp"
#include "cli/run/run_queue.hpp"
#include "cli/run/run_session.hpp"
#include "cli/run/run_submission.hpp"
#include "cli/run/run_watch.hpp"
#include "cli/run/same_command.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {
namespace {

using engine::Done;
using engine::Value;

/// Reads the record of the search in the directory, or makes a new one.
Outcome<Done> open_record(RunSession& run) {
  const auto known = load_run_record(run.state);
  if (!known) {
    return known.failure();
  }
  if (*known) {
    report_notes(run.file, run.output);
    run.record = **known;
    run.resumes = true;
    run.record.allow_network_filesystem |= run.options.allow_network_filesystem;
    if (is_search_of(run.record, run.file_path(), run.state.path())) {
      run.record.file = run.file_path().string();
      run.record.state_directory = run.state.path().string();
    }
    return save_run_record(run.state, run.record);  // From now on it is the search that was run last.
  }
  return begin_record(run);
}

Outcome<Exit> print_again(RunSession& run, RunWatch& watch) {
  if (const auto read = watch.take_events(/*print=*/false); !read) {
    return read.failure();
  }
  if (const auto printed = watch.print_summary(); !printed) {
    return printed.failure();
  }
  run.output.message(
      (run.edited.empty() ? "" : run.edited + ". ") +
      "this search has already ended; to continue it, give it more trials or a larger budget in " +
      run.options.file + "; to start a new one: " + run.afresh());
  return watch.exit_of_ended();
}

/// Continues a stored search.
Outcome<Done> go_on(RunSession& run, RunWatch& watch) {
  std::error_code ignored;
  if (watch.detail().context_digest.empty() &&
      !std::filesystem::is_directory(run.record.context_directory, ignored)) {
    return usage_failure("the context directory " + run.record.context_directory +
                         " is gone; the trials need it");
  }
  if (run.resumes) {
    if (const auto read = watch.take_events(/*print=*/false); !read) {
      return read.failure();
    }
  }
  if (watch.detail().state == engine::ExperimentState::paused) {
    const auto resumed =
        run.client().post(experiment_target(*run.record.experiment, "/resume"), Value::Map{});
    if (!resumed) {
      return resumed.failure();
    }
  }
  const auto started = run.options.on_slurm ? begin_queue(run)
                                            : run.cluster->start_worker(
                                                  {.chosen = run.options.slots,
                                                   .gpu_free = run.options.gpu_free,
                                                   .who = "search " + printable(watch.detail().name) +
                                                          " (process " + std::to_string(::getpid()) + ")"},
                                                  run.say(), run.hurry());
  if (!started) {
    return started.failure();
  }
  run.view.say(std::string(run.resumes ? "continuing experiment " : "experiment ") +
                   std::to_string(*run.record.experiment) + ", " + printable(watch.detail().name) + ", in " +
                   run.state.path().string(),
               true);
  run.view.say("in a browser: hpsearch open" +
                   (run.options.state_dir ? " --state-dir " + run.state.path().string() : std::string()),
               true);
  return Done{};
}

Outcome<Exit> search(RunSession& run, bool& paused) {
  const auto workers = run.options.on_slurm ? address_for_nodes(run) : Outcome<std::string>(std::string());
  if (!workers) {
    return workers.failure();
  }
  auto cluster = PrivateCluster::start(
      run.state,
      {.network = run.record.allow_network_filesystem ? files::NetworkFileSystems::allowed
                                                      : files::NetworkFileSystems::refused,
       .take_over = run.options.take_over,
       .keeps_files = run.options.on_slurm || !run.record.workers.empty(),
       .workers = *workers},
      run.say(), run.hurry());
  if (!cluster) {
    return cluster.failure();
  }
  run.cluster.emplace(std::move(*cluster));
  if (run.options.on_slurm) {
    if (const auto starts = check_queue(run); !starts) {
      return starts.failure();
    }
  }
  if (run.resumes) {
    if (const auto same = match_record(run); !same) {
      return same.failure();
    }
  }
  if (!run.record.experiment && run.resumes) {  // It was never submitted: its program is the present one.
    if (const auto begun = begin_record(run); !begun) {
      return begun.failure();
    }
  }
  if (!run.record.experiment) {
    if (const auto submitted = submit(run); !submitted) {
      return submitted.failure();
    }
  }
  auto watch = RunWatch::begin(run);
  if (!watch) {
    return watch.failure();
  }
  if (engine::is_ended(watch->detail().state)) {
    return print_again(run, *watch);
  }
  if (const auto going = go_on(run, *watch); !going) {
    return going.failure();
  }
  auto exit = watch->follow();
  paused = watch->is_paused();
  return exit;
}

/// Prints the result of the command, and returns its exit code.
int end(const RunSession& run, const Outcome<Exit>& done, bool paused) {
  if (!done && !run.file.problems.empty()) {
    return report_problems(run.file, run.output);
  }
  if (!done) {
    Failure failure = done.failure();
    if (run.record.experiment && failure.exit != Exit::conflict && failure.exit != Exit::usage) {
      failure.message += "\nall results so far are stored; once the problem is solved, continue with: " +
                         same_command(run.options.command);
    }
    if (failure.exit == Exit::interrupted) {
      failure.message = "interrupted before the search started";
    }
    return run.output.fail(failure);
  }
  if (*done == Exit::interrupted) {
    run.output.message(std::string(paused ? "interrupted; the search is paused" : "interrupted") +
                       ". Continue with: " + same_command(run.options.command));
  }
  return static_cast<int>(*done);
}

}  // namespace

int run(const RunOptions& options, const Output& output) {
  ::signal(SIGPIPE, SIG_IGN);  // A closed pipe must not end the search.
  if (options.on_slurm) {
    if (const auto there = find_slurm(); !there) {
      return output.fail(there.failure());
    }
  }
  RunSession run(options, output);
  run.file = open_experiment_file(options.file, {options.seed, options.name, options.context_directory});
  if (!run.file.problems.empty()) {
    return report_problems(run.file, output);
  }
  if (options.context_directory) {
    const auto context = context_directory(options.context_directory, options.file);
    if (!context) {
      return output.fail(context.failure());
    }
    run.context = *context;
  }
  const auto taken = take_state_directory(run);
  if (taken) {
    forget_last_summary(run.state);
  }
  const auto ready = taken ? open_record(run) : taken;
  if (!ready) {
    remove_unused_directory(run);
    return run.file.problems.empty() ? output.fail(ready.failure()) : report_problems(run.file, output);
  }
  bool paused = false;
  const Outcome<Exit> done = search(run, paused);
  run.view.clear();
  if (run.cluster) {
    if (!run.record.workers.empty()) {
      end_queues(run);
    }
    const auto listed = run.client().get_list("/api/v1/experiments", "experiments");
    run.cluster->end([&run] { return run.interrupts.count() > 1; });
    if (listed && list_at(*listed, "experiments").size() == 1) {
      save_last_summary(run.state, list_at(*listed, "experiments").front());
    }
  }
  if (!done && done.failure().exit == Exit::usage) {  // Other failures may need the daemon's log.
    remove_unused_directory(run);
  }
  return end(run, done, paused);
}

}  // namespace hpsearch::cli
