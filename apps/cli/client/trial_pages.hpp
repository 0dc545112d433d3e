#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/verbs/failure.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// A range of an experiment's trials, by number.
struct TrialRange {
  std::optional<std::uint64_t> after;  ///< Only those with higher numbers.
  std::optional<std::uint64_t> most;   ///< At most this many.
};

/// Requests one page: GET on this target.
using GetPage = std::function<Outcome<engine::Value>(const std::string& target)>;

/// Passes the experiment's trials one by one, and requests them page by page. Each trial is shown as of the
/// time of its page. Returns the last one's number if there are more, otherwise null.
[[nodiscard]] Outcome<std::optional<std::uint64_t>> each_trial(
    const GetPage& get, std::uint64_t experiment, const TrialRange& range,
    const std::function<void(const engine::Value&)>& show);

/// The same with the trials that `query` selects ("&sort=metric&where=lr<1", encoded), in its order, at most
/// `most`. Returns null, because this order cannot be continued at a number.
[[nodiscard]] Outcome<std::optional<std::uint64_t>> each_chosen_trial(
    const GetPage& get, std::uint64_t experiment, const std::string& query, std::optional<std::uint64_t> most,
    const std::function<void(const engine::Value&)>& show);

/// The same with the experiment's checkpoints, by trial and order of arrival. Returns how many are being
/// deleted.
[[nodiscard]] Outcome<std::uint64_t> each_checkpoint(const GetPage& get, std::uint64_t experiment,
                                                     const std::function<void(const engine::Value&)>& show);

/// All metrics reports of a trial, in order.
[[nodiscard]] Outcome<engine::Value::List> metrics_of_trial(const GetPage& get, std::uint64_t experiment,
                                                            std::uint64_t trial);

}  // namespace hpsearch::cli
