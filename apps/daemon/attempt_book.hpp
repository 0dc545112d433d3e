#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::daemon {

/// Which worker ran which attempt, past ones too: whom to ask for a log. Built from the events alone.
class AttemptBook {
 public:
  struct Place {
    engine::AttemptKey key;
    engine::WorkerId worker;
  };

  void note(const engine::Event& event);

  /// The given attempt, or the trial's last one; nothing when there was none.
  [[nodiscard]] std::optional<Place> find(engine::ExperimentId experiment, engine::TrialNumber trial,
                                          std::optional<engine::AttemptNumber> attempt) const;

 private:
  std::map<std::pair<engine::ExperimentId, engine::TrialNumber>, std::vector<Place>> places_;
};

}  // namespace hpsearch::daemon
