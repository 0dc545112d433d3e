#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "daemon/metrics/bounds.hpp"
#include "hpsearch/proto/metrics/prometheus_text.hpp"

namespace hpsearch::daemon {

/// Counts of the HTTP interface's answers since the daemon started.
struct HttpCounts {
  /// Route pattern ("" for unknown paths), method, first digit of the status.
  using Answered = std::tuple<std::string_view, std::string_view, unsigned>;

  std::map<Answered, std::uint64_t> answers{};
  Histogram<request_bounds.size()> seconds{request_bounds};
  std::array<proto::Exemplar, request_bounds.size() + 1> exemplars{};  ///< The last request of each bucket.
  std::uint64_t in_flight = 0;
  /// Counts one request that was answered after this many seconds.
  void take(const std::string& request, double after) {
    exemplars.at(seconds.bucket_of(after)) = {
        request, after,
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()};
    seconds.add(after);
  }

  std::map<unsigned, std::uint64_t> denied{};  ///< By status: 401, 403, 429.
};

}  // namespace hpsearch::daemon
