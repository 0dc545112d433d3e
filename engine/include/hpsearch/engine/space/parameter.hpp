#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::engine {

/// Always the same value; one grid point.
struct ConstParameter {
  Value val;
};

/// An integer, both ends included.
struct IntParameter {
  std::int64_t minval = 0;
  std::int64_t maxval = 0;             ///< Above minval.
  std::optional<std::uint64_t> count;  ///< Grid points wanted, at least 1; a grid needs it.
};

/// A real number on [minval, maxval).
struct DoubleParameter {
  double minval = 0;
  double maxval = 0;  ///< Above minval.
  std::optional<std::uint64_t> count;
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
};

using Parameter =
    std::variant<ConstParameter, IntParameter, DoubleParameter, LogParameter, CategoricalParameter>;

/// True for ConstParameter: nothing to search.
[[nodiscard]] bool is_constant(const Parameter& parameter) noexcept;

}  // namespace hpsearch::engine
