// Where in a line for sh a placeholder stands (placeholders.hpp). What dash, bash and busybox read differently, or what
// would take a whole shell to read, is given up: every placeholder behind it is `unsafe`.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "config/command_words.hpp"
#include "hpsearch/engine/config/placeholders.hpp"

namespace hpsearch::engine {

namespace {

bool is_name_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// A character of the line, or a name that a value will take the place of.
struct Symbol {
  char c = unknown_part;
  EntrypointPiece* name = nullptr;
};

class ShellLine {
 public:
  explicit ShellLine(std::vector<EntrypointPiece>& pieces) {
    std::size_t line = 1;
    for (EntrypointPiece& piece : pieces) {
      piece.line = line;
      if (piece.is_name) {
        symbols_.push_back({unknown_part, &piece});
        continue;
      }
      for (const char c : piece.text) {
        symbols_.push_back({c, nullptr});
      }
      line += static_cast<std::size_t>(std::count(piece.text.begin(), piece.text.end(), '\n'));
    }
  }

  void follow() {
    while (at_ < symbols_.size()) {
      if (lost_.empty()) {
        step();
      } else {
        give_up();
      }
    }
    end_command();
    // What has not been read may evaluate anything.
    if ((keeps_value_ && evaluates_variable_) || (hands_over_ && evaluates_input_) || !lost_.empty()) {
      for (const Symbol& symbol : symbols_) {
        if (symbol.name != nullptr && symbol.name->place < ShellPlace::evaluated &&
            symbol.name->place != ShellPlace::comment) {
          symbol.name->place = ShellPlace::evaluated;
          symbol.name->around = lost_.empty() ? "a line that evaluates a variable, or what a command prints" : lost_;
        }
      }
    }
  }

 private:
  // Nobody writes so many; each placeholder looks at all of them.
  static constexpr std::size_t most_frames = 50;

  enum class Inside : std::uint8_t { substitution, subshell, arithmetic, parameter, double_quotes };

  /// One command, as far as it has been read.
  struct Command {
    CommandWords words;
    std::string word;          // The one that is being read.
    bool begun = false;        // There is one: it may be empty.
    bool redirection = false;  // It names a file.
    bool sets = false;         // It is `set`, which keeps values in $1 and its kin.
    bool tests = false;        // Between [[ and ]], where ( ) & | separate nothing.
  };
  struct Frame {
    Inside inside;
    bool quoted = false;  // In double quotes, directly or not, but for a substitution in between.
    Command outer{};      // The command that a substitution or subshell stands in.
  };
  struct Heredoc {
    std::string delimiter;
    bool quoted = false;
    bool strips_tabs = false;
  };

  [[nodiscard]] char at(std::size_t index) const noexcept {
    return index < symbols_.size() ? symbols_[index].c : '\0';
  }
  [[nodiscard]] bool is(Inside inside) const noexcept { return !frames_.empty() && frames_.back().inside == inside; }

  void lose(std::string_view around) {
    if (lost_.empty()) {
      lost_ = around;
    }
  }

  // --- places ---

  /// The index behind the last character before `index`; lines that a backslash joins are one.
  [[nodiscard]] std::size_t before(std::size_t index) const noexcept {
    while (index >= 2 && at(index - 1) == '\n' && at(index - 2) == '\\') {
      index -= 2;
    }
    return index;
  }

  /// "$lr{x}" would name another variable, "~{x}" a home directory, "{x}>file" another descriptor.
  [[nodiscard]] bool stands_apart(std::size_t index, bool is_code) const noexcept {
    std::size_t left = before(index);
    if (is_code && left > 0 && at(left - 1) == '~') {
      return false;
    }
    while (left > 0 && is_name_character(at(left - 1))) {
      left = before(left - 1);
    }
    if (left > 0 && at(left - 1) == '$') {
      return false;
    }
    std::size_t right = index + 1;
    while (is_name_character(at(right)) || (at(right) == '\\' && at(right + 1) == '\n')) {
      right += at(right) == '\\' ? std::size_t{2} : std::size_t{1};
    }
    return !is_code || (at(right) != '<' && at(right) != '>');
  }

  void put(std::size_t index, ShellPlace place, std::string_view around, bool is_code = true) {
    EntrypointPiece& name = *symbols_[index].name;
    const std::size_t left = before(index);
    name.place = place;
    name.around = around;
    name.bare = stands_apart(index, is_code);
    if (!lost_.empty()) {
      name.place = ShellPlace::unsafe;
      name.around = lost_;
    } else if (left > 0 && at(left - 1) == '$') {
      name.place = ShellPlace::unsafe;
      name.around = "what follows a $";
    }
  }

