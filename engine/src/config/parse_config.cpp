#include <algorithm>
#include <utility>

#include "config/experiment_fields.hpp"
#include "config/prior_results.hpp"
#include "config/searcher_section.hpp"
#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/config/experiment_sections.hpp"
#include "hpsearch/engine/config/search_doubts.hpp"

namespace hpsearch::engine {

namespace {

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
  if (config.workspace.empty() != config.project.empty()) {
    const bool lacks_project = config.project.empty();
    top.problem(lacks_project ? "project" : "workspace", "is missing",
                lacks_project ? "workspace and project, or neither" : "project and workspace, or neither");
  }
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

/// Whether the text gives a seed.
bool read_seed(Section& top, Section& environment, std::uint64_t seed, ExperimentConfig& config) {
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
  return found.has_value();
}

std::optional<std::uint64_t> read_records_per_epoch(Section& top) {
  const Value* value = top.any("records_per_epoch");
  if (value != nullptr && *value == Value(0)) {
    top.note("records_per_epoch", "is 0, read as absent");  // As other platforms print it when it is not set.
    return std::nullopt;
  }
  return top.integer("records_per_epoch", 1);
}

bool lies_in(const Problem& problem, std::string_view section) {
  return problem.path.compare(0, section.size(), section) == 0;
}

/// Draws must find such a configuration in time. A grid looks at its points.
void check_where(const ExperimentConfig& config, Problems& problems) {
  if (!config.space.is_constrained() || config.searcher.name == "grid") {
    return;
  }
  constexpr std::uint64_t one_in = 1'000;
  const Space::AllowedShare share = config.space.allowed_share();
  if (share.allowed * one_in < share.drawn) {
    problems.push_back({"where",
                        "is satisfied by " + (share.allowed == 0 ? "none" : std::to_string(share.allowed)) +
                            " of " + std::to_string(share.drawn) + " random configurations",
                        "conditions that at least one in " + std::to_string(one_in) +
                            " satisfies; narrow the ranges instead"});
  }
}

void read_space(Section& top, ExperimentConfig& config) {
  Findings& findings = top.findings();
  if (const Value* hyperparameters = top.any("hyperparameters")) {
    config.space = Space::parse(*hyperparameters, "hyperparameters", findings.problems, findings.notes);
    config.hyperparameters = effective_spelling(*hyperparameters);
  } else {
    config.hyperparameters = Value::Map();
  }
  config.space.constrain(config.where, "where", findings.problems);
}

/// The unit of max_length is the experiment's; every other length is turned into it.
void read_lengths(Section& top, const std::optional<Length>& max_length, ExperimentConfig& config) {
  const UnitRates rates = unit_rates(config.space, config.records_per_epoch = read_records_per_epoch(top));
  if (max_length) {
    if (!max_length->unit.empty()) {
      config.unit = max_length->unit;
    }
    config.searcher.max_length = in_unit(*max_length, config.unit, rates, top.findings()).value_or(Units{1});
  }
  const auto read_period = [&](std::string_view key) -> std::optional<Units> {
    const std::optional<Length> period = read_length(top, key, 0);
    if (!period || period->amount == 0) {
      return std::nullopt;
    }
    return in_unit(*period, config.unit, rates, top.findings());
  };
  config.min_validation_period = read_period("min_validation_period");
  config.min_checkpoint_period = read_period("min_checkpoint_period");
}

template <class Struct, class Fields>
void read_own_section(Section section, const Fields& fields, Struct& to) {
  read_fields(section, fields, to);
  section.finish();
}

/// Trials that clients run hold no slot of a worker.
void read_workers(ExperimentConfig& config, Section& resources) {
  config.resources.external = config.workers == TrialWorkers::external;
  if (!config.resources.external) {
    return;
  }
  const std::uint64_t slots = config.resources.slots_per_trial;
  if (slots > 1) {
    resources.problem("slots_per_trial", "is " + std::to_string(slots),
                      "0, or leave it out: with `workers: external` trials hold no slots");
  }
  config.resources.slots_per_trial = 0;
}

void note_unreachable_limits(const ExperimentConfig& config, Section& resources) {
  const std::uint64_t slots = config.resources.slots_per_trial;
  if (config.resources.max_slots && *config.resources.max_slots < slots) {
    resources.note("max_slots", "is " + std::to_string(*config.resources.max_slots) + ", but a trial needs " +
                                    std::to_string(slots) +
                                    " (slots_per_trial): no trial starts until you raise it");
  }
  if (config.budget.max_slot_hours && slots == 0) {
    resources.findings().notes.push_back(
        {"budget.max_slot_hours", "has no effect here: slots_per_trial is 0, so no slot is held", ""});
  }
}

Section resources_of(Section& top) {
  std::string_view key;
  const Value* resources = top.any("resources", "resource", key);
  return Section(resources, std::string(key), top.findings());
}

}  // namespace

ExperimentSections::ExperimentSections(const Value& tree, Findings& findings)
    : top(&tree, "", findings),
      resources(resources_of(top)),
      checkpoint_storage(top.section("checkpoint_storage")),
      environment(top.section("environment")) {
}

void read_engine_fields(ExperimentSections& sections, SearcherRegistry registry,
                        std::string_view fallback_name, std::uint64_t seed, ExperimentConfig& config) {
  Section& top = sections.top;
  Findings& findings = top.findings();
  read_fields(top, top_fields, config);
  read_names(top, fallback_name, config);
  const std::size_t problems_before = findings.problems.size();
  read_space(top, config);
  const bool has_space = findings.problems.size() == problems_before;

  std::optional<Length> max_length;
  if (!top.has("searcher")) {
    top.know("searcher");
    top.missing("searcher", "a map of name, metric, max_length and what the searcher needs");
  } else if (top.map("searcher") != nullptr) {
    read_searcher(top.section("searcher"), registry, has_space ? &config.space : nullptr, config.searcher,
                  max_length);
  }
  read_lengths(top, max_length, config);
  // Other fields of these sections are the program's.
  read_fields(sections.resources, resources_fields, config.resources);
  read_workers(config, sections.resources);
  read_fields(sections.checkpoint_storage, checkpoint_storage_fields, config.retention);
  read_own_section(top.section("budget"), budget_fields, config.budget);
  read_own_section(top.section("program_traits"), program_traits_fields, config.program_traits);
  note_unreachable_limits(config, sections.resources);
  if (has_space) {
    keep_usable_prior(config, findings);
    check_where(config, findings.problems);
    for (Doubt& doubt : doubts_of(config)) {
      if (doubt.about != Doubt::About::exponents) {  // The reader of the space has noted those.
        findings.notes.push_back(std::move(doubt.note));
      }
    }
  }
  sections.seed_is_given = read_seed(top, sections.environment, seed, config);
}

namespace {

/// A search whose rungs promote too few trials for one of them to be trained in full.
void note_short_trials(const ExperimentConfig& config, const Preview& preview, Findings& findings) {
  if (preview.final_counts.empty() || preview.final_counts.rbegin()->first >= config.searcher.max_length) {
    return;
  }
  findings.notes.push_back({"searcher",
                            "trains no trial to the full length of " +
                                amount(config.searcher.max_length, config.unit) + ": of " +
                                to_text(preview.trials) + " trials, the longest trains " +
                                amount(preview.final_counts.rbegin()->first, config.unit),
                            "more trials or configurations, a smaller divisor, or fewer rungs"});
}

}  // namespace

void check_searcher(const ExperimentConfig& config, SearcherRegistry registry, Findings& findings) {
  const SearcherKind* kind = find_kind(registry, config.searcher.name);
  const bool is_sound =
      std::none_of(findings.problems.begin(), findings.problems.end(), [](const Problem& problem) {
        return lies_in(problem, "searcher") || lies_in(problem, "hyperparameters") ||
               lies_in(problem, "where");
      });
  if (kind != nullptr && kind->check != nullptr && is_sound) {
    kind->check(config, findings.problems);
  }
  if (kind != nullptr && kind->preview != nullptr && findings.problems.empty()) {
    note_short_trials(config, kind->preview(config), findings);
  }
}

ParsedConfig parsed_config(ExperimentConfig config, bool seed_is_given, Findings findings) {
  const auto by_path = [](const Problem& a, const Problem& b) { return a.path < b.path; };
  std::stable_sort(findings.problems.begin(), findings.problems.end(), by_path);
  std::stable_sort(findings.notes.begin(), findings.notes.end(), by_path);
  ParsedConfig parsed;
  parsed.seed_is_given = seed_is_given;
  if (findings.problems.empty()) {
    parsed.config = std::move(config);
  }
  parsed.problems = std::move(findings.problems);
  parsed.notes = std::move(findings.notes);
  return parsed;
}

ParsedConfig parse_config(const Value& tree, SearcherRegistry registry, std::string_view fallback_name,
                          std::uint64_t seed) {
  Findings findings;
  ExperimentConfig config;
  if (tree.as_map() == nullptr) {
    findings.problems.push_back({"", "is " + quoted(tree), "a map: the fields of an experiment"});
    return parsed_config(std::move(config), false, std::move(findings));
  }
  ExperimentSections sections(tree, findings);
  read_engine_fields(sections, registry, fallback_name, seed, config);
  check_searcher(config, registry, findings);
  config.program = sections.top.unread();
  const std::pair<const char*, const Section*> shared[] = {
      {"checkpoint_storage", &sections.checkpoint_storage},
      {"environment", &sections.environment},
      {"resources", &sections.resources}};
  for (const auto& [name, section] : shared) {
    if (Value::Map unread = section->unread(); !unread.empty()) {
      config.program[name] = std::move(unread);
    }
  }
  return parsed_config(std::move(config), sections.seed_is_given, std::move(findings));
}

}  // namespace hpsearch::engine
