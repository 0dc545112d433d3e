// PAI's AlgorithmSpec, as its public API documents it: names of members are capitalized, named things are in
// lists instead of maps, and every parameter value is text.

#include "dialects/pai/algorithm_spec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "fields/sections.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/quoted.hpp"

namespace hpsearch::jobs {
namespace {

constexpr std::array<std::string_view, 7> without_effect = {
    "CodeDir",
    "ComputeResource",
    "Customization",
    "ProgressDefinitions",
    "ResourceRequirements",
    "SupportedChannelTypes",
    "SupportedInstanceTypes",
};
constexpr std::array<std::string_view, 5> members = {"Command", "HyperParameters", "InputChannels",
                                                     "MetricDefinitions", "OutputChannels"};
constexpr std::array<std::string_view, 8> with_effect = {
    "Command", "HyperParameters",   "Image",          "InputChannels",
    "JobType", "MetricDefinitions", "OutputChannels", "SupportsDistributedTraining"};
constexpr std::array<std::string_view, 9> around = {
    "AlgorithmDescription", "AlgorithmName", "AlgorithmProvider", "AlgorithmSpec",
    "AlgorithmVersion",     "Description",   "DisplayName",       "Name",
    "WorkspaceId"};
constexpr std::array<std::string_view, 7> of_parameter = {
    "DefaultValue", "Description", "DisplayName", "Name", "Range", "Required", "Type"};
constexpr std::array<std::string_view, 8> of_range = {"Enum",      "ExclusiveMaximum", "ExclusiveMinimum",
                                                      "MaxLength", "Maximum",          "MinLength",
                                                      "Minimum",   "Pattern"};
constexpr std::array<std::string_view, 5> of_channel = {"Description", "Name", "Properties", "Required",
                                                        "SupportedChannelTypes"};
constexpr std::array<std::string_view, 3> of_metric = {"Description", "Name", "Regex"};

const Value& member(const Value& map, std::string_view key) {
  static const Value none;
  const Value* found = map.as_map() != nullptr ? map.as_map()->find(key) : nullptr;
  return found != nullptr ? *found : none;
}

bool is_true(const Value& value) {
  return value == Value(true) || value == Value("true") || value == Value("True");
}

std::optional<double> number_in(const Value& value) {
  const std::string* text = value.as_text();
  if (text == nullptr) {
    return value.is_number() ? std::optional(value.number_or(0)) : std::nullopt;
  }
  return engine::number_in<double>(*text);
}

std::string in_small_letters(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return word;
}

/// PAI's job types, with or without the word Job, in any case.
std::string_view launch_kind_of(const std::string& job_type) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kinds = {
      {{"elasticbatch", "elastic_batch"},
       {"mpi", "mpi"},
       {"pytorch", "pytorch"},
       {"tensorflow", "tensorflow"},
       {"tf", "tensorflow"},
       {"xgboost", "xgboost"}}};
  std::string word = in_small_letters(job_type);
  if (word.ends_with("job")) {
    word.resize(word.size() - 3);
  }
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.first == word; });
  return found == kinds.end() ? std::string_view() : found->second;
}

bool is_silent(const Value& value) {
  return value.is_null() || (value.as_list() != nullptr && value.as_list()->empty()) ||
         (value.as_map() != nullptr && value.as_map()->empty());
}

enum class Kind : std::uint8_t { integer, real, boolean, text };

Kind kind_of(const Value& type) {
  const std::string word = in_small_letters(type.as_text() != nullptr ? *type.as_text() : "");
  return word.starts_with("int")    ? Kind::integer
         : word == "float"          ? Kind::real
         : word.starts_with("bool") ? Kind::boolean
                                    : Kind::text;
}

/// "0.1" of type Float becomes 0.1. Text that is no value of the type stays text, and the reader refuses it.
Value typed(const Value& value, Kind kind) {
  const std::optional<double> number = number_in(value);
  if (kind == Kind::boolean && value.as_text() != nullptr) {
    return is_true(value)                                       ? Value(true)
           : value == Value("false") || value == Value("False") ? Value(false)
                                                                : value;
  }
  if (kind == Kind::integer && number && *number == std::floor(*number) && std::abs(*number) < 9e15) {
    return static_cast<std::int64_t>(*number);
  }
  return kind == Kind::real && number ? Value(*number) : value;
}

