#include "cli/render/fold.hpp"

#include <algorithm>
#include <vector>

#include "cli/render/text.hpp"

namespace hpsearch::cli {
namespace {

constexpr std::size_t descriptions = 30;  // CLI11 begins them in this column.

/// Columns of a text with the sequences that paint it.
std::size_t painted_width(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      at = std::min(text.find('m', at), text.size());
    } else {
      plain += text[at];
    }
  }
  return display_width(plain);
}

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

/// Where the lines that follow begin.
std::size_t hanging_of(std::string_view line) {
  const std::size_t indent = indent_of(line);
  if (indent == descriptions) {
    return indent;
  }
  const std::size_t gap = line.find("  ", indent);
  const std::size_t second = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
  if (second == std::string_view::npos) {
    return indent + 2;
  }
  const std::size_t column = painted_width(line.substr(0, second));
  return column <= descriptions ? column : indent + 2;
}

void add_folded(std::string& out, std::string_view line, std::size_t width, std::size_t hanging) {
  std::size_t at = indent_of(line);
  out.append(line, 0, at);
  std::size_t column = at;
  bool begins = true;  // Nothing but the indent stands in this line.
  while (at < line.size()) {
    const std::size_t word = line.find_first_not_of(' ', at);
    if (word == std::string_view::npos) {
      return;  // Blanks at the end.
    }
    const std::size_t end = std::min(line.find(' ', word), line.size());
    const std::size_t blanks = word - at;
    const std::size_t columns = painted_width(line.substr(word, end - word));
    if (!begins && column + blanks + columns > width) {
      out += '\n' + std::string(hanging, ' ');
      column = hanging;
    } else {
      out.append(blanks, ' ');
      column += blanks;
    }
    out.append(line, word, end - word);
    column += columns;
    at = end;
    begins = false;
  }
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Whether a description begins there: what stands before it ends two columns earlier at least.
bool is_described(std::string_view line) {
  return line.size() > descriptions && line[descriptions] != ' ' && line[descriptions - 1] == ' ' &&
         line[descriptions - 2] == ' ';
}

}  // namespace

std::string fold(std::string_view text, std::size_t width) {
  std::string out;
  for (const std::string_view line : lines_of(text)) {
    const std::size_t hanging = hanging_of(line);
    if (width <= hanging || painted_width(line) <= width) {
      out += line;
    } else {
      add_folded(out, line, width, hanging);
    }
    out += '\n';
  }
  out.pop_back();
  return out;
}

std::string fold_help(std::string_view page, std::size_t width) {
  std::string joined;
  bool is_first = true;
  bool in_description = false;
  for (const std::string_view line : lines_of(page)) {
    const bool goes_on = in_description && is_described(line) && indent_of(line) == descriptions;
    joined +=
        goes_on ? ' ' + std::string(line.substr(descriptions)) : (is_first ? "" : "\n") + std::string(line);
    in_description = is_described(line);
    is_first = false;
  }
  return fold(joined, width);
}

}  // namespace hpsearch::cli
