#include "hpsearch/jobs/fields/submission.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dialects/dialects.hpp"
#include "fields/sections.hpp"
#include "hpsearch/jobs/imports/imports.hpp"

namespace hpsearch::jobs {

namespace {

/// Texts become arguments, variables and lines of files, none of which can hold a zero byte. `data` is passed
/// on as JSON, which can escape one.
class ZeroBytes {
 public:
  explicit ZeroBytes(Problems& problems) : problems_(problems), known_(problems) {}

  void look(const Value& value, const std::string& at) {
    if (const std::string* text = value.as_text()) {
      if (text->find('\0') != std::string::npos) {
        problem(at, "holds a zero byte");
      }
    } else if (const Value::List* list = value.as_list()) {
      for (std::size_t i = 0; i < list->size(); ++i) {
        look((*list)[i], at + "[" + std::to_string(i) + "]");
      }
    } else if (const Value::Map* map = value.as_map()) {
      for (const auto& [key, member] : *map) {
        if (key.find('\0') != std::string::npos) {
          problem(at, "has the name " + quoted(Value(key)) + ", which holds a zero byte");
        } else if (!at.empty() || key != "data") {
          look(member, path_below(at, key));
        }
      }
    }
  }

 private:
  void problem(const std::string& at, const char* what) { problem(at, std::string(what)); }
  void problem(const std::string& at, std::string what) {
    const bool is_known = std::any_of(known_.begin(), known_.end(), [&at](const Problem& known) {
      return known.path.starts_with(at) || at.starts_with(known.path);
    });
    if (!is_known) {
      problems_.push_back({at, std::move(what), "text without one: no argument and no variable can hold it"});
    }
  }

