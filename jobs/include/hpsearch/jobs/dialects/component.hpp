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

/// The kinds of values that PAI components and ModelArts algorithms know.
enum class ComponentType : std::uint8_t { integer, real, text, boolean };
[[nodiscard]] std::string_view name_of(ComponentType type) noexcept;  ///< "Int", "Float", "String", "Bool"

/// One parameter that a program declares, and what may be given for it.
struct ComponentParameter {
  std::string name;
  ComponentType type = ComponentType::text;
  std::string description;
  bool required = false;  ///< An experiment has to give it; without a default.
  std::optional<Value> default_value;
  std::optional<double> least;         ///< Of numbers the value, of texts the length in characters.
  std::optional<double> greatest;      ///< Included.
  std::vector<Value> choices;          ///< Nothing but these, when there are any.
  std::optional<std::string> pattern;  ///< A regular expression that texts have to fit.
  std::optional<BoolStyle> bool_style;
};

/// An end of a range for people: "0.5"; "above 0" for the least number above it, which stands for an excluded
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

/// What a program trains on.
enum class ComponentMachine : std::uint8_t { any, cpu, gpu };

/// On what resources a program can train; what is not declared is allowed.
struct TrainingConstraints {
  ComponentMachine machine = ComponentMachine::any;
  bool multi_node = true;  ///< On more than one worker.
  bool multi_card = true;  ///< On more than one slot.
};

/// A program that declares what it reads, writes and can be tuned by, as PAI's components and ModelArts'
/// algorithms do (docs/components.md).
struct Component {
  std::string name;
  std::string description;
  Value entrypoint;                            ///< Null when the experiment has to give it.
  std::vector<ComponentParameter> parameters;  ///< Sorted by name, as all of these.
  std::vector<ComponentChannel> inputs;
  std::vector<ComponentChannel> outputs;
  std::map<std::string, std::string> metrics;  ///< Name → regular expression over the output.
  std::optional<LaunchKind>
      launch_kind;  ///< How its processes find each other, unless the experiment says it.
  std::optional<RankLevel> rank_level;
  std::string image;  ///< The container image it runs in, unless the experiment names one; "" = none.
  TrainingConstraints constraints;
};

/// What reading a component came to. `component` is set exactly when `problems` is empty.
struct ParsedComponent {
  std::optional<Component> component;
  Problems problems;
  Problems notes;
  std::vector<PatternUse>
      patterns;  ///< Also when there are problems; whether RE2 takes them is not asked here.
};

/// Reads a component from a tree; paths of problems begin below `at`. Pure; all problems at once.
[[nodiscard]] ParsedComponent parse_component(const Value& tree, std::string_view at);

/// The hyperparameter that stands for everything a parameter may be: a range, or its choices; null when the
/// declaration has no end (a text of any words, a number without bounds).
[[nodiscard]] Value declared_range(const ComponentParameter& parameter);

}  // namespace hpsearch::jobs
