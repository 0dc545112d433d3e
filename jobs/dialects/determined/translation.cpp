#include "dialects/determined/translation.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/engine/space/numbers.hpp"

namespace hpsearch::jobs {
namespace {

constexpr std::string_view before_0_13 = "is a field of Determined before 0.13";
constexpr std::string_view from_0_38 = "is a field of Determined from 0.38 on";
constexpr std::int64_t usual_batches_per_step = 100;

Value::Map* map_at(Value& tree, std::string_view key) {
  Value* found = tree.as_map()->find(key);
  return found == nullptr ? nullptr : found->as_map();
}

bool says(const Value::Map& map, std::string_view key) {
  const Value* value = map.find(key);
  return value != nullptr && !value->is_null();
}

/// Removes a field from a map and returns its value; null if there is none.
Value taken(Value::Map& map, std::string_view key) {
  const Value* value = map.find(key);
  if (value == nullptr) {
    return {};
  }
  Value held = *value;
  map.erase(key);
  return held;
}

std::string text_of(const Value& value) {
  return value.as_text() != nullptr ? *value.as_text() : std::string();
}

/// Fields of other versions become problems. The fields that they stand for are filled in, so that
/// the same mistake isn't reported twice.
class Searcher {
 public:
  /// `batches_per_step` is the field at the top of the file; null if there is none.
  Searcher(Value::Map& map, Value batches_per_step, Findings& findings)
      : map_(map), batches_per_step_(std::move(batches_per_step)), findings_(findings) {}

  void translate() {
    lengths_in_steps();
    lengths_in_time();
    name();
  }

 private:
  void problem(std::string_view key, std::string_view what, std::string allowed) {
    findings_.problems.push_back({path_below("searcher", key), std::string(what), std::move(allowed)});
  }

  void set_length(std::string_view unit, std::int64_t amount) {
    if (!says(map_, "max_length")) {
      map_["max_length"] = Value::Map{{std::string(unit), std::max<std::int64_t>(amount, 1)}};
    }
  }

  /// Until 0.12, lengths were numbers of steps of batches_per_step batches each.
  void lengths_in_steps() {
    const std::int64_t batches = engine::whole_number(batches_per_step_).value_or(usual_batches_per_step);
    if (!batches_per_step_.is_null()) {
      findings_.problems.push_back({"batches_per_step", std::string(before_0_13),
                                    "write scheduling_unit: " + std::to_string(batches)});
    }
    for (const std::string_view key : {"max_steps", "target_trial_steps"}) {
      if (!says(map_, key)) {
        continue;
      }
      const std::int64_t steps = engine::whole_number(taken(map_, key)).value_or(1);
      constexpr std::int64_t most = std::int64_t{1} << 53;
      const bool fits = steps > 0 && batches > 0 && steps <= most / batches;
      const std::int64_t length = fits ? steps * batches : 1;
      problem(key, before_0_13,
              "write max_length: {batches: " + std::to_string(length) + "}, which is " +
                  std::to_string(steps) + " steps of " + std::to_string(batches) + " batches");
      set_length("batches", length);
    }
    if (says(map_, "step_budget")) {
      map_.erase("step_budget");
      problem("step_budget", before_0_13, "write max_trials: the number of trials");
      complete_trials();
    }
  }

  /// From 0.38 on, the length of a search is counted by a metric.
  void lengths_in_time() {
    const std::string unit = text_of(taken(map_, "time_metric"));
    if (!says(map_, "max_time")) {
      return;
    }
    const std::int64_t length = engine::whole_number(taken(map_, "max_time")).value_or(1);
    const std::string known = unit == "records" || unit == "epochs" ? unit : "batches";
    problem("max_time", from_0_38,
            "write max_length: {" + known + ": " + std::to_string(length) + "}" +
                (unit.empty() ? "" : " in place of max_time and time_metric"));
    set_length(known, length);
  }

