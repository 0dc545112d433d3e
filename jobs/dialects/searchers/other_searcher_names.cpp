#include "dialects/searchers/other_searcher_names.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "fields/sections.hpp"

namespace hpsearch::jobs {

namespace {

struct OtherSearcher {
  std::string_view name;
  std::string_view kind;
  std::string_view sampler;
};

constexpr OtherSearcher other_searchers[] = {
    {"anneal_search", "random", "anneal"},   {"bayes", "random", "model"},
    {"bayes_opt_search", "random", "model"}, {"bohb", "adaptive_asha", "model"},
    {"mobster", "async_halving", "model"},   {"model_asha", "async_halving", "model"},
    {"tpe_search", "random", "tpe"},
};

struct OtherField {
  std::string_view searcher;
  std::string_view name;
  std::string_view
      group;              ///< The group with the sampler's parameters; "" for a field of the searcher itself.
  std::string_view here;  ///< "" if it has no effect here.
};

constexpr OtherField other_fields[] = {
    {"anneal_search", "num_samples", "", "max_trials"},
    {"anneal_search", "avg_best_idx", "anneal", "avg_best_idx"},
    {"anneal_search", "shrink_coef", "anneal", "shrink_coef"},
    {"bayes_opt_search", "num_samples", "", "max_trials"},
    {"bayes_opt_search", "n_initial_points", "model", "initial_results"},
    {"bayes_opt_search", "kind", "", ""},
    {"bayes_opt_search", "kappa", "", ""},
    {"bayes_opt_search", "xi", "", ""},
    {"bayes_opt_search", "seed", "", ""},
    {"tpe_search", "num_samples", "", "max_trials"},
    {"tpe_search", "gamma", "tpe", "gamma"},
    {"tpe_search", "n_initial_points", "tpe", "initial_results"},
    {"tpe_search", "seed", "", ""},
};

void set_unless_given(Value::Map& map, std::string_view key, Value value) {
  if (Value& member = map[key]; member.is_null()) {
    member = std::move(value);
  }
}

void move_field(const OtherField& field, Value::Map& searcher, Findings& findings) {
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
  Value::Map* home = &searcher;
  if (!field.group.empty()) {
    set_unless_given(searcher, field.group, Value::Map());
    home = searcher[field.group].as_map();
  }
  if (home == nullptr) {  // The reader of the searcher rejects the value that replaces the group.
    return;
  }
  const std::string place = path_below("searcher", path_below(field.group, field.here));
  if (Value& here = (*home)[field.here]; here.is_null()) {
    findings.notes.push_back({path, "read as `" + place + "`", ""});
    here = std::move(given);
  } else {
    findings.problems.push_back({path, "stands beside " + place, "one of them"});
  }
}

class SearcherNamesDialect : public Dialect {
 public:
  void translate(Value& tree, Findings& findings) override {
    Value* section = tree.as_map()->find("searcher");
    Value::Map* searcher = section == nullptr ? nullptr : section->as_map();
    const Value* name = searcher == nullptr ? nullptr : searcher->find("name");
    const auto* known = std::find_if(
        std::begin(other_searchers), std::end(other_searchers),
        [name](const OtherSearcher& other) { return name != nullptr && *name == Value(other.name); });
    if (known == std::end(other_searchers)) {
      return;
    }
    findings.notes.push_back(
        {"searcher.name",
         "read as `" + std::string(known->kind) + "` with `sampler: " + std::string(known->sampler) + "`",
         ""});
    (*searcher)["name"] = known->kind;
    set_unless_given(*searcher, "sampler", known->sampler);
    for (const OtherField& field : other_fields) {
      if (field.searcher == known->name) {
        move_field(field, *searcher, findings);
      }
    }
  }
};

}  // namespace

std::unique_ptr<Dialect> make_searcher_names_dialect() {
  return std::make_unique<SearcherNamesDialect>();
}

}  // namespace hpsearch::jobs
