#pragma once

#include <map>
#include <string>
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
using engine::Section;
using engine::short_number;

// One function per section of the experiment file that describes the program. Each reads its fields, refuses
// what neither it nor the engine knows, and keeps what has no effect here, with a note.

void read_entrypoint(Section& top, Entrypoint& entrypoint);
void read_metrics(Section& top, std::map<std::string, std::string>& metrics);

/// What the engine leaves of `resources`: nothing of it has an effect here but is_single_node.
void read_unused_resources(Section& section, bool& single_node, Value::Map& kept);

/// The engine has read what is kept of checkpoints. `type` becomes "" when it is wrong: which other fields
/// are right depends on it.
void read_checkpoint_storage(Section& section, CheckpointStorage& storage);

/// The images go into the contract, unless the program runs under the Determined harness, which has no
/// containers here.
void read_environment(Section& section, Program& program);

/// inputs, outputs, pai, layout and source, and the bool styles of the space.
void read_contract(Section& top, const Space& space, JobContract& contract, Value::Map& kept);

/// bind_mounts and launch, and the sections that only the harness reads or nobody: profiling, slurm and so
/// on.
void read_other_sections(Section& top, Program& program);

/// What a field comes to that only the Determined harness reads, in an experiment without it.
inline constexpr std::string_view no_harness_container =
    "has no effect here: the Determined harness runs without a container";
inline constexpr std::string_view only_harness =
    "has no effect here: only the Determined harness reads it, and it is started for launch.kind: determined";

[[nodiscard]] bool is_variable_name(std::string_view name) noexcept;
/// Names that the dynamic loader obeys, and those by which a worker tells a program who it is.
[[nodiscard]] bool is_reserved_variable(std::string_view name) noexcept;

/// The path lies below itself: no "..", which would lead out of it.
[[nodiscard]] bool climbs(std::string_view path) noexcept;

/// Reads everything of an experiment that the engine leaves unread.
/// `runs_here`: workers start it; else there need be none.
void read_program_fields(engine::ExperimentSections& sections, const Space& space, Program& program,
                         bool runs_here = true);

/// Refuses the fields that neither the engine nor this room has read.
void finish_sections(engine::ExperimentSections& sections, const Program& program);

/// What no program could be given becomes a problem, what programs are known to misread a note.
void check_contract(const ExperimentConfig& config, const Program& program, Findings& findings);

}  // namespace hpsearch::jobs
