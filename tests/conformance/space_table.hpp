#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::conformance {

/// One space of a table, and what must come of it. The notation, one thing per line:
///
///     space NAME                       begins the next space
///     int|double|log|categorical|const PATH field=value …   a hyperparameter; dots nest
///     grid SIZE                        size of the grid
///     grid lacks PATH                  the grid is refused, and the reason names PATH
///     grid overflows                   the grid is refused as too large
///     values COUNT|endless             cardinality
///     point INDEX PATH=value …         a grid point, all of it
///
/// A value is null, true, false, a number, "text" or [value,value]; no blanks inside. `#` begins a comment.
struct SpaceCase {
  std::string name;
  engine::Value hyperparameters = engine::Value::Map();
  std::string grid;    // "12", "lacks a.b" or "overflows"; "" = not asked.
  std::string values;  // "12" or "endless"; "" = not asked.
  std::vector<std::pair<engine::Cardinality, engine::Value>> points;
};

/// Reads a table; throws std::runtime_error with file and line when it cannot.
[[nodiscard]] std::vector<SpaceCase> read_space_table(const std::string& file);

/// Equal, reals up to a few units in the last place: log axes pass through libm.
[[nodiscard]] bool about_equal(const engine::Value& a, const engine::Value& b);

}  // namespace hpsearch::conformance
