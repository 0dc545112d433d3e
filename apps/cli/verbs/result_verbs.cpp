#include <CLI/CLI.hpp>

#include "cli/verbs/argument_checks.hpp"
#include "cli/verbs/verb_groups.hpp"

namespace hpsearch::cli {
namespace {

void add_trials(VerbBuilder& build) {
  TrialsOptions& given = build.given.trials;
  CLI::App& verb = build.add("trials", "List an experiment's trials", [&build](const Output& output) {
    build.given.trials.experiment = build.experiment();
    return trials(build.given.trials, output);
  });
  build.add_experiment(verb);
  verb.add_option("--sort", given.sort,
                  "By a column, the smallest first, or -NAME, the largest first; metric: the best first, "
                  "as\na table is without this option");
  verb.add_option("--limit,--top", given.limit, "At most this many trials")->transform(integer_from(1));
  verb.add_option("--where", given.where,
                  "Show only trials that meet this condition, such as \"lr<0.01 and not optimizer=sgd\"");
  verb.add_option("--columns", given.columns,
                  "What to show, separated by commas: hyperparameters, trial, state, metric, at, last,\n"
                  "length, reached, attempts, restarts, slot_seconds, failure");
  verb.add_option("--after", given.after, "Only trials with higher numbers")->transform(integer_from(0));
}

void add_config(VerbBuilder& build) {
  CLI::App& verb =
      build.add("config", "Print the experiment with all defaults", [&build](const Output& output) {
        build.given.config.experiment = build.experiment();
        return config(build.given.config, output);
      });
  build.add_experiment(verb);
  verb.add_flag("--as-written", build.given.config.as_written,
                "Print the file as it was submitted instead, with <hidden> for each secret");
}

void add_open(VerbBuilder& build) {
  CLI::App& verb =
      build.add("open", "Open the dashboard in a browser, signed in", [&build](const Output& output) {
        return open(OpenOptions{build.experiment(), build.given.no_browser, build.given.open_as_admin},
                    output);
      });
  verb.add_option("EXPERIMENT", build.given.experiment.experiment,
                  "ID of the experiment whose page opens (default: the page with all experiments)");
  build.add_server(verb);
  verb.add_flag("--no-browser", build.given.no_browser, "Print the address only");
  verb.add_flag("--admin", build.given.open_as_admin,
                "The browser may also create and rotate tokens (default: everything else that you may)");
}

void add_best(VerbBuilder& build) {
  BestOptions& given = build.given.best;
  CLI::App& verb = build.add("best", "Show the best trial", [&build](const Output& output) {
    build.given.best.experiment = build.experiment();
    return best(build.given.best, output);
  });
  build.add_experiment(verb);
  verb.add_flag(
      "--path", given.path,
      "Print where its model is instead: its output channel model, else its checkpoint, else its files");
  verb.add_option("--copy-to", given.copy_to, "Copy its model to this new directory")->check(not_empty());
}

}  // namespace

void add_reading_verbs(VerbBuilder& build) {
  CLI::App& listing = build.add("list", "List experiments", [&build](const Output& output) {
    build.given.list.server = build.given.server;
    return list(build.given.list, output);
  });
  CLI::Option* archived =
      listing.add_flag("--archived", build.given.list.archived, "Only those of a daemon that are archived");
  listing.add_flag("--all", build.given.list.all, "Archived ones too")->excludes(archived);
  listing.add_flag("--starred", build.given.list.starred, "Only those of a daemon that have a star");
  listing.add_option("--label", build.given.list.label, "Only those of a daemon that have this label");
  build.add_server(listing);
  const auto about_one = [&build](int (*verb)(const ExperimentOptions&, const Output&)) {
    return [&build, verb](const Output& output) { return verb(build.experiment(), output); };
  };
  build.add_experiment_or_trial(
      build.add("show",
                "Show one experiment, or a trial of it: its attempts, their exits, and the end of the last\n"
                "failed attempt's log",
                build.about_either([&build](const Output& output) {
                  return show(ShowOptions{build.experiment(), build.given.trial}, output);
                })));
  add_open(build);
  add_trials(build);
  add_best(build);
  build.add_experiment(build.add(
      "importance", "Show which hyperparameters separate the best tenth of the results from all (PED-ANOVA)",
      about_one(importance)));
  build.add_experiment(
      build.add("model",
                "Show what the model of a search (searcher.sampler: model) has learnt: which\n"
                "hyperparameters matter, how short trainings agree with full ones, and the\n"
                "configuration that it expects to be the best",
                about_one(model)));
  add_config(build);

  CLI::App& why = build.add("explain",
                            "Show every decision about a trial, with its numbers; or why a queue "
                            "of\nallocations asks for no more: explain queue NAME",
                            [&build](const Output& output) {
                              build.given.explain.server = build.given.server;
                              return explain(build.given.explain, output);
                            });
  build.add_trial(why, build.given.explain.which);

  CLI::App& verb = build.add("logs", "Print the log of a trial", [&build](const Output& output) {
    build.given.logs.server = build.given.server;
    return logs(build.given.logs, output);
  });
  build.add_trial(verb, build.given.logs.which);
  verb.add_flag("-f,--follow", build.given.logs.follow, "Continue printing until the trial has ended");
  verb.add_flag("--stderr", build.given.logs.standard_error,
                "Print standard error instead of standard output");
  verb.add_option("--attempt", build.given.logs.attempt, "Attempt of the trial, from 1 (default: the last)")
      ->transform(integer_from(1));
  verb.add_option("--rank", build.given.logs.rank, "Process of the trial, by its RANK (default: 0)")
      ->transform(integer_from(0));
  verb.add_option("-n,--tail", build.given.logs.tail, "Print only the last lines")
      ->transform(integer_from(0));
  CLI::Option* grep = verb.add_option("--grep", build.given.logs.grep,
                                      "Print only lines that match this regular expression (RE2)");
  verb.add_flag("--raw", build.given.logs.raw,
                "Print all bytes, with every state of progress bars and escape sequences")
      ->excludes(grep);
}

void add_comparing_verbs(VerbBuilder& build) {
  CLI::App& comparing = build.add("compare", "Compare experiments: best, history, savings, what differs",
                                  [&build](const Output& output) {
                                    build.given.compare.server = build.given.server;
                                    return compare(build.given.compare, output);
                                  });
  comparing.add_option("EXPERIMENTS", build.given.compare.which, "Two or more, as for the other commands")
      ->required()
      ->expected(2, 8);
  build.add_server(comparing);
  CurvesOptions& drawn = build.given.curves;
  CLI::App& curve = build.add("curves", "Show how trials learned: a plot, a table or CSV",
                              build.about_either([&build](const Output& output) {
                                build.given.curves.experiment = build.experiment();
                                build.given.curves.trial = build.given.trial;
                                return curves(build.given.curves, output);
                              }));
  build.add_experiment_or_trial(curve);
  curve.add_option("--top", drawn.top, "Draw the best N trials (default: 5)")->transform(integer_from(1));
  curve.add_option("--metric", drawn.metric, "Another metric than the searcher's");
  curve.add_option("--format", drawn.format, "plot, table or csv (default: plot)")
      ->check(one_of({"plot", "table", "csv"}));
  ExportOptions& written = build.given.exported;
  CLI::App& exporting = build.add("export", "Print all trials or all their metrics, for other programs",
                                  [&build](const Output& output) {
                                    build.given.exported.experiment = build.experiment();
                                    return export_data(build.given.exported, output);
                                  });
  build.add_experiment(exporting);
  exporting.add_option("--what", written.what, "trials or metrics (default: trials)")
      ->check(one_of({"trials", "metrics"}));
  exporting.add_option("--format", written.format, "csv or jsonl, an object a line (default: csv)")
      ->check(one_of({"csv", "jsonl"}));
}

void add_ended_verbs(VerbBuilder& build) {
  struct EndedVerb {
    const char* name;
    const char* about;
    int (*verb)(const EndedOptions&, const Output&);
    const char* yes;  ///< Effect of --yes; nullptr: it has none.
  };
  const EndedVerb ended[] = {
      {"archive",
       "Hide ended experiments from hpsearch list; a search that was run here is moved to another directory",
       archive, "Move a search of this directory; else only print what would go"},
      {"unarchive", "Show archived experiments of a daemon in hpsearch list again", unarchive, nullptr},
      {"delete",
       "Delete an ended experiment with its checkpoints, logs and files, or the directory of a search that "
       "was\n"
       "run here",
       delete_ended,
       "Do it; else ask for the name of the experiment, and only print what would go of a search"},
  };
  for (const EndedVerb& one : ended) {
    CLI::App& added = build.add(one.name, one.about, [&build, verb = one.verb](const Output& output) {
      build.given.ended.server = build.given.server;
      return verb(build.given.ended, output);
    });
    CLI::Option* names = added
                             .add_option("EXPERIMENT", build.given.ended.names,
                                         "ID or name of an experiment, or a search as hpsearch list shows it")
                             ->required();
    if (one.verb == &delete_ended) {
      names->expected(1);
    }
    if (one.yes != nullptr) {
      added.add_flag("--yes", build.given.ended.yes, one.yes);
    }
    build.add_server(added);
  }
}

}  // namespace hpsearch::cli
