#pragma once

#include <optional>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::engine {

/// How long a worker lasts from now on: clocks of machines differ.
struct TimeLeft {
  Duration to_end;
  Duration to_give_back;  ///< Until it takes no trials any more, and ends those that it has.
};

/// When the time of a worker is over.
struct WorkerEnd {
  Instant at;
  Instant gives_back_at;  ///< From then on it takes no trials, and ends those that it has.
  Instant since;          ///< When that was said first.
};

/// What the worker says now is what is known, but for the time that messages take.
[[nodiscard]] bool is_as_known(const std::optional<WorkerEnd>& known, const std::optional<TimeLeft>& said,
                               Instant now) noexcept;

}  // namespace hpsearch::engine
