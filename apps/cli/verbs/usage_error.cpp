#include "cli/verbs/usage_error.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/verbs/argument_checks.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/arguments/described_options.hpp"

namespace hpsearch::cli {
namespace {

std::string with_suggestion(std::string message, std::string_view near) {
  return near.empty() ? message : message + "; did you mean " + in_quotes(near) + "?";
}

/// The names of the commands, in the order of the help.
std::vector<std::string> names_of_verbs(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : arguments::commands_of(app)) {
    names.push_back(verb->get_name());
  }
  return names;
}

/// The group's command of this name: "worker drain". "" if there is none.
std::string in_a_group(const CLI::App& app, const std::string& word) {
  for (const CLI::App* group : arguments::commands_of(app)) {
    const std::vector<std::string> verbs = names_of_verbs(*group);
    if (std::find(verbs.begin(), verbs.end(), word) != verbs.end()) {
      return group->get_name() + " " + word;
    }
  }
  return "";
}

std::vector<std::string> names_of_options(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : arguments::options_of(verb)) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

/// FILE for an argument, --limit for an option.
std::string name_of(const CLI::Option& option) {
  return option.get_name(option.get_positional());
}

/// The help text of the option or argument, on one line.
std::string about(const CLI::Option& option) {
  std::string text = option.get_description();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string all;
  for (const std::string& word : words) {
    all += (all.empty() ? "" : between) + word;
  }
  return all;
}

/// The option that CLI11's message is about, by the longest name in it.
const CLI::Option* option_in(const CLI::App& verb, std::string_view message) {
  const CLI::Option* found = nullptr;
  for (const CLI::Option* option : arguments::options_of(verb)) {
    const bool is_named = message.find(option->get_name()) != std::string_view::npos;
    if (is_named && (found == nullptr || found->get_name().size() < option->get_name().size())) {
      found = option;
    }
  }
  return found;
}

std::optional<std::string> missing_argument(const CLI::App& verb) {
  for (const CLI::Option* option : arguments::options_of(verb)) {
    if (option->get_required() && option->count() == 0) {
      return name_of(*option) + " is missing: " + about(*option);
    }
  }
  return std::nullopt;
}

/// The sentence about given options that exclude each other.
std::string excluding_options(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : arguments::options_of(verb)) {
    const std::set<CLI::Option*> excluded = option->get_excludes();
    if (option->count() > 0 && std::any_of(excluded.begin(), excluded.end(),
                                           [](const CLI::Option* other) { return other->count() > 0; })) {
      names.push_back(name_of(*option));
    }
  }
  return joined(names, " and ") + " exclude each other; give one of them";
}

/// Several given options of a group that allows one.
std::string too_many_of_a_group(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::App* group :
       verb.get_subcommands([](const CLI::App* inner) { return inner->get_name().empty(); })) {
    for (const CLI::Option* option : arguments::options_of(*group)) {
      if (option->count() > 0) {
        names.push_back(name_of(*option));
      }
    }
  }
  return joined(names, " and ") + " exclude each other; give one of them";
}

std::string wrong_number_of_values(const CLI::Option& option) {
  const int least = option.get_items_expected_min();
  const int most = option.get_items_expected_max();
  if (most == 0) {
    return name_of(option) + " takes no value";
  }
  if (!option.get_positional()) {
    const bool is_repeated = most == 1 && option.results().size() > 1;
    return is_repeated ? name_of(option) + " is given " + std::to_string(option.results().size()) +
                             " times; give it once"
                       : name_of(option) + " needs a value: " + about(option);
  }
  const std::string allowed = most >= CLI::detail::expected_max_vector_size
                                  ? "at least " + std::to_string(least)
                              : least == most ? std::to_string(least)
                                              : std::to_string(least) + " to " + std::to_string(most);
  return name_of(option) + " takes " + allowed + (allowed == "1" ? " word" : " words") + ", not " +
         std::to_string(option.count()) + ": " + about(option);
}

std::string wrong_value(const CLI::Option& option) {
  const std::vector<std::string>& given = option.results();
  return option.get_items_expected_max() == 0
             ? name_of(option) + " takes no value"
             : name_of(option) + ": " + in_quotes(given.empty() ? "" : given.back()) +
                   " is no value of it: " + about(option);
}

/// Our sentence for what CLI11 refused in the arguments of a verb; CLI11's own for what our options can't
/// cause.
std::string about_arguments(const CLI::App& verb, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return missing_argument(verb).value_or(too_many_of_a_group(verb));
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    return excluding_options(verb);
  }
  const CLI::Option* option = option_in(verb, error.what());
  if (option != nullptr && dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return wrong_number_of_values(*option);
  }
  if (option != nullptr && dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    return wrong_value(*option);
  }
  return error.what();  // Also the sentences of argument_checks.
}

}  // namespace

std::pair<const CLI::App*, std::string> chosen_in(const CLI::App& app) {
  const CLI::App* chosen = &app;
  std::string called = app.get_name();
  for (;;) {
    const std::vector<CLI::App*> parsed = chosen->get_subcommands();
    const auto inner = std::find_if(parsed.begin(), parsed.end(),
                                    [](const CLI::App* one) { return !one->get_name().empty(); });
    if (inner == parsed.end()) {
      return {chosen, called};
    }
    chosen = *inner;
    called += " " + chosen->get_name();
  }
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const auto [chosen, called] = chosen_in(app);
  std::vector<std::string> extras = app.remaining(true);
  std::erase(extras, "--");  // It is among them if the words before it were wrong.
  const std::string word = extras.empty() ? "" : extras.front();
  if (word.starts_with("-")) {
    const std::string name = word.substr(0, word.find('='));
    const auto options = names_of_options(*chosen);
    if (std::ranges::find(options, name) != options.end()) {
      return in_quotes(name) + " is an option of " + called + " and must follow it: " + called + " " + name +
             " ...";
    }
    return with_suggestion(called + " has no option " + in_quotes(name), engine::nearest(name, options));
  }
  const std::vector<std::string> verbs = names_of_verbs(*chosen);
  if (verbs.empty()) {
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
      return in_quotes(word) + " is an extra argument for " + called;
    }
    const std::string problem = about_arguments(*chosen, error);
    return problem.ends_with("?") ? problem : problem + "; see " + called + " --help";
  }
  if (!word.empty()) {
    const std::string grouped = in_a_group(*chosen, word);
    return with_suggestion("there is no command " + in_quotes(word) + (chosen == &app ? "" : " of " + called),
                           grouped.empty() ? engine::nearest(word, verbs) : grouped);
  }
  return dynamic_cast<const CLI::RequiredError*>(&error) != nullptr
             ? "no command given; " + called + " --help lists them"
             : about_arguments(*chosen, error);
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
