#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string_view>
#include <tuple>

#include "cli/verbs.hpp"
#include "cli/which.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::cli {
namespace {

constexpr const char* about_experiment =
    "ID or name of an experiment, or a search of this directory as\nhpsearch list shows it (default: the one "
    "that "
    "was run last here,\nor the daemon's only one)";
constexpr std::uint64_t largest_seed = 2'147'483'647;

std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::string with_suggestion(std::string message, std::string_view near) {
  return near.empty() ? message : message + "; did you mean " + in_quotes(near) + "?";
}

/// What the verbs are called, in the order of the help.
std::vector<std::string> names_of_verbs(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

/// The verb that was chosen, or the group or program where none was, and how it is called: "hpsearch store
/// verify".
std::pair<const CLI::App*, std::string> chosen_in(const CLI::App& app) {
  const CLI::App* chosen = &app;
  std::string called = app.get_name();
  for (auto inner = app.get_subcommands(); !inner.empty(); inner = chosen->get_subcommands()) {
    chosen = inner.front();
    called += " " + chosen->get_name();
  }
  return {chosen, called};
}

/// An integer in decimal digits, whatever zeros it begins with: CLI11 would read 010 as 8 and -1 as 2^64 - 1.
/// For transform(), since it has to hand on what it read.
CLI::Validator integer_from(std::uint64_t least, std::uint64_t most = UINT64_MAX) {
  return {[least, most](std::string& text) {
            std::uint64_t number = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
            const bool is_whole = error == std::errc() && end == text.data() + text.size();
            if (!is_whole || number < least || number > most) {
              return in_quotes(text) + " is not an integer " +
                     (most == UINT64_MAX ? "of at least " + std::to_string(least)
                                         : "from " + std::to_string(least) + " to " + std::to_string(most));
            }
            text = std::to_string(number);
            return std::string();
          },
          most == UINT64_MAX ? "" : "[" + std::to_string(least) + " - " + std::to_string(most) + "]"};
}

CLI::Validator not_empty() {
  return {[](const std::string& text) { return std::string(text.empty() ? "is empty; give a path" : ""); },
          ""};
}

/// Seconds: finite, and above 0 or at least 0.
CLI::Validator seconds_above(bool zero_too) {
  return {[zero_too](const std::string& text) {
            double number = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
            const bool is_number =
                error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
            return is_number && (zero_too ? number >= 0 : number > 0)
                       ? std::string()
                       : in_quotes(text) + " is not a number of seconds" +
                             (zero_too ? " of at least 0" : " above 0");
          },
          ""};
}

/// CLI11 writes "ID(1x)" where one word or two may stand.
class UsageFormatter final : public CLI::Formatter {
 public:
  std::string make_option_usage(const CLI::Option* option) const override {
    switch (option->get_expected_max()) {
      case 2:
        return option->get_items_expected_min() == 0 ? "[EXPERIMENT [TRIAL]]" : "[EXPERIMENT] TRIAL";
      case 3:
        return "[EXPERIMENT] TRIAL DIR";
      default:
        return CLI::Formatter::make_option_usage(option);
    }
  }
};

/// CLI11 says an unknown word is "not expected"; people want to hear which word would be.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const auto [chosen, called] = chosen_in(app);
  const bool is_group = !names_of_verbs(*chosen).empty();
  const std::vector<std::string> extras = app.remaining(true);
  const std::string word = extras.empty() ? "" : extras.front();
  if (is_group && !word.empty() && !word.starts_with("-")) {
    return with_suggestion("there is no command " + in_quotes(word) + (chosen == &app ? "" : " of " + called),
                           engine::nearest(word, names_of_verbs(*chosen)));
  }
  if (is_group && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return "no command given; " + called + " --help lists them";
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || is_group) {
    return is_group ? std::string(error.what()) : std::string(error.what()) + "; see " + called + " --help";
  }
  if (word.starts_with("-")) {
    const std::string name = word.substr(0, word.find('='));
    return with_suggestion(called + " has no option " + in_quotes(name),
                           engine::nearest(name, names_of_options(*chosen)));
  }
  return in_quotes(word) + " is an extra argument for " + called;
}

/// Whether JSON is wanted, as far as can be told from arguments that could not be parsed.
Output::Format guess_format(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::string_view next = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--output=json" || word == "-ojson" ||
        ((word == "--output" || word == "-o") && next == "json")) {
      return Output::Format::json;
    }
  }
  return Output::Format::table;
}

