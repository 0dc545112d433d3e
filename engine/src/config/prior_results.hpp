#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/config/section.hpp"

namespace hpsearch::engine {

/// The samplers have kernels for some hundreds, and the log holds all of them with the experiment.
inline constexpr std::size_t most_prior_results = 2'000;

namespace kind {

/// Maps of hparams, length and metric. Whoever reads the experiment file puts them in the place of the names
/// of searches and files. A metric that is missing or not finite is read as NaN.
struct PriorResults {
  [[nodiscard]] std::optional<std::vector<PriorResult>> read(Section& section, std::string_view key) const;
  [[nodiscard]] Value write(const std::vector<PriorResult>& results) const;
  [[nodiscard]] std::string range() const;
  [[nodiscard]] std::string allowed() const { return "a list"; }
  [[nodiscard]] Value schema() const;
};

}  // namespace kind

/// Maps `searcher.prior` into the space: constants are filled in, and parameters that it doesn't have are
/// left out. Leaves out what lies outside the space, lacks an active parameter, is longer than max_length, or
/// has no finite metric. A note says how many results remain, and why others don't. O(results · leaves).
void keep_usable_prior(ExperimentConfig& config, Findings& findings);

}  // namespace hpsearch::engine
