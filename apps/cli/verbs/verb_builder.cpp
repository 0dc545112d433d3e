#include "cli/verbs/verb_builder.hpp"

#include <CLI/CLI.hpp>
#include <utility>

#include "cli/client/which.hpp"
#include "cli/verbs/argument_checks.hpp"

namespace hpsearch::cli {
namespace {

constexpr std::uint64_t largest_seed = 2'147'483'647;

}  // namespace

CLI::App& VerbBuilder::add(const std::string& name, const std::string& about, Action does) {
  CLI::App& verb = add_to(app, name, about, std::move(does));
  verb.group(title);
  return verb;
}

CLI::App& VerbBuilder::add_family(const std::string& name, const std::string& about) {
  CLI::App& family = *app.add_subcommand(name, about);
  family.set_help_flag("-h,--help", "Print this help");
  family.group(title);
  return family;
}

CLI::App& VerbBuilder::add_to(CLI::App& group, const std::string& name, const std::string& about,
                              Action does) {
  CLI::App& verb = *group.add_subcommand(name, about);
  verb.set_help_flag("-h,--help", "Print this help");
  verb.group("Commands");  // Else that of its family.
  add_output(verb);
  verb.callback([this, chosen = std::move(does)] { action = chosen; });
  return verb;
}

void VerbBuilder::add_output(CLI::App& to) {
  to.add_option("-o,--output", given.format, "table or json")->check(one_of({"table", "json"}));
}

void VerbBuilder::add_server(CLI::App& to) {
  CLI::Option* server = to.add_option(
      "--server", given.server.server,
      "Address of the daemon: unix:///PATH, https://HOST:PORT or HOST:PORT (or HPSEARCH_SERVER;\n"
      "default: that of hpsearch context, else unix:///run/hpsearch/api.sock)");
  CLI::Option* state_dir = to.add_option("--state-dir", given.server.state_dir,
                                         "State directory of a run; uses its private daemon");
  state_dir->excludes(server);
  to.add_option("--token-file", given.server.token_file,
                "File with the token that the daemon requires over TCP, - for standard input (or "
                "HPSEARCH_TOKEN_FILE)")
      ->excludes(state_dir);
}

void VerbBuilder::add_file(CLI::App& to) {
  to.add_option("FILE", given.file.file, "Experiment file, in YAML or JSON; - reads standard input")
      ->required();
  to.add_option("--seed", given.file.seed, "Override the seed in the file")
      ->transform(integer_from(0, largest_seed));
  to.add_option("--name", given.file.name, "Override the name in the file");
}

void VerbBuilder::add_context(CLI::App& to) {
  to.add_option("CONTEXT_DIR", given.context_directory,
                "Directory that each trial gets a copy of (default: the directory of FILE)");
  to.add_option("--context-limit", given.run.context_limit, "Largest context in MB")
      ->transform(integer_from(1, context::largest_limit_megabytes));
}

void VerbBuilder::add_experiment(CLI::App& to) {
  to.add_option("EXPERIMENT", given.experiment.experiment, about_experiment);
  add_server(to);
}

void VerbBuilder::add_experiment_or_trial(CLI::App& to) {
  to.add_option("EXPERIMENT", given.words,
                std::string(about_experiment) + ";\nthen the TRIAL's number, or both as EXPERIMENT/TRIAL")
      ->expected(0, 2);
  to.add_option("--trial", given.trial, "The same as TRIAL, where EXPERIMENT is left out")
      ->transform(integer_from(0));
  add_server(to);
}

void VerbBuilder::add_trial(CLI::App& to, std::vector<std::string>& which) {
  to.add_option("TRIAL", which,
                "[EXPERIMENT] TRIAL, or EXPERIMENT/TRIAL; EXPERIMENT as for the other commands")
      ->required()
      ->expected(1, 2);
  add_server(to);
}

VerbBuilder::Action VerbBuilder::about_either(std::function<int(const Output&)> verb) {
  return [this, verb = std::move(verb)](const Output& output) {
    const Outcome<Which> which = read_which(given.words, About::either);
    if (!which) {
      return output.fail(which.failure());
    }
    given.experiment.experiment = which->experiment;
    given.trial = which->trial ? which->trial : given.trial;
    return verb(output);
  };
}

ExperimentOptions VerbBuilder::experiment() {
  given.experiment.server = given.server;
  return given.experiment;
}

}  // namespace hpsearch::cli