  /// Whether the word that is being read is a program, by the innermost command or by one that this one stands in.
  [[nodiscard]] bool is_program(std::string_view& begun) const {
    const auto runs = [&begun](const Command& command) {
      begun = command.word;
      return command.words.role(command.word) != WordRole::plain;
    };
    if (!command_.redirection && runs(command_)) {
      return true;
    }
    return std::any_of(frames_.begin(), frames_.end(), [&runs](const Frame& frame) {
      return frame.inside == Inside::substitution && runs(frame.outer);
    });
  }

  /// A name outside of '…', `…` and here-documents, or (`in_single_quotes`) in the first of them.
  void place(std::size_t index, bool in_single_quotes) {
    const bool in_double_quotes = !in_single_quotes && is(Inside::double_quotes);
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
      if (frame->inside == Inside::arithmetic) {
        return put(index, ShellPlace::number, "arithmetic");
      }
      if (frame->inside == Inside::parameter) {
        return put(index, ShellPlace::evaluated, "${…}");
      }
      if (frame->inside != Inside::double_quotes) {
        break;
      }
    }
    keeps_value_ = keeps_value_ || std::any_of(frames_.begin(), frames_.end(), [](const Frame& frame) {
      return frame.inside == Inside::substitution;  // What it prints may go into a variable.
    });
    std::string_view begun;
    if (is_program(begun)) {
      const bool computes = begun.find("((") != begun.npos || begun.find('[') != begun.npos || begun.find("let ") != begun.npos;
      return put(index, computes ? ShellPlace::number : ShellPlace::evaluated, "a text that is evaluated as a program");
    }
    if (in_single_quotes) {
      return put(index, ShellPlace::single_quotes, "'…'", false);
    }
    put(index, in_double_quotes ? ShellPlace::double_quotes : ShellPlace::word,
        in_double_quotes ? "\"…\"" : std::string_view(), !in_double_quotes);
  }

  // --- words and commands ---

  void add_to_word(char c) {
    command_.word.push_back(c);
    command_.begun = true;
  }

  void end_word() {
    if (!command_.begun) {
      return;
    }
    const std::string& word = command_.word;
    if (!command_.redirection) {
      const bool in_substitution = std::any_of(frames_.begin(), frames_.end(), [](const Frame& frame) {
        return frame.inside == Inside::substitution;
      });
      if (word == "case" && in_substitution) {
        lose("a line with `case` inside $(…)");  // Its patterns end with ) too.
      }
      const std::size_t equals = word.find('=');
      const bool holds_value = word.find(unknown_part) != std::string::npos;
      const bool assigns = equals != std::string::npos && equals > 0 &&
                           std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                                       [](char c) { return is_name_character(c) || c == '+' || c == '[' || c == ']'; });
      command_.sets = command_.sets || word == "set";
      evaluates_variable_ = evaluates_variable_ || word == "declare" || word == "typeset" || word == "local";  // -i
      keeps_value_ = keeps_value_ || word == "for" || word == "read" || word == "getopts" ||
                     (holds_value && (assigns || command_.sets));
      command_.tests = word == "[[" || (command_.tests && word != "]]");
      if (!assigns) {
        command_.words.add(word);
      }
    }
    command_.word.clear();
    command_.begun = command_.redirection = false;
  }

  void end_command() {
    end_word();
    evaluates_input_ = evaluates_input_ || command_.words.evaluates_input();
    if (!command_.tests) {
      command_ = Command();
    }
  }

  /// Variables that the worker sets hold what it wrote, never a part of this line.
  void use_variable(std::size_t index) {
    std::string variable;
    if (at(index) == '{') {
      ++index;
    }
    while (is_name_character(at(index))) {
      variable.push_back(at(index++));
    }
    const bool positional = variable.empty() ? (at(index) == '@' || at(index) == '*')
                                             : (variable.front() >= '0' && variable.front() <= '9');
    keeps_value_ = keeps_value_ || positional;  // A function's arguments.
    std::string_view begun;
    if (!is_program(begun)) {
      return;
    }
    if (positional) {
      evaluates_variable_ = true;
    } else if (!variable.empty() && !variable.starts_with("HPSEARCH_") && !variable.starts_with("PAI_")) {
      evaluates_variable_ = true;
    }
  }

  void push(Inside inside, bool quoted) {
    if (frames_.size() >= most_frames) {
      lose("a line that is nested too deep");
    }
    frames_.push_back({inside, quoted, {}});
    if (inside == Inside::substitution || inside == Inside::subshell) {
      std::swap(frames_.back().outer, command_);
      command_ = Command();
    }
  }

