#pragma once

#include <string>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::views {

/// A line of CSV (RFC 4180, with a line feed at its end). Cells with commas, quotes or line ends are quoted.
/// Null is an empty cell, numbers read back as the same number, lists and maps are JSON. A text that a
/// spreadsheet would read as a formula, because it begins with
/// =, +, -, @, a tab or a carriage return, gets a ' before it.
[[nodiscard]] std::string csv_line(const std::vector<engine::Value>& cells);

}  // namespace hpsearch::views
