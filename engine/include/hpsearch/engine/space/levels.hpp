#pragma once

#include <cstdint>
#include <optional>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/parameter.hpp"

namespace hpsearch::engine {

/// The values minval, minval + step, …, maxval of a range, numbered from 0: of every int (its step is 1 when
/// none is given), and of a double with a step.
///
/// Values of a double are exact decimals: with a step of 0.1 the third is 0.3 and not 0.30000000000000004.
///
/// Each value has a cell of [0, 1], and a uniform draw takes the value in whose cell it falls. On a linear
/// scale all cells are equally wide. On a log scale a cell reaches from half a step below its value to half a
/// step above it, in logarithms; the first begins at half the value if that is nearer.
///
/// Units:   places and coordinates are in [0, 1]; what lies outside is taken for the nearer end.
/// Threads: const calls may run together. Cost: O(1) per call.
class Levels {
 public:
  /// Nothing for a double without a step, a log, a categorical and a constant.
  [[nodiscard]] static std::optional<Levels> of(const Parameter& parameter);
  explicit Levels(const IntParameter& parameter) noexcept;
  /// The parameter has a step.
  explicit Levels(const DoubleParameter& parameter) noexcept;

  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }  ///< The number of values, less 1.
  [[nodiscard]] Scale scale() const noexcept { return scale_; }

  [[nodiscard]] Value value(std::uint64_t level) const noexcept;
  /// The level whose value this is, as its type has it or with the rounding of a few operations; nothing for
  /// what lies between levels, outside the range or is no number.
  [[nodiscard]] std::optional<std::uint64_t> find(const Value& value) const noexcept;
  /// NaN is taken for the least.
  [[nodiscard]] std::uint64_t nearest(double number) const noexcept;

  /// Where the level's value lies in its cell: the middle on a linear scale.
  [[nodiscard]] double place(std::uint64_t level) const noexcept;
  [[nodiscard]] std::uint64_t at(double place) const noexcept;
  struct Cell {
    double begin = 0;
    double end = 1;
  };
  [[nodiscard]] Cell cell(std::uint64_t level) const noexcept;

  /// The coordinate of Space::to_unit: 0 for the first level, 1 for the last, between them as the scale has
  /// it.
  [[nodiscard]] double unit(std::uint64_t level) const noexcept;
  /// Its inverse: the nearest level; exact for levels up to 2^45.
  [[nodiscard]] std::uint64_t at_unit(double coordinate) const noexcept;

 private:
  void set_cells() noexcept;
  [[nodiscard]] double number(std::uint64_t level) const noexcept;
  [[nodiscard]] double log_place(double number) const noexcept;

  bool is_whole_;
  Scale scale_;
  std::int64_t lowest_ = 0;   // For integers.
  std::uint64_t stride_ = 1;  // For integers.
  double minval_;             // As doubles, of both.
  double maxval_;
  double step_;
  std::uint64_t last_ = 0;
  // For reals: value = (first_ + level · units_) / power_ where all of these are whole and exact; else 0.
  double first_ = 0;
  double units_ = 0;
  double power_ = 0;
  // Logarithms on a log scale: of the ends, and of where the first cell begins and the last one ends.
  double log_min_ = 0;
  double log_max_ = 0;
  double log_low_ = 0;
  double log_high_ = 0;
};

}  // namespace hpsearch::engine
