#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hpsearch::context {

/// Which files of a directory are left out, by the patterns that .gitignore files have: one a line, # begins
/// a comment, ! takes files in again, / at the end means directories only, / elsewhere ties the pattern to
/// the top, and *, **, ? and [a-z] stand for what they do there. The last pattern that fits decides.
///
/// Cost: O(pattern × path) per pattern, whatever the patterns are.
class IgnoreRules {
 public:
  IgnoreRules() = default;
  explicit IgnoreRules(std::string_view text);

  /// `path` is relative to the directory, with / between names. Who walks a tree does not look into
  /// directories that are ignored; of what lies in one this says nothing.
  [[nodiscard]] bool ignores(std::string_view path, bool is_directory) const;

 private:
  struct Token {
    enum class Kind : std::uint8_t {
      letter,      ///< This one character.
      any,         ///< One character but /.
      run,         ///< Any number of them.
      one_of,      ///< One of `letters`; with `negated`, one of all others but /.
      folders,     ///< Any number of whole folders, "a/b/": stands at the beginning of a name …
      in_folders,  ///< … and within one.
      rest,        ///< Whatever follows, at least one character.
    };
    Kind kind = Kind::letter;
    char letter = 0;
    bool negated = false;
    std::string letters;  ///< All that a class lists, ranges written out.
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
