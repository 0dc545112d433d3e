#include "imports/draft.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "fields/sections.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/space/numbers.hpp"

namespace hpsearch::jobs {
namespace {

constexpr std::int64_t usual_trials = 50;
constexpr std::int64_t usual_length = 10;
constexpr std::int64_t usual_points = 5;

std::string_view without(std::string_view text, char quote) {
  return text.size() >= 2 && text.front() == quote && text.back() == quote ? text.substr(1, text.size() - 2)
                                                                           : text;
}

std::optional<std::int64_t> whole_in(std::string_view text) {
  text = without(without(text, '"'), '\'');
  const auto number = engine::number_in<std::int64_t>(text);
  return number.value_or(0) > 0 ? number : std::nullopt;
}

/// Our sampler that does the same as a method; "" if there is none.
std::string_view sampler_for(std::string_view method) {
  constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"bayes", "model"},
      {"bayesianoptimization", "model"},
      {"gp", "model"},
      {"gptuner", "model"},
      {"smac", "model"},
      {"metis", "model"},
      {"bohb", "model"},
      {"tpe", "tpe"},
      {"multivariate-tpe", "tpe"},
      {"anneal", "anneal"},
  };
  for (const auto& [name, sampler] : known) {
    if (name == method) {
      return sampler;
    }
  }
  return "";
}

bool is_true_or_false(const Value& value) noexcept {
  return value == Value(true) || value == Value(false);
}

void make_flags(Value::Map& group) {
  std::vector<std::string> keys;
  for (const auto& [key, member] : group) {
    keys.push_back(key);
  }
  for (const std::string& key : keys) {
    Value& member = *group.find(key);
    if (is_true_or_false(member)) {
      member = Value::Map{{"type", "const"}, {"val", member}};
    }
    Value::Map* map = member.as_map();
    if (map == nullptr) {
      continue;
    }
    const Value::List* values = member_of(member, "vals").as_list();
    const bool is_choice = values != nullptr && std::all_of(values->begin(), values->end(), is_true_or_false);
    if (is_choice || is_true_or_false(member_of(member, "val"))) {
      (*map)["bool_style"] = "flag";
    } else if (!map->contains("type")) {
      make_flags(*map);
    }
  }
}

}  // namespace

void Draft::set(std::string_view path, Value value) {
  Value::Map* here = &tree_;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    Value& next = (*here)[path.substr(0, dot)];
    if (next.as_map() == nullptr) {
      next = Value::Map();
    }
    here = next.as_map();
    path.remove_prefix(dot + 1);
  }
  (*here)[path] = std::move(value);
}

void Draft::decide(std::string path, std::string text) {
  remarks_.push_back({std::move(path), std::move(text)});
}

void Draft::refuse(std::string path, std::string what, std::string allowed) {
  problems_.push_back({std::move(path), std::move(what), std::move(allowed)});
}

void Draft::add(const std::vector<std::string>& keys, ForeignRange range) {
  Value::Map* here = &hyperparameters_;
  std::string path = "hyperparameters";
  for (std::size_t i = 0; i < keys.size(); ++i) {
    path += "." + keys[i];
    if (i + 1 == keys.size()) {
      break;
    }
    Value& next = (*here)[keys[i]];
    if (next.as_map() == nullptr) {
      next = Value::Map();
    }
    here = next.as_map();
  }
  (*here)[keys.back()] = std::move(range.value);
  if (!range.remark.empty()) {
    decide(std::move(path), std::move(range.remark));
  }
}

void Draft::make_booleans_flags() {
  make_flags(hyperparameters_);
}

