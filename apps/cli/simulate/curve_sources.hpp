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

/// Where simulated trainings get their measurements from, as --metric or --curves say.
struct CurveSource {
  std::unique_ptr<engine::sim::Curves> curves;
  std::string about;                       ///< For people: "metric = 0.01*trial".
  std::optional<std::uint64_t> seed = {};  ///< Of the experiment that was recorded.
  std::map<engine::TrialNumber, engine::sim::RecordedExit> recorded_exits =
      {};  ///< Of the experiment that was recorded.
};

/// Opens what the options name, for an experiment as `config` describes it. A usage failure says what is
/// wrong with the expression, the table or the name; other failures are those of reaching a daemon.
[[nodiscard]] Outcome<CurveSource> open_curves(const SimulateOptions& options,
                                               const engine::ExperimentConfig& config, const Output& output);

}  // namespace hpsearch::cli
