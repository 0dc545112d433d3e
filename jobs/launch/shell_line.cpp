// Finds the place of each placeholder in a line for sh (placeholders.hpp). The scanner follows quotes and
// brackets and parses no commands. The line never has a value in it, so a wrong place can't execute one.

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "hpsearch/jobs/launch/entrypoint_start.hpp"
#include "hpsearch/jobs/launch/placeholders.hpp"

namespace hpsearch::jobs {
namespace {

constexpr char arithmetic = 'A';

bool is_one_of(char c, std::string_view letters) {
  return letters.find(c) != std::string_view::npos;
}

/// Whether these words start a program that executes its input.
bool reads_program(const std::vector<std::string>& words) {
  const auto last = std::find_if(words.rbegin(), words.rend(),
                                 [](const std::string& word) { return !word.starts_with('-'); });
  const std::string_view name = last == words.rend() ? "" : file_name_of(*last);
  return parses_again(words) || name.ends_with("sh") || name.starts_with("python");
}

class Scanner {
 public:
  void read(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool was_escaped = is_escaped_;
      step(text[i], i + 1 < text.size() ? text[i + 1] : '\0');
      if (was_escaped ? text[i] != '\n' : !is_escaped_) {
        before_ = was_escaped ? '\\' : text[i];
      }
    }
  }

  void locate(EntrypointPiece& name) {
    name.line = line_;
    piped_.push_back(&name);
    name.parsed_again = in_document_ ? documents_.front().is_program : parses_again(words_);
    std::tie(name.place, name.inside) = place();
    is_lost_ = is_lost_ || reads_delimiter_;
    is_escaped_ = false;
    word_ += '\1';
    document_line_ += '\1';
    before_ = '\1';
  }

  void end() { end_command(); }

 private:
  struct HereDocument {
    std::string delimiter{};
    bool strips_tabs = false;
    bool is_literal = false;  ///< The delimiter is quoted: nothing in the text is expanded.
    bool is_program = false;  ///< It is the input of an interpreter: bash <<EOF.
  };

  [[nodiscard]] std::pair<Place, std::string_view> place() const {
    if (is_lost_ || reads_delimiter_) {
      return {Place::refused, "or behind quotes or brackets that nest in a way only a shell can follow"};
    }
    if (is_escaped_) {
      return {Place::refused, "what follows a backslash"};
    }
    if (in_document_) {
      const bool is_code = document_has_code_ || has_code(document_line_);
      const bool fits = !documents_.front().is_literal && !is_code;
      return {fits ? Place::quotes : Place::refused,
              is_code ? "a command in a here-document" : "a here-document"};
    }
    if (in_comment_) {
      return {Place::comment, "a comment"};
    }
    for (const char open : open_) {
      if (const std::string_view what = open == '\''         ? "single quotes"
                                        : open == '`'        ? "backquotes"
                                        : open == '{'        ? "${…}"
                                        : open == arithmetic ? "arithmetic"
                                                             : "";
          !what.empty()) {
        return {Place::refused, what};
      }
    }
    return is_outside() ? std::pair{Place::word, std::string_view()}
                        : std::pair{Place::quotes, std::string_view("double quotes")};
  }

  static bool has_code(std::string_view text) {
    return text.find('`') != std::string_view::npos || text.find("$(") != std::string_view::npos;
  }

  [[nodiscard]] char top() const { return open_.empty() ? '\0' : open_.back(); }
  [[nodiscard]] bool is_outside() const { return open_.empty() || top() == '(' || top() == '`'; }
  [[nodiscard]] bool is_open(char bracket) const { return open_.find(bracket) != std::string::npos; }

  void step(char c, char next) {
    line_ += c == '\n' ? 1U : 0U;
    if (in_document_) {
      return read_document(c);
    }
    reads_delimiter_ = reads_delimiter_ && !is_one_of(c, "\n;&|<>()");
    if (reads_delimiter_) {
      return read_delimiter(c);
    }
    if (std::exchange(is_escaped_, false)) {
      word_ += c == '\n' ? "" : std::string(1, c);
    } else if (top() == '\'') {
      c == '\'' ? open_.pop_back() : word_.push_back(c);
    } else if (in_comment_ && c != '\n') {
      return;
    } else if (c == '\\') {
      is_escaped_ = true;
    } else if (c == '\'' || c == '"') {
      quote(c);
    } else if (c == '`') {
      is_open('`') ? open_.resize(open_.find('`')) : open_.push_back('`');
    } else if (c == '(' || c == ')' || (before_ == '$' && (c == '{' || c == '['))) {
      bracket(c, next);
    } else if (c == '}' && top() == '{') {
      open_.pop_back();
    } else if (is_outside()) {
      outside(c, next);
    } else {
      word_ += c;
    }
  }

  void quote(char c) {
    if (c == top()) {
      open_.pop_back();
    } else if (c == '\'' && top() == '"') {
      word_ += c;
    } else {
      // $'…' has escapes, and shells disagree about quotes in "${…}".
      is_lost_ = is_lost_ || (c == '\'' && before_ == '$') || (top() == '{' && is_open('"'));
      open_.push_back(c);
    }
  }

