#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::cli {

struct CsvRow {
  std::size_t line = 0;  ///< That it begins on, from 1.
  std::vector<std::string> cells;
};

/// The rows of a text in CSV; empty lines are none. Blanks around cells that are not quoted are taken away.
/// bad_request: "line 3: a quote does not end".
[[nodiscard]] engine::Result<std::vector<CsvRow>> read_csv(std::string_view text);

}  // namespace hpsearch::cli
