#include "hpsearch/jobs/launch/entrypoint_start.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "hpsearch/jobs/launch/placeholders.hpp"

namespace hpsearch::jobs {

namespace {

constexpr std::array<std::string_view, 34> shell_words{
    "!",     ".",       ":",      "[",     "[[",    "alias",  "break",  "builtin", "case",
    "cd",    "command", "do",     "eval",  "exec",  "exit",   "export", "for",     "if",
    "local", "read",    "return", "set",   "shift", "source", "test",   "times",   "trap",
    "true",  "type",    "ulimit", "umask", "unset", "until",  "while"};

bool has_placeholder(std::string_view item) {
  const std::vector<EntrypointPiece> pieces = pieces_of(item);
  return std::any_of(pieces.begin(), pieces.end(),
                     [](const EntrypointPiece& piece) { return piece.is_name; });
}

std::vector<std::string> plain_items(const std::vector<std::string>& items) {
  std::vector<std::string> out;
  for (const std::string& item : items) {
    if (has_placeholder(item)) {
      break;
    }
    out.push_back(item);
  }
  return out;
}

/// The words of the line up to its end, or up to the first word that needs a shell.
std::vector<std::string> plain_words(std::string_view line) {
  std::vector<std::string> out;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t\n"), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(" \t\n"));
    const bool assigns = out.empty() && word.find('=') != std::string_view::npos;
    if (word.empty() || assigns || word.find_first_of("\\'\"`$&|;<>()*?[]{}#~!") != std::string_view::npos) {
      return out;
    }
    out.emplace_back(word);
    line.remove_prefix(word.size());
    if (!line.empty() && line.front() == '\n') {
      return out;
    }
  }
}

/// "python3.11" → "python"
std::string_view without_version(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789.");
  return end == std::string_view::npos ? name : name.substr(0, end + 1);
}

/// An interpreter's options with a value in the next word, and its options that no script follows.
struct Interpreter {
  std::string_view name;
  std::string_view with_value;
  std::string_view without_script;
};
constexpr std::array<Interpreter, 12> interpreters{{{"python", "WX", "cm"},
                                                    {"pypy", "WX", "cm"},
                                                    {"bash", "oO", "cs"},
                                                    {"dash", "o", "cs"},
                                                    {"sh", "o", "cs"},
                                                    {"ash", "o", "cs"},
                                                    {"ksh", "o", "cs"},
                                                    {"mksh", "o", "cs"},
                                                    {"zsh", "o", "cs"},
                                                    {"Rscript", "", "e"},
                                                    {"perl", "I", "eE"},
                                                    {"ruby", "I", "e"}}};

const Interpreter* interpreter_named(std::string_view word) {
  const std::string_view name = without_version(file_name_of(word));
  const auto* const known = std::find_if(interpreters.begin(), interpreters.end(),
                                         [name](const Interpreter& one) { return one.name == name; });
  return known == interpreters.end() ? nullptr : known;
}

}  // namespace

std::vector<std::string> plain_start(const Entrypoint& entrypoint) {
  if (const auto* items = std::get_if<std::vector<std::string>>(&entrypoint.command)) {
    return plain_items(*items);
  }
  std::vector<std::string> words = plain_words(std::get<std::string>(entrypoint.command));
  if (!words.empty() &&
      std::find(shell_words.begin(), shell_words.end(), words.front()) != shell_words.end()) {
    words.clear();
  }
  return words;
}

std::string_view file_name_of(std::string_view word) noexcept {
  word.remove_prefix(word.rfind('/') + 1);  // npos + 1 is 0.
  return word;
}

namespace {

/// The program that an interpreter runs: a file, or a module of Python.
struct Started {
  std::string name;
  bool is_module = false;
};

std::optional<Started> started_by(const std::vector<std::string>& start) {
  if (start.empty()) {
    return std::nullopt;
  }
  const Interpreter* const known = interpreter_named(start.front());
  if (known == nullptr) {
    return std::nullopt;
  }
  for (std::size_t i = 1; i < start.size(); ++i) {
    const std::string_view word = start[i];
    if (word.empty() || word == "-" || word == "--" || word.starts_with("--")) {
      return std::nullopt;
    }
    if (word.front() != '-') {
      return Started{start[i]};
    }
    if (word == "-m" && known->name == "python" && i + 1 < start.size()) {
      if (start[i + 1] != stand_in_for_wandb) {
        return Started{start[i + 1], true};
      }
      ++i;  // It runs the script or module after it.
      continue;
    }
    if (word.find_first_of(known->without_script, 1) != std::string_view::npos) {
      return std::nullopt;
    }
    i += known->with_value.find(word.back()) != std::string_view::npos ? 1U : 0U;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> script_of(const std::vector<std::string>& start) {
  const std::optional<Started> started = started_by(start);
  return started && !started->is_module ? std::optional(started->name) : std::nullopt;
}

std::optional<std::string> module_of(const std::vector<std::string>& start) {
  const std::optional<Started> started = started_by(start);
  return started && started->is_module ? std::optional(started->name) : std::nullopt;
}

namespace {

bool is_option(std::string_view word) {
  return word.size() > 1 && (word.front() == '-' || word.front() == '+');
}

/// Whether these are options of the interpreter, and a program's text follows the last.
bool end_in_code(const Interpreter& interpreter, std::span<const std::string> options) {
  std::size_t i = 0;
  while (i < options.size() && is_option(options[i])) {
    const bool has_value = !options[i].starts_with("--") && i + 1 < options.size() &&
                           interpreter.with_value.find(options[i].back()) != std::string_view::npos;
    i += has_value ? 2U : 1U;
  }
  const auto says_code = [&](char letter) {
    return interpreter.without_script.find(letter) != std::string_view::npos &&
           options.back().find(letter, 1) != std::string::npos;
  };
  return i == options.size() && i > 0 && options.back().front() == '-' && !options.back().starts_with("--") &&
         (says_code('c') || says_code('e') || says_code('E'));
}

/// The number of words from the interpreter to its program's text: 4 for bash -o pipefail -c. 0 if the
/// next word is no such text.
std::size_t words_of_interpreter(std::span<const std::string> words) {
  for (std::size_t at = words.size(); at-- > 0;) {
    const Interpreter* const known = interpreter_named(words[at]);
    if (known != nullptr && end_in_code(*known, words.subspan(at + 1))) {
      return words.size() - at;
    }
  }
  return 0;
}

}  // namespace

bool takes_line_for_shell(std::span<const std::string> words) {
  return !words.empty() && words_of_interpreter(words) == words.size() &&
         file_name_of(words.front()).ends_with("sh");
}

bool parses_again(std::span<const std::string> words) {
  return words_of_interpreter(words) > 0 ||
         std::any_of(words.begin(), words.end(), [](const std::string& word) {
           const std::string_view name = file_name_of(word);
           return word == "eval" || name == "ssh" || name == "su" || name == "watch" || name == "parallel";
         });
}

std::string python_of(const Entrypoint& entrypoint) {
  const std::vector<std::string> start = plain_start(entrypoint);
  const bool is_python = !start.empty() && without_version(file_name_of(start.front())) == "python";
  return is_python ? start.front() : "python3";
}

}  // namespace hpsearch::jobs
