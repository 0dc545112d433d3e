#include <optional>
#include <string>
#include <utility>

#include "fields/sections.hpp"
#include "imports/draft.hpp"

namespace hpsearch::jobs {
namespace {

bool is_true(const Value& value) {
  return value == Value(true) || value == Value("true") || value == Value("True");
}

std::optional<ForeignRange> range_of(const Value& parameter) {
  if (const Value::List* list = member_of(parameter, "choices").as_list()) {
    return list->empty() ? std::nullopt : std::optional(choices(*list));
  }
  const std::optional<double> low = number_in(member_of(parameter, "low"));
  const std::optional<double> high = number_in(member_of(parameter, "high"));
  if (!low || !high) {
    return std::nullopt;
  }
  std::string type;
  for (const char* key : {"type", "name", "method", "distribution"}) {
    type = type.empty() ? text_member(parameter, key) : type;
  }
  const bool whole = type.find("int") != std::string::npos || type.find("Int") != std::string::npos ||
                     (type.empty() && member_of(parameter, "low").as_integer() != nullptr &&
                      member_of(parameter, "high").as_integer() != nullptr);
  const bool logarithmic = is_true(member_of(parameter, "log")) || type.find("log") != std::string::npos;
  if (logarithmic) {
    return logarithmic_range(*low, *high, whole);
  }
  if (const auto step = number_in(member_of(parameter, "step")); step && *step > 0) {
    return stepped_range(*low, *high, *step, whole);
  }
  return whole ? whole_range(*low, *high) : real_range(*low, *high);
}

}  // namespace

ImportedExperiment import_optuna_space(const Value& tree) {
  const bool is_wrapped = tree.as_map()->size() == 1 && !range_of(tree.as_map()->begin()->second);
  const Value& space = is_wrapped ? tree.as_map()->begin()->second : tree;
  const std::string at = is_wrapped ? tree.as_map()->begin()->first : "";
  Draft draft;
  for (const auto& [name, parameter] : *space.as_map()) {
    std::optional<ForeignRange> range = range_of(parameter);
    if (range) {
      draft.add({name}, *std::move(range));
    } else {
      draft.refuse(path_below(at, name), "is " + quoted(parameter), "low and high, or choices");
    }
  }
  draft.set("entrypoint", "python3 train.py");
  draft.decide("entrypoint", "hpsearch.params() has the values of a trial; {args} gives them as arguments");
  Draft::Search search;
  search.metric = "loss";
  draft.decide("searcher.metric", "what the program reports; the file does not name it");
  draft.search(search);
  return std::move(draft).finished();
}

}  // namespace hpsearch::jobs
