#include <CLI/CLI.hpp>

#include "cli/verbs/argument_checks.hpp"
#include "cli/verbs/verb_groups.hpp"

namespace hpsearch::cli {

namespace {

void add_slurm_options(CLI::App& verb, RunOptions& options) {
  CLI::Option* on = verb.add_option_function<std::string>(
      "--on", [&options](const std::string&) { options.on_slurm = true; },
      "slurm: jobs of Slurm run the trials, for as long as the search lives. What follows -- are\narguments "
      "for "
      "sbatch: hpsearch run FILE --on slurm -- -p gpu --gres=gpu:1");
  on->check(one_of({"slurm"}));
  std::vector<CLI::Option*> of_slurm = add_queue_options(verb, options.queue);
  of_slurm.push_back(verb.add_option("--address", options.address,
                                     "Name or address of this machine that the nodes reach (its host name)"));
  for (CLI::Option* option : of_slurm) {
    option->needs(on)->group("With --on slurm");
  }
}

}  // namespace

void add_run(VerbBuilder& build) {
  CLI::App& verb = build.add("run", "Run or continue a search on this machine, or in jobs of Slurm",
                             [&build](const Output& output) {
                               RunOptions& options = build.given.run;
                               options.file = build.given.file.file;
                               options.seed = build.given.file.seed;
                               options.name = build.given.file.name;
                               options.context_directory = build.given.context_directory;
                               return run(options, output);
                             });
  build.add_file(verb);
  build.add_context(verb);
  verb.add_option(
      "--slots", build.given.run.slots,
      "Slots, as hpsearch-worker takes them (default: one per GPU, or one per core without GPUs, shared with "
      "the other searches of this user on this machine)");
  verb.add_option("--gpu-free", build.given.run.gpu_free,
                  "Without --slots: leave out GPUs that have less free memory, in percent, or processes of "
                  "other programs (default: 90)")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{100}));
  verb.add_option("--state-dir", build.given.run.state_dir,
                  "Directory of the search (default: <stem of FILE> in $HPSEARCH_STATE_HOME, else in "
                  "$XDG_STATE_HOME/hpsearch, else in .hpsearch)");
  CLI::Option* fresh =
      verb.add_flag("--fresh", build.given.run.fresh, "Move an earlier search aside and start a new one");
  verb.add_flag("--with-new-program", build.given.run.with_new_program,
                "Continue with the edited program: trials that have not reported anything yet run it")
      ->excludes(fresh);
  verb.add_flag(
      "--yes", build.given.run.yes,
      "Start a search of a wrong direction, exponents as values or nothing to search without asking");
  verb.add_flag("--allow-network-filesystem", build.given.run.allow_network_filesystem,
                "Accept a state directory on SMB, 9P, FUSE and similar, if the file system passes a test");
  verb.add_flag("--take-over", build.given.run.take_over,
                "Continue although another host used the state directory in the last 5 minutes; only if that "
                "host is gone");
  add_slurm_options(verb, build.given.run);
}

void add_file_verbs(VerbBuilder& build) {
  CLI::App& checking = build.add("validate", "Check an experiment file", [&build](const Output& output) {
    return validate(build.given.file, build.given.server, output);
  });
  CLI::App& estimating = build.add(
      "preview", "Estimate the trials and the training of a search",
      [&build](const Output& output) { return preview(build.given.file, build.given.server, output); });
  for (CLI::App* verb : {&checking, &estimating}) {
    build.add_file(*verb);
    build.add_server(*verb);
  }
  CLI::App& importing =
      build.add("import", "Turn a W&B sweep, a Katib experiment or an NNI space into an experiment file",
                [&build](const Output& output) { return import_file(build.given.import_options, output); });
  importing
      .add_option("FILE", build.given.import_options.file,
                  "File of the other product; - reads standard input")
      ->required()
      ->check(not_empty());
  importing.add_option("--to", build.given.import_options.to, "File to make (default: standard output)")
      ->check(not_empty());
  importing
      .add_option("--pod-template", build.given.import_options.pod_template,
                  "File to make of the pod of a Katib experiment or an OptimizationJob")
      ->check(not_empty());
  CLI::App& verb = build.add("submit", "Submit an experiment to a daemon", [&build](const Output& output) {
    return submit(SubmitOptions{build.given.file, build.given.context_directory, build.given.server,
                                build.given.run.context_limit},
                  output);
  });
  build.add_file(verb);
  build.add_context(verb);
  build.add_server(verb);
}

void add_simulate(VerbBuilder& build) {
  SimulateOptions& options = build.given.simulate;
  CLI::App& verb =
      build.add("simulate", "Run a search on recorded or synthetic curves, under a virtual clock",
                [&build](const Output& output) {
                  build.given.simulate.file = build.given.file;
                  build.given.simulate.server = build.given.server;
                  return simulate(build.given.simulate, output);
                });
  build.add_file(verb);
  CLI::Option* metric =
      verb.add_option("--metric", options.expression,
                      "Metric as an expression of trial, length, op and hyperparameters: \"0.01*trial\"");
  verb.add_option("--curves", options.curves,
                  "Learning curves: a CSV file, experiment:ID, surrogate:INSTANCE or synthetic:KIND")
      ->excludes(metric);
  verb.add_option("--data", options.data_directory,
                  "Directory of the surrogate's data (or HPSEARCH_LCBENCH_DIR)");
  verb.add_flag("--cycle", options.cycle, "Trials without a recorded curve use the recorded ones in turn");
  verb.add_option("--workers", options.workers,
                  "Trials that train at once (default: max_concurrent_trials of FILE, 16 if that is 0;\n"
                  "1 for a single search)")
      ->transform(integer_from(1, 1'000'000));
  verb.add_option("--duration", options.duration,
                  "Simulated time of an operation: one second per unit of length, one second, or the\n"
                  "time in the curves (default: curve if the curves have times, else unit)")
      ->check(one_of({"unit", "op", "curve"}));
  verb.add_option("--report-every", options.report_every,
                  "Report every N units of length too (default: only at each trial's length)")
      ->transform(integer_from(1));
  verb.add_option("--until", options.until_seconds, "Stop the clock at this simulated second")
      ->check(seconds_above(true));
  verb.add_option("--exit", options.exits,
                  "TRIAL:OP:REASON: operation OP of the trial, from 0, ends early; can be repeated.\n"
                  "REASON is errored, user_canceled, user_stopped or invalid_hp")
      ->allow_extra_args(false);  // The next word may be FILE.
  verb.add_option("--failure-rate", options.failure_rate, "Probability that an operation crashes")
      ->check(number_from(0, 1));
  verb.add_option("--failure-seed", options.failure_seed, "Seed of the crashes (default: 0)");
  build.add_server(verb);
}

}  // namespace hpsearch::cli
