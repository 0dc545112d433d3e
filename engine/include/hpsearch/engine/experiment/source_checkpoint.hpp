#pragma once

#include <string>
#include <string_view>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/units.hpp"

namespace hpsearch::engine {

/// The checkpoint that every trial of an experiment begins from: `searcher.source_trial_id` or
/// `source_checkpoint_uuid`, as found when the experiment was submitted. A trial begins with its weights, at
/// length 0; from its own first checkpoint on it goes on from those.
struct SourceCheckpoint {
  ExperimentId experiment;  ///< The experiment that it belongs to.
  TrialNumber trial;
  Units step{};      ///< What it had trained, in the unit of its own experiment.
  std::string path;  ///< As it was reported.

  static void list_fields(auto& fields, auto& self) {  // As events list theirs (events.hpp).
    fields("experiment", self.experiment);
    fields("trial", self.trial);
    fields.maybe("step", self.step);
    fields("path", self.path);
  }
};

/// How people name a checkpoint: "EXPERIMENT/TRIAL/ATTEMPT-STEP", the end of its path.
[[nodiscard]] std::string checkpoint_id(ExperimentId experiment, TrialNumber trial, std::string_view path);

}  // namespace hpsearch::engine
