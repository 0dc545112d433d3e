#pragma once

#include <cstdint>
#include <string_view>

#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/config/section.hpp"

namespace hpsearch::engine {

/// The top of an experiment's tree, and the sections in which the engine's fields stand beside those of the
/// program. Who describes programs reads the same sections after the engine, and refuses what neither knows.
///
/// Owns: nothing; the tree and the findings outlive it.
struct ExperimentSections {
  ExperimentSections(const Value& tree, Findings& findings);

  Section top;
  Section resources;
  Section checkpoint_storage;
  Section environment;
  bool seed_is_given = false;  ///< Set by read_engine_fields.
};

/// Reads every field that the engine decides by, and leaves the others unread. Problems and notes go to the
/// findings of the sections, in no order.
void read_engine_fields(ExperimentSections& sections, SearcherRegistry registry,
                        std::string_view fallback_name, std::uint64_t seed, ExperimentConfig& config);

/// What only the searcher knows: asked once its own sections are well-formed, whatever is wrong elsewhere.
void check_searcher(const ExperimentConfig& config, SearcherRegistry registry, Findings& findings);

/// Given points beside max_trials and the rule for duplicates: what is asked of a submission and of a change
/// that gives new ones, not of points that a living experiment may have started long ago.
void check_points(const ExperimentConfig& config, Problems& problems);

/// Sorts problems and notes by their paths, and takes the config back when there are problems.
[[nodiscard]] ParsedConfig parsed_config(ExperimentConfig config, bool seed_is_given, Findings findings);

}  // namespace hpsearch::engine
