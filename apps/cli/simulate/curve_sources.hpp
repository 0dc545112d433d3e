#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cli/render/output.hpp"
#include "cli/verbs/failure.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/sim/curves.hpp"
#include "hpsearch/engine/sim/simulation.hpp"

namespace hpsearch::cli {

/// The source of measurements of simulated trainings, from --metric or --curves.
struct CurveSource {
  std::unique_ptr<engine::sim::Curves> curves;
  std::string about;                       ///< For users: "metric = 0.01*trial".
  std::optional<std::uint64_t> seed = {};  ///< Seed of the recorded experiment.
  std::map<engine::TrialNumber, engine::sim::RecordedExit> recorded_exits =
      {};  ///< From the recorded experiment.
};

/// Opens the source that the options name, for an experiment with this `config`. A usage failure explains
/// what is wrong with the expression, the table or the name; other failures are those of reaching a daemon.
[[nodiscard]] Outcome<CurveSource> open_curves(const SimulateOptions& options,
                                               const engine::ExperimentConfig& config, const Output& output);

}  // namespace hpsearch::cli
