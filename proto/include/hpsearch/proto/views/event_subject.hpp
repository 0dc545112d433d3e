#pragma once

#include <optional>

#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::views {

/// The experiment and the trial that an event concerns.
struct Touched {
  std::optional<engine::ExperimentId> experiment;
  std::optional<engine::TrialNumber> trial;
};

/// O(1).
[[nodiscard]] Touched touched_by(const engine::Event& event);

}  // namespace hpsearch::views
