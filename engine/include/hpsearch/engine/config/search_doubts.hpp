#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"

namespace hpsearch::engine {

/// Settings that are valid but probably a mistake.
struct Doubt {
  enum class About : std::uint8_t {
    nothing_varies,  ///< All trials run the same configuration; or ranges, and one trial.
    direction,       ///< It contradicts the metric's name.
    exponents,       ///< The bounds of a log range look like values.
    repeats,         ///< There are fewer configurations than trials.
    wide_range,      ///< A model does not reach every value of an int.
  };
  About about{};
  Problem note;
};

/// Whether the search would be useless, so that `hpsearch run` and hpsearch.tune() ask before they start it.
[[nodiscard]] constexpr bool is_worth_asking(Doubt::About about) noexcept {
  return about == Doubt::About::nothing_varies || about == Doubt::About::direction ||
         about == Doubt::About::exponents;
}

/// In the order of About. Pure. Cost: O(hyperparameters).
[[nodiscard]] std::vector<Doubt> doubts_of(const ExperimentConfig& config);

/// The notes of those that are worth asking about.
[[nodiscard]] std::vector<std::string> doubts_to_confirm(const ExperimentConfig& config);

}  // namespace hpsearch::engine
