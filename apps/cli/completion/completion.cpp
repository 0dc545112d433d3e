#include "cli/completion/completion.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/arguments/described_options.hpp"

namespace hpsearch::cli {
namespace {

using arguments::allowed_words;
using arguments::commands_of;
using arguments::names_of;
using arguments::option_named;
using arguments::options_of;

struct NamedValues {
  std::string_view group;  ///< Name of the group of commands; "" = any command.
  std::string_view name;   ///< Name of the argument or the option.
  Values values;
};

/// The first that fits counts. The words of an argument with several kinds are in values_of().
constexpr NamedValues named_values[] = {
    {"context", "NAME", Values::contexts},
    {"workspace", "NAME", Values::workspaces},
    {"component", "FILE", Values::files},
    {"", "EXPERIMENT", Values::experiments},
    {"", "EXPERIMENTS", Values::experiments},
    {"", "CHECKPOINT", Values::experiments_or_trials},
    {"", "--trial", Values::trials},
    {"", "WORKER", Values::workers},
    {"", "QUEUE", Values::queues},
    {"", "--workspace", Values::workspaces},
    {"", "FILE", Values::files},
    {"", "--curves", Values::files},
    {"", "--bundle", Values::files},
    {"", "--log", Values::files},
    {"", "--to", Values::files},
    {"", "STORE", Values::directories},
    {"", "--copy-to", Values::directories},
    {"", "--data", Values::directories},
};

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [name](std::string_view end) { return name.ends_with(end); });
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

bool takes_a_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

/// The meaning of the words in front of the last one.
struct Given {
  const CLI::App* command;
  std::vector<std::string> arguments = {};
  std::set<const CLI::Option*> options = {};
  const CLI::Option* open = nullptr;  ///< The option whose value comes next.
  bool options_ended = false;         ///< After "--".
  ServerOptions server = {};

  void note_value(const CLI::Option& option, const std::string& value) {
    const std::string name = option.get_name();
    if (name == "--server") {
      server.server = value;
    } else if (name == "--state-dir") {
      server.state_dir = value;
    } else if (name == "--token-file") {
      server.token_file = value;
    }
  }

  void read(const std::string& word) {
    if (open != nullptr) {
      note_value(*std::exchange(open, nullptr), word);
    } else if (!options_ended && word == "--") {
      options_ended = true;
    } else if (!options_ended && word.size() > 1 && word.front() == '-') {
      const std::size_t equals = word.find('=');
      const CLI::Option* option = option_named(*command, word.substr(0, equals));
      if (option == nullptr) {
        return;
      }
      options.insert(option);
      if (equals != std::string::npos) {
        note_value(*option, word.substr(equals + 1));
      } else if (takes_a_value(*option)) {
        open = option;
      }
    } else if (const CLI::App* inner = arguments.empty() && !options_ended ? inner_command(word) : nullptr) {
      command = inner;
      options.clear();
    } else {
      arguments.push_back(word);
    }
  }

 private:
  [[nodiscard]] const CLI::App* inner_command(const std::string& word) const {
    const std::vector<const CLI::App*> all = commands_of(*command);
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&word](const CLI::App* one) { return one->get_name() == word; });
    return found == all.end() ? nullptr : *found;
  }
};

/// The argument that the next word belongs to, and which of its words that is.
std::optional<std::pair<const CLI::Option*, std::size_t>> next_argument(const Given& given) {
  std::size_t place = given.arguments.size();
  for (const CLI::Option* option : options_of(*given.command)) {
    if (!option->get_positional()) {
      continue;
    }
    const auto most = static_cast<std::size_t>(option->get_items_expected_max());
    if (place < most) {
      return std::pair(option, place);
    }
    place -= most;
  }
  return std::nullopt;
}

void add_if_begun(Completion& out, std::string word, std::string about) {
  if (word.starts_with(out.word)) {
    out.candidates.push_back({out.before + word, one_line(std::move(about))});
  }
}

