#include "hpsearch/jobs/dialects/component.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "dialects/pai/algorithm_spec.hpp"
#include "dialects/pai/component_section.hpp"
#include "dialects/pai/component_values.hpp"
#include "fields/sections.hpp"
#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::jobs {

namespace {

constexpr std::array<std::string_view, 4> type_names = {"Int", "Float", "String", "Bool"};

/// The type names of PAI and ModelArts, in any case.
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
      fields.problem("enum[" + std::to_string(i) + "]", "is " + quoted((*list)[i]),
                     "a value of type " + std::string(name_of(parameter.type)));
    }
  }
}

/// Reads the pattern that values have to match. The values in the component must match it, too.
void read_pattern(Section& fields, ComponentParameter& parameter, std::vector<PatternUse>& patterns) {
  parameter.pattern = fields.text("pattern");
  if (!parameter.pattern) {
    return;
  }
  if (parameter.type != ComponentType::text) {
    fields.problem("pattern", "stands at a parameter that is no String", "no pattern");
    return;
  }
  PatternUse use{.path = fields.path_of("pattern"),
                 .pattern = *parameter.pattern,
                 .purpose = PatternPurpose::value,
                 .parameter = parameter.name};
  if (const Value* otherwise = fields.any("default");
      otherwise != nullptr && otherwise->as_text() != nullptr) {
    use.texts.push_back({fields.path_of("default"), *otherwise->as_text()});
  }
  for (std::size_t i = 0; i < parameter.choices.size(); ++i) {
    use.texts.push_back({fields.path_of("enum[" + std::to_string(i) + "]"), *parameter.choices[i].as_text()});
  }
  patterns.push_back(std::move(use));
}

ComponentParameter read_parameter(Section fields, const std::string& name,
                                  std::vector<PatternUse>& patterns) {
  ComponentParameter parameter;
  parameter.name = name;
  const std::size_t problems = fields.findings().problems.size();
  if (const auto type = fields.text("type")) {
    if (const auto known = type_named(*type)) {
      parameter.type = *known;
    } else {
      fields.problem("type", "is " + quoted(Value(*type)), any_of(type_names));
    }
  } else if (!fields.has("type")) {
    fields.missing("type", any_of(type_names));
  }
  parameter.description = fields.text("description").value_or("");
  parameter.required = fields.boolean("required").value_or(false);
  read_range(fields, parameter);
  read_choices(fields, parameter);
  read_pattern(fields, parameter, patterns);
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
      fields.problem("default", "is " + quoted(*value), described(parameter));
    }
    if (parameter.required) {
      fields.problem("required", "is true beside a default",
                     "one of them: what has a default need not be given");
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
      component.parameters.push_back(read_parameter(std::move(fields), name, patterns_));
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
          patterns_.push_back({.path = metrics.path_of(name), .pattern = *text});
        }
      }
    }
    read_launch(top_.section("launch"), component);
    component.image = top_.text("image").value_or("");
    read_constraints(top_.section("constraints"), component.constraints);
    top_.finish();
    return component;
  }

  [[nodiscard]] std::vector<PatternUse> patterns() && { return std::move(patterns_); }

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

  static void read_launch(Section launch, Component& component) {
    if (const auto kind = launch.text_in("kind", launch_kind_names)) {
      component.launch_kind = launch_kind_named(*kind);
    }
    if (const auto rank = launch.text_in("rank", rank_level_names)) {
      component.rank_level = rank_level_named(*rank);
    }
    launch.finish();
  }

  static void read_constraints(Section given, TrainingConstraints& constraints) {
    static constexpr std::array<std::string_view, 2> machines = {"cpu", "gpu"};
    if (const auto machine = given.text_in("machine", machines)) {
      constraints.machine = *machine == "gpu" ? ComponentMachine::gpu : ComponentMachine::cpu;
    }
    if (constraints.machine == ComponentMachine::cpu) {
      given.note("machine",
                 "has no effect here: resource_pool and labels of an experiment choose its workers");
    }
    constraints.multi_node = given.boolean("multi_node").value_or(true);
    constraints.multi_card = given.boolean("multi_card").value_or(true);
    given.finish();
  }

  template <class Take>
  void each(std::string_view section,
            const Take& take) {  // `section` is a literal, because the section keeps a view of it.
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

  /// Names are unique among parameters, inputs and outputs together, and so are their variables.
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
  std::vector<PatternUse> patterns_;
};

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
    findings.problems.push_back(
        {std::string(at), "is " + quoted(tree),
         "a map: name, entrypoint or boot_file, parameters, inputs, outputs, metrics"});
  } else if (is_algorithm_spec(tree)) {
    const AlgorithmTree spelled = from_algorithm_spec(tree, at, findings);
    Findings inner;
    ComponentReader reader(spelled.tree, at, inner);
    parsed.component = reader.read();
    parsed.patterns = std::move(reader).patterns();
    const auto place = [&](std::string& path) { path = spelled.place_of(at, path); };
    for (PatternUse& use : parsed.patterns) {
      place(use.path);
      for (PatternUse::Text& text : use.texts) {
        place(text.path);
      }
    }
    for (auto [from, to] :
         {std::pair(&inner.problems, &findings.problems), {&inner.notes, &findings.notes}}) {
      for (Problem& one : *from) {
        place(one.path);
        to->push_back(std::move(one));
      }
    }
  } else {
    ComponentReader reader(tree, at, findings);
    parsed.component = reader.read();
    parsed.patterns = std::move(reader).patterns();
  }
  if (!findings.problems.empty()) {
    parsed.component.reset();
  }
  parsed.problems = std::move(findings.problems);
  parsed.notes = std::move(findings.notes);
  return parsed;
}

}  // namespace hpsearch::jobs
