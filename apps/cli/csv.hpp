#pragma once

#include <string>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// A line of CSV (RFC 4180, ended by a line feed): cells with commas, quotes or line ends are quoted. Null is
/// an empty cell, numbers read back as the same, lists and maps are JSON.
[[nodiscard]] std::string csv_line(const std::vector<engine::Value>& cells);

}  // namespace hpsearch::cli
