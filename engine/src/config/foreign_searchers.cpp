#include "config/foreign_searchers.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace hpsearch::engine {

namespace {

/// A field there, and its place here: below `searcher`, or in a group of fields there.
struct ForeignField {
  std::string_view name;
  std::string_view group;  ///< "" = none.
  std::string_view here;   ///< "" = it has no meaning here.
};

struct ForeignSearcher {
  std::string_view name;
  std::string_view kind;
  std::string_view sampler;
  std::span<const ForeignField> fields;
};

constexpr std::array<ForeignField, 3> anneal_search_fields = {{
    {"num_samples", "", "max_trials"},
    {"avg_best_idx", "anneal", "avg_best_idx"},
    {"shrink_coef", "anneal", "shrink_coef"},
}};

// What that searcher makes of its parameters is not what the model does, which finds out by itself.
constexpr std::array<ForeignField, 6> bayes_opt_search_fields = {{
    {"num_samples", "", "max_trials"},
    {"kind", "", ""},
    {"kappa", "", ""},
    {"xi", "", ""},
    {"seed", "", ""},
    {"n_initial_points", "model", "initial_results"},
}};

constexpr std::array<ForeignField, 4> tpe_search_fields = {{
    {"num_samples", "", "max_trials"},
    {"gamma", "tpe", "gamma"},
    {"n_initial_points", "tpe", "initial_results"},
    {"seed", "", ""},
}};

// One line for each name.
constexpr std::array<ForeignSearcher, 7> foreign_searchers = {{
    {"anneal_search", "random", "anneal", anneal_search_fields},
    {"bayes", "random", "model", {}},
    {"bayes_opt_search", "random", "model", bayes_opt_search_fields},
    {"bohb", "adaptive_asha", "model", {}},
    {"mobster", "async_halving", "model", {}},
    {"model_asha", "async_halving", "model", {}},
    {"tpe_search", "random", "tpe", tpe_search_fields},
}};

std::string place_of(const ForeignField& field) {
  return field.group.empty() ? std::string(field.here)
                             : std::string(field.group) + "." + std::string(field.here);
}

/// The map that holds its place; nullptr when something else stands there, which reading will refuse.
Value::Map* home_of(const ForeignField& field, Value::Map& searcher) {
  if (field.group.empty()) {
    return &searcher;
  }
  Value& group = searcher[field.group];
  if (group.is_null()) {
    group = Value::Map();
  }
  return group.as_map();
}

void move_field(const ForeignField& field, Value::Map& searcher, Findings& findings) {
  const Value* found = searcher.find(field.name);
  if (found == nullptr || found->is_null()) {
    return;
  }
  Value given = *found;
  searcher.erase(field.name);
  const std::string path = path_below("searcher", field.name);
  if (field.here.empty()) {
    findings.notes.push_back({path, "has no effect here", ""});
    return;
  }
  Value::Map* home = home_of(field, searcher);
  if (home == nullptr) {
    return;
  }
  Value& here = (*home)[field.here];
  if (here.is_null()) {
    findings.notes.push_back({path, "read as `searcher." + place_of(field) + "`", ""});
    here = std::move(given);
  } else {
    findings.problems.push_back({path, "stands beside searcher." + place_of(field), "one of them"});
  }
}

}  // namespace

Value with_names_of_here(const Value::Map& searcher, Findings& findings) {
  const Value* name = searcher.find("name");
  const auto* foreign = std::find_if(
      foreign_searchers.begin(), foreign_searchers.end(),
      [name](const ForeignSearcher& known) { return name != nullptr && *name == Value(known.name); });
  if (foreign == foreign_searchers.end()) {
    return searcher;
  }
  Value::Map known = searcher;
  findings.notes.push_back(
      {"searcher.name",
       "read as `" + std::string(foreign->kind) + "` with `sampler: " + std::string(foreign->sampler) + "`",
       ""});
  known["name"] = foreign->kind;
  if (const Value* sampler = known.find("sampler"); sampler == nullptr || sampler->is_null()) {
    known["sampler"] = foreign->sampler;
  }
  for (const ForeignField& field : foreign->fields) {
    move_field(field, known, findings);
  }
  return known;
}

}  // namespace hpsearch::engine
