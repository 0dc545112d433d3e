#include "cli/csv.hpp"

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::cli {

std::string csv_line(const std::vector<engine::Value>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string text = cells[i].is_null() ? "" : engine::python_text(cells[i]);
    line += i == 0 ? "" : ",";
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
      line += text;
      continue;
    }
    line += '"';
    for (const char c : text) {
      line += c == '"' ? "\"\"" : std::string(1, c);
    }
    line += '"';
  }
  return line + "\n";
}

}  // namespace hpsearch::cli