void complete_value(Completion& out, const Given& given, const CLI::Option& option, std::size_t place) {
  for (std::string& word : allowed_words(option)) {
    add_if_begun(out, std::move(word), "");
  }
  out.values = values_of(*given.command, option, place);
  const bool has_experiment = place > 0 && !given.arguments.empty();
  out.experiment = has_experiment ? given.arguments.front() : "";
}

void complete_option(Completion& out, const Given& given) {
  for (const CLI::Option* option : options_of(*given.command)) {
    const bool is_repeated = option->get_items_expected_max() > 1;
    if (given.options.contains(option) && !is_repeated) {
      continue;
    }
    for (std::string& name : names_of(*option)) {
      if (name.starts_with("--") || out.word == "-") {
        add_if_begun(out, std::move(name), option->get_description());
      }
    }
  }
}

}  // namespace

Values values_of(const CLI::App& command, const CLI::Option& option, std::size_t place) {
  const std::string name = option.get_name(option.get_positional());
  const std::string type = option.get_type_name();
  const CLI::App* group = command.get_parent();
  const bool takes_trials =
      name == "TRIAL" || name == "WHICH" || (name == "EXPERIMENT" && option.get_items_expected_max() == 2);
  if (takes_trials) {
    if (place == 2) {
      return Values::files;  // The place of the copy.
    }
    return place > 0 ? Values::trials : name == "TRIAL" ? Values::experiments_or_trials : Values::experiments;
  }
  for (const NamedValues& one : named_values) {
    const bool is_of_group = one.group.empty() || (group != nullptr && group->get_name() == one.group);
    if (one.name == name && is_of_group) {
      return one.values;
    }
  }
  if (ends_with_any(name, {"DIR", "-dir", "-root"}) || type == "DIR") {
    return Values::directories;
  }
  const bool is_file = ends_with_any(name, {"-file", "-template"}) || type == "FILE" || type == "PATH";
  return is_file ? Values::files : Values::none;
}

std::vector<std::string> numbers_below(std::uint64_t count, const std::string& digits, std::size_t most) {
  std::vector<std::string> found;
  const auto add = [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t number = begin; number < std::min(end, count) && found.size() < most; ++number) {
      found.push_back(std::to_string(number));
    }
  };
  if (digits.empty()) {
    add(0, count);
    return found;
  }
  const auto begin = engine::number_in<std::uint64_t>(digits);
  if (!begin || *begin >= count || std::to_string(*begin) != digits) {  // "007" begins no number.
    return found;
  }
  add(*begin, *begin + 1);
  std::uint64_t step = 10;  // 12, then 120 to 129, then 1200 to 1299.
  for (std::uint64_t first = *begin; first > 0 && first < count / 10 + 1; step *= 10) {
    first *= 10;
    add(first, first + step);
  }
  return found;
}

Completion complete(const CLI::App& app, std::span<const std::string> words) {
  Given given{&app};
  Completion out;
  if (!words.empty()) {
    out.word = words.back();
    for (const std::string& word : words.first(words.size() - 1)) {
      given.read(word);
    }
  }
  const std::size_t equals = out.word.find('=');
  const CLI::Option* named = !given.options_ended && out.word.starts_with("--") && equals != std::string::npos
                                 ? option_named(*given.command, out.word.substr(0, equals))
                                 : nullptr;
  if (given.open != nullptr) {
    complete_value(out, given, *given.open, 0);
  } else if (named != nullptr) {
    out.before = out.word.substr(0, equals + 1);
    out.word = out.word.substr(equals + 1);
    complete_value(out, given, *named, 0);
  } else if (!given.options_ended && out.word.starts_with("-")) {
    complete_option(out, given);
  } else {
    if (given.arguments.empty()) {
      for (const CLI::App* command : commands_of(*given.command)) {
        add_if_begun(out, command->get_name(), command->get_description());
      }
    }
    if (const auto argument = next_argument(given)) {
      complete_value(out, given, *argument->first, argument->second);
    }
  }
  out.server = std::move(given.server);
  return out;
}

}  // namespace hpsearch::cli