class AlgorithmReader {
 public:
  AlgorithmReader(std::string_view at, Findings& findings) : at_(at), findings_(findings) {}

  AlgorithmTree read(const Value& tree) {
    const Value& inner = member(tree, "AlgorithmSpec");
    const Value& spec = inner.is_null() ? tree : inner;
    const std::string prefix = inner.is_null() ? "" : "AlgorithmSpec.";
    Value::Map out;
    for (const char* key : {"AlgorithmName", "Name", "DisplayName"}) {
      take(out, "name", member(tree, key));
    }
    take(out, "name", "algorithm");  // A bare AlgorithmSpec has no name.
    for (const char* key : {"AlgorithmDescription", "Description"}) {
      take(out, "description", member(tree, key));
    }
    take(out, "entrypoint", command(member(spec, "Command")));
    places_["entrypoint"] = prefix + "Command";
    const auto read_channel = [this](const Value& given, const std::string& at, const std::string& /*here*/) {
      return channel(given, at);
    };
    out["parameters"] = named(spec, prefix, {"HyperParameters", "parameters"},
                              [this](const Value& given, const std::string& at, const std::string& here) {
                                return parameter(given, at, here);
                              });
    out["inputs"] = named(spec, prefix, {"InputChannels", "inputs"}, read_channel);
    out["outputs"] = named(spec, prefix, {"OutputChannels", "outputs"}, read_channel);
    out["metrics"] = named(spec, prefix, {"MetricDefinitions", "metrics"},
                           [this](const Value& given, const std::string& at, const std::string& here) {
                             refuse_others(given, at, of_metric);
                             places_[here] = at + ".Regex";
                             return member(given, "Regex");
                           });
    how_it_runs(spec, prefix, out);
    look_at_the_rest(tree, spec, prefix);
    return {std::move(out), std::move(places_)};
  }

 private:
  static void take(Value::Map& out, const char* key, const Value& value) {
    if (!value.is_null() && !out.contains(key)) {
      out[key] = value;
    }
  }

  /// A list of one line is a line for the shell; PAI's console writes it so.
  static Value command(const Value& given) {
    const Value::List* words = given.as_list();
    const bool line = words != nullptr && words->size() == 1 && words->front().as_text() != nullptr &&
                      words->front().as_text()->find(' ') != std::string::npos;
    return line ? words->front() : given;
  }

  void how_it_runs(const Value& spec, const std::string& prefix, Value::Map& out) {
    const Value& job_type = member(spec, "JobType");
    if (const std::string* name = job_type.as_text()) {
      const std::string_view kind = launch_kind_of(*name);
      if (!kind.empty()) {
        out["launch"] = Value::Map{{"kind", kind}};
      } else {
        static constexpr std::array<std::string_view, 5> known = {"TFJob", "PyTorchJob", "XGBoostJob",
                                                                  "MPIJob", "ElasticBatchJob"};
        if (const std::string_view near = nearest(*name, known); !near.empty()) {
          problem(prefix + "JobType", "is " + quoted(job_type), "did you mean `" + std::string(near) + "`?");
        } else {
          note(prefix + "JobType",
               "is " + quoted(job_type) + ", which has no effect here; known are " + any_of(known));
        }
      }
    } else if (!job_type.is_null()) {
      problem(prefix + "JobType", "is " + quoted(job_type), "a string");
    }
    places_["launch.kind"] = prefix + "JobType";
    take(out, "image", member(spec, "Image"));
    places_["image"] = prefix + "Image";
    if (member(spec, "SupportsDistributedTraining") == Value(false)) {
      out["constraints"] = Value::Map{{"multi_node", false}};
    }
  }

