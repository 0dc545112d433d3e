#include "hpsearch/jobs/dialects/component.hpp"

#include "cli/experiment/file_report.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/patterns/pattern_check.hpp"

namespace hpsearch::cli {

using engine::Value;
using jobs::Component;
using jobs::ComponentChannel;
using jobs::ComponentParameter;

namespace {

Value or_null(const std::optional<double>& bound) {
  return bound ? Value(*bound) : Value();
}

Value to_value(const ComponentParameter& parameter) {
  return Value::Map{{"name", parameter.name},
                    {"type", name_of(parameter.type)},
                    {"required", parameter.required},
                    {"default", parameter.default_value.value_or(Value())},
                    {"least", or_null(parameter.least)},
                    {"greatest", or_null(parameter.greatest)},
                    {"choices", Value(parameter.choices)},
                    {"declared", jobs::declared_range(parameter)},
                    {"description", parameter.description}};
}

Value to_value(const ComponentChannel& channel) {
  return Value::Map{{"name", channel.name},
                    {"required", channel.required},
                    {"passed_as", name_of(channel.passed_as)},
                    {"pre_download", channel.pre_download},
                    {"description", channel.description}};
}

template <class Items>
Value to_values(const Items& items) {
  Value::List list;
  for (const auto& item : items) {
    list.push_back(to_value(item));
  }
  return list;
}

/// "0.0001 ... 1", "sgd, adam", or "-".
std::string values_of(const ComponentParameter& parameter) {
  if (!parameter.choices.empty()) {
    std::string text;
    for (const Value& choice : parameter.choices) {
      text += (text.empty() ? "" : ", ") + engine::python_text(choice);
    }
    return text;
  }
  if (!parameter.least && !parameter.greatest) {
    return "any";
  }
  const auto end = [](const std::optional<double>& bound) { return bound ? jobs::bound_text(*bound) : ""; };
  const std::string range = end(parameter.least) + " ... " + end(parameter.greatest);
  return parameter.type == jobs::ComponentType::text ? "length " + range : range;
}

std::string given_of(const ComponentParameter& parameter) {
  if (parameter.required) {
    return "required";
  }
  return parameter.default_value ? "default " + engine::python_text(*parameter.default_value) : "optional";
}

std::vector<std::string> limits_of(const jobs::TrainingConstraints& constraints) {
  std::vector<std::string> limits;
  if (constraints.machine != jobs::ComponentMachine::any) {
    limits.emplace_back(constraints.machine == jobs::ComponentMachine::gpu ? "GPUs" : "CPUs");
  }
  if (!constraints.multi_node) {
    limits.emplace_back("one node");
  }
  if (!constraints.multi_card) {
    limits.emplace_back("one card");
  }
  return limits;
}

Value metrics_value(const Component& component) {
  Value::Map map;
  for (const auto& [name, pattern] : component.metrics) {
    map[name] = pattern;
  }
  return map;
}

void print(const Component& component, const std::string& path, const Output& output) {
  output.print(path + " is a valid component: " + printable(component.name) + "\n");
  for (const ComponentParameter& parameter : component.parameters) {
    output.print("  parameter  " +
                 printable(parameter.name + "  " + std::string(name_of(parameter.type)) + "  " +
                           values_of(parameter) + "  " + given_of(parameter)) +
                 "\n");
  }
  const auto channels = [&](const char* kind, const std::vector<ComponentChannel>& all) {
    for (const ComponentChannel& channel : all) {
      output.print(std::string("  ") + kind + printable(channel.name) +
                   (channel.required ? "  required" : "  optional") +
                   (channel.passed_as == jobs::PassedAs::channel
                        ? ""
                        : "  passed as " + std::string(name_of(channel.passed_as))) +
                   (channel.pre_download ? "  filled beforehand" : "") + "\n");
    }
  };
  channels("input      ", component.inputs);
  channels("output     ", component.outputs);
  for (const auto& [name, pattern] : component.metrics) {
    output.print("  metric     " + printable(name + "  " + pattern) + "\n");
  }
  if (component.launch_kind) {
    output.print("  launch     " + std::string(name_of(*component.launch_kind)) + "\n");
  }
  if (!component.image.empty()) {
    output.print("  image      " + printable(component.image) + "\n");
  }
  for (const std::string& limit : limits_of(component.constraints)) {
    output.print("  trains on  " + limit + "\n");
  }
}

}  // namespace

int component_check(const std::string& path, const Output& output) {
  ExperimentFile file;  // Collects its problems; a component is not an experiment.
  file.path = path == "-" ? "<stdin>" : path;
  const LoadedText loaded = load_text(path);
  if (!loaded.problem.empty()) {
    file.problems.push_back({0, {"", loaded.problem, ""}});
    return report_problems(file, output);
  }
  ReadText read = read_experiment_text(loaded.text);
  file.problems = std::move(read.problems);
  jobs::ParsedComponent parsed;
  if (read.tree) {
    parsed = jobs::parse_component(*read.tree, "");
    for (engine::Problem& problem : patterns::problems_of(parsed.patterns)) {
      parsed.problems.push_back(std::move(problem));
    }
    for (engine::Problem& problem : parsed.problems) {
      const std::size_t line = read.lines.line_of(problem.path);
      file.problems.push_back({line, std::move(problem)});
    }
    for (engine::Problem& note : parsed.notes) {
      const std::size_t line = read.lines.line_of(note.path);
      file.notes.push_back({line, std::move(note)});
    }
  }
  if (!file.problems.empty() || !parsed.component) {
    return report_problems(file, output);
  }
  report_notes(file, output);
  if (output.json()) {
    output.data(
        Value::Map{{"valid", true},
                   {"name", parsed.component->name},
                   {"parameters", to_values(parsed.component->parameters)},
                   {"inputs", to_values(parsed.component->inputs)},
                   {"outputs", to_values(parsed.component->outputs)},
                   {"metrics", metrics_value(*parsed.component)},
                   {"launch_kind",
                    parsed.component->launch_kind ? Value(name_of(*parsed.component->launch_kind)) : Value()},
                   {"image", parsed.component->image},
                   {"multi_node", parsed.component->constraints.multi_node},
                   {"multi_card", parsed.component->constraints.multi_card}});
    return 0;
  }
  print(*parsed.component, file.path, output);
  return 0;
}

}  // namespace hpsearch::cli
