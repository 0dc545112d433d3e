// Where in a line for sh a placeholder stands (placeholders.hpp): a scanner of quotes. It does not parse
// commands.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "fields/sections.hpp"
#include "hpsearch/jobs/launch/placeholders.hpp"

namespace hpsearch::jobs {
namespace {

constexpr char placeholder = '\1';

/// Commands that parse their words again, or run them.
constexpr std::array<std::string_view, 20> reparsers{
    "eval", "ssh",  "rsh",     "pdsh",    "su",    "watch", "parallel", "xargs",  "trap", "alias",
    "let",  "test", "declare", "typeset", "local", "unset", "printf",   "sbatch", "[[",   "["};
constexpr std::array<std::string_view, 7> shells{"ash", "bash", "dash", "ksh", "mksh", "sh", "zsh"};
constexpr std::array<std::string_view, 10> interpreters{"Rscript", "julia", "lua",    "node", "perl",
                                                        "php",     "pypy",  "python", "ruby", "awk"};

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// "/usr/bin/python3.11" → "python"
std::string_view program_of(std::string_view word) {
  word.remove_prefix(word.rfind('/') + 1);  // npos + 1 is 0.
  const std::size_t end = word.find_last_not_of("0123456789.");
  return end == std::string_view::npos ? word : word.substr(0, end + 1);
}

/// -c, -ec, -e, -pe: the next word is a program.
bool takes_program(std::string_view option) {
  return option.size() > 1 && option.front() == '-' && option[1] != '-' &&
         option.find_first_of("ceE") != std::string_view::npos;
}

class Scanner {
 public:
  explicit Scanner(std::vector<EntrypointPiece>& pieces) : pieces_(pieces) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      pieces[i].line = static_cast<std::size_t>(1 + std::count(text_.begin(), text_.end(), '\n'));
      if (pieces[i].is_name) {
        names_.push_back(i);
      }
      text_ += pieces[i].is_name ? std::string(1, placeholder) : pieces[i].text;
    }
  }

  void scan() {
    while (at_ < text_.size()) {
      step();
    }
    end_pipeline();
    for (EntrypointPiece* name : assigned_) {
      name->place = evaluates_ ? ShellPlace::reparsed : name->place;
    }
  }

 private:
  [[nodiscard]] char at(std::size_t index) const { return index < text_.size() ? text_[index] : '\0'; }

  EntrypointPiece& next_name() { return pieces_[names_[named_++]]; }

  /// Everything up to `end` is inside something that no value can be written into.
  void skip_to(std::size_t end, std::string_view around, ShellPlace place = ShellPlace::quoted) {
    for (end = std::min(end, text_.size()); at_ < end; ++at_) {
      if (text_[at_] == placeholder) {
        EntrypointPiece& name = next_name();
        name.place = place;
        name.around = around;
      }
    }
  }

  /// Behind the next `close` that no backslash escapes.
  [[nodiscard]] std::size_t behind(char close, std::size_t from, bool escapes) const {
    for (; from < text_.size() && text_[from] != close; ++from) {
      from += escapes && text_[from] == '\\' ? 1U : 0U;
    }
    return from + 1;
  }

  /// Behind the group that the quote or bracket at `from` opens; npos where that takes a whole shell to find,
  /// or where shells differ. `quoted`: it stands inside double quotes.
  [[nodiscard]] std::size_t behind_group(std::size_t from, bool quoted, int depth = 0) const {
    constexpr int deepest = 50;
    const char open = at(from);
    const char close = open == '(' ? ')' : open == '{' ? '}' : open;
    for (std::size_t i = from + 1; i < text_.size() && open != '[' && depth < deepest; ++i) {
      const char c = text_[i];
      const bool dollar = c == '$' && std::string_view("({[").find(at(i + 1)) != std::string_view::npos;
      const bool is_code = open == '(';
      if (c == close) {
        return i + 1;
      }
      if (c == '\\') {
        ++i;
      } else if (c == '`') {
        i = behind('`', i + 1, true) - 1;
      } else if (dollar || (open != '"' && c == '"') || (is_code && c == '(')) {
        const std::size_t end =
            behind_group(dollar ? i + 1 : i, (quoted || open == '"') && open != '(', depth + 1);
        if (end == std::string::npos || (c == '"' && quoted && open == '{')) {
          break;
        }
        i = end - 1;
      } else if (open != '"' && c == '\'') {
        if (text_[i - 1] == '$' || (quoted && open == '{')) {
          break;
        }
        i = behind('\'', i + 1, false) - 1;
      } else if (is_code && ((c == '#' && text_[i - 1] <= ' ') || (c == '<' && at(i + 1) == '<') ||
                             text_.compare(i, 5, "case ") == 0)) {
        break;
      }
    }
    return std::string::npos;
  }

