#include "hpsearch/io/arguments/described_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <set>
#include <utility>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::arguments {
namespace {

using engine::Value;

/// CLI11 keeps a group of options among the commands, without a name.
std::vector<const CLI::App*> groups_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* inner) { return inner->get_name().empty(); });
}

bool is_shown(const CLI::Option* option) {
  return !option->get_group().empty();
}

/// CLI11 keeps them by address; the output is the same in each run.
Value names_of_all(const std::set<CLI::Option*>& options) {
  std::set<std::string> sorted;
  for (const CLI::Option* option : options) {
    sorted.insert(option->get_name(option->get_positional()));
  }
  return Value::List(sorted.begin(), sorted.end());
}

Value described(const CLI::Option& option, const std::string& group) {
  Value::List names;
  for (std::string& name : names_of(option)) {
    names.emplace_back(std::move(name));
  }
  const int most = option.get_items_expected_max();
  const std::string& shown = option.get_option_text();  // In the help it stands in the place of the type.
  const bool is_limited = most < CLI::detail::expected_max_vector_size;
  return Value::Map{{"names", std::move(names)},
                    {"argument", option.get_positional() ? Value(option.get_name(true)) : Value()},
                    {"type", most == 0       ? std::string()
                             : shown.empty() ? option.get_type_name()
                                             : shown},
                    {"about", option.get_description()},
                    {"default", option.get_default_str()},
                    {"group", group},
                    {"required", option.get_required()},
                    {"needs", names_of_all(option.get_needs())},
                    {"excludes", names_of_all(option.get_excludes())},
                    {"least", option.get_items_expected_min()},
                    {"most", is_limited ? Value(most) : Value()}};
}

void add_described(const CLI::App& app, const std::string& group, Value::List& list) {
  for (const CLI::Option* option : app.get_options(is_shown)) {
    list.push_back(described(*option, group.empty() ? option->get_group() : group));
  }
  for (const CLI::App* inner : groups_of(app)) {
    add_described(*inner, inner->get_description(), list);
  }
}

}  // namespace

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> all = app.get_options(is_shown);
  for (const CLI::App* group : groups_of(app)) {
    const std::vector<const CLI::Option*> more = options_of(*group);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands(
      [](const CLI::App* inner) { return !inner->get_name().empty() && !inner->get_group().empty(); });
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) {
    names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    names.push_back("--" + name);
  }
  return names;
}

const CLI::Option* option_named(const CLI::App& app, std::string_view name) {
  for (const CLI::Option* option : options_of(app)) {
    const std::vector<std::string> names = names_of(*option);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return option;
    }
  }
  return nullptr;
}

std::vector<std::string> allowed_words(const CLI::Option& option) {
  const std::string type = option.get_type_name();  // "TEXT:{table,json}"
  const std::size_t begin = type.find(":{");
  const std::size_t end = type.find('}', begin == std::string::npos ? 0 : begin);
  std::vector<std::string> words;
  if (begin != std::string::npos && end != std::string::npos) {
    words = CLI::detail::split(type.substr(begin + 2, end - begin - 2), ',');
  }
  return words;
}

Value described_options(const CLI::App& app) {
  Value::List options;
  add_described(app, "", options);
  Value::List commands;
  for (const CLI::App* command : commands_of(app)) {
    commands.push_back(described_options(*command));
  }
  return Value::Map{{"name", app.get_name()},        {"about", app.get_description()},
                    {"group", app.get_group()},      {"footer", app.get_footer()},
                    {"options", std::move(options)}, {"commands", std::move(commands)}};
}

void add_describing_option(CLI::App& app) {
  app.add_flag_callback(
      "--describe-options",
      [&app] {
        std::cout << engine::compact_json(described_options(app)) << std::endl;
        throw CLI::Success();
      },
      "Print commands, options and arguments as JSON, and exit");
}

}  // namespace hpsearch::arguments
