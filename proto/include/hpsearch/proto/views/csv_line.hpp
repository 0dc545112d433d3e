#pragma once

#include <string>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::views {

/// A line of CSV (RFC 4180, ended by a line feed): cells with commas, quotes or line ends are quoted. Null is
/// an empty cell, numbers read back as the same, lists and maps are JSON. A text that a spreadsheet would
/// take for a formula, because it begins with
/// =, +, -, @, a tab or a carriage return, gets a ' before it.
[[nodiscard]] std::string csv_line(const std::vector<engine::Value>& cells);

}  // namespace hpsearch::views
