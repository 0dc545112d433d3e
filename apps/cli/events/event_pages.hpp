#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "cli/client/client.hpp"
#include "cli/verbs/failure.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// Passes the events of an experiment in order. O(events of the store).
[[nodiscard]] std::optional<Failure> each_event(const Client& client, std::uint64_t experiment,
                                                const std::function<void(const engine::Value&)>& on_event);

}  // namespace hpsearch::cli
