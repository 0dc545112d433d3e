#pragma once

#include <cstdint>
#include <optional>

#include "cli/render/output.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {

struct EventsOptions {
  ExperimentOptions experiment;
  bool follow = false;
  std::optional<std::uint64_t> after;  ///< Only events with higher numbers (LSN).
};

/// What happened to an experiment, in sentences, or as JSON lines; `follow`: also what happens, until the
/// experiment has ended.
[[nodiscard]] int events(const EventsOptions& options, const Output& output);

}  // namespace hpsearch::cli
