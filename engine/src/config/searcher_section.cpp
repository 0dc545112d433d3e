#include "config/searcher_section.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "config/experiment_fields.hpp"
#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/numbers.hpp"
#include "hpsearch/engine/space/partial.hpp"

namespace hpsearch::engine {

namespace {

// Fields of some searchers that have rules of their own, beside fields_of_some_searchers.
constexpr std::array<std::string_view, 3> special_fields = {"bracket_rungs", "mode", "points_to_evaluate"};

// Fields of every searcher that have rules of their own, beside searcher_fields.
constexpr std::array<std::string_view, 3> common_special_fields = {"max_length", "metric", "name"};

// The values that a field allows which not every searcher reads, or "".
std::string allowed_in(std::string_view name) {
  std::string allowed;
  each_field(fields_of_some_searchers, [&](const auto& field) {
    if (field.name == name) {
      allowed = field.kind.allowed();
    }
  });
  return allowed;
}

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Names of searchers that went by others in their time, and what does their work here.
std::string_view successor(std::string_view name) {
  if (name == "adaptive" || name == "adaptive_simple" || name == "asha" || name == "hyperband") {
    return "adaptive_asha";
  }
  return name == "sync_halving" ? "async_halving" : std::string_view();
}

const SearcherKind* read_name(Section& section, SearcherRegistry registry, SearcherConfig& searcher) {
  std::vector<std::string_view> names;
  for (const SearcherKind& kind : registry) {
    names.push_back(kind.name);
  }
  if (!section.has("name")) {
    section.know("name");
    section.missing("name", any_of(names));
    return nullptr;
  }
  const std::optional<std::string> name = section.text("name");
  if (!name) {
    return nullptr;
  }
  searcher.name = *name;
  const SearcherKind* kind = find_kind(registry, *name);
  if (kind != nullptr) {
    return kind;
  }
  const std::string_view heir = successor(*name);
  const std::string_view meant = heir.empty() ? nearest(*name, names) : heir;
  std::string allowed = any_of(names);
  if (!heir.empty()) {
    allowed = "say " + std::string(heir) + "; there are " + allowed;
  } else if (!meant.empty()) {
    allowed = "did you mean `" + std::string(meant) + "`? there are " + allowed;
  }
  section.problem("name", "is " + quoted(Value(*name)) + ", which is not a searcher here",
                  std::move(allowed));
  return nullptr;
}

void read_mode(Section& section, SearcherConfig& searcher) {
  static constexpr std::array<std::string_view, 4> known = {"aggressive", "conservative", "standard",
                                                            "agressive"};
  const Value* given = section.any("mode");
  if (given != nullptr && *given == Value("agressive")) {
    section.note("mode", "read as `aggressive`");
    searcher.mode = AshaMode::aggressive;
    return;
  }
  const auto mode = section.text_in("mode", std::span(known).first(3));
  if (mode) {
    searcher.mode = *mode == "aggressive"     ? AshaMode::aggressive
                    : *mode == "conservative" ? AshaMode::conservative
                                              : AshaMode::standard;
  }
}

void read_bracket_rungs(Section& section, SearcherConfig& searcher) {
  const Value::List* list = section.list("bracket_rungs");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const std::optional<std::int64_t> rungs = whole_number((*list)[i]);
    if (!rungs || *rungs < 1 || static_cast<std::uint64_t>(*rungs) > most_rungs) {
      section.problem("bracket_rungs[" + std::to_string(i) + "]", "is " + quoted((*list)[i]),
                      "an integer from 1 to " + std::to_string(most_rungs));
    } else {
      searcher.bracket_rungs.push_back(static_cast<std::uint64_t>(*rungs));
    }
  }
}

// Each point has every constant of the space: a short text may stand for far more than the log takes at once.
constexpr std::size_t most_filled_bytes = 4UL * 1024 * 1024;
constexpr std::size_t most_problems_of_points = 100;

void read_points(Section& section, const Space* space, SearcherConfig& searcher) {
  const Value::List* list = section.list("points_to_evaluate");
  const Problems& problems = section.findings().problems;
  const std::size_t enough = problems.size() + most_problems_of_points;
  std::size_t filled = 0;
  for (std::size_t i = 0; list != nullptr && i < list->size() && problems.size() < enough; ++i) {
    const Value& given = (*list)[i];
    if (space == nullptr) {
      searcher.points_to_evaluate.push_back(given);
      continue;
    }
    Value point = space->complete(given);
    check_part(*space, point, section.path_of("points_to_evaluate[" + std::to_string(i) + "]"),
               section.findings().problems);
    if (!(point == given)) {  // In a log all are filled.
      const std::size_t before = compact_json(given).size();
      filled += std::max(compact_json(point).size(), before) - before;
    }
    if (filled > most_filled_bytes) {
      section.problem("points_to_evaluate",
                      "has " + std::to_string(list->size()) +
                          " points, which with the space's constants in each come to more than " +
                          std::to_string(most_filled_bytes) + " bytes",
                      "fewer points, or fewer constants");
      return;
    }
    searcher.points_to_evaluate.push_back(std::move(point));
  }
}

/// The defaults stand in what `hpsearch config` prints, which is no wish.
void note_fields_without_effect(Section& section, const SearcherConfig& searcher) {
  if (searcher.sampler != SamplerName::anneal && searcher.anneal != AnnealConfig()) {
    section.note("anneal", "has no effect: sampler is not anneal");
  }
  if (searcher.sampler != SamplerName::model && searcher.model != ModelConfig()) {
    section.note("model", "has no effect: sampler is not model");
  }
  if (searcher.sampler != SamplerName::tpe && searcher.tpe != TpeConfig()) {
    section.note("tpe", "has no effect: sampler is not tpe");
  }
  if (searcher.sampler == SamplerName::random && !searcher.prior.empty()) {
    section.note("prior", "has no effect: sampler is random; anneal, model and tpe learn from results");
  }
  const StoppingConfig& stopping = searcher.stopping;
  if (stopping.rule != StoppingRule::percentile && stopping.percentile != StoppingConfig().percentile) {
    section.note("stopping.percentile", "has no effect: stopping.rule is not percentile");
  }
  if (!stopping.patience && stopping.min_delta > 0) {
    section.note("stopping.min_delta", "has no effect: stopping.patience is not set");
  }
  if (!stopping.stops_trials() && (stopping.after || stopping.every)) {
    section.note("stopping", "has no effect: neither rule nor patience is set");
  }
  if (searcher.bracket_rungs.empty()) {
    return;
  }
  const SearcherConfig standard;
  if (searcher.mode != standard.mode) {
    section.note("mode", "has no effect: bracket_rungs says which brackets there are");
  }
  if (searcher.max_rungs != standard.max_rungs) {
    section.note("max_rungs", "has no effect: bracket_rungs says how many rungs there are");
  }
}

bool has_place(std::string_view name) {
  bool found =
      contains(special_fields, name) || contains(common_special_fields, name) || !allowed_in(name).empty();
  each_field(searcher_fields, [&](const auto& field) { found = found || field.name == name; });
  return found;
}

void compare_with_kind(Section& section, const SearcherKind& kind, SearcherConfig& searcher) {
  for (const std::string_view field : kind.fields) {
    searcher.fields.emplace_back(field);
    if (const Value* value = section.any(field); value != nullptr && !has_place(field)) {
      searcher.kind_fields[field] = *value;
    }
  }
  for (const std::string_view field : kind.required) {
    if (!section.has(field)) {
      const std::string allowed = allowed_in(field);
      section.missing(field,
                      (allowed.empty() ? "a value" : allowed) + "; " + std::string(kind.name) + " needs it");
    }
  }
  const auto refuse = [&](std::string_view field) {
    if (section.has(field) && !contains(kind.fields, field)) {
      section.problem(field, "does not apply to " + std::string(kind.name), "leave it out");
    }
  };
  std::for_each(special_fields.begin(), special_fields.end(), refuse);
  each_field(fields_of_some_searchers, [&](const auto& field) { refuse(field.name); });
}

}  // namespace

