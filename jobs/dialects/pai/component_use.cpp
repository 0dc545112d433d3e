#include <algorithm>
#include <cmath>
#include <utility>

#include "dialects/pai/component_section.hpp"
#include "dialects/pai/component_values.hpp"
#include "fields/sections.hpp"
#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::jobs {

namespace {

/// Sets a member of a map unless it is set.
void fill(Value::Map& map, std::string_view key, const Value& value) {
  if (const Value* given = map.find(key); given == nullptr || given->is_null()) {
    map[key] = value;
  }
}

/// Whether the value is a map with this `type`.
bool is_of_type(const Value& value, std::string_view name) {
  const Value* type = value.as_map() != nullptr ? value.as_map()->find("type") : nullptr;
  return type != nullptr && *type == Value(name);
}

/// Converts a value to the declared type. A value of another type stays, and check_component refuses it.
void bring_to_type(Value& value, ComponentType type) {
  if (std::optional<Value> typed = as_type(value, type)) {
    value = *std::move(typed);
  }
}

bool is_boolean(const Value& value) {
  const Value::List* list = value.as_list();
  return list != nullptr ? std::any_of(list->begin(), list->end(), is_boolean) : value.as_bool() != nullptr;
}

template <class Items>
std::string_view nearest_name(std::string_view given, const Items& items) {
  std::vector<std::string_view> names;
  for (const auto& item : items) {
    names.push_back(item.name);
  }
  return nearest(given, names);
}

/// Whether every attempt has this output, even if the experiment doesn't declare it.
bool always_is(std::string_view output) {
  return output == "checkpoints" || output == "logs" || output == "model" || output == "tensorboard";
}

class ComponentUse {
 public:
  ComponentUse(const Component& component, Value& tree, Findings& findings)
      : component_(component), tree_(tree), findings_(findings) {}

  void all() {
    Value::Map& top = *tree_.as_map();
    if (!component_.entrypoint.is_null()) {
      fill(top, "entrypoint", component_.entrypoint);
    }
    parameters(map_at("hyperparameters"));
    channels(map_at("inputs"), component_.inputs, "inputs");
    channels(map_at("outputs"), component_.outputs, "outputs");
    if (!component_.metrics.empty()) {
      if (Value::Map* metrics = map_at("metrics")) {
        for (const auto& [name, pattern] : component_.metrics) {
          fill(*metrics, name, pattern);
        }
      }
    }
    how_it_runs();
  }

 private:
  /// Returns nothing if the value is no map; the section's own reader reports that.
  Value::Map* map_at(std::string_view key) {
    Value& value = (*tree_.as_map())[key];
    if (value.is_null()) {
      value = Value::Map{};
    }
    return value.as_map();
  }

  void fill_in(std::string_view section, std::string_view key, const Value& value) {
    if (Value::Map* map = map_at(section)) {
      fill(*map, key, value);
    }
  }

  void how_it_runs() {
    if (component_.launch_kind) {
      fill_in("launch", "kind", name_of(*component_.launch_kind));
    }
    if (component_.rank_level) {
      fill_in("launch", "rank", name_of(*component_.rank_level));
    }
    if (!component_.image.empty()) {
      const Value* environment = tree_.as_map()->find("environment");
      if (environment == nullptr || environment->as_map() == nullptr ||
          !environment->as_map()->contains("image")) {
        fill_in("environment", "image", component_.image);
        findings_.notes.push_back({"environment.image",
                                   "is the component's, " + quoted(Value(component_.image)) +
                                       "; an empty one runs programs without a container",
                                   ""});
      }
    }
    if (!component_.constraints.multi_node) {
      const bool misspelled =
          tree_.as_map()->contains("resource");  // Users write `resource`, too; its reader notes it.
      fill_in(misspelled ? "resource" : "resources", "is_single_node", true);
    }
  }

  void problem(std::string path, std::string what, std::string allowed) {
    findings_.problems.push_back({std::move(path), std::move(what), std::move(allowed)});
  }

