#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>

#include "daemon/metrics/bounds.hpp"

namespace hpsearch::daemon {

/// The reason for which a worker was refused, for counters.
enum class Refusal : std::uint8_t {
  version,     ///< It uses another version of the protocol.
  key,         ///< Its key is not allowed, or belongs to another worker.
  invite,      ///< Its invite does not let it join.
  store,       ///< It belongs to another store, or to a newer copy of this one.
  clone,       ///< Two agents run on copies of its state directory.
  superseded,  ///< A later start of the same agent has replaced it.
  malformed,   ///< Its HELLO contains impossible values.
  engine,      ///< The engine rejected its join.
};
inline constexpr std::array<std::string_view, 8> refusal_names{
    "version", "key", "invite", "store", "clone", "superseded", "malformed", "engine"};

/// Counts of messages exchanged with workers since the daemon started.
struct WorkerCounts {
  std::map<std::string_view, std::uint64_t> received{};  ///< Messages, by type.
  std::map<std::string_view, std::uint64_t> sent{};
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t resyncs = 0;  ///< How often a worker without a session was asked for a HELLO.
  std::array<std::uint64_t, refusal_names.size()> refused{};
  std::uint64_t refused_reports = 0;  ///< The engine rejected them, or there was no room to store them.
  /// Seconds that a worker had been silent when its next message arrived.
  Histogram<silence_bounds.size()> silence{silence_bounds};
};

}  // namespace hpsearch::daemon
