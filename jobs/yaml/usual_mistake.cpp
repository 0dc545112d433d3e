#include "yaml/usual_mistake.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace hpsearch::yaml {
namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::string_view name_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

/// A line without its indentation, comment and blanks at the end.
struct Line {
  std::size_t number = 0;
  std::size_t indent = 0;
  bool has_tab = false;  ///< In its indentation.
  std::string_view text;
};

/// The value of `key: value`; "" if the line has none, or another form.
std::string_view value_of(std::string_view text) {
  const std::size_t end = text.find_first_not_of(name_letters);
  if (end == std::string_view::npos || end == 0 || !text.substr(end).starts_with(": ")) {
    return {};
  }
  const std::size_t value = text.find_first_not_of(blanks, end + 1);
  return value == std::string_view::npos ? std::string_view() : text.substr(value);
}

std::vector<Line> lines_until(std::string_view text, std::size_t last) {
  std::vector<Line> lines;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size() && number < last;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view whole = text.substr(at, end - at);
    at = end + 1;
    ++number;
    const std::size_t begin = std::min(whole.find_first_not_of(blanks), whole.size());
    std::string_view content = whole.substr(begin);
    if (const std::size_t comment = content.find(" #"); comment != std::string_view::npos) {
      content = content.substr(0, comment);
    }
    content = content.substr(0, content.find_last_not_of(blanks) + 1);
    const std::string_view value = lines.empty() ? std::string_view() : value_of(lines.back().text);
    const bool is_text =  // The line belongs to a value that is written below its key.
        !value.empty() && (value.front() == '|' || value.front() == '>') && begin > lines.back().indent;
    if (!content.empty() && content.front() != '#' && !is_text) {
      lines.push_back({number, begin, whole.substr(0, begin).find('\t') != std::string_view::npos, content});
    }
  }
  return lines;
}

/// "searcher" of `searcher` and of `searcher {name: random}`; "" if the line has another form.
std::string_view key_without_colon(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of(name_letters), text.size());
  const std::string_view behind = text.substr(end);
  const std::size_t value = behind.find_first_not_of(blanks);
  const bool flow =
      value != std::string_view::npos && value > 0 && (behind[value] == '{' || behind[value] == '[');
  return end > 0 && text.front() != '-' && (behind.empty() || flow) ? text.substr(0, end)
                                                                    : std::string_view();
}

/// The last bracket that is still open at the end of the text, outside of quotes and comments.
std::optional<std::pair<char, std::size_t>> open_bracket(std::string_view text) {
  std::vector<std::pair<char, std::size_t>> open;
  std::size_t line = 1;
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    line += c == '\n' ? 1 : 0;
    if (quote != 0) {
      at += quote == '"' && c == '\\' ? 1 : 0;
      quote = c == quote ? '\0' : quote;
    } else if ((c == '"' || c == '\'') &&
               (at == 0 || std::string_view(" \n[{,:").find(text[at - 1]) != std::string_view::npos)) {
      quote = c;
    } else if (c == '#' && at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\n')) {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (c == '{' || c == '[') {
      open.emplace_back(c, line);
    } else if ((c == '}' || c == ']') && !open.empty()) {
      open.pop_back();
    }
  }
  return open.empty() ? std::nullopt : std::optional(open.back());
}

std::optional<UsualMistake> in_block(const std::vector<Line>& lines) {
  const Line& stopped = lines.back();
  for (auto line = lines.rbegin(); line != lines.rend() && line - lines.rbegin() < 2; ++line) {
    if (const std::string_view key = key_without_colon(line->text); !key.empty()) {
      return UsualMistake{line->number, "there is no colon after \"" + std::string(key) + "\"",
                          std::string(key) + ":"};
    }
  }
  const std::string_view value = value_of(stopped.text);
  const bool plain =
      !value.empty() && std::string_view("\"'{[|>&*!").find(value.front()) == std::string_view::npos;
  if (plain && value.find(": ") != std::string_view::npos) {
    return UsualMistake{stopped.number, "its value has a colon and a blank in it", "the value in quotes"};
  }
  if (lines.size() < 2) {
    return std::nullopt;
  }
  const Line& before = lines[lines.size() - 2];
  if (stopped.indent > before.indent && !value_of(before.text).empty()) {
    return UsualMistake{stopped.number,
                        "it is indented by " + std::to_string(stopped.indent) + " spaces and line " +
                            std::to_string(before.number) + " by " + std::to_string(before.indent),
                        std::to_string(before.indent) + " spaces"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<UsualMistake> usual_mistake(std::string_view text, std::size_t line) {
  const std::vector<Line> lines = lines_until(text, line);
  if (lines.empty()) {
    return std::nullopt;
  }
  for (auto one = lines.rbegin(); one != lines.rend() && one - lines.rbegin() < 2; ++one) {
    if (one->has_tab) {
      return UsualMistake{one->number, "a tab indents it", "spaces to indent, no tabs"};
    }
  }
  if (auto found = in_block(lines)) {
    return found;
  }
  if (const auto bracket = open_bracket(text)) {
    return UsualMistake{bracket->second, std::string("its ") + bracket->first + " is never closed",
                        bracket->first == '{' ? "}" : "]"};
  }
  return std::nullopt;
}

}  // namespace hpsearch::yaml