  Value channel(const Value& given, const std::string& at) {
    refuse_others(given, at, of_channel);
    for (const char* key : {"Properties", "SupportedChannelTypes"}) {
      if (!member(given, key).is_null()) {
        note(at + "." + key, "has no effect here");
      }
    }
    Value::Map out;
    take(out, "description", member(given, "Description"));
    if (!member(given, "Required").is_null()) {
      out["required"] = is_true(member(given, "Required"));
    }
    return out;
  }

  Value parameter(const Value& given, const std::string& at, const std::string& here) {
    refuse_others(given, at, of_parameter);
    const Kind kind = kind_of(member(given, "Type"));
    Value::Map out;
    take(out, "type", member(given, "Type"));
    take(out, "description", member(given, "Description"));
    places_[here + ".type"] = at + ".Type";
    places_[here + ".default"] = at + ".DefaultValue";
    places_[here + ".required"] = at + ".Required";
    const Value& otherwise = member(given, "DefaultValue");
    const bool has_default = !otherwise.is_null() && (kind == Kind::text || !(otherwise == Value("")));
    if (has_default) {
      out["default"] = typed(otherwise, kind);
    }
    out["required"] = is_true(member(given, "Required")) && !has_default;
    range(member(given, "Range"), kind, at + ".Range", here, out);
    return out;
  }

  void range(const Value& given, Kind kind, const std::string& at, const std::string& here, Value::Map& out) {
    refuse_others(given, at, of_range);
    if (const Value::List* choices = member(given, "Enum").as_list();
        choices != nullptr && !choices->empty()) {
      Value::List values;
      for (const Value& choice : *choices) {
        values.push_back(typed(choice, kind));
      }
      out["enum"] = std::move(values);
    }
    places_[here + ".enum"] = at + ".Enum";
    places_[here + ".range"] = at;
    const bool text = kind == Kind::text;
    const char* least = text ? "MinLength" : "Minimum";
    const char* greatest = text ? "MaxLength" : "Maximum";
    places_[here + ".range.min"] = at + "." + least;
    places_[here + ".range.max"] = at + "." + greatest;
    Value::Map bounds;
    bound(bounds, "min", member(given, least), !text && is_true(member(given, "ExclusiveMinimum")), kind);
    bound(bounds, "max", member(given, greatest), !text && is_true(member(given, "ExclusiveMaximum")), kind);
    if (!bounds.empty()) {
      out["range"] = std::move(bounds);
    }
    const std::array<const char*, 2> lengths = {"MinLength", "MaxLength"};
    const std::array<const char*, 2> numbers = {"Minimum", "Maximum"};
    for (const char* key : text ? numbers : lengths) {
      if (!is_absent(member(given, key))) {
        note(at + "." + key, text ? "has no effect at a String: MinLength and MaxLength count"
                                  : "has no effect: only Strings have a length");
      }
    }
    if (const Value& pattern = member(given, "Pattern"); !is_absent(pattern)) {
      if (text) {
        out["pattern"] = pattern;
        places_[here + ".pattern"] = at + ".Pattern";
      } else {
        note(at + ".Pattern", "has no effect: only Strings have to fit one");
      }
    }
  }

  static bool is_absent(const Value& value) { return value.is_null() || value == Value(""); }

  /// Ranges include their ends: an excluded end is replaced by the next number inside.
  static void bound(Value::Map& out, const char* key, const Value& given, bool excluded, Kind kind) {
    if (is_absent(given)) {
      return;
    }
    const std::optional<double> number = number_in(given);
    if (!number) {
      out[key] = given;  // The reader reports the problem.
      return;
    }
    const double inside = *key == 'm' && key[1] == 'i' ? 1 : -1;
    out[key] = !excluded               ? *number
               : kind == Kind::integer ? *number + inside
                                       : std::nextafter(*number, inside * HUGE_VAL);
  }

  /// A list of the AlgorithmSpec and the map of a component that it becomes.
  struct Names {
    std::string there;
    std::string here;
  };

