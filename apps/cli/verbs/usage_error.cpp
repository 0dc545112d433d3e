#include "cli/verbs/usage_error.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "cli/verbs/argument_checks.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::cli {
namespace {

std::string with_suggestion(std::string message, std::string_view near) {
  return near.empty() ? message : message + "; did you mean " + in_quotes(near) + "?";
}

/// The names of the commands, in the order of the help.
std::vector<std::string> names_of_verbs(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

/// The group's command of this name: "worker drain". "" if there is none.
std::string in_a_group(const CLI::App& app, const std::string& word) {
  for (const CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::vector<std::string> verbs = names_of_verbs(*group);
    if (std::find(verbs.begin(), verbs.end(), word) != verbs.end()) {
      return group->get_name() + " " + word;
    }
  }
  return "";
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

}  // namespace

std::pair<const CLI::App*, std::string> chosen_in(const CLI::App& app) {
  const CLI::App* chosen = &app;
  std::string called = app.get_name();
  for (auto inner = app.get_subcommands(); !inner.empty(); inner = chosen->get_subcommands()) {
    chosen = inner.front();
    called += " " + chosen->get_name();
  }
  return {chosen, called};
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const auto [chosen, called] = chosen_in(app);
  const bool is_group = !names_of_verbs(*chosen).empty();
  const std::vector<std::string> extras = app.remaining(true);
  const std::string word = extras.empty() ? "" : extras.front();
  if (is_group && !word.empty() && !word.starts_with("-")) {
    const std::string grouped = in_a_group(*chosen, word);
    return with_suggestion("there is no command " + in_quotes(word) + (chosen == &app ? "" : " of " + called),
                           grouped.empty() ? engine::nearest(word, names_of_verbs(*chosen)) : grouped);
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

}  // namespace hpsearch::cli
