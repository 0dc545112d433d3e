#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hpsearch::engine {

/// What a program does with the word that comes next.
enum class WordRole : std::uint8_t {
  plain,       ///< Takes it as a text.
  shell_code,  ///< Runs it, by sh's rules of quoting.
  code,        ///< Evaluates it, as Python or as something else.
};

/// Follows the words of one command, far enough to tell which of them are programs: `sh -c PROGRAM`,
/// `python3 -u -c PROGRAM`, `eval WORDS`, `awk PROGRAM`. Wrappers (timeout, env, srun) may stand in front.
///
/// It errs towards `code`: such a word takes fewer values, but a text that is evaluated is never called plain.
class CommandWords {
 public:
  /// Of the word that begins with `begun`.
  [[nodiscard]] WordRole role(std::string_view begun) const noexcept;
  void add(std::string_view word);

  /// The word that comes next is a program of a shell, which sees the line's variables.
  [[nodiscard]] bool is_shell_next() const noexcept { return evaluates_all_ || (interpreter_ && shell_ && code_next_); }

  /// It runs what it reads: an interpreter that has been given no program so far, or xargs with one.
  [[nodiscard]] bool evaluates_input() const noexcept { return (interpreter_ && known_) || evaluates_input_; }

 private:
  void option(std::string_view word);

  bool first_ = true;
  bool wrapped_ = false;           // The first is timeout, env or another that runs the command behind it.
  bool runs_ = false;              // The interpreter is certainly run, and not an argument that has its name.
  bool evaluates_all_ = false;     // eval, ssh
  bool small_language_ = false;    // awk, sed
  bool evaluates_input_ = false;
  bool calls_with_input_ = false;  // xargs
  bool checks_ = false;            // [, test and printf, whose -v evaluates a name; flock, whose -c a command.
  bool interpreter_ = false;       // Its options are being read.
  bool known_ = false;             // It is one for certain.
  bool loose_ = false;             // Which of its options have values is not known here.
  bool shell_ = false;             // It is one whose quoting is that of sh.
  bool code_next_ = false;
  bool skips_next_ = false;        // It is an option's value.
};

/// Stands in a word for what is not known of it: a placeholder, or what the shell itself puts there.
inline constexpr char unknown_part = '\1';

}  // namespace hpsearch::engine
