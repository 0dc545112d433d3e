#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/client/server.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/api/utilization.hpp"

namespace hpsearch::cli {

/// Processor, memory and devices that an attempt used on one worker, from its beginning on.
struct AttemptUse {
  struct Device {
    std::uint64_t index = 0;
    std::optional<double> utilization{};          ///< Percent, on average.
    std::optional<std::uint64_t> memory_bytes{};  ///< The largest.
  };
  std::optional<double> cores{};                ///< On average.
  std::optional<std::uint64_t> memory_bytes{};  ///< The largest.
  std::vector<Device> devices{};
};

/// Nothing: nothing was measured.
[[nodiscard]] std::optional<AttemptUse> use_in(const api::Utilization& columns);

/// Reads it from the daemon, or from the files of a run that has ended. Nothing measured: no columns.
[[nodiscard]] Outcome<api::Utilization> read_utilization(const Server& server, std::uint64_t experiment,
                                                         std::uint64_t trial, std::uint64_t attempt,
                                                         std::uint64_t worker);

/// "3.9 cores on average, at most 2.1 GB of memory, GPU 0 busy 87 % of the time with at most 31 GB"; `device`
/// is the word for one.
[[nodiscard]] std::string use_text(const AttemptUse& use, std::string_view device);

[[nodiscard]] engine::Value::Map use_value(const AttemptUse& use);

}  // namespace hpsearch::cli