  void skip_group(std::size_t opening, std::string_view around) {
    const std::size_t end = behind_group(opening, text_[opening] == '"');
    word_ += '"';
    end == std::string::npos
        ? skip_to(text_.size(), "or behind quotes or brackets that nest in a way only a shell can follow")
        : skip_to(end, around);
  }

  void step() {
    const char c = text_[at_];
    if (c == placeholder) {
      return value();
    }
    if (c == '\\') {
      if (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') {
        word_ += '\\';
        spoken_ += text_[at_ + 1];
      }
      return skip_to(at_ + 2, "what follows a backslash");
    }
    if (c == '\'') {
      const std::size_t end = behind('\'', at_ + 1, false);
      word_ += '\'';
      spoken_ += text_.substr(at_ + 1, end - at_ - 2);
      return skip_to(end, "single quotes");
    }
    if (c == '"') {
      const std::size_t start = at_;
      skip_group(at_, "double quotes");
      if (at_ > start + 1) {
        spoken_ += text_.substr(start + 1, at_ - start - 2);
      }
      return;
    }
    if (c == '`') {
      word_ += '`';
      return skip_to(behind('`', at_ + 1, true), "backquotes");
    }
    if (c == '$' && (at(at_ + 1) == '\'' || at(at_ + 1) == '\\')) {
      return skip_to(text_.size(), "or behind $'…'");  // Also where a line ends between the two.
    }
    if (c == '$' && (at(at_ + 1) == '{' || at(at_ + 1) == '[')) {
      return skip_group(at_ + 1, "${…}");
    }
    if (c == '(' && at(at_ + 1) == '(') {
      return skip_group(at_, "arithmetic");
    }
    if (c == '#' && word_.empty() &&
        (at_ == 0 || std::string_view(" \t\n;&|()").find(text_[at_ - 1]) != std::string_view::npos)) {
      return skip_to(std::min(text_.find('\n', at_), text_.size()), "a comment", ShellPlace::comment);
    }
    if (c == '<' && at(at_ + 1) == '<' && at(at_ + 2) != '<') {
      return here_document();
    }
    separator(c);
    ++at_;
  }

  void separator(char c) {
    const bool redirects =
        c == '&' && (at(at_ + 1) == '>' || (at_ > 0 && (text_[at_ - 1] == '>' || text_[at_ - 1] == '<')));
    if (std::string_view(" \t<>()").find(c) != std::string_view::npos || redirects) {
      end_word();
    } else if (c == '|' && at(at_ + 1) != '|' && (at_ == 0 || text_[at_ - 1] != '|')) {
      end_word();
      piped_ = true;
    } else if (std::string_view("\n;&|").find(c) != std::string_view::npos) {
      end_pipeline();
    } else {
      word_ += c;
      spoken_ += c;
    }
  }

  /// A value becomes a quoted word, or a part of one.
  void value() {
    EntrypointPiece& name = next_name();
    const char left = at_ == 0 ? ' ' : text_[at_ - 1];
    const char right = at(at_ + 1);
    name.place = left == '$' ? ShellPlace::quoted : ShellPlace::word;
    name.around = left == '$' ? "what follows a $" : "";
    name.bare = std::string_view(" \t\n=/,:-").find(left) != std::string_view::npos &&
                (right == '\0' || std::string_view(" \t\n;/,:)").find(right) != std::string_view::npos);
    in_pipeline_.push_back(&name);
    if (word_.find('=') != std::string::npos && word_.front() != '-') {
      assigned_.push_back(&name);
    }
    word_ += placeholder;
    spoken_ += placeholder;
    ++at_;
  }

