#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/verbs/failure.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// Some of an experiment's trials, in order of their numbers.
struct TrialRange {
  std::optional<std::uint64_t> after;  ///< Only those with higher numbers.
  std::optional<std::uint64_t> most;   ///< No more than so many.
};

/// The answer to a request for one page: GET on this target.
using GetPage = std::function<Outcome<engine::Value>(const std::string& target)>;

/// Hands over the experiment's trials one by one, while it asks for them page by page. Trials that change
/// meanwhile are shown as they were when their page was. The last one's number when there are more, else
/// nothing.
[[nodiscard]] Outcome<std::optional<std::uint64_t>> each_trial(
    const GetPage& get, std::uint64_t experiment, const TrialRange& range,
    const std::function<void(const engine::Value&)>& show);

/// The same with those that `query` chooses ("&sort=metric&where=lr<1", encoded), in its order, at most
/// `most`. Nothing, as their order has no place that a number names.
[[nodiscard]] Outcome<std::optional<std::uint64_t>> each_chosen_trial(
    const GetPage& get, std::uint64_t experiment, const std::string& query, std::optional<std::uint64_t> most,
    const std::function<void(const engine::Value&)>& show);

/// The same with the experiment's checkpoints, in order of their trials and of their coming. How many are
/// being deleted.
[[nodiscard]] Outcome<std::uint64_t> each_checkpoint(const GetPage& get, std::uint64_t experiment,
                                                     const std::function<void(const engine::Value&)>& show);

/// All metrics reports of a trial, in order.
[[nodiscard]] Outcome<engine::Value::List> metrics_of_trial(const GetPage& get, std::uint64_t experiment,
                                                            std::uint64_t trial);

}  // namespace hpsearch::cli
