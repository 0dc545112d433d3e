#include "cli/render/table.hpp"

#include <algorithm>
#include <utility>

#include "cli/render/text.hpp"

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

/// Narrows the widest columns first, and equally wide ones together.
void Table::narrow(std::vector<std::size_t>& widths, std::size_t max_width, std::size_t gap) const {
  constexpr std::size_t least = 12;  // A narrower column is not worth cutting.
  std::size_t line = widths.empty() ? 0 : gap * (widths.size() - 1);
  for (const std::size_t width : widths) {
    line += width;
  }
  for (; line > max_width; --line) {
    std::size_t* widest = nullptr;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      const bool last = c + 1 == widths.size() && columns_[c].align == Align::left;
      if ((last || columns_[c].may_be_cut) && (widest == nullptr || widths[c] >= *widest)) {
        widest = &widths[c];
      }
    }
    if (widest == nullptr || *widest <= least) {
      return;
    }
    --*widest;
  }
}

Table Table::without_equal_columns() const {
  std::vector<std::size_t> kept;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const bool equal = rows_.size() > 1 && std::all_of(rows_.begin(), rows_.end(), [&](const auto& row) {
                         return row[c] == rows_.front()[c];
                       });
    if (!columns_[c].drop_if_equal || !equal) {
      kept.push_back(c);
    }
  }
  Table left({});
  for (const std::size_t c : kept) {
    left.columns_.push_back(columns_[c]);
    left.columns_.back().drop_if_equal = false;
  }
  for (const auto& row : rows_) {
    std::vector<std::string>& cells = left.rows_.emplace_back();
    for (const std::size_t c : kept) {
      cells.push_back(row[c]);
    }
  }
  return left;
}

std::string Table::text(std::size_t max_width) const {
  constexpr std::size_t gap = 2;
  if (std::any_of(columns_.begin(), columns_.end(),
                  [](const Column& column) { return column.drop_if_equal; })) {
    return without_equal_columns().text(max_width);
  }
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = display_width(columns_[c].title);
    for (const auto& row : rows_) {
      width = std::max(width, display_width(row[c]));
    }
    widths.push_back(width);
  }
  if (max_width > 0) {
    narrow(widths, max_width, gap);
  }

  std::string out;
  const auto write_row = [&](const auto& cell_at, bool painted) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      std::string cell = cell_at(c);
      const bool last = c + 1 == columns_.size();
      if (display_width(cell) > widths[c]) {
        cell = columns_[c].cut_in_middle ? cut_in_middle(cell, widths[c]) : cut_to_width(cell, widths[c]);
      }
      const std::size_t width = display_width(cell);
      if (painted && columns_[c].paint) {
        cell = columns_[c].paint(cell);
      }
      const std::string fill(widths[c] > width ? widths[c] - width : 0, ' ');
      line += columns_[c].align == Align::right ? fill + cell : cell + fill;
      line += last ? "" : std::string(gap, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  write_row([this](std::size_t c) { return columns_[c].title; }, false);
  for (const auto& row : rows_) {
    write_row([&row](std::size_t c) { return row[c]; }, true);
  }
  return out;
}

}  // namespace hpsearch::cli
