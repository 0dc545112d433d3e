#include "cli/verbs/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/completion/completion_program.hpp"
#include "cli/render/fold.hpp"
#include "cli/verbs/usage_error.hpp"
#include "cli/verbs/verb_groups.hpp"
#include "hpsearch/io/arguments/described_options.hpp"

namespace hpsearch::cli {
namespace {

/// CLI11 writes "ID(1x)" if one word or two are allowed.
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

void add_version(VerbBuilder& build) {
  build.app.add_flag_callback(
      "--version",
      [&build] {
        build.action = [](const Output& output) { return version(output); };
        build.app.require_subcommand(0);
      },
      "Print the version");
}

void add_everything(VerbBuilder& build) {
  CLI::App& app = build.app;
  app.formatter(std::make_shared<UsageFormatter>());
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "Print this help");
  app.set_help_all_flag("");
  add_version(build);
  arguments::add_describing_option(app);
  build.add_output(app);
  app.footer(
      "Exit codes: 0 success, 1 failure, 2 wrong arguments or file, 3 not found, 4 wrong state or in use, "
      "6 no daemon answers, 7 the experiment failed or was canceled, 74 disk or store failed, 130 "
      "interrupted.");
  build.title = "Run, as hpsearch run search.yaml";
  add_run(build);
  add_file_verbs(build);
  add_simulate(build);
  build.title = "Look, as hpsearch trials";
  add_reading_verbs(build);
  add_comparing_verbs(build);
  add_files_verbs(build);
  add_checkpoint_verbs(build);
  add_following_verbs(build);
  add_usage(build);
  build.title = "Steer, as hpsearch set 3 max_trials=200";
  add_control_verbs(build);
  add_ended_verbs(build);
  build.title = "Administer, as hpsearch worker drain node-3";
  add_worker_verbs(build);
  add_alloc_verbs(build);
  add_cluster_verbs(build);
  add_key_verbs(build);
  add_token_verbs(build);
  add_context_verbs(build);
  add_workspace_verbs(build);
  add_audit_verbs(build);
  add_notify(build);
  add_store_verbs(build);
  add_component_verbs(build);
  add_doctor(build);
  add_completion(build);
  static_cast<void>(
      build.add("version", "Print the version", [](const Output& output) { return version(output); }));
}

/// The "--" of `run … --on slurm -- -p gpu`; the end without one. Elsewhere "--" only ends the options.
std::vector<std::string>::const_iterator begin_of_sbatch_words(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  const bool on_slurm = std::find(words.begin(), end, "run") != end &&
                        std::any_of(words.begin(), end, [](const std::string& word) {
                          return word == "--on" || word.starts_with("--on=");
                        });
  return on_slurm ? end : words.end();
}

void print_help(const std::string& page) {
  constexpr std::size_t narrow = 80;  // A file or a pipe has it, too.
  constexpr std::size_t wide = 110;   // Longer lines are hard to read.
  const Output output(Output::Format::table);
  const std::size_t width = output.width() == 0 ? narrow : std::min(output.width(), wide);
  output.print(fold_help(page, width));
}

void take_server_from_environment(ServerOptions& given) {
  const char* server = std::getenv("HPSEARCH_SERVER");
  if (!given.server && !given.state_dir && server != nullptr && *server != '\0') {
    given.server = server;
  }
  const char* token_file = std::getenv("HPSEARCH_TOKEN_FILE");
  if (!given.token_file && !given.state_dir && token_file != nullptr && *token_file != '\0') {
    given.token_file = token_file;
  }
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app("Asynchronous hyperparameter search.", "hpsearch");
  VerbBuilder build{app};
  add_everything(build);
  const std::vector<std::string> words(argv, argv + argc);
  if (words.size() > 1 && words[1] == completing_verb) {
    ServerOptions of_environment;
    take_server_from_environment(of_environment);
    return complete_words(app, std::span(words).subspan(2), of_environment);
  }
  const auto sbatch = begin_of_sbatch_words(words);
  build.given.run.queue.arguments.assign(sbatch == words.end() ? sbatch : sbatch + 1, words.end());
  try {
    app.parse(static_cast<int>(sbatch - words.begin()), argv);
  } catch (const CLI::CallForHelp&) {
    const auto [about, called] = chosen_in(app);
    const std::size_t own_name = called.rfind(' ');
    print_help(about->help(own_name == std::string::npos ? "" : called.substr(0, own_name)));
    return 0;
  } catch (const CLI::Success&) {  // --describe-options
    return 0;
  } catch (const CLI::ParseError& error) {
    return Output(guess_format(argc, argv)).fail(usage_failure(explain(app, error)));
  }
  build.given.run.command = words;
  const Output output(build.given.format == "json" ? Output::Format::json : Output::Format::table);
  take_server_from_environment(build.given.server);
  const int status = build.action(output);
  if (output.lost_data() && status == 0) {
    return output.fail(Failure{Exit::storage, engine::Errc::unavailable,
                               "standard output could not be written: " + output.loss()});
  }
  return status;
}

}  // namespace hpsearch::cli
