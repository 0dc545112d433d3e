#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/experiment/slot_time.hpp"

namespace hpsearch::engine {

/// What the engine keeps of a deleted experiment: what it used, for accounts, and what is still to be
/// removed.
struct DeletedExperiment {
  ExperimentId id;
  std::string name;
  std::string workspace;  ///< Its name.
  std::string owner;      ///< The name of the user who submitted it; "" = not recorded.
  Instant created_at;
  Instant deleted_at;
  Duration kept_for;  ///< As in ExperimentDeleted.
  std::uint64_t trials = 0;
  std::uint64_t rows_removed = 0;  ///< The tables beside the log have no rows of so many trials any more.
  SlotTime slot_time;
  std::set<std::string> condemned;  ///< Its checkpoints that may still be there.
  Value effective;                  ///< Its config, with the place of its checkpoints, while there are any.
};

/// "365 days": how long the retention keeps something.
[[nodiscard]] std::string kept_for_text(Duration kept_for);

}  // namespace hpsearch::engine
