#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::views {

/// Results of trials at one length, so that longer and shorter training isn't compared.
struct ComparedResults {
  struct Length {
    engine::Units length{};
    std::uint64_t results = 0;  ///< Finite ones.
  };
  std::vector<Length> lengths;  ///< At which trials are compared, ascending: the rungs, or the full length.
  engine::Units length{};       ///< The chosen length.
  std::vector<double> metric;   ///< By trial: its metric at that length; NaN if it has no finite one.
};

/// A length with fewer results is compared only if no length has this many.
inline constexpr std::uint64_t enough_results = 10;

/// The index of the longest of `lengths` with enough results; if none has, of the one with the most. Nothing
/// if `lengths` is empty.
[[nodiscard]] std::optional<std::size_t> compared_length(const std::vector<ComparedResults::Length>& lengths);

/// The results at `length`, or at the length that compared_length() chooses. O(trials).
[[nodiscard]] ComparedResults compared_results(const engine::ExperimentRecord& experiment,
                                               std::optional<engine::Units> length);

}  // namespace hpsearch::views
