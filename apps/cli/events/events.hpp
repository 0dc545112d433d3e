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

/// Prints the events of an experiment, as sentences or JSON lines; `follow`: also later events, until the
/// experiment has ended.
[[nodiscard]] int events(const EventsOptions& options, const Output& output);

}  // namespace hpsearch::cli
