#include "hpsearch/jobs/fields/program.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "fields/sections.hpp"
#include "hpsearch/jobs/dialects/determined.hpp"

namespace hpsearch::jobs {

namespace {

constexpr std::uint64_t most_kept_mb = 1'000'000'000;

template <class Items>
Value::List texts(const Items& items) {
  Value::List list;
  for (const std::string& item : items) {
    list.emplace_back(item);
  }
  return list;
}

Value::Map text_map(const std::map<std::string, std::string>& members) {
  Value::Map map;
  for (const auto& [key, value] : members) {
    map[key] = value;
  }
  return map;
}

Value entrypoint_value(const Entrypoint& entrypoint) {
  if (const auto* words = std::get_if<std::vector<std::string>>(&entrypoint.command)) {
    return texts(*words);
  }
  return *std::get_if<std::string>(&entrypoint.command);
}

Value::Map storage_value(const CheckpointStorage& storage) {
  Value::Map map = storage.fields;
  map["type"] = storage.type;
  if (storage.type == "shared_fs") {
    map["host_path"] = storage.host_path;
    map["storage_path"] = storage.storage_path;
  }
  return map;
}

void add(Value::Map& to, const Value::Map& from) {
  for (const auto& [key, value] : from) {
    Value* here = to.find(key);
    if (here == nullptr) {
      to[key] = value;
    } else if (here->as_map() != nullptr && value.as_map() != nullptr) {
      add(*here->as_map(), *value.as_map());
    }
  }
}

}  // namespace

void read_program_fields(engine::ExperimentSections& sections, const Space& space, Program& program,
                         bool runs_here) {
  Section& top = sections.top;
  if (const Value* component = top.any("component")) {
    program.other_sections["component"] = *component;
  }
  if (runs_here || top.has("entrypoint")) {
    read_entrypoint(top, program.entrypoint);
  }
  const Value* launch = top.any("launch");
  program.needs_harness = needs_determined_harness(program.entrypoint, launch);
  if (const Value::Map* data = top.map("data")) {
    program.data = *data;
  }
  if (const auto batches = top.integer("scheduling_unit", 1);
      batches && *batches != program.scheduling_unit) {
    program.scheduling_unit = *batches;
    if (!program.needs_harness) {
      top.note("scheduling_unit", std::string(only_harness));
    }
  }
  static constexpr std::array<std::string_view, 2> log_storages = {"daemon", "worker"};
  if (const auto where = top.text_in("log_storage", log_storages)) {
    program.log_storage = *where == "worker" ? LogStorage::worker : LogStorage::daemon;
  }
  Section kept_files = top.section("keep_files");
  program.keep_files_mb = kept_files.integer("max_mb", 0, most_kept_mb).value_or(program.keep_files_mb);
  kept_files.finish();
  Value::Map resources;
  read_unused_resources(sections.resources, program.single_node, resources);
  if (!resources.empty()) {
    program.other_sections["resources"] = std::move(resources);
  }
  read_checkpoint_storage(sections.checkpoint_storage, program.checkpoint_storage);
  read_environment(sections.environment, program);
  read_metrics(top, program.metrics);
  read_contract(top, space, program.contract, program.other_sections);
  read_other_sections(top, program);
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
  Value::Map environment{{"environment_variables", text_map(program.environment_variables)}};
  if (!program.checkpoint_signal.empty()) {
    environment["checkpoint_signal"] = program.checkpoint_signal;
  }
  if (program.finish_within != Program().finish_within) {
    environment["finish_within"] = program.finish_within.in_seconds();
  }
  if (program.contract.terminal) {
    environment["terminal"] = true;
  }
  if (!program.preload.empty()) {
    environment["preload"] = Value::List(program.preload.begin(), program.preload.end());
  }
  if (!program.mirrors.empty()) {
    environment["mirrors"] = Value::List(program.mirrors.begin(), program.mirrors.end());
  }
  Value::Map map{
      {"data", program.data},
      {"scheduling_unit", static_cast<std::int64_t>(program.scheduling_unit)},
      {"checkpoint_storage", storage_value(program.checkpoint_storage)},
      {"environment", std::move(environment)},
      {"keep_files", Value::Map{{"max_mb", static_cast<std::int64_t>(program.keep_files_mb)}}},
      {"log_storage", program.log_storage == LogStorage::worker ? "worker" : "daemon"},
      {"metrics", text_map(program.metrics)},
  };
  if (Value entrypoint = entrypoint_value(program.entrypoint); !(entrypoint == Value(""))) {
    map["entrypoint"] = std::move(entrypoint);
  }
  add(map, program.other_sections);
  add(map, {{"perform_initial_validation", false}, {"checkpoint_policy", "best"}});
  return map;
}

}  // namespace hpsearch::jobs