void Draft::search(const Search& search, Trials trials) {
  const bool is_grid = search.method == "grid" || search.method == "gridsearch";
  const std::string name = search.stops_early ? "adaptive_asha" : is_grid ? "grid" : "random";
  set("searcher.name", name);
  const bool is_random = search.method.empty() || search.method == "random" || search.method == "hyperband";
  if (const std::string_view sampler = sampler_for(search.method); !sampler.empty() && name != "grid") {
    set("searcher.sampler", Value(sampler));
  } else if (is_grid && name != "grid") {  // Tries each combination once, in random order.
    set("searcher.on_duplicate", "reject");
    decide("searcher.name", "a grid can't be stopped early here: each combination is drawn once, at random");
  } else if (name != "grid" && !is_random) {
    decide("searcher.name", "the file asks for " + search.method + ", which is not known here: " + name +
                                " with random draws");
  }
  set("searcher.metric", search.metric);
  set("searcher.smaller_is_better", search.smaller_is_better);
  if (name != "grid" && trials == Trials::are_said_here) {
    set("searcher.max_trials", search.max_trials.is_null() ? Value(usual_trials) : search.max_trials);
    if (search.max_trials.is_null()) {
      decide("searcher.max_trials", "the file does not limit the number of trials");
    }
  }
  set("searcher.max_length",
      search.max_length.is_null() ? Value(Value::Map{{"epochs", usual_length}}) : search.max_length);
  if (search.max_length.is_null()) {
    decide("searcher.max_length",
           "how often a trial reports the metric at most; the file does not say it, the program does");
  } else if (!search.counts_length_by.empty()) {
    decide("searcher.max_length",
           "taken from " + search.counts_length_by + "; it is how often a trial reports the metric at most");
  }
}

ImportedExperiment Draft::finished() && {
  const Value* name = tree_.contains("searcher") ? tree_.find("searcher")->as_map()->find("name") : nullptr;
  if (name != nullptr && *name == Value("grid")) {
    count_points(hyperparameters_, "hyperparameters");
  }
  if (!hyperparameters_.empty()) {
    tree_["hyperparameters"] = std::move(hyperparameters_);
  }
  return {std::move(tree_), std::move(remarks_), std::move(pod_template_), std::move(problems_)};
}

/// Every range of a grid needs its number of points.
void Draft::count_points(Value::Map& group, const std::string& at) {
  std::vector<std::string> keys;
  for (const auto& [key, member] : group) {
    if (member.as_map() != nullptr) {
      keys.push_back(key);
    }
  }
  for (const std::string& key : keys) {
    Value::Map& map = *group.find(key)->as_map();
    const std::string path = path_below(at, key);
    const std::string type = map.contains("type") ? text_member(Value(map), "type") : "";
    if (!map.contains("type")) {
      count_points(map, path);
    } else if ((type == "int" || type == "double" || type == "log") && !map.contains("step")) {
      const auto low = engine::whole_number(map["minval"]);
      const auto high = engine::whole_number(map["maxval"]);
      const bool few = type == "int" && low && high && *high - *low < 2 * usual_points;
      map["count"] = few ? *high - *low + 1 : usual_points;
      if (!few) {
        decide(path, "a grid needs the number of its points");
      }
    }
  }
}

const Value& member_of(const Value& map, std::string_view key) noexcept {
  static const Value nothing;
  const Value::Map* members = map.as_map();
  const Value* found = members == nullptr ? nullptr : members->find(key);
  return found == nullptr ? nothing : *found;
}

std::string text_member(const Value& map, std::string_view key) {
  const std::string* text = member_of(map, key).as_text();
  return text == nullptr ? std::string() : *text;
}

const Value::List& list_member(const Value& map, std::string_view key) noexcept {
  static const Value::List none;
  const Value::List* list = member_of(map, key).as_list();
  return list == nullptr ? none : *list;
}

std::string comma_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

std::optional<double> number_in(const Value& value) {
  if (const std::string* text = value.as_text()) {
    const auto number = engine::number_in<double>(*text);
    return number ? engine::finite_number(Value(*number)) : std::nullopt;
  }
  return engine::finite_number(value);
}

Value epochs_in(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t at = words[i].find("epoch");
    if (at == std::string::npos) {
      continue;
    }
    const std::size_t equals = words[i].find('=', at);
    std::optional<std::int64_t> number;
    if (equals != std::string::npos) {
      number = whole_in(std::string_view(words[i]).substr(equals + 1));
    } else if (i + 1 < words.size()) {
      number = whole_in(words[i + 1]);
    }
    if (number) {
      return Value::Map{{"epochs", *number}};
    }
  }
  return {};
}

std::string with_literal_braces(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out.append(c == '{' || c == '}' ? 2 : 1, c);
  }
  return out;
}

}  // namespace hpsearch::jobs