  // --- reading ---

  /// What follows is not read.
  void give_up() {
    for (; at_ < symbols_.size(); ++at_) {
      if (symbols_[at_].name != nullptr) {
        put(at_, ShellPlace::unsafe, lost_);
      }
    }
    heredocs_.clear();
  }

  void step() {
    const Symbol& symbol = symbols_[at_];
    if (symbol.name != nullptr) {
      place(at_, false);
      add_to_word(unknown_part);
      ++at_;
      return;
    }
    switch (symbol.c) {
      case '\\':
        return backslash();
      case '`':
        return backquotes();
      case '$':
        return dollar();
      default:
        break;
    }
    if (is(Inside::double_quotes)) {
      in_double_quotes(symbol.c);
    } else if (is(Inside::parameter)) {
      in_parameter(symbol.c);
    } else if (is(Inside::arithmetic)) {
      in_arithmetic(symbol.c);
    } else {
      in_code(symbol.c);
    }
  }

  void backslash() {
    if (at_ + 1 < symbols_.size() && symbols_[at_ + 1].name != nullptr) {
      put(at_ + 1, ShellPlace::unsafe, "what a backslash stands before");
      add_to_word(unknown_part);
    } else if (at(at_ + 1) != '\n') {
      add_to_word(at(at_ + 1));
    }
    at_ += 2;
  }

  void backquotes() {
    for (++at_; at_ < symbols_.size() && at(at_) != '`'; ++at_) {
      if (at(at_) == '\\') {
        ++at_;
        if (at_ < symbols_.size() && symbols_[at_].name != nullptr) {
          put(at_, ShellPlace::unsafe, "what a backslash stands before");
        }
      } else if (symbols_[at_].name != nullptr) {
        put(at_, ShellPlace::number, "`…`");
      } else if (at(at_) == '\n') {
        quoted_newline();
      }
    }
    ++at_;
    add_to_word('$');
  }

  void dollar() {
    const bool quoted = !frames_.empty() && frames_.back().quoted;
    const char next = at(at_ + 1);
    evaluates_variable_ = evaluates_variable_ || is(Inside::arithmetic);
    if (next == '\\' && at(at_ + 2) == '\n') {
      lose("a line that is broken behind a $");
    }
    if (next == '[') {
      lose("a line with $[…]");  // Arithmetic for bash, a text for dash.
    }
    if (next == '(' && at(at_ + 2) == '(') {
      push(Inside::arithmetic, quoted);
      push(Inside::arithmetic, quoted);
      at_ += 3;
    } else if (next == '(') {
      push(Inside::substitution, false);
      at_ += 2;
    } else if (next == '{') {
      use_variable(at_ + 1);
      push(Inside::parameter, quoted);
      at_ += 2;
    } else if (next == '\'' && !quoted) {
      escaped_quotes();
    } else {
      use_variable(at_ + 1);
      add_to_word('$');
      ++at_;
    }
  }

  /// $'…': bash knows escapes in it, dash takes the $ for a text.
  void escaped_quotes() {
    bool escapes = false;
    for (at_ += 2; at_ < symbols_.size() && at(at_) != '\''; ++at_) {
      if (symbols_[at_].name != nullptr) {
        put(at_, ShellPlace::unsafe, "$'…'");
      }
      escapes = escapes || at(at_) == '\\';
    }
    ++at_;
    add_to_word('$');
    if (escapes) {
      lose("a line with a backslash inside $'…'");
    }
  }

  void quoted_newline() {
    if (!heredocs_.empty()) {
      lose("a line in which a text of several lines stands before a here-document");
    }
  }

  void single_quotes() {
    command_.begun = true;
    const bool shell = command_.words.is_shell_next();
    for (++at_; at_ < symbols_.size() && at(at_) != '\''; ++at_) {
      if (symbols_[at_].name != nullptr) {
        place(at_, true);
      } else if (at(at_) == '\n') {
        quoted_newline();
      } else if (at(at_) == '$' || at(at_) == '`' || at(at_) == '(') {
        evaluates_variable_ = evaluates_variable_ || shell;  // A shell in a shell: nothing of it is followed.
      }
      command_.word.push_back(at(at_));
    }
    ++at_;
  }

  void in_double_quotes(char c) {
    if (c == '"') {
      frames_.pop_back();
      command_.begun = true;
    } else {
      if (c == '\n') {
        quoted_newline();
      }
      add_to_word(c);
    }
    ++at_;
  }

