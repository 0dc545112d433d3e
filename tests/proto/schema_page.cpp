#include "proto/schema_page.hpp"

#include <algorithm>
#include <fstream>
#include <map>

#include "hpsearch/engine/base/check.hpp"

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
      sections[heading];
    } else if (line.starts_with("|") && !heading.empty()) {
      const std::vector<std::string> cells = cells_of(line);
      if (cells[0] == "field") {
        const auto column = std::find(cells.begin(), cells.end(), "when missing");
        missing_column = column == cells.end() ? -1 : column - cells.begin();
      } else if (cells[0].starts_with("`") || cells[0].starts_with("*")) {
        const std::string missing = missing_column < 0 ? "" : cells[static_cast<std::size_t>(missing_column)];
        sections[heading].push_back({cells[0], cells[1], missing});
      }
    }
  }
  return sections;
}

const Sections& sections() {
  static const Sections all = read_page();
  return all;
}

}  // namespace

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

std::vector<std::string> schema_names(const std::string& heading) {
  std::vector<std::string> names;
  for (const SchemaField& field : schema_fields(heading)) {
    names.push_back(field.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace hpsearch::test