  template <class Items>
  void refuse_others(const Value::Map& given, const Items& known, const std::string& section) {
    for (const auto& [name, value] : given) {
      const std::string& here = name;
      if (std::any_of(known.begin(), known.end(), [&](const auto& item) { return item.name == here; })) {
        continue;
      }
      const std::string_view near = nearest_name(name, known);
      problem(section + "." + name, "is not declared by the component " + component_.name,
              near.empty()
                  ? "what its " + std::string(section == "hyperparameters" ? "parameters" : section) + " name"
                  : "did you mean `" + std::string(near) + "`?");
    }
  }

  void parameters(Value::Map* given) {
    if (given == nullptr) {
      return;
    }
    refuse_others(*given, component_.parameters, "hyperparameters");
    for (const ComponentParameter& parameter : component_.parameters) {
      Value* value = given->find(parameter.name);
      const std::string path = "hyperparameters." + parameter.name;
      if (value == nullptr) {
        if (parameter.default_value) {
          (*given)[parameter.name] = with_style(*parameter.default_value, parameter);
        } else if (parameter.required) {
          problem(path, "is missing",
                  described(parameter) + "; the component " + component_.name + " requires it");
        }
      } else if (is_of_type(*value, "declared")) {
        declared(path, *value, parameter);
      } else {
        given_value(path, *value, parameter);
      }
    }
  }

  /// Converts the experiment's own value or range to the declared type: an Int that was
  /// written as 32.0 becomes 32, a Float that was written as 1 becomes 1.0. An int range of a Float stays one
  /// of integers.
  void given_value(const std::string& path, Value& value, const ComponentParameter& parameter) {
    Value::Map* map = value.as_map();
    if (map == nullptr) {
      bring_to_type(value, parameter.type);
      if (is_boolean(value)) {
        value = with_style(value, parameter);
      }
      return;
    }
    if (!map->empty() && !map->contains("type")) {
      problem(path, "is a group of hyperparameters", described(parameter));
      return;
    }
    const bool listed = is_of_type(value, "categorical");
    if (!listed && !is_of_type(value, "const")) {
      return;
    }
    const char* key = listed && map->contains("vals") ? "vals" : "val";
    Value* member = map->find(key);
    if (member == nullptr) {
      return;  // The reader of the space reports it.
    }
    if (Value::List* vals = member->as_list(); listed && vals != nullptr) {
      for (Value& one : *vals) {
        bring_to_type(one, parameter.type);
      }
    } else if (!listed) {
      bring_to_type(*member, parameter.type);
    }
    if (parameter.bool_style && is_boolean(*member)) {
      fill(*map, "bool_style", name_of(*parameter.bool_style));
    }
  }

  static Value with_style(const Value& value, const ComponentParameter& parameter) {
    if (!parameter.bool_style) {
      return value;
    }
    return Value::Map{{"type", "const"}, {"val", value}, {"bool_style", name_of(*parameter.bool_style)}};
  }

  void declared(const std::string& path, Value& value, const ComponentParameter& parameter) {
    Value range = declared_range(parameter);
    if (range.is_null()) {
      problem(path, "is declared without an end: " + described(parameter),
              "a range or an enum in the component, or a range here");
      return;
    }
    for (const auto& [key, member] : *value.as_map()) {
      if (key != "type") {
        (*range.as_map())[key] = member;
      }
    }
    value = std::move(range);
  }

  void channels(Value::Map* given, const std::vector<ComponentChannel>& declared,
                const std::string& section) {
    if (given == nullptr) {
      return;
    }
    refuse_others(*given, declared, section);
    for (const ComponentChannel& channel : declared) {
      const std::string path = section + "." + channel.name;
      const Value* value = given->find(channel.name);
      const bool is_absent = value == nullptr || value->is_null();
      if (is_absent && channel.required && !(section == "outputs" && always_is(channel.name))) {
        problem(path, "is missing", "a path; the component " + component_.name + " requires it");
      } else if (!is_absent || section == "outputs") {
        (*given)[channel.name] = merged(is_absent ? Value() : *value, channel);
      }
    }
  }

