#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::views {

/// Results of trials at one length, so that none is compared with that of a longer or shorter training.
struct ComparedResults {
  struct Length {
    engine::Units length{};
    std::uint64_t results = 0;  ///< Finite ones.
  };
  std::vector<Length> lengths;  ///< At which trials are compared, ascending: the rungs, or the full length.
  engine::Units length{};       ///< The one that was chosen.
  std::vector<double> metric;   ///< By trial: what it measured there; NaN: no finite result there.
};

/// With fewer results a length is compared only where none has as many.
inline constexpr std::uint64_t enough_results = 10;

/// The place of the longest of `lengths` with enough results; of that with the most where none has. Nothing:
/// there is no length.
[[nodiscard]] std::optional<std::size_t> compared_length(const std::vector<ComparedResults::Length>& lengths);

/// Those at `length`, or at the length that compared_length() chooses. O(trials).
[[nodiscard]] ComparedResults compared_results(const engine::ExperimentRecord& experiment,
                                               std::optional<engine::Units> length);

}  // namespace hpsearch::views
