#include "hpsearch/proto/api/utilization.hpp"

#include <algorithm>

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/workers/core/utilization/utilization_series.hpp"

// The input is the file with the utilization of an attempt, which its program can change. What is read has a
// limited size and is in the order of time.

namespace hpsearch::fuzz {
namespace {

void run_utilization(std::string_view bytes) {
  const auto stretches = proto::utilization_from(bytes);
  HPSEARCH_CHECK(stretches.size() <= proto::most_stretches, "there are not too many");
  HPSEARCH_CHECK(std::is_sorted(stretches.begin(), stretches.end(),
                                [](const auto& a, const auto& b) { return a.at_ms < b.at_ms; }),
                 "they are in the order of time");
  HPSEARCH_CHECK(proto::utilization_from(proto::utilization_text(stretches)).size() <= stretches.size(),
                 "what is written is read");
  for (const api::DeviceUtilization& device : api::utilization_of(stretches).devices) {
    HPSEARCH_CHECK(device.utilization.size() == stretches.size(), "columns are equally long");
  }
  workers::UtilizationSeries series(stretches);
  series.add({.at_ms = 1, .ms = 10'000});
  HPSEARCH_CHECK(series.stretches().size() <= proto::most_stretches, "a series goes on with them");
}

Seeds utilization_seeds() {
  return {proto::utilization_text(
              {{1'769'000'000'000, 10'000, 39'100, 2'147'483'648, {{0, 8'700, 33'285'996'544}}},
               {1'769'000'010'000, 10'000, std::nullopt, std::nullopt, {{0, std::nullopt, 5}, {0, 3, 4}}}}),
          "{\"at_ms\":5,\"ms\":0}\n\n{\"at_ms\":5\n"};
}

const Registered utilization_target({"utilization", run_utilization, utilization_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
