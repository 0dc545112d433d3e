#include "proto/schema_page.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/proto/wire/version.hpp"

namespace hpsearch::test {
namespace {

std::string trimmed(const std::string& cell) {
  const auto first = cell.find_first_not_of(' ');
  return first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1);
}

/// The cells of "| a | b |", trimmed.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t at = 1;
  for (std::size_t bar = line.find('|', at); bar != std::string::npos; bar = line.find('|', at)) {
    cells.push_back(trimmed(line.substr(at, bar - at)));
    at = bar + 1;
  }
  return cells;
}

/// The head of a table of an event.
constexpr const char* head_of_table =
    "| field | type | unit | since | when missing | meaning |\n|---|---|---|---|---|---|\n";

using Sections = std::map<std::string, std::vector<SchemaField>>;

Sections read_page() {
  std::ifstream page(HPSEARCH_SCHEMA_FILE);
  HPSEARCH_CHECK(page.good(), "proto/SCHEMA.md is there");
  Sections sections;
  std::string heading;
  std::ptrdiff_t missing_column = -1;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) {
      heading.clear();
    } else if (line.starts_with("### ")) {
      heading = line.substr(4);
      missing_column = -1;
      sections[heading];
    } else if (line.starts_with("|") && !heading.empty()) {
      const std::vector<std::string> cells = cells_of(line);
      if (cells[0] == "field") {
        const auto column = std::find(cells.begin(), cells.end(), "when missing");
        missing_column = column == cells.end() ? -1 : column - cells.begin();
      } else if (cells[0].starts_with("`") || cells[0].starts_with("*")) {
        const std::string missing = missing_column < 0 ? "" : cells[static_cast<std::size_t>(missing_column)];
        sections[heading].push_back({cells[0], cells[1], missing, cells[2]});
      }
    }
  }
  return sections;
}

Sections& sections() {
  static Sections all = read_page();
  return all;
}

std::string read_file(const char* path) {
  std::ifstream file(path);
  HPSEARCH_CHECK(file.good(), path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The comments of a struct in events.hpp.
struct Comments {
  std::string of_struct;                         ///< All sentences on one line.
  std::map<std::string, std::string> of_fields;  ///< By key.
};

void append_words(std::string& text, const std::string& words) {
  text += (text.empty() || words.empty() ? "" : " ") + words;
}

/// Reads the lines that clang-format writes: a member may have several lines, and so may its comment.
Comments comments_on(const std::string& type) {
  const std::string header = read_file(HPSEARCH_EVENTS_FILE);
  const std::size_t named = header.find(" type = \"" + type + "\";");
  HPSEARCH_CHECK(named != std::string::npos, "the event is declared in events.hpp");
  const std::size_t begin = header.rfind("\n\n", named) + 2;
  std::istringstream lines(header.substr(begin, header.find("\n};", begin) - begin));
  static const std::regex member_of(R"((\w+)(\{\}| = [^;]*)?;)");
  static const std::regex field(R"x(fields(?:\.maybe)?\("(\w+)", self\.(\w+)\))x");
  Comments comments;
  std::map<std::string, std::string> of_members;
  std::string code;
  std::string member;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t comment = line.find("///");
    const bool follows = comment != std::string::npos && line.compare(comment, 4, "///<") == 0;
    const std::string words =
        comment == std::string::npos ? "" : trimmed(line.substr(comment + (follows ? 4 : 3)));
    code += line.substr(0, comment);
    if (std::smatch found; std::regex_search(code, found, member_of)) {
      member = found[1];
      code.clear();
    }
    if (follows) {
      append_words(of_members[member], words);
    } else if (line.starts_with("///")) {
      append_words(comments.of_struct, words);
    }
    if (std::smatch found; std::regex_search(line, found, field)) {
      comments.of_fields[found[1]] = of_members[found[2]];
    }
  }
  return comments;
}

/// "Absolute path." → "absolute path".
std::string phrase(std::string sentence) {
  if (sentence.ends_with('.')) {
    sentence.pop_back();
  }
  if (sentence.size() > 1 && std::islower(static_cast<unsigned char>(sentence[1])) != 0) {
    sentence[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence[0])));
  }
  return sentence;
}

std::string in_lines(const std::string& text) {
  constexpr std::size_t width = 120;
  std::istringstream words(text);
  std::string lines;
  std::size_t used = 0;
  for (std::string word; words >> word; used += word.size() + 1) {
    if (used + word.size() > width) {
      lines += '\n';
      used = 0;
    } else if (used > 0) {
      lines += ' ';
    }
    lines += word;
  }
  return lines;
}

}  // namespace

void write_schema_of_event(const std::string& type, const std::vector<SchemaField>& rows) {
  const std::vector<std::string> key = {"experiment", "trial", "attempt", "lease"};
  const Comments comments = comments_on(type);
  std::string section = "### " + type + "\n\n" + in_lines(comments.of_struct) + "\n\n" + head_of_table;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto from = rows.begin() + static_cast<std::ptrdiff_t>(i);
    if (rows.size() - i >= key.size() &&
        std::equal(key.begin(), key.end(), from,
                   [](const std::string& name, const SchemaField& row) { return row.name == name; })) {
      section += "| *attempt key* | | | " + std::to_string(proto::store_version) + " | refused | |\n";
      i += key.size() - 1;
      continue;
    }
    const auto comment = comments.of_fields.find(rows[i].name);
    const std::string meaning = comment == comments.of_fields.end() ? "" : phrase(comment->second);
    const auto cell = [](const std::string& text) { return text.empty() ? " |" : " " + text + " |"; };
    section += "| `" + rows[i].name + "` |" + cell(rows[i].type) + cell(rows[i].unit) +
               cell(std::to_string(proto::store_version)) + cell(rows[i].when_missing) + cell(meaning) + "\n";
  }
  std::string page = read_file(HPSEARCH_SCHEMA_FILE);
  const std::size_t end = page.find("## The store\n");
  HPSEARCH_CHECK(end != std::string::npos, "the events end where the store begins");
  page.insert(end, section + "\n");
  std::ofstream(HPSEARCH_SCHEMA_FILE) << page;
  sections() = read_page();
}

bool schema_has(const std::string& heading) {
  return sections().contains(heading);
}

std::vector<SchemaField> schema_fields(const std::string& heading) {
  std::vector<SchemaField> fields;
  const auto found = sections().find(heading);
  HPSEARCH_CHECK(found != sections().end(), heading.c_str());
  for (SchemaField field : found->second) {
    const std::string bare = field.name.substr(1, field.name.size() - 2);
    if (field.name.front() == '*') {
      const std::vector<SchemaField> shared = schema_fields(bare);
      fields.insert(fields.end(), shared.begin(), shared.end());
    } else {
      field.name = bare;
      fields.push_back(field);
    }
  }
  return fields;
}

}  // namespace hpsearch::test