std::string_view name_of(AshaMode mode) noexcept {
  switch (mode) {
    case AshaMode::aggressive:
      return "aggressive";
    case AshaMode::standard:
      return "standard";
    case AshaMode::conservative:
      return "conservative";
  }
  return "unknown";
}

void read_searcher(Section section, SearcherRegistry registry, const Space* space, SearcherConfig& searcher,
                   std::optional<Length>& max_length) {
  const SearcherKind* kind = read_name(section, registry, searcher);

  if (!section.has("metric")) {
    section.know("metric");
    section.missing("metric", "the name of the validation metric that decides");
  } else if (const auto metric = section.text("metric")) {
    searcher.metric = *metric;
    if (metric->empty()) {
      section.problem("metric", "is empty", "the name of the validation metric that decides");
    } else if (static_cast<unsigned char>(metric->front()) <= ' ' ||
               static_cast<unsigned char>(metric->back()) <= ' ') {
      section.note("metric", "is " + quoted(Value(*metric)) +
                                 ", with what cannot be seen at its end: a program has to report it so");
    }
  }
  max_length = read_length(section, "max_length", 1);
  if (!section.has("max_length")) {
    section.missing("max_length", "how long a trial trains at most, as {epochs: 10} or 1000");
  }

  read_fields(section, searcher_fields, searcher);
  if (searcher.source_trial_id && searcher.source_checkpoint_uuid) {
    section.problem("source_checkpoint_uuid", "stands beside source_trial_id", "one of them");
  }

  read_fields(section, fields_of_some_searchers, searcher);
  read_mode(section, searcher);
  read_bracket_rungs(section, searcher);
  note_fields_without_effect(section, searcher);
  read_points(section, space, searcher);
  if (kind != nullptr) {
    compare_with_kind(section, *kind, searcher);
  }
  section.finish();
}

void check_points(const ExperimentConfig& config, Problems& problems) {
  const SearcherConfig& searcher = config.searcher;
  const std::vector<Value>& points = searcher.points_to_evaluate;
  if (points.size() > searcher.max_trials) {
    problems.push_back({"searcher.points_to_evaluate", "has " + std::to_string(points.size()) + " points",
                        "at most max_trials, which is " + std::to_string(searcher.max_trials)});
  }
  if (searcher.on_duplicate != OnDuplicate::reject) {
    return;
  }
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!is_whole(config.space, points[i])) {
      continue;  // Each such point gets its own draws, so equal ones differ when they run.
    }
    const auto [first, is_new] = seen.emplace(compact_json(points[i]), i);
    if (!is_new) {
      problems.push_back({"searcher.points_to_evaluate[" + std::to_string(i) + "]",
                          "is the same as points_to_evaluate[" + std::to_string(first->second) + "]",
                          "each point once, or on_duplicate: allow"});
    }
  }
}

}  // namespace hpsearch::engine