  void bracket(char c, char next) {
    const bool is_code = before_ == '$' || is_outside() || top() == arithmetic;
    if (c == '[') {
      is_lost_ = true;  // $[…], arithmetic of bash.
    } else if (c == '{') {
      open_.push_back('{');
    } else if (c == '(' && is_code) {
      end_command();
      open_.push_back(next == '(' || top() == arithmetic ? arithmetic : '(');
    } else if (c == ')' && (top() == '(' || top() == arithmetic)) {
      end_command();
      open_.pop_back();
    } else if (is_outside()) {
      end_command();
    }
  }

  void outside(char c, char next) {
    const bool begins_word = word_.empty() && is_one_of(before_, std::string_view("\0 \t\n;&|()", 9));
    if (c == '#' && begins_word && top() != '`') {
      in_comment_ = true;
    } else if (c == '<' && before_ == '<' && next != '<' && !was_here_string_) {
      documents_.push_back({.is_program = reads_program(words_)});
      reads_delimiter_ = true;
    } else if (is_one_of(c, " \t<>") || (c == '&' && (is_one_of(before_, "<>") || next == '>'))) {
      end_word();
    } else if (is_one_of(c, "\n;&|")) {
      end_command();
      is_piped_ = (c == '|' && before_ != '|' && next != '|') || (c == '&' && before_ == '|');
      piped_.resize(is_piped_ ? piped_.size() : 0);
    } else {
      word_ += c;
    }
    was_here_string_ = c == '<' && before_ == '<';
    if (c == '\n') {
      in_comment_ = false;
      in_document_ = !documents_.empty();
    }
  }

  void read_delimiter(char c) {
    HereDocument& document = documents_.back();
    if (is_one_of(c, " \t")) {
      reads_delimiter_ = document.delimiter.empty();
    } else if (c == '-' && document.delimiter.empty() && before_ == '<') {
      document.strips_tabs = true;
    } else if (is_one_of(c, "'\"\\")) {
      document.is_literal = true;
    } else {
      is_lost_ = is_lost_ || is_one_of(c, "$`");
      document.delimiter += c;
    }
  }

  void read_document(char c) {
    const HereDocument& document = documents_.front();
    const bool goes_on = is_escaped_ && !document.is_literal;
    is_escaped_ = c == '\\' && !is_escaped_;
    if (c != '\n' || goes_on) {
      document_line_ += c;
      return;
    }
    const std::size_t tabs = document.strips_tabs ? document_line_.find_first_not_of('\t') : 0;
    document_has_code_ = document_has_code_ || has_code(document_line_);
    if (tabs != std::string::npos && std::string_view(document_line_).substr(tabs) == document.delimiter) {
      documents_.pop_front();
      in_document_ = !documents_.empty();
      document_has_code_ = false;
    }
    document_line_.clear();
  }

  void end_word() {
    is_lost_ = is_lost_ || (top() == '(' && word_ == "case");  // The patterns of case have brackets.
    if (!word_.empty()) {
      words_.push_back(std::exchange(word_, {}));
    }
  }

  void end_command() {
    end_word();
    if (is_piped_ && reads_program(words_)) {
      std::for_each(piped_.begin(), piped_.end(), [](EntrypointPiece* piece) { piece->parsed_again = true; });
      std::for_each(documents_.begin(), documents_.end(), [](HereDocument& one) { one.is_program = true; });
    }
    words_.clear();
  }

  std::size_t line_ = 1;
  char before_ = '\0';       ///< The last character; a backslash for one that a backslash escapes.
  bool is_escaped_ = false;  ///< By a backslash.
  bool is_lost_ = false;     ///< The ends of quotes and brackets are unknown from here on.
  bool in_comment_ = false;
  std::string open_;  ///< Open quotes and brackets, the innermost last; `arithmetic` for that of $((.
  std::vector<std::string> words_;      ///< The words of this command.
  std::string word_;                    ///< The current word up to here, without its quotes.
  bool was_here_string_ = false;        ///< The last two characters are <<.
  std::deque<HereDocument> documents_;  ///< Documents whose text begins after this line, or has begun.
  bool reads_delimiter_ = false;
  bool in_document_ = false;
  std::string document_line_;
  bool document_has_code_ = false;       ///< An earlier line of this document has the beginning of a command.
  std::vector<EntrypointPiece*> piped_;  ///< The placeholders of this pipeline.
  bool is_piped_ = false;                ///< The command's input is a pipe.
};

}  // namespace

std::vector<EntrypointPiece> line_pieces(std::string_view line) {
  std::vector<EntrypointPiece> pieces = pieces_of(line);
  Scanner scanner;
  for (EntrypointPiece& piece : pieces) {
    piece.is_name ? scanner.locate(piece) : scanner.read(piece.text);
  }
  scanner.end();
  return pieces;
}

}  // namespace hpsearch::jobs
