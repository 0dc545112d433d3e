#include "config/foreign_searchers.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

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

// One line for each name.
constexpr std::array<ForeignSearcher, 1> foreign_searchers = {{
    {"anneal_search", "random", "anneal", anneal_search_fields},
}};

std::string place_of(const ForeignField& field) {
  return field.group.empty() ? std::string(field.here)
                             : std::string(field.group) + "." + std::string(field.here);
}

/// Where it has its own place already, that one counts, and the other stays to be refused.
void move_field(const ForeignField& field, Value::Map& searcher, Findings& findings) {
  const Value* given = searcher.find(field.name);
  if (given == nullptr || given->is_null()) {
    return;
  }
  if (field.here.empty()) {
    findings.notes.push_back({path_below("searcher", field.name), "has no effect here", ""});
    searcher.erase(field.name);
    return;
  }
  Value::Map* to = &searcher;
  if (!field.group.empty()) {
    Value& group = searcher[field.group];
    if (group.is_null()) {
      group = Value::Map();
    }
    to = group.as_map();
    given = searcher.find(field.name);
  }
  if (to == nullptr || to->contains(field.here)) {
    return;
  }
  findings.notes.push_back(
      {path_below("searcher", field.name), "read as `searcher." + place_of(field) + "`", ""});
  (*to)[field.here] = Value(*given);
  searcher.erase(field.name);
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
