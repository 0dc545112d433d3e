#include "cli/results/trial_columns.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "cli/render/text.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::cli {

using engine::Value;

namespace {

void add_leaves(const Value& value, const std::string& path, std::vector<std::pair<std::string, Value>>& to) {
  const Value::Map* map = value.as_map();
  if (map == nullptr || map->empty()) {
    to.emplace_back(path, value);
    return;
  }
  for (const auto& [key, inner] : *map) {
    add_leaves(inner, path.empty() ? key : path + "." + key, to);
  }
}

Value finite(const Value& metric) {
  return metric.is_number() ? metric : Value();
}

bool looks_like_another_kind(const std::string& text) {
  return text.empty() || text == "True" || text == "False" || text == "None" ||
         text.find_first_not_of("0123456789.+-eE") == std::string::npos;
}

}  // namespace

std::vector<std::pair<std::string, Value>> hparam_leaves(const Value& hparams) {
  std::vector<std::pair<std::string, Value>> leaves;
  if (const Value::Map* map = hparams.as_map(); map != nullptr && !map->empty()) {
    add_leaves(hparams, "", leaves);
  }
  return leaves;
}

const std::vector<std::string>& trial_names() {
  static const std::vector<std::string> names = {"trial",    "state",        "metric",  "at",
                                                 "last",     "length",       "reached", "attempts",
                                                 "restarts", "slot_seconds", "failure"};
  return names;
}

std::vector<std::string> column_names(const Value::List& trials) {
  std::vector<std::string> names = trial_names();
  std::set<std::string> hparams;
  for (const Value& trial : trials) {
    for (const auto& [path, value] : hparam_leaves(member(trial, "hparams"))) {
      hparams.insert(path);
    }
  }
  names.insert(names.end(), hparams.begin(), hparams.end());
  return names;
}

Value column_value(const Value& trial, std::string_view name) {
  if (name == "metric") {
    return finite(member(trial, "best_metric"));
  }
  if (name == "at") {
    return member(trial, "best_step");
  }
  if (name == "last") {  // NaN and infinity are included if they were reported.
    const std::optional<double> last = proto::real_of(member(trial, "metric"));
    return last ? Value(*last) : finite(member(trial, "metric"));
  }
  if (name == "failure") {
    const std::string failure = text_at(trial, "last_failure");
    return failure.empty() ? Value() : Value(failure.substr(0, failure.find('\n')));
  }
  const std::vector<std::string>& own = trial_names();
  if (std::find(own.begin(), own.end(), name) != own.end()) {
    return member(trial, name);
  }
  const auto leaves = hparam_leaves(member(trial, "hparams"));
  const auto exact =
      std::find_if(leaves.begin(), leaves.end(), [&](const auto& leaf) { return leaf.first == name; });
  if (exact != leaves.end()) {
    return exact->second;
  }
  const std::string ending = "." + std::string(name);
  const auto by_end = std::find_if(leaves.begin(), leaves.end(),
                                   [&](const auto& leaf) { return leaf.first.ends_with(ending); });
  return by_end == leaves.end() ? Value() : by_end->second;
}

std::vector<std::string> searched_names(const Value::List& trials) {
  std::map<std::string, std::set<std::string>> values;
  std::map<std::string, std::size_t> seen;
  for (const Value& trial : trials) {
    for (const auto& [path, value] : hparam_leaves(member(trial, "hparams"))) {
      values[path].insert(engine::compact_json(value));
      ++seen[path];
    }
  }
  std::vector<std::string> names;
  for (const auto& [path, different] : values) {
    if (trials.size() == 1 || different.size() > 1 || seen[path] < trials.size()) {
      names.push_back(path);
    }
  }
  return names;
}

std::string cell_text(const Value& value) {
  if (value.is_null()) {
    return "-";
  }
  if (value.as_text() != nullptr) {
    const std::string& text = *value.as_text();
    return looks_like_another_kind(text) ? "\"" + text + "\"" : text;
  }
  if (value.is_number() && value.as_integer() == nullptr) {
    const std::string text = engine::short_number(value.number_or(0));
    return text.find_first_not_of("0123456789-") == std::string::npos ? text + ".0" : text;
  }
  return engine::python_text(value);
}

void sort_best_first(Value::List& trials, bool smaller_is_better) {
  std::stable_sort(trials.begin(), trials.end(), [smaller_is_better](const Value& a, const Value& b) {
    const Value left = column_value(a, "metric");
    const Value right = column_value(b, "metric");
    if (left.is_null() || right.is_null()) {
      return !left.is_null() && right.is_null();
    }
    return smaller_is_better ? left.number_or(0) < right.number_or(0)
                             : left.number_or(0) > right.number_or(0);
  });
}

}  // namespace hpsearch::cli
