#include "hpsearch/engine/config/component.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/shown.hpp"
#include "config/algorithm_spec.hpp"
#include "config/component_section.hpp"
#include "config/sections.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "space/numbers.hpp"

namespace hpsearch::engine {

namespace {

constexpr std::array<std::string_view, 4> type_names = {"Int", "Float", "String", "Bool"};

/// PAI's words and ModelArts', in any capitals.
std::optional<ComponentType> type_named(std::string_view name) {
  std::string word;
  for (const char c : name) {
    word.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  if (word == "int" || word == "integer") {
    return ComponentType::integer;
  }
  if (word == "float") {
    return ComponentType::real;
  }
  if (word == "string") {
    return ComponentType::text;
  }
  if (word == "bool" || word == "boolean") {
    return ComponentType::boolean;
  }
  return std::nullopt;
}

/// The value in the parameter's type; nothing when it is of another.
std::optional<Value> as_type(const Value& value, ComponentType type) {
  switch (type) {
    case ComponentType::integer:
      if (const auto whole = whole_number(value)) {
        return Value(*whole);
      }
      return std::nullopt;
    case ComponentType::real:
      if (const auto number = finite_number(value)) {
        return Value(*number);
      }
      return std::nullopt;
    case ComponentType::text:
      return value.as_text() != nullptr ? std::optional(value) : std::nullopt;
    case ComponentType::boolean:
      return value.as_bool() != nullptr ? std::optional(value) : std::nullopt;
  }
  return std::nullopt;
}

/// What a value is measured by against `least` and `greatest`.
double measure(const Value& value) {
  const std::string* text = value.as_text();
  return text != nullptr ? static_cast<double>(text->size()) : value.number_or(0);
}

bool allows(const ComponentParameter& parameter, const Value& value) {
  const std::optional<Value> typed = as_type(value, parameter.type);
  if (!typed) {
    return false;
  }
  if (!parameter.choices.empty()) {
    return std::find(parameter.choices.begin(), parameter.choices.end(), *typed) != parameter.choices.end();
  }
  return (!parameter.least || measure(*typed) >= *parameter.least) &&
         (!parameter.greatest || measure(*typed) <= *parameter.greatest);
}

/// "Float from 0.0001 to 1", "String: one of "sgd", "adam"".
std::string described(const ComponentParameter& parameter) {
  std::string text(name_of(parameter.type));
  if (!parameter.choices.empty()) {
    text += ": one of ";
    for (std::size_t i = 0; i < parameter.choices.size(); ++i) {
      text += (i == 0 ? "" : ", ") + shown(parameter.choices[i]);
    }
    return text;
  }
  const char* of = parameter.type == ComponentType::text ? " of a length" : "";
  if (parameter.least || parameter.greatest) {
    text += of;
  }
  if (parameter.least) {
    text += " from " + short_number(*parameter.least);
  }
  if (parameter.greatest) {
    text += (parameter.least ? " to " : " up to ") + short_number(*parameter.greatest);
  }
  return text;
}

void read_range(Section& fields, ComponentParameter& parameter) {
  Section range = fields.section("range");
  parameter.least = range.number("min");
  parameter.greatest = range.number("max");
  if (parameter.type == ComponentType::boolean && !range.empty()) {
    fields.problem("range", "stands at a Bool", "no range: a Bool is true or false");
  } else if (parameter.least && parameter.greatest && !(*parameter.least <= *parameter.greatest)) {
    range.problem("max", "is " + short_number(*parameter.greatest),
                  "at least min, which is " + short_number(*parameter.least));
  }
  if (parameter.type == ComponentType::integer) {
    for (const auto& [key, bound] : {std::pair("min", parameter.least), {"max", parameter.greatest}}) {
      if (bound && *bound != std::floor(*bound)) {
        range.problem(key, "is " + short_number(*bound), "an integer, as the parameter is an Int");
      }
    }
  }
  range.finish();
}

void read_choices(Section& fields, ComponentParameter& parameter) {
  const Value::List* list = fields.list("enum");
  if (list == nullptr) {
    return;
  }
  if (list->empty()) {
    fields.problem("enum", "is empty", "at least one value");
  }
  if (fields.has("range")) {
    fields.problem("enum", "stands beside range", "one of them");
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (std::optional<Value> value = as_type((*list)[i], parameter.type)) {
      parameter.choices.push_back(*std::move(value));
    } else {
      fields.problem("enum[" + std::to_string(i) + "]", "is " + shown((*list)[i]),
                     "a value of type " + std::string(name_of(parameter.type)));
    }
  }
}

ComponentParameter read_parameter(Section fields, const std::string& name) {
  ComponentParameter parameter;
  parameter.name = name;
  const std::size_t problems = fields.findings().problems.size();
  if (const auto type = fields.text("type")) {
    if (const auto known = type_named(*type)) {
      parameter.type = *known;
    } else {
      fields.problem("type", "is " + shown(Value(*type)), any_of(type_names));
    }
  } else if (!fields.has("type")) {
    fields.missing("type", any_of(type_names));
  }
  parameter.description = fields.text("description").value_or("");
  parameter.required = fields.boolean("required").value_or(false);
  read_range(fields, parameter);
  read_choices(fields, parameter);
  if (const auto style = fields.text_in("bool_style", bool_style_names)) {
    if (parameter.type == ComponentType::boolean) {
      parameter.bool_style = bool_style_named(*style);
    } else {
      fields.problem("bool_style", "stands at a parameter that is no Bool", "no bool_style");
    }
  }
  if (const Value* value = fields.any("default")) {
    parameter.default_value = as_type(*value, parameter.type);
    const bool is_sound = fields.findings().problems.size() == problems;
    if (is_sound && !allows(parameter, *value)) {
      fields.problem("default", "is " + shown(*value), described(parameter));
    }
    if (parameter.required) {
      fields.problem("required", "is true beside a default", "one of them: what has a default need not be given");
    }
  }
  fields.finish();
  return parameter;
}

ComponentChannel read_channel(Section fields, const std::string& name, bool is_output) {
  ComponentChannel channel;
  channel.name = name;
  channel.description = fields.text("description").value_or("");
  channel.required = fields.boolean("required").value_or(!is_output);
  if (const auto passed = fields.text_in("passed_as", passed_as_names)) {
    channel.passed_as = passed_as_named(*passed).value_or(PassedAs::channel);
  }
  if (is_output) {
    channel.pre_download = fields.boolean("pre_download").value_or(false);
  }
  fields.finish();
  return channel;
}

class ComponentReader {
 public:
  ComponentReader(const Value& tree, std::string_view at, Findings& findings)
      : top_(&tree, std::string(at), findings) {}

  Component read() {
    Component component;
    component.name = top_.text("name").value_or("");
    if (component.name.empty()) {
      top_.missing("name", "a name for people");
    }
    component.description = top_.text("description").value_or("");
    read_entrypoint(component);
    each("parameters", [&](Section fields, const std::string& name) {
      take_name("PAI_HPS_", name, "parameters");
      component.parameters.push_back(read_parameter(std::move(fields), name));
    });
    each("inputs", [&](Section fields, const std::string& name) {
      take_name("PAI_INPUT_", name, "inputs");
      component.inputs.push_back(read_channel(std::move(fields), name, false));
    });
    each("outputs", [&](Section fields, const std::string& name) {
      take_name("PAI_OUTPUT_", name, "outputs");
      component.outputs.push_back(read_channel(std::move(fields), name, true));
    });
    Section metrics = top_.section("metrics");
    if (const Value::Map* patterns = top_.map("metrics")) {
      for (const auto& [name, pattern] : *patterns) {
        if (const auto text = metrics.text(name)) {
          component.metrics.emplace(name, *text);
        }
      }
    }
    top_.finish();
    return component;
  }

 private:
  void read_entrypoint(Component& component) {
    if (const Value* entrypoint = top_.any("entrypoint")) {
      component.entrypoint = *entrypoint;
    }
    if (const auto boot_file = top_.text("boot_file")) {
      if (!component.entrypoint.is_null()) {
        top_.problem("boot_file", "stands beside entrypoint", "one of them");
      }
      component.entrypoint = Value::List{"python3", *boot_file, "{args_eq}"};
    }
  }

  template <class Take>
  void each(std::string_view section, const Take& take) {  // A literal: the section keeps it.
    const Value::Map* map = top_.map(section);
    if (map == nullptr) {
      return;
    }
    for (const auto& [name, value] : *map) {
      if (!is_pai_name(name) || name.find('.') != std::string::npos) {
        top_.problem(path_below(section, name), "has a name that none can have",
                     "1 to 64 of letters, digits, `_` and `-`, not beginning with `_`");
      }
      take(Section(&value, path_below(top_.path_of(section), name), top_.findings()), name);
    }
  }

  /// Names are one's own among parameters, inputs and outputs together, and so are their variables.
  void take_name(const std::string& prefix, const std::string& name, const std::string& section) {
    const std::string here = section + "." + name;
    for (const std::string& key : {prefix + variable_part(name), "=" + variable_part(name)}) {
      const auto [place, is_new] = taken_.emplace(key, here);
      if (!is_new) {
        top_.problem(here, "and " + place->second + " have one name but for capitals and punctuation",
                     "different names for parameters, inputs and outputs");
        return;
      }
    }
  }

  Section top_;
  std::map<std::string, std::string> taken_;
};

/// Fills a map's member unless the experiment has it already.
void fill(Value::Map& map, std::string_view key, const Value& value) {
  if (const Value* given = map.find(key); given == nullptr || given->is_null()) {
    map[key] = value;
  }
}

bool is_declared(const Value& value) {
  const Value* type = value.as_map() != nullptr ? value.as_map()->find("type") : nullptr;
  return type != nullptr && *type == Value("declared");
}

template <class Items>
std::string_view nearest_name(std::string_view given, const Items& items) {
  std::vector<std::string_view> names;
  for (const auto& item : items) {
    names.push_back(item.name);
  }
  return nearest(given, names);
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
  }

 private:
  /// Nothing when something else stands there: the section's own reader says so.
  Value::Map* map_at(std::string_view key) {
    Value& value = (*tree_.as_map())[key];
    if (value.is_null()) {
      value = Value::Map{};
    }
    return value.as_map();
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
              near.empty() ? "what its " + std::string(section == "hyperparameters" ? "parameters" : section) +
                                 " name"
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
          problem(path, "is missing", described(parameter) + "; the component " + component_.name + " requires it");
        }
      } else if (is_declared(*value)) {
        declared(path, *value, parameter);
      } else if (value->as_bool() != nullptr) {
        *value = with_style(*value, parameter);
      }
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

