#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/jobs/contract/job_contract.hpp"
#include "hpsearch/jobs/fields/engine_types.hpp"
#include "hpsearch/jobs/fields/patterns.hpp"
#include "hpsearch/jobs/launch/launch.hpp"

namespace hpsearch::jobs {

/// The types of values that PAI components and ModelArts algorithms have.
enum class ComponentType : std::uint8_t { integer, real, text, boolean };
[[nodiscard]] std::string_view name_of(ComponentType type) noexcept;  ///< "Int", "Float", "String", "Bool"

/// A parameter that a program declares, with its allowed values.
struct ComponentParameter {
  std::string name;
  ComponentType type = ComponentType::text;
  std::string description;
  bool required = false;  ///< An experiment has to set it; it has no default.
  std::optional<Value> default_value;
  std::optional<double> least;         ///< The least number, or the least length of a text in characters.
  std::optional<double> greatest;      ///< The greatest, included.
  std::vector<Value> choices;          ///< If there are any, only these are allowed.
  std::optional<std::string> pattern;  ///< A regular expression that texts have to match.
  std::optional<BoolStyle> bool_style;
};

/// The end of a range for people: "0.5"; "above 0" for the least number above 0, which stands for an excluded
/// 0.
[[nodiscard]] std::string bound_text(double bound);

/// One channel that a program declares.
struct ComponentChannel {
  std::string name;
  std::string description;
  bool required = false;
  PassedAs passed_as = PassedAs::channel;
  bool pre_download = false;
};

/// The kind of device that a program trains on.
enum class ComponentMachine : std::uint8_t { any, cpu, gpu };

/// The resources that a program can train on. By default everything is allowed.
struct TrainingConstraints {
  ComponentMachine machine = ComponentMachine::any;
  bool multi_node = true;  ///< On more than one worker.
  bool multi_card = true;  ///< On more than one slot.
};

/// A program that declares its inputs, outputs and parameters, as PAI's components and ModelArts'
/// algorithms do (docs/components.md).
struct Component {
  std::string name;
  std::string description;
  Value entrypoint;                            ///< Null if the experiment has to set it.
  std::vector<ComponentParameter> parameters;  ///< This and the other lists are sorted by name.
  std::vector<ComponentChannel> inputs;
  std::vector<ComponentChannel> outputs;
  std::map<std::string, std::string> metrics;  ///< Name → regular expression over the output.
  std::optional<LaunchKind>
      launch_kind;  ///< How its processes find each other, unless the experiment sets it.
  std::optional<RankLevel> rank_level;
  std::string image;  ///< The container image of the program, unless the experiment sets one; "" = none.
  TrainingConstraints constraints;
};

/// The result of reading a component. `component` is set exactly when `problems` is empty.
struct ParsedComponent {
  std::optional<Component> component;
  Problems problems;
  Problems notes;
  std::vector<PatternUse>
      patterns;  ///< Set even if there are problems. RE2 hasn't compiled any of them at this point.
};

/// Reads a component from a tree; paths of problems begin with `at`. Pure; reports all problems at once.
[[nodiscard]] ParsedComponent parse_component(const Value& tree, std::string_view at);

/// The hyperparameter with all values that a parameter allows: a range, or its choices; null if the
/// declaration has no bounds (any text, or a number without bounds).
[[nodiscard]] Value declared_range(const ComponentParameter& parameter);

}  // namespace hpsearch::jobs