  /// Values cannot be written into its text, nor into the rest of its line. Its end has to be found with
  /// certainty.
  void here_document() {
    std::size_t from = at_ + 2 + (at(at_ + 2) == '-' ? 1 : 0);
    from = std::min(text_.find_first_not_of(" \t", from), text_.size());
    const std::size_t end = std::min(text_.find_first_of(" \t\n;&|<>()", from), text_.size());
    std::string delimiter = text_.substr(from, end - from);
    std::erase_if(delimiter, [](char c) { return c == '\'' || c == '"'; });
    const bool plain = !delimiter.empty() && delimiter.find_first_of("\\$`\1") == std::string::npos;
    const std::string_view rest = std::string_view(text_).substr(end, text_.find('\n', end) - end);
    std::size_t close = text_.find('\n', end);
    const bool simple = plain && rest.find_first_of("<\"'`\\(") == std::string_view::npos;
    while (simple && close != std::string::npos) {
      std::size_t start = close + 1;
      close = text_.find('\n', start);
      const std::size_t tabs = at(at_ + 2) == '-' ? text_.find_first_not_of('\t', start) : start;
      start = tabs == std::string::npos ? start : tabs;
      if (text_.substr(start, close - start) == delimiter) {
        skip_to(close, "a here-document");
        return end_pipeline();
      }
    }
    skip_to(text_.size(), "or behind a here-document");
  }

  void end_word() {
    if (!word_.empty()) {
      const bool is_shell = is_among(shells, program_of(spoken_));
      const bool code = runs_ && takes_program(last_);
      reparsed_ = reparsed_ || (code && word_.find(placeholder) != std::string::npos) ||
                  is_among(reparsers, spoken_) || (piped_ && is_shell);
      evaluates_ = evaluates_ || spoken_ == "eval";
      runs_ = is_shell || is_among(interpreters, program_of(spoken_)) ||
              (runs_ && spoken_.starts_with('-') && !code);
      last_ = spoken_;
    }
    word_.clear();
    spoken_.clear();
  }

  void end_pipeline() {
    end_word();
    for (EntrypointPiece* name : in_pipeline_) {
      if (reparsed_ && name->place == ShellPlace::word) {
        name->place = ShellPlace::reparsed;
        name->around = "a command that parses its words again";
      }
    }
    in_pipeline_.clear();
    last_.clear();
    reparsed_ = piped_ = runs_ = false;
  }

  std::vector<EntrypointPiece>& pieces_;
  std::string text_;                // The line, each placeholder one character.
  std::vector<std::size_t> names_;  // Which pieces they are.
  std::size_t named_ = 0;
  std::size_t at_ = 0;
  std::string word_;    // As far as it has been read; quoted parts left out.
  std::string spoken_;  // The same as the shell takes it: \eval and 'eval' are eval.
  std::string last_;    // The word before.
  std::vector<EntrypointPiece*> in_pipeline_;
  std::vector<EntrypointPiece*> assigned_;  // X={q}
  bool piped_ = false;
  bool runs_ = false;      // The words before are an interpreter and its options.
  bool reparsed_ = false;  // Something in this pipeline parses words again.
  bool evaluates_ = false;
};

}  // namespace

std::vector<EntrypointPiece> line_pieces(std::string_view line) {
  std::vector<EntrypointPiece> pieces = pieces_of(line);
  Scanner(pieces).scan();
  return pieces;
}

std::vector<std::vector<EntrypointPiece>> item_pieces(const std::vector<std::string>& items) {
  std::vector<std::vector<EntrypointPiece>> all;
  bool is_shell = false;
  bool runs = false;  // The items before are an interpreter and its options.
  std::string_view last;
  for (const std::string& item : items) {
    const bool code = runs && takes_program(last);
    all.push_back(code && is_shell ? line_pieces(item) : pieces_of(item));
    if (code && !is_shell) {
      for (EntrypointPiece& piece : all.back()) {
        piece.place = ShellPlace::reparsed;
        piece.around = "a program";
      }
    }
    const bool shell = is_among(shells, program_of(item));
    const bool interpreter = shell || is_among(interpreters, program_of(item));
    runs = interpreter || (runs && item.starts_with('-') && !code);
    is_shell = shell || (is_shell && !interpreter);
    last = item;
  }
  return all;
}

}  // namespace hpsearch::jobs
