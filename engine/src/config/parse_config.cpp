#include <algorithm>
#include <utility>

#include "base/quoted.hpp"
#include "config/component_section.hpp"
#include "config/sections.hpp"
#include "hpsearch/engine/config/determined.hpp"

namespace hpsearch::engine {

namespace {

constexpr std::uint64_t most_seed = 0x7fff'ffffU;

bool has_control_letter(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

void read_names(Section& top, std::string_view fallback_name, ExperimentConfig& config) {
  config.name = top.text("name").value_or("");
  if (has_control_letter(config.name)) {
    top.problem("name", "is " + quoted(Value(config.name)), "one line of text");
  }
  if (config.name.empty()) {
    config.name = fallback_name;
  }
  config.description = top.text("description").value_or("");
  config.labels = top.texts("labels");
  config.workspace = top.text("workspace").value_or("");
  config.project = top.text("project").value_or("");
  if (config.workspace.empty() != config.project.empty()) {
    const bool lacks_project = config.project.empty();
    top.problem(lacks_project ? "project" : "workspace", "is missing",
                lacks_project ? "workspace and project, or neither" : "project and workspace, or neither");
  }
  const Value::Map* data = top.map("data");
  config.data = data != nullptr ? *data : Value::Map();
}

void read_entrypoint(Section& top, Entrypoint& entrypoint) {
  const Value* value = top.any("entrypoint");
  if (value == nullptr) {
    top.missing("entrypoint", "a shell command, or a list of words run without a shell");
    return;
  }
  const auto is_bad_word = [](std::string_view word) { return word.find('\0') != std::string_view::npos; };
  if (const std::string* line = value->as_text()) {
    if (line->find_first_not_of(" \t\r\n") == std::string::npos || is_bad_word(*line)) {
      top.problem("entrypoint", "is " + quoted(*value), "a shell command");
    }
    entrypoint.command = *line;
    return;
  }
  const Value::List* list = value->as_list();
  if (list == nullptr || list->empty()) {
    top.problem("entrypoint", "is " + quoted(*value),
                "a shell command, or a list of words run without a shell");
    return;
  }
  std::vector<std::string> words;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Value& item = (*list)[i];
    if (const std::string* word = item.as_text();
        word != nullptr && !is_bad_word(*word) && (i > 0 || !word->empty())) {
      words.push_back(*word);
    } else if (const std::int64_t* number = item.as_integer(); number != nullptr && i > 0) {
      words.push_back(std::to_string(*number));
    } else {
      // Reals and booleans have more than one spelling, and the program sees only one.
      top.problem("entrypoint[" + std::to_string(i) + "]", "is " + quoted(item),
                  i == 0 ? "the program's name" : "a string; put it in quotes");
    }
  }
  entrypoint.command = std::move(words);
}

// Hyperparameters as they are to be written: one spelling, nothing that is only null.
Value effective_spelling(const Value& value) {
  const Value::Map* map = value.as_map();
  if (map == nullptr) {
    return value;
  }
  const Value* type = map->find("type");
  Value::Map spelled;
  for (const auto& [key, member] : *map) {
    if (type == nullptr) {
      spelled[key] = effective_spelling(member);
    } else if (*type == Value("categorical") && key == "val") {
      spelled["vals"] = member;
    } else if (!member.is_null() || key == "val") {
      spelled[key] = member;
    }
  }
  return spelled;
}

void read_seed(Section& top, Section& environment, std::uint64_t seed, ExperimentConfig& config) {
  Section reproducibility = top.section("reproducibility");
  std::optional<std::uint64_t> found = reproducibility.integer("experiment_seed", 0, most_seed);
  reproducibility.finish();
  // Guides show the seed in two other places; taken there too, as long as all say the same.
  for (Section* place : {&environment, &top}) {
    const auto other = place->integer("experiment_seed", 0, most_seed);
    if (!other) {
      continue;
    }
    place->note("experiment_seed", "read as `reproducibility.experiment_seed`");
    if (found && *found != *other) {
      place->problem("experiment_seed",
                     "is " + std::to_string(*other) + ", but elsewhere " + std::to_string(*found),
                     "one seed, at reproducibility.experiment_seed");
    }
    found = other;
  }
  config.experiment_seed = found.value_or(seed & most_seed);
}

void read_metrics(Section& top, std::map<std::string, std::string>& metrics) {
  const Value::Map* map = top.map("metrics");
  if (map == nullptr) {
    return;
  }
  for (const auto& [name, pattern] : *map) {
    const std::string* text = pattern.as_text();
    if (name.empty() || text == nullptr || text->empty()) {
      top.problem("metrics." + name, "is " + quoted(pattern),
                  "a metric's name, and a regular expression for it");
    } else {
      metrics.emplace(name, *text);
    }
  }
}

std::optional<std::uint64_t> read_records_per_epoch(Section& top) {
  const Value* value = top.any("records_per_epoch");
  if (value != nullptr && *value == Value(0)) {
    top.note("records_per_epoch", "is 0, read as absent");  // As Determined prints it when it is not set.
    return std::nullopt;
  }
  return top.integer("records_per_epoch", 1);
}

bool lies_in(const Problem& problem, std::string_view section) {
  return problem.path.compare(0, section.size(), section) == 0;
}

// What only the searcher knows: asked once its own sections are well-formed, whatever is wrong elsewhere.
void check_searcher(const ExperimentConfig& config, SearcherRegistry registry, Reading reading,
                    Findings& findings) {
  const SearcherKind* kind = find_kind(registry, config.searcher.name);
  const bool is_sound =
      std::none_of(findings.problems.begin(), findings.problems.end(), [](const Problem& problem) {
        return lies_in(problem, "searcher") || lies_in(problem, "hyperparameters");
      });
  if (kind != nullptr && kind->check != nullptr && is_sound) {
    kind->check(config, findings.problems);
  }
  if (reading == Reading::submitted && is_sound && !config.searcher.points_to_evaluate.empty()) {
    check_points(config.searcher, findings.problems);
  }
}

/// A program that is only listened to begins anew after a pause, unless its experiment says that it does not:
/// then a searcher that may do without pauses does.
void pause_only_who_can_go_on(const Value& tree, SearcherRegistry registry, ExperimentConfig& config,
                              Findings& findings) {
  const SearcherKind* kind = find_kind(registry, config.searcher.name);
  const bool has_choice = kind != nullptr && std::find(kind->fields.begin(), kind->fields.end(),
                                                       "stop_once") != kind->fields.end();
  const bool goes_on =
      config.min_checkpoint_period || tree.at_path("environment.checkpoint_signal") != nullptr;
  if (!has_choice || config.metrics.empty() || goes_on || tree.at_path("searcher.stop_once") != nullptr) {
    return;
  }
  config.searcher.stop_once = true;
  findings.notes.push_back(
      {"searcher.stop_once",
       "is taken as true: metrics are read from the program's output, as if it knew nothing of us, and "
       "such a program begins anew after a pause. Say stop_once: false if it goes on from "
       "HPSEARCH_LATEST_CHECKPOINT",
       ""});
}

void read_all(Value tree, SearcherRegistry registry, std::string_view fallback_name, std::uint64_t seed,
              Reading reading, ExperimentConfig& config, Findings& findings) {
  const std::optional<Component> component = use_component(tree, reading, findings);
  Section top(&tree, "", findings);
  Value::Map accepted;
  if (const Value* kept = top.any("component")) {
    accepted["component"] = *kept;
  }

  read_names(top, fallback_name, config);
  read_entrypoint(top, config.entrypoint);
  const bool harness = needs_determined_harness(config.entrypoint, tree.at_path("launch"));

  const Value* hyperparameters = top.any("hyperparameters");
  const std::size_t problems_before = findings.problems.size();
  if (hyperparameters != nullptr) {
    config.space = Space::parse(*hyperparameters, "hyperparameters", findings.problems, findings.notes);
    config.hyperparameters = effective_spelling(*hyperparameters);
  } else {
    config.hyperparameters = Value::Map();
  }
  const bool has_space = findings.problems.size() == problems_before;
  if (component && has_space && reading == Reading::submitted) {
    check_component(*component, config.space, findings);
  }

  std::optional<Length> max_length;
  if (!top.has("searcher")) {
    top.know("searcher");
    top.missing("searcher", "a map of name, metric, max_length and what the searcher needs");
  } else if (top.map("searcher") != nullptr) {
    read_searcher(top.section("searcher"), registry, has_space ? &config.space : nullptr, config.searcher,
                  max_length, accepted);
  }

  // The unit of max_length is the experiment's; every other length is turned into it.
  const UnitRates rates = unit_rates(config.space, config.records_per_epoch = read_records_per_epoch(top));
  if (max_length) {
    if (!max_length->unit.empty()) {
      config.unit = max_length->unit;
    }
    config.searcher.max_length = in_unit(*max_length, config.unit, rates, findings).value_or(Units{1});
  }
  const auto read_period = [&](std::string_view key, std::string_view why) -> std::optional<Units> {
    const std::optional<Length> period = read_length(top, key, 0);
    if (!period || period->amount == 0) {
      return std::nullopt;
    }
    if (!harness) {
      top.note(key, std::string(why));
    }
    return in_unit(*period, config.unit, rates, findings);
  };
  config.min_validation_period = read_period(
      "min_validation_period",
      "has no effect here on the program, which decides itself when it validates; preview takes it for how "
      "often that is");
  config.min_checkpoint_period = read_period(
      "min_checkpoint_period",
      "has no effect here on the program, which decides itself when it checkpoints; it says that the "
      "program does, and goes on from there after a pause");

  if (const auto batches = top.integer("scheduling_unit", 1); batches && *batches != config.scheduling_unit) {
    config.scheduling_unit = *batches;
    if (!harness) {
      top.note("scheduling_unit", std::string(only_harness));
    }
  }
  config.max_restarts = top.integer("max_restarts", 0, most_seed).value_or(config.max_restarts);
  config.lost_after = read_duration(top, "lost_after");
  config.progress_timeout = read_duration(top, "progress_timeout");

  std::string_view resources_key;
  const Value* resources = top.any("resources", "resource", resources_key);
  read_resources(Section(resources, std::string(resources_key), findings), config.resources, accepted);
  if (component && reading == Reading::submitted) {
    check_resources(*component, config.resources, findings);
  }
  read_budget(top.section("budget"), config.budget);
  if (config.budget.max_slot_hours && config.resources.slots_per_trial == 0) {
    findings.notes.push_back(
        {"budget.max_slot_hours", "has no effect here: slots_per_trial is 0, so no slot is held", ""});
  }
  read_checkpoint_storage(top.section("checkpoint_storage"), config.checkpoint_storage, accepted);
  Section environment = top.section("environment");
  read_seed(top, environment, seed, config);
  read_environment(std::move(environment), harness, config.environment_variables, config.contract, accepted);
  read_metrics(top, config.metrics);
  read_contract(top, config.space, config.contract, accepted);
  config.launch = read_accepted_sections(top, harness, config.contract, accepted);
  config.resources.least_workers = least_workers(config.launch);
  if (reading == Reading::submitted) {
    pause_only_who_can_go_on(tree, registry, config, findings);
  }
  top.finish();
  config.accepted = std::move(accepted);
  check_searcher(config, registry, reading, findings);
}

}  // namespace

ParsedConfig read_config(const Value& tree, SearcherRegistry registry, std::string_view fallback_name,
                         std::uint64_t seed, Reading reading) {
  ParsedConfig parsed;
  Findings findings;
  if (tree.as_map() == nullptr) {
    findings.problems.push_back({"", "is " + quoted(tree), "a map: the fields of an experiment"});
  } else {
    parsed.config.emplace();
    read_all(tree, registry, fallback_name, seed, reading, *parsed.config, findings);
  }
  const auto by_path = [](const Problem& a, const Problem& b) { return a.path < b.path; };
  std::stable_sort(findings.problems.begin(), findings.problems.end(), by_path);
  std::stable_sort(findings.notes.begin(), findings.notes.end(), by_path);
  if (!findings.problems.empty()) {
    parsed.config.reset();
  }
  parsed.problems = std::move(findings.problems);
  parsed.notes = std::move(findings.notes);
  return parsed;
}

ParsedConfig parse_config(const Value& tree, SearcherRegistry registry, std::string_view fallback_name,
                          std::uint64_t seed) {
  return read_config(tree, registry, fallback_name, seed, Reading::stored);
}

}  // namespace hpsearch::engine
