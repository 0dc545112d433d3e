#include "hpsearch/proto/views/csv_line.hpp"

#include <string_view>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::views {
namespace {

std::string text_of(const engine::Value& cell) {
  if (cell.is_null()) {
    return "";
  }
  constexpr std::string_view begins_formulas = "=+-@\t\r";
  const std::string text = engine::python_text(cell);
  const bool looks_like_one = cell.as_text() != nullptr && !text.empty() &&
                              begins_formulas.find(text.front()) != std::string_view::npos;
  return looks_like_one ? "'" + text : text;
}

}  // namespace

std::string csv_line(const std::vector<engine::Value>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string text = text_of(cells[i]);
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

}  // namespace hpsearch::views
