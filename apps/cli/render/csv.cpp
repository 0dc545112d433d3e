#include "cli/render/csv.hpp"

#include <algorithm>
#include <utility>

namespace hpsearch::cli {

namespace {

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace

engine::Result<std::vector<CsvRow>> read_csv(std::string_view text) {
  std::vector<CsvRow> rows;
  if (text.starts_with("\xef\xbb\xbf")) {  // Spreadsheets begin UTF-8 with a byte order mark.
    text.remove_prefix(3);
  }
  for (std::size_t line = 1; !text.empty(); ++line) {
    CsvRow row{line, {}};
    for (bool more = true; more;) {
      std::string cell;
      const std::size_t quote = text.find_first_not_of(" \t");
      if (quote != std::string_view::npos && text[quote] == '"') {
        text.remove_prefix(quote + 1);
        for (bool open = true; open;) {
          const std::size_t end = text.find('"');
          if (end == std::string_view::npos) {
            return engine::Error{engine::Errc::bad_request,
                                 "line " + std::to_string(row.line) + ": a quote does not end"};
          }
          cell += text.substr(0, end);
          text.remove_prefix(end + 1);
          open = text.starts_with('"');
          if (open) {
            cell += '"';
            text.remove_prefix(1);
          }
        }
        line += static_cast<std::size_t>(std::count(cell.begin(), cell.end(), '\n'));
      }
      const std::size_t end = std::min(text.find_first_of(",\n"), text.size());
      cell += without_blanks(text.substr(0, end));
      row.cells.push_back(std::move(cell));
      more = end < text.size() && text[end] == ',';
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (row.cells.size() > 1 || !row.cells.front().empty()) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace hpsearch::cli