  void channels(Value::Map* given, const std::vector<ComponentChannel>& declared, const std::string& section) {
    if (given == nullptr) {
      return;
    }
    refuse_others(*given, declared, section);
    for (const ComponentChannel& channel : declared) {
      const std::string path = section + "." + channel.name;
      const Value* value = given->find(channel.name);
      const bool is_absent = value == nullptr || value->is_null();
      if (is_absent && channel.required) {
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
      return value;  // Neither; the section's own reader says so.
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

/// Whether every value of a leaf is one that the parameter may have.
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
    return false;  // A real is no Int.
  }
  if (const auto* range = std::get_if<DoubleParameter>(&given)) {
    return ends(range->minval, range->maxval);
  }
  const auto& log = std::get<LogParameter>(given);
  const double low = std::pow(log.base, log.minval);
  const double high = std::pow(log.base, log.maxval);
  // A power need not meet a decimal bound to the last bit.
  constexpr double slack = 1e-12;
  return parameter.choices.empty() && (!parameter.least || low >= *parameter.least * (1 - slack)) &&
         (!parameter.greatest || high <= *parameter.greatest * (1 + slack));
}

}  // namespace

std::string_view name_of(ComponentType type) noexcept {
  return type_names[static_cast<std::size_t>(type)];
}

Value declared_range(const ComponentParameter& parameter) {
  if (!parameter.choices.empty()) {
    return Value::Map{{"type", "categorical"}, {"vals", parameter.choices}};
  }
  if (parameter.type == ComponentType::boolean) {
    Value::Map range{{"type", "categorical"}, {"vals", Value::List{false, true}}};
    if (parameter.bool_style) {
      range["bool_style"] = name_of(*parameter.bool_style);
    }
    return range;
  }
  if (parameter.type == ComponentType::text || !parameter.least || !parameter.greatest ||
      !(*parameter.least < *parameter.greatest)) {
    return {};
  }
  if (parameter.type == ComponentType::integer) {
    constexpr double widest = 9007199254740992.0;  // Beyond 2^53 a double skips integers.
    if (std::abs(*parameter.least) > widest || std::abs(*parameter.greatest) > widest) {
      return {};
    }
    return Value::Map{{"type", "int"},
                      {"minval", static_cast<std::int64_t>(*parameter.least)},
                      {"maxval", static_cast<std::int64_t>(*parameter.greatest)}};
  }
  return Value::Map{{"type", "double"}, {"minval", *parameter.least}, {"maxval", *parameter.greatest}};
}

ParsedComponent parse_component(const Value& tree, std::string_view at) {
  ParsedComponent parsed;
  Findings findings;
  if (tree.as_map() == nullptr) {
    findings.problems.push_back({std::string(at), "is " + shown(tree),
                                 "a map: name, entrypoint or boot_file, parameters, inputs, outputs, metrics"});
  } else {
    const bool of_pai = is_algorithm_spec(tree);
    const Value spelled = of_pai ? from_algorithm_spec(tree, at, findings) : Value();
    parsed.component = ComponentReader(of_pai ? spelled : tree, at, findings).read();
  }
  if (!findings.problems.empty()) {
    parsed.component.reset();
  }
  parsed.problems = std::move(findings.problems);
  parsed.notes = std::move(findings.notes);
  return parsed;
}

std::optional<Component> use_component(Value& tree, Findings& findings) {
  const Value* given = tree.as_map()->find("component");
  if (given == nullptr || given->is_null()) {
    return std::nullopt;
  }
  if (given->as_text() != nullptr) {
    findings.problems.push_back({"component", "is " + shown(*given),
                                 "the component itself, as a map: its file is read by the command line"});
    return std::nullopt;
  }
  ParsedComponent parsed = parse_component(*given, "component");
  for (Problem& problem : parsed.problems) {
    findings.problems.push_back(std::move(problem));
  }
  if (parsed.component) {
    ComponentUse(*parsed.component, tree, findings).all();
  }
  return std::move(parsed.component);
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

}  // namespace hpsearch::engine
