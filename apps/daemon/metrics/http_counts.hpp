#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "daemon/metrics/histogram.hpp"

namespace hpsearch::daemon {

/// What the HTTP interface has answered since the daemon started.
struct HttpCounts {
  /// Route pattern ("" for paths that nothing serves), method, first digit of the status.
  using Answered = std::tuple<std::string_view, std::string_view, unsigned>;

  std::map<Answered, std::uint64_t> answers{};
  Histogram<request_bounds.size()> seconds{request_bounds};
  std::uint64_t in_flight = 0;
  std::map<unsigned, std::uint64_t> denied{};  ///< By status: 401, 403, 429.
};

}  // namespace hpsearch::daemon
