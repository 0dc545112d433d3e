#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hpsearch/engine/base/value.hpp"
#include "tasks.hpp"

namespace hpsearch::quality {

/// A searcher with its settings.
struct Method {
  std::string name;   ///< "asha_3_from_3"
  std::string about;  ///< For people.
  engine::Value::Map
      searcher;  ///< The section of the experiment file, without metric, lengths and concurrency.
  /// What the searcher takes the maximum length for, when it is not the task's. Programs then have nothing
  /// more to train after the task's maximum: the last stretch takes no time and changes no metric. It is how
  /// rungs of 3, 9 and 27 epochs come to stand below 52: to the searcher the last one is 81.
  std::uint64_t nominal_length = 0;
  bool needs_grid = false;
};

[[nodiscard]] const std::vector<Method>& all_methods();

/// The experiment of this method on this task, with a seed; the search never runs out of trials, unless it is
/// a grid.
[[nodiscard]] engine::Value experiment(const Method& method, const Task& task, std::uint64_t seed,
                                       std::uint64_t workers);

}  // namespace hpsearch::quality
