#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/config/section.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {

/// A length as the file gives it: `{epochs: 3}`, or a bare 3, whose unit is "".
struct Length {
  std::uint64_t amount = 0;
  std::string unit;
  std::string path;  ///< Where it stands.
};

/// Reads a length of at least `least`.
[[nodiscard]] std::optional<Length> read_length(Section& section, std::string_view key, std::uint64_t least);

/// How much a batch and an epoch are, as far as the experiment says.
struct UnitRates {
  std::optional<std::uint64_t> records_per_epoch;
  std::optional<std::uint64_t> global_batch_size;  ///< Set when it is one constant positive integer.
  bool has_global_batch_size = false;              ///< There is such a hyperparameter, be it searched.
};

[[nodiscard]] UnitRates unit_rates(const Space& space, std::optional<std::uint64_t> records_per_epoch);

/// The length in `unit`, rounded down but never from something to nothing. What it lacks becomes a problem.
[[nodiscard]] std::optional<Units> in_unit(const Length& length, const std::string& unit,
                                           const UnitRates& rates, Findings& findings);

}  // namespace hpsearch::engine
