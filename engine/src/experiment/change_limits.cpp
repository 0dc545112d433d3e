#include "experiment/change_limits.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/experiment_sections.hpp"

namespace hpsearch::engine {
namespace {

constexpr std::array<std::string_view, 11> changeable = {
    "budget.max_failed_trials",
    "budget.max_slot_hours",
    "budget.max_time",
    "budget.target",
    "resources.max_slots",
    "resources.priority",
    "resources.weight",
    "searcher.max_concurrent_trials",
    "searcher.max_trials",
    "searcher.on_duplicate",
    "searcher.points_to_evaluate",
};

std::string all_changeable() {
  std::string names;
  for (const std::string_view name : changeable) {
    names += (names.empty() ? "" : name == changeable.back() ? " and " : ", ") + std::string(name);
  }
  return names;
}

Problem no_limit(const std::string& path) {
  return {
      path,
      "cannot change in an experiment that exists; submit another one, with the best configuration so far as "
      "searcher.points_to_evaluate",
      "what can change: " + all_changeable()};
}

/// Lays one section over the config's; what may not change is refused by name.
void lay_over(Value::Map& config, const std::string& section, const Value& changes, Problems& problems) {
  const Value::Map* fields = changes.as_map();
  if (fields == nullptr) {
    problems.push_back({section, "is " + quoted(changes), "a map of what changes"});
    return;
  }
  for (const auto& [key, value] : *fields) {
    const std::string path = section + "." + key;
    if (std::find(changeable.begin(), changeable.end(), path) == changeable.end()) {
      problems.push_back(no_limit(path));
      continue;
    }
    Value& held = config[section];
    if (held.as_map() == nullptr) {
      held = Value::Map();
    }
    if (section == "searcher" && value.is_null() && !held.as_map()->contains(key)) {
      problems.push_back({path, "does not apply to " + python_text(*held.at_path("name")), "leave it out"});
      continue;
    }
    (*held.as_map())[key] = value;
  }
}

/// Without what may change.
Value without_limits(Value config) {
  Value::Map* sections = config.as_map();
  for (const std::string_view path : changeable) {
    const std::string section(path.substr(0, path.find('.')));
    Value* held = sections == nullptr ? nullptr : sections->find(section);
    if (Value::Map* fields = held == nullptr ? nullptr : held->as_map()) {
      fields->erase(path.substr(section.size() + 1));
      if (fields->empty()) {
        sections->erase(section);
      }
    }
  }
  return config;
}

/// The changes laid over the config, read as at submission. Nothing if there are problems, which are all
/// added.
std::optional<ExperimentConfig> read_changed(const Value& effective, const Value& changes,
                                             SearcherRegistry registry, Problems& problems) {
  Value config = effective;
  for (const auto& [section, fields] : *changes.as_map()) {
    if (section == "searcher" || section == "resources" || section == "budget") {
      lay_over(*config.as_map(), section, fields, problems);
    } else {
      problems.push_back(no_limit(section));
    }
  }
  ParsedConfig parsed = parse_config(config, registry, "", 0);
  if (parsed.config && changes.at_path("searcher.points_to_evaluate") != nullptr) {
    check_points(*parsed.config, parsed.problems);
  }
  problems.insert(problems.end(), parsed.problems.begin(), parsed.problems.end());
  return problems.empty() ? std::move(parsed.config) : std::nullopt;
}

bool names_changes(const Value& changes) {
  return changes.as_map() != nullptr && !changes.as_map()->empty();
}

}  // namespace

bool differ_in_limits_only(const Value& before, const Value& after) {
  return without_limits(before) == without_limits(after);
}

Problems problems_of_change(const Value& effective, const Value& changes, SearcherRegistry registry) {
  Problems problems;
  if (names_changes(changes)) {
    static_cast<void>(read_changed(effective, changes, registry, problems));
  }
  return problems;
}

Result<ChangedConfig> changed_config(const Value& effective, const Value& changes,
                                     SearcherRegistry registry) {
  if (!names_changes(changes)) {
    return Error{Errc::bad_request, "no change is named (what can change: " + all_changeable() + ")"};
  }
  Problems problems;
  std::optional<ExperimentConfig> config = read_changed(effective, changes, registry, problems);
  if (!config) {
    std::string lines;
    for (const Problem& problem : problems) {
      lines += (lines.empty() ? "" : "\n") + describe(problem);
    }
    return Error{Errc::bad_request, lines};
  }
  Value changed = to_value(*config);
  return ChangedConfig{std::move(changed), std::make_shared<const ExperimentConfig>(*std::move(config))};
}

}  // namespace hpsearch::engine
