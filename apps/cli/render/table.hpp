#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hpsearch::cli {

/// Rows under titles, with columns aligned by display width (not by bytes). Cells are made printable.
class Table {
 public:
  enum class Align { left, right };
  using Paint = std::function<std::string(std::string_view)>;
  struct Column {
    std::string title;
    Align align = Align::left;
    bool may_be_cut =
        false;  ///< May be cut if a line is wider than the terminal; the last left-aligned column always may.
    Paint paint{};  ///< Colours its cells; not set: they have none.
    /// Names of the same beginning often end in what tells them apart: cut in the middle.
    bool cut_in_middle = false;
    bool drop_if_equal = false;  ///< Left out of two or more rows if all have the same cell.
  };

  explicit Table(std::vector<Column> columns);

  /// One cell per column; missing ones are empty.
  void add(std::vector<std::string> cells);

  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

  /// Titles and rows, each with a line end, without blanks at the end of a line. With `max_width`, the widest
  /// columns that may be cut are cut until a line fits; 0 = no limit.
  [[nodiscard]] std::string text(std::size_t max_width = 0) const;

 private:
  [[nodiscard]] Table without_equal_columns() const;
  void narrow(std::vector<std::size_t>& widths, std::size_t max_width, std::size_t gap) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace hpsearch::cli