  template <class Read>
  Value named(const Value& spec, const std::string& prefix, const Names& names, const Read& read) {
    const Value& given = member(spec, names.there);
    const std::string path = prefix + names.there;
    Value::Map out;
    if (given.is_null()) {
      return out;
    }
    if (given.as_list() == nullptr) {
      problem(path, "is " + quoted(given), "a list of maps, each with a Name");
      return out;
    }
    for (std::size_t i = 0; i < given.as_list()->size(); ++i) {
      const Value& one = (*given.as_list())[i];
      const std::string at = path + "[" + std::to_string(i) + "]";
      const std::string* name = member(one, "Name").as_text();
      if (name == nullptr || name->empty()) {
        problem(at, "has no Name", "a map with a Name");
      } else if (out.contains(*name)) {
        problem(at, "has the Name " + quoted(Value(*name)) + " of one before it", "different names");
      } else {
        const std::string here = names.here + "." + *name;
        places_[here] = at;
        out[*name] = read(one, at, here);
      }
    }
    return out;
  }

  void look_at_the_rest(const Value& tree, const Value& spec, const std::string& prefix) {
    const auto is_in = [](const auto& names, const std::string& key) {
      return std::find(names.begin(), names.end(), key) != names.end();
    };
    for (const auto& [key, value] : *spec.as_map()) {
      if (is_in(without_effect, key)) {
        if (!is_silent(value)) {
          note(prefix + key, "has no effect here");
        }
      } else if (!is_in(with_effect, key) && (!prefix.empty() || !is_in(around, key))) {
        unknown(prefix + key, key, with_effect);
      }
    }
    for (const auto& [key, value] : *tree.as_map()) {
      if (!prefix.empty() && !is_in(around, key)) {
        unknown(key, key, around);
      }
    }
  }

  /// Refuses unknown members. A component file may have them.
  template <class Known>
  void refuse_others(const Value& given, const std::string& at, const Known& known) {
    if (given.as_map() == nullptr) {
      return;
    }
    for (const auto& [key, value] : *given.as_map()) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        unknown(at + "." + key, key, known);
      }
    }
  }

  template <class Known>
  void unknown(const std::string& path, const std::string& key, const Known& names) {
    const std::string near(nearest(key, names));
    problem(path, "is not known", near.empty() ? "leave it out" : "did you mean `" + near + "`?");
  }
  void problem(const std::string& path, std::string what, std::string allowed) {
    findings_.problems.push_back({path_below(at_, path), std::move(what), std::move(allowed)});
  }
  void note(const std::string& path, std::string what) {
    findings_.notes.push_back({path_below(at_, path), std::move(what), ""});
  }

  std::string at_;
  Findings& findings_;
  std::map<std::string, std::string> places_;
};

}  // namespace

bool is_algorithm_spec(const Value& tree) noexcept {
  return !member(tree, "AlgorithmSpec").is_null() ||
         std::any_of(members.begin(), members.end(),
                     [&tree](std::string_view key) { return !member(tree, key).is_null(); });
}

std::string AlgorithmTree::place_of(std::string_view at, const std::string& path) const {
  const std::string prefix = at.empty() ? "" : std::string(at) + ".";
  if (!path.starts_with(prefix)) {
    return path;
  }
  const std::string here = path.substr(prefix.size());
  // The longest known prefix; the rest of the path has the same names.
  for (std::size_t length = here.size(); length != 0 && length != std::string::npos;
       length = here.find_last_of(".[", length - 1)) {
    if (const auto place = places.find(here.substr(0, length)); place != places.end()) {
      return prefix + place->second + here.substr(length);
    }
  }
  return path;
}

AlgorithmTree from_algorithm_spec(const Value& tree, std::string_view at, Findings& findings) {
  const Value& inner = member(tree, "AlgorithmSpec");
  if (!inner.is_null() && inner.as_map() == nullptr) {
    findings.problems.push_back({path_below(at, "AlgorithmSpec"), "is " + quoted(inner), "a map"});
    return {Value::Map{}, {}};
  }
  return AlgorithmReader(at, findings).read(tree);
}

}  // namespace hpsearch::jobs