  void name() {
    const std::string name = text_of(map_.find("name") == nullptr ? Value() : *map_.find("name"));
    if (name == "adaptive_simple" || name == "sync_halving") {
      const std::string heir = name == "sync_halving" ? "async_halving" : "adaptive_asha";
      problem("name", "is " + quoted(Value(name)) + ", a searcher of Determined before 0.13",
              "write name: " + heir);
      map_["name"] = heir;
    } else if (name == "adaptive") {
      findings_.notes.push_back({"searcher.name", "read as `adaptive_asha`", ""});
      map_["name"] = "adaptive_asha";
    } else {
      return;
    }
    map_.erase("train_stragglers");
    if (says(map_, "budget")) {
      map_.erase("budget");
      problem("budget", before_0_13, "write max_trials: the number of trials");
      complete_trials();
    }
  }

  void complete_trials() {
    if (!says(map_, "max_trials")) {
      map_["max_trials"] = 1;
    }
  }

  Value::Map& map_;
  Value batches_per_step_;
  Findings& findings_;
};

void translate_resources(Value& tree, std::string_view key, Findings& findings) {
  Value::Map* resources = map_at(tree, key);
  if (resources == nullptr || resources->find("slots") == nullptr) {
    return;
  }
  Value slots = taken(*resources, "slots");
  const std::string path = path_below(key, "slots");
  if (slots.is_null()) {
    return;
  }
  if (!says(*resources, "slots_per_trial")) {
    findings.notes.push_back({path, "read as `slots_per_trial`", ""});
    (*resources)["slots_per_trial"] = std::move(slots);
  } else if (!(*resources->find("slots_per_trial") == slots)) {
    findings.problems.push_back(
        {path,
         "is " + quoted(slots) + ", and slots_per_trial is " + quoted(*resources->find("slots_per_trial")),
         "one of them"});
  }
}

/// Options of batch systems stood here before they had their own sections. Guides misspell registry_auth.
void translate_environment(Value::Map& environment, Findings& findings) {
  if (Value auth = taken(environment, "registrt_auth"); !auth.is_null()) {
    const std::string path = "environment.registrt_auth";
    if (says(environment, "registry_auth")) {
      findings.problems.push_back(
          {path, "stands beside `registry_auth`, which means the same", "one of them"});
    } else {
      findings.notes.push_back({path, "read as `registry_auth`", ""});
      environment["registry_auth"] = std::move(auth);
    }
  }
  for (const std::string_view key : {"slurm", "pbs"}) {
    const Value given = taken(environment, key);
    if (given.as_list() != nullptr && !given.as_list()->empty()) {
      findings.notes.push_back({path_below("environment", key),
                                "has no effect here: programs are started by this program's own workers",
                                ""});
    }
  }
}

/// Without a host_path, Determined uses its cluster's, below which it expects the storage_path.
void translate_storage(Value::Map& storage, Findings& findings) {
  const std::string type = text_of(storage.find("type") == nullptr ? Value() : *storage.find("type"));
  const std::string path =
      text_of(storage.find("storage_path") == nullptr ? Value() : *storage.find("storage_path"));
  const bool has_host = says(storage, "host_path") && !(*storage.find("host_path") == Value(""));
  if ((!type.empty() && type != "shared_fs") || has_host || path.empty() || path.front() != '/' ||
      !stays_below(path)) {
    return;
  }
  findings.notes.push_back({"checkpoint_storage.storage_path",
                            "is absolute, and host_path is empty: read as host_path: " + path, ""});
  storage["host_path"] = path;
  storage.erase("storage_path");
}

}  // namespace

void translate_determined(Value& tree, Findings& findings) {
  Value batches_per_step =
      taken(*tree.as_map(), "batches_per_step");  // Taken before any member is pointed to.
  if (Value::Map* searcher = map_at(tree, "searcher")) {
    Searcher(*searcher, std::move(batches_per_step), findings).translate();
  }
  translate_resources(tree, "resources", findings);
  translate_resources(tree, "resource", findings);
  if (Value::Map* environment = map_at(tree, "environment")) {
    translate_environment(*environment, findings);
  }
  if (Value::Map* storage = map_at(tree, "checkpoint_storage")) {
    translate_storage(*storage, findings);
  }
}

}  // namespace hpsearch::jobs
