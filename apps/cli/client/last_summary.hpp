#pragma once

#include <optional>

#include "cli/client/state_directory.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

// STATE/last.json: the experiment of a search as it was when its last run ended, so that lists need no daemon
// for it. It is removed before a run begins and before a change is sent. Python reads and removes it, too
// (clients/python/hpsearch/_local/places.py).

/// Writes it, before the run's lock is released. `experiment` is an item of the daemon's list. A failure
/// leaves the search without it: lists are slower then.
void save_last_summary(const StateDirectory& state, const engine::Value& experiment);

void forget_last_summary(const StateDirectory& state);

/// The experiment; null if a process uses the search or nothing is there.
[[nodiscard]] std::optional<engine::Value> last_summary(const StateDirectory& state);

}  // namespace hpsearch::cli