  Problems& problems_;
  const Problems known_;
};

void note_periods(const Program& program, Section& top) {
  if (program.needs_harness) {
    return;
  }
  const auto note = [&top](std::string_view key, std::string_view why) {
    const Value* period = top.any(key);
    const Value* amount = period != nullptr && period->as_map() != nullptr && !period->as_map()->empty()
                              ? &period->as_map()->begin()->second
                              : period;
    if (amount != nullptr && !(*amount == Value(0))) {
      top.note(key, std::string(why));
    }
  };
  note("min_validation_period",
       "does not change when the program validates; preview uses it as the time between validations");
  note("min_checkpoint_period",
       "does not change when the program saves checkpoints; it declares that the program continues from its "
       "checkpoint after a pause");
}

/// Whether the program may not use hpsearch at all: its metrics are read from its output, and no field shows
/// that it resumes from a checkpoint.
bool is_foreign(const ExperimentConfig& config, const Program& program) {
  return !program.metrics.empty() && !config.min_checkpoint_period &&
         program.environment.checkpoint_signal.empty();
}

/// Prefers a searcher without pauses if the program can't resume. A program whose metrics are read from its
/// output restarts from the beginning, unless its experiment has a field about checkpoints.
void pause_only_who_can_go_on(const Value& tree, engine::SearcherRegistry registry, const Program& program,
                              ExperimentConfig& config, Findings& findings) {
  const engine::SearcherKind* kind = engine::find_kind(registry, config.searcher.name);
  const bool has_choice = kind != nullptr && std::find(kind->fields.begin(), kind->fields.end(),
                                                       "stop_once") != kind->fields.end();
  if (!has_choice || !is_foreign(config, program) || tree.at_path("searcher.stop_once") != nullptr) {
    return;
  }
  config.searcher.stop_once = true;
  findings.notes.push_back(
      {"searcher.stop_once",
       "is set to true: the metrics are read from the program's output, and such a program usually starts "
       "from the beginning after a pause. Set stop_once: false if it continues from "
       "HPSEARCH_LATEST_CHECKPOINT",
       ""});
}

/// Metrics whose names end with the beginning of the pattern: "val_loss" for `loss: {number}`.
std::vector<std::string> metrics_within(std::string_view pattern, const std::string& metric,
                                        const std::map<std::string, std::string>& all) {
  const auto is_letter = [](char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto end = std::find_if_not(pattern.begin(), pattern.end(), is_letter);
  const std::string_view word = pattern.substr(0, static_cast<std::size_t>(end - pattern.begin()));
  std::vector<std::string> names;
  for (const auto& [name, other] : all) {
    if (!word.empty() && name != metric && name.size() > word.size() && name.ends_with(word)) {
      names.push_back(name);
    }
  }
  return names;
}

/// Notes patterns that count lines, and patterns that also match another metric's lines.
void note_patterns(const ExperimentConfig& config, const Program& program, Findings& findings) {
  for (const auto& [metric, text] : program.metrics) {
    const bool has_step =
        text.find("{step}") != std::string::npos || text.find("?P<step>") != std::string::npos;
    if (!has_step && metric == config.searcher.metric && config.searcher.max_length > engine::Units{1}) {
      findings.notes.push_back(
          {"metrics." + metric,
           "has no {step}: each line that it finds counts as one more unit of max_length, and a "
           "value that is printed once as the first",
           "{step} where the number of the epoch stands; or max_length: 1"});
    }
    for (const std::string& other : metrics_within(text, metric, program.metrics)) {
      findings.notes.push_back({"metrics." + metric, "finds the number of " + other + " too",
                                "\\b at the beginning of the pattern"});
    }
  }
}

/// Sets the facts about the program that the scheduler and the searchers use.
void set_traits(const Program& program, const Dialects& dialects, ExperimentConfig& config) {
  config.program_traits.begins_anew =
      config.program_traits.begins_anew ||
      ((program.harness.checkpoint_policy == CheckpointPolicy::none || is_foreign(config, program)) &&
       !program.needs_harness);
  config.program_traits.validates_on_demand =
      config.program_traits.validates_on_demand || program.needs_harness;
  const bool can_span = spans_workers(program.launch) ||
                        std::any_of(dialects.begin(), dialects.end(),
                                    [&](const auto& dialect) { return dialect->spans_workers(program); });
  config.resources.spans_workers =
      (config.resources.spans_workers || can_span) && !program.resources.is_single_node;
  config.resources.least_workers = std::max(config.resources.least_workers, least_workers(program.launch));
}

ParsedExperiment parsed(ExperimentConfig config, Program program, bool seed_is_given, Findings findings) {
  return {engine::parsed_config(std::move(config), seed_is_given, std::move(findings)), std::move(program)};
}

}  // namespace

ParsedExperiment parse_submission(const Value& submitted, engine::SearcherRegistry registry,
                                  std::string_view fallback_name, std::uint64_t seed) {
  Findings findings;
  ExperimentConfig config;
  Program program;
  if (submitted.as_map() == nullptr) {
    findings.problems.push_back({"", "is " + quoted(submitted), "a map: the fields of an experiment"});
    return parsed(std::move(config), std::move(program), false, std::move(findings));
  }
  if (const std::optional<ForeignFile> kind = foreign_file(submitted)) {
    findings.problems.push_back({"", "is " + std::string(name_of(*kind)),
                                 "an experiment file; `hpsearch import FILE` makes one of it"});
    return parsed(std::move(config), std::move(program), false, std::move(findings));
  }
  Value tree = submitted;
  const Dialects dialects = make_dialects();
  for (const auto& dialect : dialects) {
    dialect->translate(tree, findings);
  }
  engine::ExperimentSections sections(tree, findings);
  const std::size_t problems_before = findings.problems.size();
  engine::read_engine_fields(sections, registry, fallback_name, seed, config);
  const bool has_space = std::none_of(
      findings.problems.begin() + static_cast<std::ptrdiff_t>(problems_before), findings.problems.end(),
      [](const Problem& problem) { return problem.path.starts_with("hyperparameters"); });
  for (const auto& dialect : dialects) {
    if (has_space) {
      dialect->check_space(config.space, findings);
    }
  }
  read_program_fields(sections, config.space, program, !config.resources.external);
  for (const auto& dialect : dialects) {
    dialect->check_program(config, program, findings);
  }
  note_periods(program, sections.top);
  pause_only_who_can_go_on(tree, registry, program, config, findings);
  note_patterns(config, program, findings);
  set_traits(program, dialects, config);
  config.program = to_value(program);
  finish_sections(sections, program);
  engine::check_searcher(config, registry, findings);
  engine::check_points(config, findings.problems);
  ZeroBytes(findings.problems).look(submitted, "");
  if (fallback_name.find('\0') != std::string_view::npos) {
    findings.problems.push_back(
        {"name", "is " + quoted(Value(std::string(fallback_name))), "one line of text"});
  }
  if (findings.problems.empty()) {
    check_contract(config, program, findings);
  }
  return parsed(std::move(config), std::move(program), sections.seed_is_given, std::move(findings));
}

}  // namespace hpsearch::jobs
