#include "cli/table.hpp"

#include <algorithm>
#include <utility>

#include "cli/text.hpp"

namespace hpsearch::cli {

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) {
    cell = printable(cell);
  }
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::size_t max_width) const {
  constexpr std::size_t gap = 2;
  constexpr std::size_t least_last = 12;  // A last column narrower than this is not worth cutting.
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = display_width(columns_[c].title);
    for (const auto& row : rows_) {
      width = std::max(width, display_width(row[c]));
    }
    widths.push_back(width);
  }
  std::size_t before_last = 0;
  for (std::size_t c = 0; c + 1 < widths.size(); ++c) {
    before_last += widths[c] + gap;
  }
  std::size_t last_limit = static_cast<std::size_t>(-1);
  if (max_width > 0 && !columns_.empty() && columns_.back().align == Align::left) {
    last_limit = std::max(least_last, max_width > before_last ? max_width - before_last : 0);
  }

  std::string out;
  const auto write_row = [&](const auto& cell_at) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      std::string cell = cell_at(c);
      const bool last = c + 1 == columns_.size();
      if (last && display_width(cell) > last_limit) {
        cell = cut_to_width(cell, last_limit);
      }
      const std::size_t width = display_width(cell);
      const std::string fill(widths[c] > width ? widths[c] - width : 0, ' ');
      line += columns_[c].align == Align::right ? fill + cell : cell + fill;
      line += last ? "" : std::string(gap, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  write_row([this](std::size_t c) { return columns_[c].title; });
  for (const auto& row : rows_) {
    write_row([&row](std::size_t c) { return row[c]; });
  }
  return out;
}

}  // namespace hpsearch::cli
