#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "history.hpp"

namespace hpsearch::searchers::model {

/// When θ is fitted, and which results are the model's rows: functions of how many results were heard and of
/// their order, so that a searcher that replayed the log has the same model as one that never stopped.
class RowPlan {
 public:
  RowPlan(std::uint64_t seed, std::size_t initial_results, std::size_t size);

  struct Fit {
    std::size_t index = 0;  ///< From 1; 0 = none so far.
    std::size_t count = 0;  ///< It sees the first so many results.
  };
  /// The last one with `results` heard. They are due at the first `initial_results` and whenever there are 8
  /// or a twentieth more.
  [[nodiscard]] Fit fit_at(std::size_t results) const;

  /// Rows are chosen among the first so many results; later results are appended. At every fit, and when
  /// there is no room left.
  [[nodiscard]] std::size_t chosen_at(std::size_t results) const;

  /// The rows of the first `count` results, ascending: all while they are few; else the rows of the best
  /// trials by latest score, and others at random. O(count).
  [[nodiscard]] std::vector<std::size_t> choose(const History& history, std::size_t count) const;

  /// At most `most` of the rows, at random, ascending.
  [[nodiscard]] std::vector<std::size_t> thin(std::vector<std::size_t> rows, std::size_t most,
                                              std::size_t count) const;

 private:
  [[nodiscard]] std::size_t chosen_of(std::size_t count) const noexcept;

  std::uint64_t seed_;
  std::size_t initial_results_;
  std::size_t size_;
};

}  // namespace hpsearch::searchers::model
