#pragma once

#include <cstdint>
#include <string_view>

#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/jobs/fields/engine_types.hpp"
#include "hpsearch/jobs/fields/program.hpp"

namespace hpsearch::jobs {

/// The result of reading a submitted experiment. `config` is set exactly when `problems` is empty; `program`
/// is complete only then.
struct ParsedExperiment : engine::ParsedConfig {
  Program program;
};

/// Reads a submitted experiment: the engine's configuration (`config`, which also has the program's fields in
/// the form that is passed on), and the program. Files of other platforms are translated first
/// (jobs/dialects). Refuses values that no program can receive, such as two hyperparameters that share one
/// variable, and notes fields without effect.
///
/// `fallback_name` is the name if the text has none (the file's stem); `seed` is recorded if the text has
/// none. Pure; reports all problems at once; a problem with an unknown key suggests the nearest known one.
[[nodiscard]] ParsedExperiment parse_submission(const Value& tree, engine::SearcherRegistry registry,
                                                std::string_view fallback_name, std::uint64_t seed);

}  // namespace hpsearch::jobs
