#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>

#include "daemon/metrics/bounds.hpp"

namespace hpsearch::daemon {

/// Why a worker was refused, for counters.
enum class Refusal : std::uint8_t {
  version,     ///< It speaks another version of the protocol.
  key,         ///< Its key is not allowed, or belongs to another worker.
  store,       ///< It belongs to another store, or to a later copy of this one.
  clone,       ///< Two agents run on copies of its state directory.
  superseded,  ///< A later start of it has taken its place.
  malformed,   ///< What it says of itself is impossible.
  engine,      ///< The engine does not let it join.
};
inline constexpr std::array<std::string_view, 7> refusal_names{"version",    "key",       "store", "clone",
                                                               "superseded", "malformed", "engine"};

/// What was exchanged with workers since the daemon started.
struct WorkerCounts {
  std::map<std::string_view, std::uint64_t> received{};  ///< Messages, by type.
  std::map<std::string_view, std::uint64_t> sent{};
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t resyncs = 0;  ///< So often a worker without a session was told to introduce itself.
  std::array<std::uint64_t, refusal_names.size()> refused{};
  std::uint64_t refused_reports = 0;  ///< The engine rejected them, or there was no room to store them.
  /// How long a worker had been silent when its next message came, seconds.
  Histogram<silence_bounds.size()> silence{silence_bounds};
};

}  // namespace hpsearch::daemon
