#include "config/command_words.hpp"

#include <algorithm>
#include <array>

namespace hpsearch::engine {

namespace {

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// "/usr/bin/python3.11" → "python"
std::string_view program_of(std::string_view word) {
  if (const std::size_t slash = word.rfind('/'); slash != std::string_view::npos) {
    word.remove_prefix(slash + 1);
  }
  while (!word.empty() && ((word.back() >= '0' && word.back() <= '9') || word.back() == '.' || word.back() == '-')) {
    word.remove_suffix(1);
  }
  return word;
}

constexpr std::array<std::string_view, 4> shells{"ash", "bash", "dash", "sh"};
constexpr std::array<std::string_view, 20> interpreters{
    "R",    "Rscript", "csh",    "fish", "ipython", "julia", "ksh",  "lua",  "matlab", "mksh",
    "mysql", "node",   "nodejs", "octave", "perl",  "php",   "psql", "ruby", "tcsh",   "zsh"};
// Of these it is known which options have values.
constexpr std::array<std::string_view, 2> pythons{"pypy", "python"};
// These join their words and evaluate them, or evaluate one by one what looks like a text.
constexpr std::array<std::string_view, 12> evaluators{"[[",      "alias", "declare",   "eval", "let",     "local",
                                                      "mapfile", "read",  "readarray", "trap", "typeset", "unset"};
// And these run what they read, too.
constexpr std::array<std::string_view, 20> runners{
    "at",   "batch",   "bsub",   "doas", "nix-shell", "parallel", "pdsh", "qsub", "rsh",  "runuser",
    "sbatch", "scl",   "screen", "script", "sg",      "ssh",      "sshpass", "su", "tmux", "watch"};
// A command begins behind them.
constexpr std::array<std::string_view, 12> before_commands{
    "!", "builtin", "command", "coproc", "do", "elif", "else", "if", "then", "until", "while", "{"};
// Of find: a command begins behind them too.
constexpr std::array<std::string_view, 4> runs_a_command{"-exec", "-execdir", "-ok", "-okdir"};
constexpr std::array<std::string_view, 6> small_languages{"awk", "gawk", "mawk", "nawk", "original-awk", "sed"};
constexpr std::array<std::string_view, 9> options_with_value{
    "+O", "+o", "--init-file", "--rcfile", "-I", "-O", "-W", "-X", "-o"};
constexpr std::array<std::string_view, 15> wrappers{
    "chrt", "env",    "exec", "ionice",  "nice", "nohup",  "numactl", "setsid",
    "srun", "stdbuf", "sudo", "taskset", "time", "timeout", "xargs"};

}  // namespace

WordRole CommandWords::role(std::string_view begun) const noexcept {
  const bool option_with_code = interpreter_ && !code_next_ && !skips_next_ && begun.starts_with('-');
  if (evaluates_all_ || small_language_ || option_with_code) {
    return WordRole::code;
  }
  if (interpreter_ && code_next_ && !skips_next_) {
    return shell_ && runs_ ? WordRole::shell_code : WordRole::code;
  }
  return WordRole::plain;
}

void CommandWords::add(std::string_view word) {
  const bool first = first_;
  first_ = (first && is_among(before_commands, word)) || is_among(runs_a_command, word);
  if (first_) {
    interpreter_ = code_next_ = shell_ = false;
    return;
  }
  if (interpreter_) {
    if (skips_next_) {
      skips_next_ = false;
      return;
    }
    if (word.size() > 1 && (word.front() == '-' || word.front() == '+')) {
      option(word);
      return;
    }
    evaluates_input_ = evaluates_input_ || word == "/dev/stdin" || word == "-";
    interpreter_ = code_next_ = shell_ = false;  // Its program; what follows are that one's arguments.
    return;
  }
  const std::string_view program = program_of(word);
  // A program that is not named here may be any.
  const bool unknown = word.find('$') != std::string_view::npos || (first && word.find(unknown_part) != std::string_view::npos);
  if (first) {
    wrapped_ = is_among(wrappers, program);
  }
  runs_ = first || wrapped_;
  shell_ = is_among(shells, program);
  loose_ = is_among(interpreters, program);
  known_ = shell_ || loose_ || is_among(pythons, program) || (runs_ && (unknown || word == "." || word == "source"));
  interpreter_ = known_ || unknown;
  calls_with_input_ = calls_with_input_ || word == "xargs";
  checks_ = checks_ || (runs_ && (word == "[" || word == "test" || word == "printf" || program == "flock"));
  evaluates_all_ = evaluates_all_ || (checks_ && (word == "-v" || word == "-c"));
  evaluates_input_ = evaluates_input_ || (calls_with_input_ && interpreter_);
  const bool is_runner = is_among(runners, program);
  evaluates_all_ = evaluates_all_ || (runs_ && (is_runner || is_among(evaluators, program)));
  small_language_ = small_language_ || (runs_ && is_among(small_languages, program));
  evaluates_input_ = evaluates_input_ || (runs_ && is_runner);
}

void CommandWords::option(std::string_view word) {
  const bool letters = word.front() == '+' || word[1] != '-';
  if (shell_) {
    code_next_ = code_next_ || (word.front() == '-' && letters && word.find('c') != std::string_view::npos);
    evaluates_input_ = evaluates_input_ || (letters && word.find('s') != std::string_view::npos);
  } else if (loose_ && runs_) {
    evaluates_all_ = true;  // Which words are its options' values, and so what is the program, differs among them.
  } else if (word.starts_with("--")) {
    code_next_ = code_next_ || word == "--eval" || word == "--command" || word == "--execute" || word == "--print";
  } else if (word.front() == '-') {
    // -c, -lc, -e, -pe, -E, -r (php), -p (node).
    code_next_ = code_next_ || word.find_first_of("ceEpr") != std::string_view::npos;
  }
  // `-euo pipefail`: the last of several letters has a value too.
  skips_next_ = is_among(options_with_value, word) || (shell_ && letters && word.find_first_of("oO") != std::string_view::npos);
}

}  // namespace hpsearch::engine
