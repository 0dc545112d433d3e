#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::cli {

struct CsvRow {
  std::size_t line = 0;  ///< The line on which it begins, from 1.
  std::vector<std::string> cells;
};

/// The rows of a CSV text, without empty lines. Blanks around unquoted cells are removed. bad_request: "line
/// 3: a quote does not end".
[[nodiscard]] engine::Result<std::vector<CsvRow>> read_csv(std::string_view text);

}  // namespace hpsearch::cli