/// Everything the arguments can say; CLI11 writes into it while it parses.
struct Arguments {
  std::string format = "table";
  ServerOptions server;
  FileOptions file;
  RunOptions run;
  SimulateOptions simulate;
  ExperimentOptions experiment;
  std::vector<std::string> words;  ///< Of [EXPERIMENT [TRIAL]].
  WaitOptions wait;
  LogsOptions logs;
  SetOptions set;
  TrialsOptions trials;
  CompareOptions compare;
  CurvesOptions curves;
  ExportOptions exported;
  RemoveOptions removed;
  ExplainOptions explain;
  CheckpointOptions checkpoint;
  std::string checkpoint_word;  ///< Where a single one is meant.
  FilesOptions files;
  ModelOptions model;
  StoreOptions store;
  KeyOptions key;
  TokenOptions token;
  ContextOptions context;
  WorkerOptions worker;
  bool devices = false;
  std::optional<std::uint64_t> trial;
  std::optional<std::string> context_directory;
  std::optional<std::string> import_to;
};

/// Builds the verbs. Each one's action stands beside its arguments.
class CommandLine {
 public:
  CommandLine() : app_("Asynchronous hyperparameter search.", "hpsearch") {
    app_.formatter(std::make_shared<UsageFormatter>());
    app_.require_subcommand(1);
    app_.set_help_flag("-h,--help", "Print this help");
    app_.set_help_all_flag("");
    app_.add_flag_callback(
        "--version",
        [this] {
          action_ = [](const Output& output) { return version(output); };
          app_.require_subcommand(0);
        },
        "Print the version");
    add_output(app_);
    app_.footer(
        "Exit codes: 0 success, 1 failure, 2 wrong arguments or file, 3 not found, 4 wrong state or in use,\n"
        "6 no daemon answers, 7 the experiment failed or was canceled, 74 disk or store failed, 130 "
        "interrupted.");
    add_run();
    add_file_verbs();
    add_simulate();
    add_reading_verbs();
    add_comparing_verbs();
    add_control_verbs();
    add_checkpoint_verbs();
    add_files_verbs();
    add_store_verbs();
    add_key_verbs();
    add_token_verbs();
    add_context_verbs();
    add_worker_verbs();
    add_component_verbs();
    CLI::App& version_verb =
        add("version", "Print the version", [](const Output& output) { return version(output); });
    static_cast<void>(version_verb);
  }