  static Value merged(const Value& value, const ComponentChannel& channel) {
    Value::Map map = value.as_map() != nullptr ? *value.as_map() : Value::Map{};
    if (value.as_text() != nullptr) {
      map["path"] = value;
    } else if (!value.is_null() && value.as_map() == nullptr) {
      return value;  // It is neither; the section's own reader reports it.
    }
    if (channel.passed_as != PassedAs::channel) {
      fill(map, "passed_as", name_of(channel.passed_as));
    }
    if (channel.pre_download) {
      fill(map, "pre_download", true);
    }
    return map;
  }

  const Component& component_;
  Value& tree_;
  Findings& findings_;
};

/// Whether the parameter allows every value of a leaf.
bool lies_within(const ComponentParameter& parameter, const Parameter& given) {
  const auto ends = [&](const Value& low, const Value& high) {
    return parameter.choices.empty() && allows(parameter, low) && allows(parameter, high);
  };
  if (const auto* constant = std::get_if<ConstParameter>(&given)) {
    return allows(parameter, constant->val);
  }
  if (const auto* categorical = std::get_if<CategoricalParameter>(&given)) {
    return std::all_of(categorical->vals.begin(), categorical->vals.end(),
                       [&](const Value& value) { return allows(parameter, value); });
  }
  if (const auto* range = std::get_if<IntParameter>(&given)) {
    return ends(range->minval, range->maxval);
  }
  if (parameter.type != ComponentType::real) {
    return false;  // A real isn't allowed for an Int.
  }
  if (const auto* range = std::get_if<DoubleParameter>(&given)) {
    return ends(range->minval, range->maxval);
  }
  const auto& log = std::get<LogParameter>(given);
  const double low = std::pow(log.base, log.minval);
  const double high = std::pow(log.base, log.maxval);
  // A power may differ from a decimal bound in the last bit.
  constexpr double slack = 1e-12;
  return parameter.choices.empty() && (!parameter.least || low >= *parameter.least * (1 - slack)) &&
         (!parameter.greatest || high <= *parameter.greatest * (1 + slack));
}

}  // namespace

std::optional<Component> use_component(Value& tree, Findings& findings) {
  const Value* given = tree.as_map()->find("component");
  if (given == nullptr || given->is_null()) {
    return std::nullopt;
  }
  if (given->as_text() != nullptr) {
    findings.problems.push_back({"component", "is " + quoted(*given),
                                 "the component itself, as a map: its file is read by the command line"});
    return std::nullopt;
  }
  ParsedComponent parsed = parse_component(*given, "component");
  for (Problem& problem : parsed.problems) {
    findings.problems.push_back(std::move(problem));
  }
  for (Problem& note : parsed.notes) {
    findings.notes.push_back(std::move(note));
  }
  if (parsed.component) {
    ComponentUse(*parsed.component, tree, findings).all();
  }
  return std::move(parsed.component);
}

void check_resources(const Component& component, const ResourcesConfig& resources, bool single_node,
                     Findings& findings) {
  const TrainingConstraints& constraints = component.constraints;
  const std::uint64_t slots = resources.slots_per_trial;
  const auto problem = [&](const char* key, std::string what, const std::string& allowed) {
    findings.problems.push_back({"resources." + std::string(key), std::move(what), allowed});
  };
  const std::string program = "the component " + component.name;
  if (constraints.machine == ComponentMachine::gpu && slots == 0) {
    problem("slots_per_trial", "is 0", "at least 1: " + program + " trains on GPUs");
  }
  if (!constraints.multi_card && slots > 1) {
    problem("slots_per_trial", "is " + std::to_string(slots),
            "at most 1: " + program + " trains on one card");
  }
  if (!constraints.multi_node && !single_node) {
    problem("is_single_node", "is false", "true: " + program + " trains on one node");
  }
}

void check_component(const Component& component, const Space& space, Findings& findings) {
  for (const Space::Leaf& leaf : space.leaves()) {
    const auto parameter = std::find_if(component.parameters.begin(), component.parameters.end(),
                                        [&](const auto& one) { return one.name == leaf.path; });
    if (parameter != component.parameters.end() && !lies_within(*parameter, leaf.parameter)) {
      findings.problems.push_back({"hyperparameters." + leaf.path,
                                   "can be what the component " + component.name + " does not take",
                                   described(*parameter)});
    }
  }
}

}  // namespace hpsearch::jobs
