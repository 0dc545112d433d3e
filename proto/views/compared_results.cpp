#include "hpsearch/proto/views/compared_results.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "hpsearch/proto/views/rung_ladder.hpp"

namespace hpsearch::views {

using engine::Units;

std::optional<std::size_t> compared_length(const std::vector<ComparedResults::Length>& lengths) {
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::uint64_t most = chosen ? std::min(lengths[*chosen].results, enough_results) : 0;
    if (!chosen || lengths[i].results >= most) {
      chosen = i;
    }
  }
  return chosen;
}

ComparedResults compared_results(const engine::ExperimentRecord& experiment, std::optional<Units> length) {
  const RungLadder ladder = rung_ladder(experiment, {}, {});
  ComparedResults compared;
  std::map<Units, std::uint64_t> finite;
  for (const RungLadder::Bracket& bracket : ladder.brackets) {
    for (const RungLadder::Rung& rung : bracket.rungs) {
      finite[rung.length] += static_cast<std::uint64_t>(
          std::count_if(rung.results.begin(), rung.results.end(),
                        [](const auto& result) { return result.metric.has_value(); }));
    }
  }
  for (const auto& [at, results] : finite) {
    compared.lengths.push_back({at, results});
  }
  const auto chosen = compared_length(compared.lengths);
  compared.length = length ? *length : chosen ? compared.lengths[*chosen].length : Units{};
  compared.metric.resize(experiment.trials.size(), std::numeric_limits<double>::quiet_NaN());
  for (const RungLadder::Bracket& bracket : ladder.brackets) {
    for (const RungLadder::Rung& rung : bracket.rungs) {
      for (const RungLadder::Result& result : rung.results) {
        if (rung.length == compared.length && result.metric) {
          compared.metric[result.trial.number()] = *result.metric;
        }
      }
    }
  }
  return compared;
}

}  // namespace hpsearch::views
