#pragma once

#include <string_view>

#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/experiment_sections.hpp"
#include "hpsearch/engine/config/section.hpp"
#include "hpsearch/jobs/fields/engine_types.hpp"
#include "hpsearch/jobs/fields/program.hpp"

namespace hpsearch::jobs {

using engine::any_of;
using engine::bool_style_named;
using engine::bool_style_names;
using engine::CategoricalParameter;
using engine::ConstParameter;
using engine::DoubleParameter;
using engine::ExperimentConfig;
using engine::Findings;
using engine::IntParameter;
using engine::LogParameter;
using engine::nearest;
using engine::Parameter;
using engine::path_below;
using engine::quoted;
using engine::ResourcesConfig;
using engine::short_number;

/// Reads `checkpoint_storage`, except the counts of kept checkpoints, which the engine reads. A wrong `type`
/// becomes "", because the type decides which other fields are allowed.
void read_checkpoint_storage(Section& section, CheckpointStorage& storage);
[[nodiscard]] Value::Map storage_value(const CheckpointStorage& storage);

/// Reads all fields of an experiment that the engine doesn't read.
/// `runs_here`: workers start the program; otherwise no entrypoint is required.
void read_program_fields(engine::ExperimentSections& sections, const Space& space, Program& program,
                         bool runs_here = true);

/// Rejects the fields that neither the engine nor this module has read.
void finish_sections(engine::ExperimentSections& sections, const Program& program);

/// Values that no program can receive become problems, values that programs often misread become notes.
void check_contract(const ExperimentConfig& config, const Program& program, Findings& findings);

}  // namespace hpsearch::jobs