  void in_parameter(char c) {
    if (c == '}') {
      frames_.pop_back();
      add_to_word('$');
    } else if (c == '\'' || c == '"') {
      if (frames_.back().quoted) {
        lose("a line with quotes inside \"${…}\"");  // Shells differ in what they mean there.
      } else if (c == '\'') {
        return single_quotes();
      } else {
        push(Inside::double_quotes, true);
      }
    } else if (c == '\n') {
      quoted_newline();
    }
    ++at_;
  }

  void in_arithmetic(char c) {
    // Some shells evaluate what a variable holds that is to be a number.
    evaluates_variable_ = evaluates_variable_ || (is_name_character(c) && (c < '0' || c > '9'));
    if (c == '(') {
      push(Inside::arithmetic, frames_.back().quoted);
    } else if (c == ')') {
      frames_.pop_back();
      add_to_word('$');
    } else if (c == '\'' || c == '"' || c == '\n' || c == '#') {
      lose("a line with quotes, comments or several lines inside ((…))");  // It may be a shell in a shell.
    }
    ++at_;
  }

  void in_code(char c) {
    switch (c) {
      case '\'':
        return single_quotes();
      case '"':
        command_.begun = true;
        push(Inside::double_quotes, true);
        break;
      case '#':
        if (!command_.begun) {
          return comment();
        }
        add_to_word(c);
        break;
      case ' ':
      case '\t':
        end_word();
        break;
      case '\n':
        end_command();
        ++at_;
        return here_documents();
      case ';':
        end_command();
        break;
      case '&':
      case '|':
        separator(c);
        break;
      case '<':
      case '>':
        return redirection(c);
      case '(':
        keeps_value_ = keeps_value_ || command_.word.ends_with('=');  // An array.
        end_word();
        if (command_.tests) {
          break;
        }
        if (at(at_ + 1) == '(') {
          push(Inside::arithmetic, false);
          push(Inside::arithmetic, false);
          ++at_;
        } else {
          push(Inside::subshell, false);
        }
        break;
      case ')':
        close();
        break;
      default:
        add_to_word(c);
    }
    ++at_;
  }

  /// 2>&1, >|file and &>file separate nothing.
  void separator(char c) {
    const std::size_t left = before(at_);
    const bool redirects = left > 0 && (at(left - 1) == '>' || at(left - 1) == '<');
    if (redirects || (c == '&' && at(at_ + 1) == '>')) {
      end_word();
    } else {
      end_command();
      const bool pipe = c == '|' && at(at_ + 1) != '|' && (left == 0 || at(left - 1) != '|');
      hands_over_ = hands_over_ || pipe;
      keeps_value_ = keeps_value_ || pipe;  // | while read x
    }
  }

  void close() {
    end_command();
    if (frames_.empty() || command_.tests) {
      return;  // Else a pattern of `case` ends.
    }
    if (!heredocs_.empty()) {
      lose("a line in which a here-document begins inside $(…) or (…)");
    }
    const bool in_word = is(Inside::substitution);
    command_ = in_word ? std::move(frames_.back().outer) : Command();  // Behind f() a command begins.
    frames_.pop_back();
    if (in_word) {
      add_to_word('$');
    }
  }

  void comment() {
    for (; at_ < symbols_.size() && at(at_) != '\n'; ++at_) {
      if (symbols_[at_].name != nullptr) {
        put(at_, ShellPlace::comment, "a comment");
      }
    }
  }

  void redirection(char c) {
    if (command_.begun && std::all_of(command_.word.begin(), command_.word.end(),
                                      [](char digit) { return digit >= '0' && digit <= '9'; })) {
      command_.word.clear();  // The number of a descriptor.
      command_.begun = false;
    }
    end_word();
    ++at_;
    if (c == '<' && at(at_) == '\\') {
      lose("a line with a backslash behind a <");
    }
    if (c == '<' && at(at_) == '<' && at(at_ + 1) != '<') {
      ++at_;
      return here_document();
    }
    while (at(at_) == '<' || at(at_) == '>') {
      ++at_;
    }
    hands_over_ = hands_over_ || c == '<' || at(at_) == '(';
    keeps_value_ = keeps_value_ || c == '<';  // read x <<< VALUE
    if (at(at_) == '(') {  // bash <(…), tee >(…)
      evaluates_input_ = evaluates_input_ || command_.words.evaluates_input();
      ++at_;
      push(Inside::substitution, false);
    } else {
      command_.redirection = true;
    }
  }

