#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fields/sections.hpp"
#include "hpsearch/engine/space/numbers.hpp"
#include "imports/draft.hpp"

namespace hpsearch::jobs {
namespace {

constexpr const char* usual_metric = "default";  // The name that report_final_result() uses by default.
constexpr const char* calls =
    "the program calls nni: write hpsearch.params() for nni.get_next_parameter(), and hpsearch.report(step, "
    "default=…) for report_intermediate_result()";

/// The numbers of `_value`; nothing if one of them is no number.
std::optional<std::vector<double>> numbers_of(const Value& values) {
  std::vector<double> numbers;
  for (const Value& value : values.as_list() != nullptr ? *values.as_list() : Value::List()) {
    const std::optional<double> number = number_in(value);
    if (!number) {
      return std::nullopt;
    }
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<ForeignRange> range_of(const Value& parameter) {
  const std::string type = text_member(parameter, "_type");
  const Value& values = member_of(parameter, "_value");
  if (type == "choice") {
    const Value::List* list = values.as_list();
    return list == nullptr || list->empty() ? std::nullopt : std::optional(choices(*list));
  }
  const auto numbers = numbers_of(values);
  if (!numbers || numbers->size() < 2) {
    return std::nullopt;
  }
  const double first = (*numbers)[0];
  const double second = (*numbers)[1];
  const double step = numbers->size() > 2 ? (*numbers)[2] : 0;
  if (type == "randint") {
    return whole_range(first, second - 1);  // The upper end is excluded.
  }
  if (type == "uniform") {
    return real_range(first, second);
  }
  if (type == "loguniform") {
    return logarithmic_range(first, second);
  }
  if (type == "quniform") {
    return multiples_in(first, second, step, false);
  }
  if (type == "normal" || type == "lognormal") {
    return normal_range(first, second, type == "lognormal");
  }
  if (type == "qnormal" || type == "qlognormal") {
    return normal_multiples(first, second, type == "qlognormal", step, false);
  }
  if (type == "qloguniform") {
    return multiples_in(first, second, step, false, Scale::log);
  }
  return std::nullopt;
}

using Keys = std::vector<std::string>;

Keys below(Keys keys, std::string key) {
  keys.push_back(std::move(key));
  return keys;
}

std::string dotted(const Keys& keys) {
  std::string path;
  for (const std::string& key : keys) {
    path += (path.empty() ? "" : ".") + key;
  }
  return path;
}

bool has_names(const Value& parameter) {
  const Value::List* list = member_of(parameter, "_value").as_list();
  return text_member(parameter, "_type") == "choice" && list != nullptr &&
         std::any_of(list->begin(), list->end(),
                     [](const Value& value) { return !text_member(value, "_name").empty(); });
}

/// Reads a search space. Choices may have their own parameters ({_name: conv, size: {_type: …}}), which
/// become conditional.
class SpaceImport {
 public:
  /// `at`: the path of the space in the file.
  SpaceImport(std::string at, Draft& draft) : at_(std::move(at)), draft_(draft) {}

  void read(const Value::Map& space) {
    for (const auto& [name, parameter] : space) {
      one({name}, parameter, {});
    }
  }

 private:
  void one(const Keys& keys, const Value& parameter, const Value::Map& when) {
    if (has_names(parameter)) {
      named_choices(keys, *member_of(parameter, "_value").as_list(), when);
      return;
    }
    std::optional<ForeignRange> range = range_of(parameter);
    if (range) {
      add(keys, *std::move(range), when);
    } else {
      draft_.refuse(path_below(at_, dotted(keys)), "is " + quoted(parameter),
                    "a parameter with _type and _value");
    }
  }

  void add(const Keys& keys, ForeignRange range, const Value::Map& when) {
    if (!when.empty()) {
      if (range.value.as_map() == nullptr) {
        range.value = Value::Map{{"type", "const"}, {"val", std::move(range.value)}};
      }
      (*range.value.as_map())["when"] = when;
    }
    draft_.add(keys, std::move(range));
  }

  /// Adds a group. The name of the choice is its member _name, as in the parameters that NNI passes to the
  /// program.
  void named_choices(const Keys& keys, const Value::List& values, const Value::Map& when) {
    Value::List names;
    std::map<std::string, std::vector<std::pair<std::string, const Value*>>> members;
    for (const Value& value : values) {
      const std::string name = text_member(value, "_name");
      names.push_back(name.empty() ? value : Value(name));
      if (name.empty()) {
        continue;
      }
      for (const auto& [key, member] : *value.as_map()) {
        if (key != "_name") {
          members[key].emplace_back(name, &member);
        }
      }
    }
    add(below(keys, "_name"), choices(std::move(names)), when);
    const std::string parent = dotted(below(keys, "_name"));
    for (const auto& [key, owners] : members) {
      const Value& first = *owners.front().second;
      const bool alike = std::all_of(owners.begin(), owners.end(),
                                     [&](const auto& owner) { return *owner.second == first; });
      if (alike) {
        Value::List of;
        for (const auto& [name, member] : owners) {
          of.emplace_back(name);
        }
        one(below(keys, key), first, {{parent, std::move(of)}});
        continue;
      }
      for (const auto& [name, member] : owners) {  // Each choice has another range under this name.
        one(below(below(keys, name), key), *member, {{parent, name}});
      }
    }
  }

  std::string at_;
  Draft& draft_;
};

/// The tuner's argument with this name. Version 1 has it one level deeper than version 2.
std::string class_argument(const Value& tuner, std::string_view key) {
  return text_member(member_of(tuner, "classArgs"), key);
}

std::string name_in(const Value& algorithm) {
  const std::string name = text_member(algorithm, "name");
  return name.empty() ? text_member(algorithm, "builtinTunerName") : name;
}

std::string lower(std::string text) {
  for (char& c : text) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

const Value& either(const Value& map, std::string_view key, std::string_view older) {
  return member_of(map, key).is_null() ? member_of(map, older) : member_of(map, key);
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const std::size_t blank = line.find(' ');
    if (blank != 0) {
      words.emplace_back(line.substr(0, blank));
    }
    line.remove_prefix(blank == std::string_view::npos ? line.size() : blank + 1);
  }
  return words;
}

void read_limits(const Value& tree, Draft& draft) {
  const Value& duration = either(tree, "maxExperimentDuration", "maxExecDuration");
  if (duration.as_text() != nullptr) {
    draft.set("budget.max_time", duration);
  }
  const Value& trial = member_of(tree, "trial");
  const auto gpus =
      engine::whole_number(member_of(tree, "trialGpuNumber").is_null() ? member_of(trial, "gpuNum")
                                                                       : member_of(tree, "trialGpuNumber"));
  if (gpus && *gpus > 1) {
    draft.set("resources.slots_per_trial", *gpus);
  }
}

void read_search(const Value& tree, const std::string& command, Draft& draft) {
  const Value& tuner = member_of(tree, "tuner");
  Draft::Search search;
  search.method = lower(name_in(tuner));
  search.stops_early = member_of(tree, "assessor").as_map() != nullptr ||
                       member_of(tree, "advisor").as_map() != nullptr || search.method == "hyperband";
  search.metric = usual_metric;
  search.smaller_is_better = class_argument(tuner, "optimize_mode") == "minimize";
  if (const auto most = engine::whole_number(either(tree, "maxTrialNumber", "maxTrialNum"));
      most && *most > 0) {
    search.max_trials = *most;
  }
  search.max_length = epochs_in(words_of(command));
  search.counts_length_by = "the command";
  draft.search(search);
  if (const auto at_once = engine::whole_number(member_of(tree, "trialConcurrency"));
      at_once && *at_once > 0) {
    draft.set("searcher.max_concurrent_trials", *at_once);
  }
}

}  // namespace

std::string nni_space_file(const Value& tree) {
  if (foreign_file(tree) != ForeignFile::nni_experiment ||
      member_of(tree, "searchSpace").as_map() != nullptr) {
    return "";
  }
  const Value& file = either(tree, "searchSpaceFile", "searchSpacePath");
  return file.as_text() == nullptr ? "" : *file.as_text();
}

namespace {

ImportedExperiment imported(const Value& tree, const Value& space, std::string at) {
  Draft draft;
  if (const Value::Map* map = space.as_map()) {
    SpaceImport(std::move(at), draft).read(*map);
  } else {
    draft.refuse(std::move(at), "is " + quoted(space), "a map of parameters with _type and _value");
  }
  const std::string name = text_member(tree, "experimentName");
  if (!name.empty()) {
    draft.set("name", name);
  }
  const Value& trial = member_of(tree, "trial");
  const std::string command = text_member(tree, "trialCommand").empty() ? text_member(trial, "command")
                                                                        : text_member(tree, "trialCommand");
  draft.set("entrypoint", with_literal_braces(command));
  draft.decide("entrypoint", calls);
  const Value& directory = member_of(tree, "trialCodeDirectory").is_null()
                               ? member_of(trial, "codeDir")
                               : member_of(tree, "trialCodeDirectory");
  if (const std::string* place = directory.as_text(); place != nullptr && *place != "." && *place != "./") {
    draft.decide("entrypoint", "the code lies in " + *place + ": write this file there, or give --context");
  }
  read_search(tree, command, draft);
  read_limits(tree, draft);
  return std::move(draft).finished();
}

}  // namespace

ImportedExperiment import_nni_experiment(const Value& tree) {
  return imported(tree, member_of(tree, "searchSpace"), "searchSpace");
}

ImportedExperiment import_nni_space(const Value& tree) {
  return imported(Value::Map{{"trialCommand", "python3 train.py"}}, tree, "");
}

}  // namespace hpsearch::jobs