  int parse_and_do(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      const auto [about, called] = chosen_in(app_);
      const std::size_t own_name = called.rfind(' ');
      Output(Output::Format::table)
          .print(about->help(own_name == std::string::npos ? "" : called.substr(0, own_name)));
      return 0;
    } catch (const CLI::ParseError& error) {
      return Output(guess_format(argc, argv)).fail(usage_failure(explain(app_, error)));
    }
    given_.run.command.assign(argv, argv + argc);
    const Output output(given_.format == "json" ? Output::Format::json : Output::Format::table);
    take_server_from_environment();
    const int status = action_(output);
    if (output.lost_data() && status == 0) {
      return output.fail(Failure{Exit::storage, engine::Errc::unavailable,
                                 "standard output could not be written: " + output.loss()});
    }
    return status;
  }

 private:
  using Action = std::function<int(const Output&)>;

  CLI::App& add(const std::string& name, const std::string& about, Action action) {
    return add_to(app_, name, about, std::move(action));
  }

  CLI::App& add_to(CLI::App& group, const std::string& name, const std::string& about, Action action) {
    CLI::App& verb = *group.add_subcommand(name, about);
    verb.set_help_flag("-h,--help", "Print this help");
    add_output(verb);
    verb.callback([this, action = std::move(action)] { action_ = action; });
    return verb;
  }

  void add_output(CLI::App& to) {
    to.add_option("-o,--output", given_.format, "table or json")->check(CLI::IsMember({"table", "json"}));
  }

  void add_server(CLI::App& to) {
    CLI::Option* server = to.add_option(
        "--server", given_.server.server,
        "Address of the daemon: unix:///PATH, https://HOST:PORT or HOST:PORT (or HPSEARCH_SERVER;\n"
        "default: that of hpsearch context, else unix:///run/hpsearch/api.sock)");
    CLI::Option* state_dir = to.add_option("--state-dir", given_.server.state_dir,
                                           "State directory of a run; uses its private daemon");
    state_dir->excludes(server);
    to.add_option("--token-file", given_.server.token_file,
                  "File with the token that the daemon asks for over TCP, - for standard input (or "
                  "HPSEARCH_TOKEN_FILE)")
        ->excludes(state_dir);
  }

  void add_file(CLI::App& to) {
    to.add_option("FILE", given_.file.file, "Experiment file, in YAML or JSON; - reads standard input")
        ->required();
    to.add_option("--seed", given_.file.seed, "Override the seed in the file")
        ->transform(integer_from(0, largest_seed));
    to.add_option("--name", given_.file.name, "Override the name in the file");
  }

  void add_context(CLI::App& to) {
    to.add_option("CONTEXT_DIR", given_.context_directory,
                  "Directory that each trial gets a copy of (default: the directory of FILE)");
    to.add_option("--context-limit", given_.run.context_limit, "Largest context in MB")
        ->transform(integer_from(1, context::largest_limit_megabytes));
  }

  void add_experiment(CLI::App& to) {
    to.add_option("EXPERIMENT", given_.experiment.experiment, about_experiment);
    add_server(to);
  }

  /// [EXPERIMENT [TRIAL]]
  void add_experiment_or_trial(CLI::App& to) {
    to.add_option("EXPERIMENT", given_.words,
                  std::string(about_experiment) + ";\nthen the TRIAL's number, or both as EXPERIMENT/TRIAL")
        ->expected(0, 2);
    to.add_option("--trial", given_.trial, "The same as TRIAL, where EXPERIMENT is left out")
        ->transform(integer_from(0));
    add_server(to);
  }

  /// [EXPERIMENT] TRIAL
  void add_trial(CLI::App& to, std::vector<std::string>& which) {
    to.add_option("TRIAL", which,
                  "[EXPERIMENT] TRIAL, or EXPERIMENT/TRIAL; EXPERIMENT as for the other commands")
        ->required()
        ->expected(1, 2);
    add_server(to);
  }

  /// Does the verb once its words are read; what is wrong with them is a usage failure.
  Action about_either(std::function<int(const Output&)> verb) {
    return [this, verb = std::move(verb)](const Output& output) {
      const Outcome<Which> which = read_which(given_.words, About::either);
      if (!which) {
        return output.fail(which.failure());
      }
      given_.experiment.experiment = which->experiment;
      given_.trial = which->trial ? which->trial : given_.trial;
      return verb(output);
    };
  }

  void add_run() {
    CLI::App& verb = add("run", "Run or continue a search on this machine", [this](const Output& output) {
      RunOptions& options = given_.run;
      options.file = given_.file.file;
      options.seed = given_.file.seed;
      options.name = given_.file.name;
      options.context_directory = given_.context_directory;
      return run(options, output);
    });
    add_file(verb);
    add_context(verb);
    verb.add_option(
        "--slots", given_.run.slots,
        "Slots, as hpsearch-worker takes them (default: one per GPU, or one per core without GPUs)");
    verb.add_option("--state-dir", given_.run.state_dir,
                    "Directory of the search (default: <stem of FILE> in $HPSEARCH_STATE_HOME, else in "
                    "$XDG_STATE_HOME/hpsearch, else in .hpsearch)");
    CLI::Option* fresh =
        verb.add_flag("--fresh", given_.run.fresh, "Move an earlier search aside and start a new one");
    verb.add_flag("--with-new-program", given_.run.with_new_program,
                  "Continue with the edited program: trials that have not reported anything yet run it")
        ->excludes(fresh);
    verb.add_flag("--allow-network-filesystem", given_.run.allow_network_filesystem,
                  "Accept a state directory on SMB, 9P, FUSE and similar, if the file system passes a test");
    verb.add_flag(
        "--take-over", given_.run.take_over,
        "Continue although another host used the state directory in the last 5 minutes; only if that "
        "host is gone");
  }

  void add_file_verbs() {
    CLI::App& checking = add("validate", "Check an experiment file", [this](const Output& output) {
      return validate(given_.file, given_.server, output);
    });
    CLI::App& estimating =
        add("preview", "Estimate the trials and the training of a search",
            [this](const Output& output) { return preview(given_.file, given_.server, output); });
    for (CLI::App* verb : {&checking, &estimating}) {
      add_file(*verb);
      add_server(*verb);
    }
    CLI::App& importing =
        add("import", "Turn a W&B sweep, a Katib experiment or an NNI space into an experiment file",
            [this](const Output& output) {
              return import_file(ImportOptions{given_.file.file, given_.import_to}, output);
            });
    importing.add_option("FILE", given_.file.file, "File of the other product; - reads standard input")
        ->required()
        ->check(not_empty());
    importing.add_option("--to", given_.import_to, "File to make (default: standard output)")
        ->check(not_empty());
    CLI::App& verb = add("submit", "Submit an experiment to a daemon", [this](const Output& output) {
      return submit(
          SubmitOptions{given_.file, given_.context_directory, given_.server, given_.run.context_limit},
          output);
    });
    add_file(verb);
    add_context(verb);
    add_server(verb);
  }

  void add_simulate() {
    SimulateOptions& options = given_.simulate;
    CLI::App& verb = add("simulate", "Run a search on recorded or synthetic curves, under a virtual clock",
                         [this](const Output& output) {
                           given_.simulate.file = given_.file;
                           given_.simulate.server = given_.server;
                           return simulate(given_.simulate, output);
                         });
    add_file(verb);
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
        ->check(CLI::IsMember({"unit", "op", "curve"}));
    verb.add_option("--report-every", options.report_every,
                    "Report every N units of length too (default: only at each trial's length)")
        ->transform(integer_from(1));
    verb.add_option("--until", options.until_seconds, "Stop the clock at this simulated second")
        ->check(seconds_above(true));
    verb.add_option("--exit", options.exits,
                    "TRIAL:OP:REASON: operation OP of the trial, from 0, ends early; can be repeated.\n"
                    "REASON is errored, user_canceled, user_stopped or invalid_hp")
        ->allow_extra_args(false);  // What follows may be FILE.
    verb.add_option("--failure-rate", options.failure_rate, "Probability that an operation crashes")
        ->check(CLI::Range(0.0, 1.0));
    verb.add_option("--failure-seed", options.failure_seed, "Seed of the crashes (default: 0)");
    add_server(verb);
  }

  void add_reading_verbs() {
    add_server(add("list", "List experiments",
                   [this](const Output& output) { return list(given_.server, output); }));
    const auto about_one = [this](int (*verb)(const ExperimentOptions&, const Output&)) {
      return [this, verb](const Output& output) { return verb(experiment(), output); };
    };
    add_experiment_or_trial(
        add("show",
            "Show one experiment, or a trial of it: its attempts, their exits, and the end of the last\n"
            "failed attempt's log",
            about_either([this](const Output& output) {
              return show(ShowOptions{experiment(), given_.trial}, output);
            })));
    add_trials();
    add_experiment(add("best", "Show the best trial", about_one(best)));
    add_experiment(add("config", "Print the experiment with all defaults", about_one(config)));

    CLI::App& why =
        add("explain", "Show every decision about a trial, with its numbers", [this](const Output& output) {
          given_.explain.server = given_.server;
          return explain(given_.explain, output);
        });
    add_trial(why, given_.explain.which);

    CLI::App& verb = add("logs", "Print the log of a trial", [this](const Output& output) {
      given_.logs.server = given_.server;
      return logs(given_.logs, output);
    });
    add_trial(verb, given_.logs.which);
    verb.add_flag("-f,--follow", given_.logs.follow, "Continue printing until the trial has ended");
    verb.add_flag("--stderr", given_.logs.standard_error, "Print standard error instead of standard output");
    verb.add_option("--attempt", given_.logs.attempt, "Attempt of the trial, from 1 (default: the last)")
        ->transform(integer_from(1));
    verb.add_option("--rank", given_.logs.rank, "Process of the trial, by its RANK (default: 0)")
        ->transform(integer_from(0));
    verb.add_option("-n,--tail", given_.logs.tail, "Print only the last lines")->transform(integer_from(0));
    CLI::Option* grep = verb.add_option("--grep", given_.logs.grep,
                                        "Print only lines that match this regular expression (RE2)");
    verb.add_flag("--raw", given_.logs.raw,
                  "Print all bytes, with every state of progress bars and escape sequences")
        ->excludes(grep);
  }

  void add_trials() {
    TrialsOptions& given = given_.trials;
    CLI::App& verb = add("trials", "List an experiment's trials", [this](const Output& output) {
      given_.trials.experiment = experiment();
      return trials(given_.trials, output);
    });
    add_experiment(verb);
    verb.add_option("--sort", given.sort,
                    "By a column, the smallest first, or -NAME, the largest first; metric: the best first");
    verb.add_option("--limit,--top", given.limit, "At most this many trials")->transform(integer_from(1));
    verb.add_option("--where", given.where,
                    "Show only trials that meet this condition, such as \"lr<0.01 and not optimizer=sgd\"");
    verb.add_option("--columns", given.columns,
                    "What to show, separated by commas: hyperparameters, trial, state, metric, at, last,\n"
                    "length, reached, attempts, restarts, slot_seconds, failure");
    verb.add_option("--after", given.after, "Only trials with higher numbers")->transform(integer_from(0));
  }

  void add_comparing_verbs() {
    CLI::App& comparing = add("compare", "Compare experiments: best, history, savings, what differs",
                              [this](const Output& output) {
                                given_.compare.server = given_.server;
                                return compare(given_.compare, output);
                              });
    comparing.add_option("EXPERIMENTS", given_.compare.which, "Two or more, as for the other commands")
        ->required()
        ->expected(2, 8);
    add_server(comparing);
    CurvesOptions& drawn = given_.curves;
    CLI::App& curve = add("curves", "Show how trials learned: a plot, a table or CSV",
                          about_either([this](const Output& output) {
                            given_.curves.experiment = experiment();
                            given_.curves.trial = given_.trial;
                            return curves(given_.curves, output);
                          }));
    add_experiment_or_trial(curve);
    curve.add_option("--top", drawn.top, "Draw the best N trials (default: 5)")->transform(integer_from(1));
    curve.add_option("--metric", drawn.metric, "Another metric than the searcher's");
    curve.add_option("--format", drawn.format, "plot, table or csv (default: plot)")
        ->check(CLI::IsMember({"plot", "table", "csv"}));
    ExportOptions& written = given_.exported;
    CLI::App& exporting = add("export", "Print all trials or all their metrics, for other programs",
                              [this](const Output& output) {
                                given_.exported.experiment = experiment();
                                return export_data(given_.exported, output);
                              });
    add_experiment(exporting);
    exporting.add_option("--what", written.what, "trials or metrics (default: trials)")
        ->check(CLI::IsMember({"trials", "metrics"}));
    exporting.add_option("--format", written.format, "csv or jsonl, an object a line (default: csv)")
        ->check(CLI::IsMember({"csv", "jsonl"}));
    const std::tuple<const char*, const char*, int (*)(const RemoveOptions&, const Output&)> removals[] = {
        {"delete", "Delete the directory of a search that was run here, with all that lies in it",
         remove_search},
        {"archive", "Move a search of this directory where hpsearch list does not show it", archive_search},
    };
    for (const auto& [name, about, verb] : removals) {
      CLI::App& added = add(
          name, about, [this, verb = verb](const Output& output) { return verb(given_.removed, output); });
      added.add_option("SEARCH", given_.removed.search, "As hpsearch list shows it")->required();
      added.add_flag("--yes", given_.removed.yes, "Do it; else only print what would go");
    }
  }

  void add_control_verbs() {
    const std::pair<const char*, const char*> verbs[] = {
        {"pause", "Pause an experiment: trials write checkpoints and release their slots"},
        {"resume", "Resume a paused experiment"},
        {"cancel", "End an experiment, or one TRIAL of it; running programs may write checkpoints"},
        {"kill", "End an experiment at once"},
    };
    for (const auto& [name, about] : verbs) {
      const std::string what = name;
      const auto action = [this, what](const Output& output) {
        return control(what, experiment(), given_.trial, output);
      };
      if (what == "cancel") {
        add_experiment_or_trial(add(what, about, about_either(action)));
      } else {
        add_experiment(add(what, about, action));
      }
    }
    add_set();
    CLI::App& verb = add("wait", "Wait until an experiment has ended", [this](const Output& output) {
      given_.wait.experiment = experiment();
      return wait(given_.wait, output);
    });
    add_experiment(verb);
    verb.add_option("--timeout", given_.wait.timeout_seconds, "Stop waiting after this many seconds")
        ->check(seconds_above(false));
  }

  void add_worker_verbs() {
    CLI::App& list = add("workers", "List workers and their problems", [this](const Output& output) {
      return workers(given_.server, given_.devices, output);
    });
    list.add_flag("--devices", given_.devices, "List each GPU with its slots, number, memory and UUID");
    add_server(list);
    const std::pair<const char*, const char*> verbs[] = {
        {"quarantine", "Stop leasing trials to a worker; running trials continue"},
        {"release", "End the quarantine of a worker or its slots"},
        {"adopt", "Reattach an orphaned attempt to its trial"},
        {"disown", "Kill an orphaned attempt"},
    };
    for (const auto& [name, about] : verbs) {
      const std::string what = name;
      CLI::App& verb = add(what, about, [this, what](const Output& output) {
        given_.worker.server = given_.server;
        return change_worker(what, given_.worker, output);
      });
      verb.add_option("WORKER", given_.worker.worker,
                      "Number or name of the worker, as listed by hpsearch workers")
          ->required();
      if (what == "quarantine") {
        verb.add_option("--why", given_.worker.why, "Reason, shown by hpsearch workers");
      } else if (what != "release") {
        verb.add_option("ATTEMPT", given_.worker.attempt, "EXPERIMENT/TRIAL/ATTEMPT, or all")->required();
      }
      add_server(verb);
    }
  }

  void add_set() {
    CLI::App& verb = add("set", "Change limits of a running experiment", [this](const Output& output) {
      given_.set.server = given_.server;
      return set_limits(given_.set, output);
    });
    verb.add_option("EXPERIMENT", given_.set.experiment, "Its ID or name, or a search of this directory")
        ->required();
    verb.add_option(
            "LIMIT=VALUE", given_.set.assignments,
            "max_trials, max_concurrent_trials, max_time, max_slot_hours, target, max_failed_trials,\n"
            "max_slots, weight, priority, on_duplicate or points_to_evaluate (a JSON list).\n"
            "none restores the default: no limit for budgets and max_slots, 16 for\n"
            "max_concurrent_trials (0: one trial per slot)")
        ->required();
    add_server(verb);
  }

  void add_checkpoint_verbs() {
    CLI::App& group = *app_.add_subcommand("checkpoints", "List, download and delete checkpoints");
    group.set_help_flag("-h,--help", "Print this help");
    group.require_subcommand(1);
    const auto add_verb = [&](const char* name, const char* about,
                              int (*verb)(const CheckpointOptions&, const Output&)) -> CLI::App& {
      CLI::App& added = add_to(group, name, about, [this, verb](const Output& output) {
        given_.checkpoint.server = given_.server;
        if (!given_.checkpoint_word.empty()) {
          given_.checkpoint.which = {given_.checkpoint_word};
        }
        return verb(given_.checkpoint, output);
      });
      add_server(added);
      return added;
    };
    CheckpointOptions& given = given_.checkpoint;
    add_verb("list", "List checkpoints", list_checkpoints)
        .add_option("EXPERIMENT", given.which,
                    std::string(about_experiment) + ";\nthen a TRIAL's number, to list only its")
        ->expected(0, 2);
    CLI::App& download = add_verb("download", "Copy a checkpoint and check every file", download_checkpoint);
    download.add_option("CHECKPOINT", given_.checkpoint_word, "Its ID, or its TRIAL, or EXPERIMENT/TRIAL")
        ->required();
    download
        .add_option("--step", given.step, "Step of the checkpoint (default: the best, or else the latest)")
        ->transform(integer_from(0));
    download.add_flag("--latest", given.latest, "Download the latest checkpoint");
    download.add_option("DIR,--to", given.to, "Directory to create")->required()->check(not_empty());
    CLI::App& remove = add_verb("delete", "Delete checkpoints of a trial", delete_checkpoints);
    remove.add_option("CHECKPOINT", given_.checkpoint_word, "Its ID, or its TRIAL, or EXPERIMENT/TRIAL")
        ->required();
    CLI::Option* step =
        remove.add_option("--step", given.step, "Step of the checkpoint")->transform(integer_from(0));
    remove.add_flag("--all", given.all, "Delete all checkpoints of the trial")->excludes(step);
  }

  void add_files_verbs() {
    CLI::App& group = *app_.add_subcommand(
        "files", "List the files that programs left in their working directories; copy them");
    group.set_help_flag("-h,--help", "Print this help");
    add_output(group);
    FilesOptions& given = given_.files;
    group.add_option("WHICH", given.which, "Experiment; with a trial, every file of it")->expected(0, 2);
    add_server(group);
    group.callback([this, &group] {
      if (group.get_subcommands().empty()) {  // CLI11 calls it behind those of get and path.
        action_ = [this](const Output& output) {
          given_.files.server = given_.server;
          return list_files(given_.files, output);
        };
      }
    });
    const auto add_verb = [&](const char* name, const char* about, bool copies) {
      CLI::App& verb = add_to(group, name, about, [this, copies](const Output& output) {
        given_.files.server = given_.server;
        given_.files.copies = copies;
        return take_files(given_.files, output);
      });
      verb.add_option("TRIAL", given.which,
                      copies ? "[EXPERIMENT] TRIAL, and the directory to create"
                             : "[EXPERIMENT] TRIAL; EXPERIMENT may be left out while there is only one")
          ->required()
          ->expected(copies ? 2 : 1, copies ? 3 : 2);
      add_server(verb);
    };
    add_verb("get", "Copy the files of a trial to a new directory", true);
    add_verb("path", "Print the directory with the files of a trial", false);
    CLI::App& of_best = add("model",
                            "Print where the model of the best trial is: its output channel model, "
                            "else its checkpoint, else its files",
                            [this](const Output& output) {
                              given_.model.experiment = experiment();
                              return model(given_.model, output);
                            });
    add_experiment(of_best);
    of_best.add_option("--copy-to", given_.model.copy_to, "Copy it to this new directory")
        ->check(not_empty());
  }

  void add_store_verbs() {
    CLI::App& group = *app_.add_subcommand("store", "Check, copy and repair the store of a daemon");
    group.set_help_flag("-h,--help", "Print this help");
    group.require_subcommand(1);
    const auto add_verb = [&](const char* name, const char* about,
                              int (*verb)(const StoreOptions&, const Output&), const char* to) {
      CLI::App& added = add_to(group, name, about,
                               [this, verb](const Output& output) { return verb(given_.store, output); });
      added.add_option("STORE", given_.store.store, "State directory of a daemon or a run, or a backup")
          ->required()
          ->check(not_empty());
      if (to != nullptr) {
        added.add_option("--to", given_.store.to, to)->required()->check(not_empty());
      }
    };
    add_verb("verify", "Check every event and the tables beside them; changes nothing", store_verify,
             nullptr);
    add_verb("backup", "Copy a store, in use or not, and check the copy", store_backup, "File to create");
    add_verb("restore", "Create a state directory from a backup", store_restore, "State directory to create");
    add_verb("salvage", "Create a state directory from the undamaged part of a store", store_salvage,
             "State directory to create");
    add_verb("export", "Print every event as a line of JSON", store_export, nullptr);
  }

  void add_key_verbs() {
    CLI::App& group = *app_.add_subcommand("keys", "Manage the keys of workers that reach a daemon over TCP");
    group.set_help_flag("-h,--help", "Print this help");
    group.require_subcommand(1);
    const auto add_verb = [&](const char* name, const char* about,
                              int (*verb)(const KeyOptions&, const Output&)) -> CLI::App& {
      CLI::App& added =
          add_to(group, name, about, [this, verb](const Output& output) { return verb(given_.key, output); });
      added.add_option("STATE_DIR", given_.key.state_dir, "The daemon's state directory")
          ->required()
          ->check(not_empty());
      return added;
    };
    add_verb("list", "List the daemon's own key and the allowed worker keys", keys_list);
    CLI::App& allow = add_verb("allow", "Allow a worker's key; a running daemon uses it at once", keys_allow);
    allow.add_option("NAME", given_.key.name, "Name of the worker")->required();
    allow.add_option("KEY", given_.key.key, "Public key, as printed by hpsearch-worker --show-key")
        ->required();
    add_verb("deny", "Deny all keys of a worker, or one key", keys_deny)
        .add_option("NAME_OR_KEY", given_.key.name, "Name of the worker, or a key")
        ->required();
  }

  void add_context_verbs() {
    CLI::App& group = *app_.add_subcommand("context", "Remember daemons by name, and which one is used");
    group.set_help_flag("-h,--help", "Print this help");
    group.require_subcommand(1);
    const auto add_verb = [&](const char* name, const char* about,
                              int (*verb)(const ContextOptions&, const Output&)) -> CLI::App& {
      CLI::App& added = add_to(group, name, about,
                               [this, verb](const Output& output) { return verb(given_.context, output); });
      added.add_option("NAME", given_.context.name, "Name of the context")->required();
      return added;
    };
    CLI::App& adding = add_verb("add", "Add a daemon, or change the one of that name", context_add);
    adding
        .add_option("ADDRESS", given_.context.address,
                    "Where it listens: unix:///PATH, https://HOST:PORT or HOST:PORT")
        ->required();
    adding.add_option("--fingerprint", given_.context.fingerprint,
                      "SHA-256 of its certificate, as hpsearchd logs it; no other one is accepted");
    adding.add_option("--token-file", given_.context.token_file,
                      "File with the token for it, - for standard input; the token is copied");
    add_verb("use", "Use this daemon unless --server, HPSEARCH_SERVER or --state-dir names another",
             context_use);
    add_verb("remove", "Forget a daemon and its token", context_remove);
    add_to(group, "list", "List the daemons", [](const Output& output) { return context_list(output); });
  }

  void add_token_verbs() {
    CLI::App& group = *app_.add_subcommand("token", "Manage the tokens that a daemon asks for over TCP");
    group.set_help_flag("-h,--help", "Print this help");
    group.require_subcommand(1);
    const auto add_verb = [&](const char* name, const char* about,
                              int (*verb)(const TokenOptions&, const Output&)) -> CLI::App& {
      CLI::App& added = add_to(group, name, about, [this, verb](const Output& output) {
        given_.token.server = given_.server;
        return verb(given_.token, output);
      });
      add_server(added);
      return added;
    };
    CLI::App& create = add_verb("create", "Create a token and print it, this once", token_create);
    create.add_option("--name", given_.token.name, "What people know it by")->required();
    create
        .add_option("--role", given_.token.role,
                    "viewer reads; operator also submits and changes experiments and workers; admin\n"
                    "also manages tokens and makes backups")
        ->required()
        ->check(CLI::IsMember({"viewer", "operator", "admin"}));
    create
        .add_option("--expires", given_.token.expires,
                    "Lifetime, as 30d, 12h or never (an admin's, over the socket)")
        ->capture_default_str();
    CLI::App& tokens = add_to(group, "list", "List the tokens, without their secrets",
                              [this](const Output& output) { return token_list(given_.server, output); });
    add_server(tokens);
    add_verb("rotate", "Replace the secret of a token and print the new token", token_rotate)
        .add_option("ID", given_.token.id, "As listed by hpsearch token list")
        ->required();
    add_verb("revoke", "End a token", token_revoke)
        .add_option("ID", given_.token.id, "As listed by hpsearch token list")
        ->required();
  }

  void add_component_verbs() {
    CLI::App& group = *app_.add_subcommand("component", "Check component files");
    group.set_help_flag("-h,--help", "Print this help");
    group.require_subcommand(1);
    CLI::App& check =
        add_to(group, "check", "Check a component file and print its declarations",
               [this](const Output& output) { return component_check(given_.file.file, output); });
    check.add_option("FILE", given_.file.file, "Component file, in YAML or JSON; - reads standard input")
        ->required();
  }

  ExperimentOptions experiment() {
    given_.experiment.server = given_.server;
    return given_.experiment;
  }

  void take_server_from_environment() {
    const char* server = std::getenv("HPSEARCH_SERVER");
    if (!given_.server.server && !given_.server.state_dir && server != nullptr && *server != '\0') {
      given_.server.server = server;
    }
    const char* token_file = std::getenv("HPSEARCH_TOKEN_FILE");
    if (!given_.server.token_file && !given_.server.state_dir && token_file != nullptr &&
        *token_file != '\0') {
      given_.server.token_file = token_file;
    }
  }

  CLI::App app_;
  Arguments given_;
  Action action_;
};

}  // namespace

int run_command_line(int argc, char** argv) {
  return CommandLine().parse_and_do(argc, argv);
}

}  // namespace hpsearch::cli