  /// Behind <<.
  void here_document() {
    Heredoc heredoc;
    if (at(at_) == '-') {
      heredoc.strips_tabs = true;
      ++at_;
    }
    while (at(at_) == ' ' || at(at_) == '\t') {
      ++at_;
    }
    char quote = '\0';
    if (at(at_) == '\'' || at(at_) == '"' || at(at_) == '\\') {
      quote = at(at_++);
      heredoc.quoted = true;
    }
    while (is_name_character(at(at_))) {
      heredoc.delimiter.push_back(at(at_++));
    }
    const bool closed = quote == '\0' || quote == '\\' || at(at_) == quote;
    if (closed && quote != '\0' && quote != '\\') {
      ++at_;
    }
    constexpr std::string_view ends = std::string_view(" \t\n;&|<>()\0", 12);
    if (!closed || heredoc.delimiter.empty() || ends.find(at(at_)) == std::string_view::npos) {
      lose("a line with a here-document whose end is not one plain word");
    }
    heredocs_.push_back(std::move(heredoc));
  }

  void here_documents() {
    const std::vector<Heredoc> all = std::exchange(heredocs_, {});
    for (const Heredoc& heredoc : all) {
      while (at_ < symbols_.size() && body_line(heredoc)) {
      }
    }
  }

  /// Reads a line of a here-document; false when it was its end.
  bool body_line(const Heredoc& heredoc) {
    std::size_t end = at_;
    std::string text;
    for (; end < symbols_.size() && at(end) != '\n'; ++end) {
      text.push_back(at(end));
    }
    if (heredoc.strips_tabs) {
      text.erase(0, std::min(text.find_first_not_of('\t'), text.size()));
    }
    if (text == heredoc.delimiter) {
      at_ = std::min(end + 1, symbols_.size());
      return false;
    }
    bool apart = false;  // Whatever follows, the line is not the end.
    bool expands = false;
    for (std::size_t tabs = heredoc.strips_tabs ? 1 : 0; at_ < end; ++at_) {
      const char c = at(at_);
      if (symbols_[at_].name != nullptr) {
        const bool ends_with_number = heredoc.delimiter.find_first_of("0123456789") != std::string::npos;
        put(at_, apart && !expands ? ShellPlace::evaluated
            : apart || !ends_with_number ? ShellPlace::number
                                         : ShellPlace::unsafe,
            "a here-document", false);
        continue;
      }
      tabs = c == '\t' ? tabs : 0;
      apart = apart || (tabs == 0 && heredoc.delimiter.find(c) == std::string::npos);
      expands = expands || (!heredoc.quoted && (c == '`' || (c == '$' && (at(at_ + 1) == '(' || at(at_ + 1) == '{' ||
                                                                          at(at_ + 1) == '['))));
    }
    const auto times = [&text](char c) { return std::count(text.begin(), text.end(), c); };
    if (!heredoc.quoted && (text.ends_with('\\') ||
                            (expands && (times('(') != times(')') || times('{') != times('}') || times('`') % 2 != 0)))) {
      lose("a line behind a here-document that goes on over the end of a line");
    }
    at_ = std::min(end + 1, symbols_.size());
    return true;
  }

  std::vector<Symbol> symbols_;
  std::size_t at_ = 0;
  std::vector<Frame> frames_;
  Command command_;
  std::vector<Heredoc> heredocs_;  // Begun in this line; their texts follow it.
  std::string_view lost_;          // Why nothing can be told any more.
  bool keeps_value_ = false;         // In a variable, or it may be.
  bool evaluates_variable_ = false;
  bool hands_over_ = false;          // What one command prints is what another reads.
  bool evaluates_input_ = false;     // Some command runs what it reads.
};

}  // namespace

std::vector<EntrypointPiece> line_pieces(std::string_view line) {
  std::vector<EntrypointPiece> pieces = pieces_of(line);
  ShellLine(pieces).follow();
  return pieces;
}

std::vector<std::vector<EntrypointPiece>> item_pieces(const std::vector<std::string>& items) {
  std::vector<std::vector<EntrypointPiece>> all;
  CommandWords words;
  for (const std::string& item : items) {
    std::vector<EntrypointPiece> pieces = pieces_of(item);
    std::string word;
    for (const EntrypointPiece& piece : pieces) {
      word += piece.is_name ? std::string(1, unknown_part) : piece.text;
    }
    const WordRole role = words.role(word);
    words.add(word);
    if (role == WordRole::shell_code) {
      pieces = line_pieces(item);
    } else if (role == WordRole::code) {
      for (EntrypointPiece& piece : pieces) {
        piece.place = ShellPlace::evaluated;
        piece.around = "a program of its own";
      }
    }
    all.push_back(std::move(pieces));
  }
  return all;
}

}  // namespace hpsearch::engine
