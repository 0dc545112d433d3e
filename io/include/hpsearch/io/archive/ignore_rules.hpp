#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hpsearch::context {

/// Files of a directory that are left out, by the patterns of .gitignore files: one per line, # begins
/// a comment, ! includes files again, / at the end means only directories, / elsewhere anchors the pattern
/// at the top, and *, **, ? and [a-z] mean the same. The last pattern that matches decides.
///
/// Cost: O(pattern × path) for each pattern.
class IgnoreRules {
 public:
  IgnoreRules() = default;
  explicit IgnoreRules(std::string_view text);

  /// `path` is relative to the directory, with / between names. The caller doesn't descend into
  /// ignored directories: their content isn't covered.
  [[nodiscard]] bool ignores(std::string_view path, bool is_directory) const;

 private:
  struct Token {
    enum class Kind : std::uint8_t {
      letter,      ///< This one character.
      any,         ///< One character except /.
      run,         ///< Any number of characters except /.
      one_of,      ///< One of `letters`; with `negated`, any other except /.
      folders,     ///< Any number of whole directories, "a/b/": at the beginning of a name …
      in_folders,  ///< … and within one.
      rest,        ///< Any rest, at least one character.
    };
    Kind kind = Kind::letter;
    char letter = 0;
    bool negated = false;
    std::string letters;  ///< All characters of a class, ranges expanded.
  };
  struct Rule {
    std::vector<Token> tokens;
    bool takes_in = false;
    bool only_directories = false;
  };

  void add(std::string_view pattern);
  static Token read_class(std::string_view pattern, std::size_t& at);
  static bool matches(const std::vector<Token>& tokens, std::string_view path);

  std::vector<Rule> rules_;
};

}  // namespace hpsearch::context
