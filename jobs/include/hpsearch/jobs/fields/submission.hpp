#pragma once

#include <cstdint>
#include <string_view>

#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/jobs/fields/engine_types.hpp"
#include "hpsearch/jobs/fields/program.hpp"

namespace hpsearch::jobs {

/// What reading a submitted experiment came to. `config` is set exactly when `problems` is empty; `program`
/// is whole only then.
struct ParsedExperiment : engine::ParsedConfig {
  Program program;
};

/// Reads an experiment that somebody submits: what the engine decides by (`config`, which holds the program's
/// fields as they are passed on), and the program. Files of other platforms are translated on the way
/// (jobs/dialects). Refuses what no program could be given, such as two hyperparameters that share one
/// variable, and notes what has no effect here.
///
/// `fallback_name` names it when the text does not (the file's stem); `seed` is recorded when the text gives
/// none. Pure; all problems at once; unknown keys name the nearest known one.
[[nodiscard]] ParsedExperiment parse_submission(const Value& tree, engine::SearcherRegistry registry,
                                                std::string_view fallback_name, std::uint64_t seed);

}  // namespace hpsearch::jobs
