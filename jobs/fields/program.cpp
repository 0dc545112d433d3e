#include "hpsearch/jobs/fields/program.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "fields/sections.hpp"
#include "hpsearch/jobs/dialects/determined.hpp"

namespace hpsearch::jobs {

namespace {

constexpr std::string_view only_harness =
    "has no effect here: only the Determined harness reads it, and it is started for launch.kind: determined";
constexpr std::string_view no_harness_container =
    "has no effect here: the Determined harness runs without a container";

/// Notes each field that has another value than its default.
template <class Fields, class Struct>
void note_set(Section& section, const Fields& fields, const Struct& values, std::string_view why) {
  engine::each_field(fields, [&](const auto& field) {
    const Value value = engine::write_field(field, values);
    if (!(value == engine::write_field(field, Struct{})) && !is_idle(value)) {
      section.note(field.name, std::string(why));
    }
  });
}

/// Only the harness reads these fields. A checkpoint policy of "none" is true of every program.
void note_without_harness(Section& top, HarnessFields given) {
  if (given.checkpoint_policy == CheckpointPolicy::none) {
    top.note("checkpoint_policy",
             "does not change whether the program saves checkpoints; preview assumes that it saves none");
    given.checkpoint_policy = CheckpointPolicy::best;
  }
  note_set(top, harness_fields, given, only_harness);
}

void note_with_harness(Section& section, const Environment& environment) {
  if (environment.image && *environment.image != Images{}) {
    section.note("image", std::string(no_harness_container));
  }
  if (environment.force_pull_image) {
    section.note("force_pull_image", std::string(no_harness_container));
  }
  if (environment.terminal) {
    section.note("terminal", "has no effect here: the Determined harness reads the output by itself");
  }
  if (environment.requirements == "install") {
    section.problem("requirements", "is \"install\"",
                    "nothing with the Determined harness: startup-hook.sh can install packages");
  }
}

/// The harness's host makes mounts of its own, and has no containers.
JobContract contract_of(const Program& program, const Space& space) {
  JobContract contract;
  contract.inputs = program.inputs;
  contract.outputs = program.outputs;
  for (const Space::Leaf& leaf : space.leaves()) {
    if (leaf.bool_style) {
      contract.bool_styles.push_back({leaf.path, *leaf.bool_style});
    }
  }
  std::sort(contract.bool_styles.begin(), contract.bool_styles.end(),
            [](const NamedBoolStyle& a, const NamedBoolStyle& b) { return a.name < b.name; });
  contract.pai_hps_strings = program.pai.json_values_are_texts;
  contract.ml_layout = program.ml_layout;
  contract.in_place = program.in_place;
  contract.terminal = program.environment.terminal && !program.needs_harness;
  if (!program.needs_harness) {
    const Images images = program.environment.image.value_or(Images{});
    contract.image = images.cpu;
    contract.gpu_image = images.cuda;
    contract.pull_image = program.environment.force_pull_image;
    for (const GivenMount& mount : program.bind_mounts) {
      contract.bind_mounts.push_back({mount.host_path, mount.container_path, mount.read_only});
    }
  }
  return contract;
}

template <class Fields, class Struct>
Value section_value(const Fields& fields, const Struct& from) {
  Value::Map map;
  write_given(fields, from, map);
  return map;
}

}  // namespace

void read_program_fields(engine::ExperimentSections& sections, const Space& space, Program& program,
                         bool runs_here) {
  Section& top = sections.top;
  engine::read_fields(top, program_fields, program);
  engine::read_fields(top, harness_fields, program.harness);
  engine::read_fields(top, foreign_sections_fields, program.foreign);
  engine::read_fields(sections.resources, program_resources_fields, program.resources);
  engine::read_fields(sections.environment, environment_fields, program.environment);
  read_checkpoint_storage(sections.checkpoint_storage, program.checkpoint_storage);
  if (runs_here && !top.has("entrypoint")) {
    top.missing("entrypoint", kind::Command{}.allowed());
  }
  program.needs_harness = needs_determined_harness(program.entrypoint, top.any("launch"));
  if (program.needs_harness) {
    note_with_harness(sections.environment, program.environment);
  } else {
    note_without_harness(top, program.harness);
  }
  program.contract = contract_of(program, space);
}

void finish_sections(engine::ExperimentSections& sections, const Program& program) {
  sections.top.finish();
  sections.resources.finish();
  sections.environment.finish();
  if (!program.checkpoint_storage.type.empty()) {
    sections.checkpoint_storage.finish();
  }
}

Result<Program> read_program(const Value& effective, const Space& space) {
  Findings findings;
  engine::ExperimentSections sections(effective, findings);
  Program program;
  const Value* workers = effective.at_path("workers");
  read_program_fields(sections, space, program, workers == nullptr || !(*workers == Value("external")));
  if (!findings.problems.empty()) {
    return Error{engine::Errc::bad_request, engine::describe(findings.problems.front())};
  }
  return program;
}

Value::Map to_value(const Program& program) {
  Value::Map map{
      {"environment", section_value(environment_fields, program.environment)},
      {"resources", section_value(program_resources_fields, program.resources)},
      {"checkpoint_storage", storage_value(program.checkpoint_storage)},
  };
  write_given(program_fields, program, map);
  write_given(harness_fields, program.harness, map);
  write_given(foreign_sections_fields, program.foreign, map);
  return map;
}

}  // namespace hpsearch::jobs
