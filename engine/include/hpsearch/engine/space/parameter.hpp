#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::engine {

/// Always the same value; one grid point.
struct ConstParameter {
  Value val;
};

/// How values lie between the bounds of a range: evenly, or evenly in their logarithms.
enum class Scale : std::uint8_t { linear, log };

/// As experiment files spell them, in the enumerators' order.
inline constexpr std::array<std::string_view, 2> scale_names = {"linear", "log"};

/// An integer, both ends included; with a step only minval, minval + step, … (see Levels).
struct IntParameter {
  std::int64_t minval = 0;             ///< At least 1 on a log scale.
  std::int64_t maxval = 0;             ///< Above minval and one of the values; at most 2^53 on a log scale.
  std::optional<std::uint64_t> count;  ///< Grid points wanted, at least 1; a grid needs it, or a step.
  Scale scale = Scale::linear;
  std::optional<std::uint64_t> step;  ///< At least 1.
};

/// A real number on [minval, maxval). With a step: one of minval, minval + step, …, maxval (see Levels).
struct DoubleParameter {
  double minval = 0;  ///< Above 0 on a log scale.
  double maxval = 0;  ///< Above minval; with a step one of the values.
  std::optional<std::uint64_t> count;
  Scale scale = Scale::linear;
  std::optional<double> step;  ///< Above 0; at most 2^53 values.
};

/// base^u, u uniform on [minval, maxval): the bounds are exponents.
struct LogParameter {
  double base = 10;  ///< Above 0.
  double minval = 0;
  double maxval = 0;
  std::optional<std::uint64_t> count;
};

/// One of a listed, non-empty set of values of any kind.
struct CategoricalParameter {
  std::vector<Value> vals;
  bool ordered = false;  ///< Neighbours in the list are alike: ascending numbers, or the file says so.
};

using Parameter =
    std::variant<ConstParameter, IntParameter, DoubleParameter, LogParameter, CategoricalParameter>;

/// True for ConstParameter: nothing to search.
[[nodiscard]] bool is_constant(const Parameter& parameter) noexcept;

}  // namespace hpsearch::engine
