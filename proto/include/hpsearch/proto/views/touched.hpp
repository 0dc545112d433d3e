#pragma once

#include <optional>

#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::views {

/// What an event is about.
struct Touched {
  std::optional<engine::ExperimentId> experiment;
  std::optional<engine::TrialNumber> trial;
};

/// O(1).
[[nodiscard]] Touched touched_by(const engine::Event& event);

}  // namespace hpsearch::views
