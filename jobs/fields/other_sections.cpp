#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "fields/sections.hpp"
#include "hpsearch/engine/base/quoted.hpp"

namespace hpsearch::jobs {

namespace {

// Empty, switched off, or what would be so without it.
bool is_silent(const Value& value) {
  if (const Value::Map* map = value.as_map()) {
    return std::all_of(map->begin(), map->end(), [](const auto& member) { return member.second.is_null(); });
  }
  const Value::List* list = value.as_list();
  return (list != nullptr && list->empty()) || value == Value(false) || value == Value("best");
}

// Keeps a section; it is worth a note when it says something.
void keep(Section& top, std::string_view key, std::string_view why, Value::Map& kept) {
  if (const Value* value = top.any(key)) {
    kept[key] = *value;
    if (!is_silent(*value)) {
      top.note(key, std::string(why));
    }
  }
}

void keep_silently(Section& top, std::string_view key, Value::Map& kept) {
  if (const Value* value = top.any(key)) {
    kept[key] = *value;
  }
}

std::vector<BindMount> read_bind_mounts(Section& top) {
  std::vector<BindMount> read;
  const Value::List* mounts = top.list("bind_mounts");
  for (std::size_t i = 0; mounts != nullptr && i < mounts->size(); ++i) {
    Section mount(&(*mounts)[i], top.path_of("bind_mounts[" + std::to_string(i) + "]"), top.findings());
    if ((*mounts)[i].as_map() == nullptr) {
      if ((*mounts)[i].is_null()) {
        top.problem("bind_mounts[" + std::to_string(i) + "]", "is null",
                    "a map of host_path and container_path");
      }
      continue;
    }
    const auto host_path = mount.text("host_path");
    if (!mount.has("host_path")) {
      mount.missing("host_path", "an absolute path");
    } else if (host_path && (host_path->empty() || host_path->front() != '/')) {
      mount.problem("host_path", "is " + quoted(Value(*host_path)), "an absolute path");
    }
    const auto container_path = mount.text("container_path");
    if (!mount.has("container_path")) {
      mount.missing("container_path", "a path inside the container");
    } else if (container_path &&
               (container_path->empty() || *container_path == "." || climbs(*container_path))) {
      mount.problem("container_path", "is " + quoted(Value(*container_path)),
                    "a path other than the working directory, without ..");
    }
    const bool read_only = mount.boolean("read_only").value_or(false);
    const auto propagation = mount.text("propagation");
    if (propagation && *propagation != "rprivate" && *propagation != "private") {
      mount.note("propagation", "has no effect here: mounts are private");
    }
    mount.finish();
    if (host_path && container_path && !container_path->empty()) {
      read.push_back({*host_path, *container_path, read_only});
    }
  }
  return read;
}

constexpr std::uint64_t most_of_a_role = 4096;

LaunchConfig read_launch(Section& top) {
  LaunchConfig config;
  Section launch = top.section("launch");
  if (const auto kind = launch.text_in("kind", launch_kind_names)) {
    config.kind = launch_kind_named(*kind).value_or(config.kind);
  }
  if (const auto rank = launch.text_in("rank", rank_level_names)) {
    config.rank = rank_level_named(*rank).value_or(config.rank);
  }
  Section roles = launch.section("roles");
  config.roles.ps = roles.integer("ps", 0, most_of_a_role).value_or(0);
  config.roles.evaluator = roles.integer("evaluator", 0, most_of_a_role).value_or(0);
  roles.finish();
  launch.finish();
  return config;
}

}  // namespace

void read_other_sections(Section& top, Program& program) {
  const bool harness = program.needs_harness;
  Value::Map& kept = program.other_sections;
  static constexpr std::array<std::string_view, 3> policies = {"best", "all", "none"};
  const auto keep_for_harness = [&](std::string_view key) {
    if (harness) {
      keep_silently(top, key, kept);
    } else {
      keep(top, key, only_harness, kept);
    }
  };
  top.boolean("perform_initial_validation");
  keep_for_harness("perform_initial_validation");
  if (const auto policy = top.text_in("checkpoint_policy", policies);
      !harness && policy && *policy == "none") {
    program.saves_no_checkpoints = true;
    keep(top, "checkpoint_policy",
         "does not change whether the program saves checkpoints; preview assumes that it saves none", kept);
  } else {
    keep_for_harness("checkpoint_policy");
  }
  for (const char* key : {"profiling", "optimizations"}) {
    top.map(key);
    keep_for_harness(key);
  }
  for (const char* key : {"slurm", "pbs"}) {
    top.map(key);
    keep(top, key, "has no effect here: programs are started by this program's own workers", kept);
  }
  top.boolean("debug");
  keep_for_harness("debug");
  for (const char* key : {"tensorboard_storage", "data_layer", "security", "internal"}) {
    top.map(key);
    keep(top, key, "has no effect here", kept);
  }
  std::vector<BindMount> mounts = read_bind_mounts(top);
  keep_silently(top, "bind_mounts",
                kept);  // There the harness's own host makes them, of the experiment as it stands.
  if (!harness) {
    program.contract.bind_mounts = std::move(mounts);
  }
  keep_silently(top, "launch", kept);
  program.launch = read_launch(top);
}

}  // namespace hpsearch::jobs
