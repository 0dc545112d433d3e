#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/space/levels.hpp"
#include "hpsearch/engine/space/space.hpp"

// Small spaces of every sort, drawn piece by piece so that rapidcheck can make a failing one smaller. Each
// function runs inside a property.

namespace hpsearch::contract {

/// Which spaces a searcher takes.
enum class Spaces : std::uint8_t {
  any,
  counted,    ///< Every range has a count or a step, as grids need it.
  constants,  ///< No choice at all.
};

/// All of them as likely, also in the first cases, which rapidcheck would begin with small ones.
[[nodiscard]] inline std::uint64_t up_to(std::uint64_t most) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(0, most + 1));
}

/// An int or a double, on either scale, with or without a step.
[[nodiscard]] inline engine::Value::Map arbitrary_range(bool whole) {
  using engine::Value;
  const bool on_log_scale = up_to(3) == 0;
  const auto low = static_cast<std::int64_t>(on_log_scale ? 1 + up_to(3) : up_to(6)) - (on_log_scale ? 0 : 3);
  const auto width = static_cast<std::int64_t>(1 + up_to(5));
  const auto step = static_cast<std::int64_t>(up_to(5));
  const auto spelled = [whole](std::int64_t halves) {
    return whole ? Value(halves) : Value(static_cast<double>(halves) / 2);
  };
  Value::Map range{
      {"type", whole ? "int" : "double"}, {"minval", spelled(low)}, {"maxval", spelled(low + width)}};
  if (on_log_scale) {
    range["scale"] = "log";
  }
  if (step > 0 && step <= width) {
    range["step"] = spelled(step);
  }
  return range;
}

[[nodiscard]] inline engine::Value::Map arbitrary_parameter(Spaces spaces) {
  using engine::Value;
  const std::uint64_t type = spaces == Spaces::constants ? 0 : up_to(5);
  const auto low = static_cast<std::int64_t>(up_to(6)) - 3;
  Value::Map parameter;
  switch (type) {
    case 0:
      return {{"type", "const"}, {"val", low}};
    case 1: {
      const Value sorts[] = {0, "v", 0.5, true, Value::List{64, 32}, 1};
      Value::List vals;
      for (std::uint64_t i = up_to(5), count = 1 + up_to(3); count > 0; --count) {
        vals.push_back(sorts[(i + count) % 6]);
      }
      parameter = {{"type", "categorical"}, {"vals", vals}};
      if (up_to(2) == 0) {
        parameter["ordered"] = true;
      }
      return parameter;
    }
    case 2:
    case 3:
      parameter = arbitrary_range(true);
      break;
    case 4:
      parameter = arbitrary_range(false);
      break;
    default:
      parameter = {{"type", "log"},
                   {"base", up_to(1) == 0 ? 10 : 2},
                   {"minval", low},
                   {"maxval", low + 1 + static_cast<std::int64_t>(up_to(5))}};
  }
  if (spaces == Spaces::counted && (!parameter.contains("step") || up_to(1) == 0)) {
    parameter["count"] = static_cast<std::int64_t>(1 + up_to(3));
  }
  return parameter;
}

/// Some values of that parameter, as conditions list them; none where it cannot have conditions.
[[nodiscard]] inline engine::Value::List arbitrary_values_of(const engine::Value::Map& parameter) {
  using engine::Value;
  engine::Problems problems;
  engine::Problems notes;
  const engine::Space alone =
      engine::Space::parse(Value::Map{{"p", parameter}}, "hyperparameters", problems, notes);
  RC_ASSERT(problems.empty());
  Value::List values;
  if (!alone.cardinality()) {
    return values;
  }
  for (std::uint64_t i = 0, count = 1 + up_to(1); i < count; ++i) {
    const Value drawn = *alone.sample(up_to(20), engine::TrialNumber(i)).at_path("p");
    if (std::find(values.begin(), values.end(), drawn) == values.end()) {
      values.push_back(drawn);
    }
  }
  return values;
}

/// Up to four parameters, some of them nested, some with conditions on those before them. A grid has at least
/// one.
[[nodiscard]] inline engine::Value::Map arbitrary_hyperparameters(Spaces spaces) {
  using engine::Value;
  struct Named {
    std::string path;
    Value::Map parameter;
  };
  std::vector<Named> leaves;
  const auto condition_on_some = [&leaves](std::size_t before) {
    Value::Map condition;
    for (std::uint64_t parents = 1 + (up_to(3) == 0 ? 1 : 0); parents > 0 && before > 0; --parents) {
      const Named& parent = leaves[static_cast<std::size_t>(up_to(before - 1))];
      if (Value::List values = arbitrary_values_of(parent.parameter); !values.empty()) {
        condition[parent.path] = std::move(values);
      }
    }
    return condition;
  };
  Value::Map space;
  Value::Map nested;
  Value::Map below;
  Value::Map condition_of_group;
  const std::uint64_t count = (spaces == Spaces::counted ? 1 : 0) + up_to(3);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    const std::uint64_t where = up_to(5);
    const bool is_nested = where <= 1;
    if (is_nested && nested.empty() && below.empty() && spaces != Spaces::constants && up_to(2) == 0) {
      condition_of_group = condition_on_some(leaves.size());  // None of them is in the group.
    }
    Value::Map parameter = arbitrary_parameter(spaces);
    leaves.push_back({(where == 0 ? "net.head." : where == 1 ? "net." : "") + name, parameter});
    if (spaces != Spaces::constants && up_to(2) == 0) {
      if (Value::Map condition = condition_on_some(leaves.size() - 1); !condition.empty()) {
        parameter["when"] = std::move(condition);
      }
    }
    (where == 0 ? below : where == 1 ? nested : space)[name] = std::move(parameter);
  }
  if (!below.empty()) {
    nested["head"] = below;
  }
  if (!nested.empty()) {
    if (!condition_of_group.empty()) {
      nested["when"] = condition_of_group;
    }
    space["net"] = nested;
  }
  return space;
}

/// At most one condition on all configurations: on one number, on the sum of two, or on a choice.
[[nodiscard]] inline std::vector<std::string> arbitrary_where(const engine::Space& space) {
  std::vector<std::string> numbers;
  std::vector<std::string> choices;
  for (const engine::Space::Leaf& leaf : space.leaves()) {
    const auto* category = std::get_if<engine::CategoricalParameter>(&leaf.parameter);
    if (category == nullptr && !engine::is_constant(leaf.parameter)) {
      numbers.push_back("hp." + leaf.path);
    } else if (category != nullptr && category->vals.size() > 1 &&
               category->vals.front() == engine::Value("v")) {
      choices.push_back("hp." + leaf.path);
    }
  }
  const auto one_of = [](const std::vector<std::string>& names) {
    return names[static_cast<std::size_t>(up_to(names.size() - 1))];
  };
  const std::string bound = std::to_string(static_cast<std::int64_t>(up_to(5)) - 2);
  switch (up_to(8)) {
    case 0:
      return numbers.empty() ? std::vector<std::string>() : std::vector{one_of(numbers) + " <= " + bound};
    case 1:
      return numbers.empty() ? std::vector<std::string>()
                             : std::vector{one_of(numbers) + " + " + one_of(numbers) + " > " + bound};
    case 2:
      return choices.empty() ? std::vector<std::string>() : std::vector{one_of(choices) + " != 'v'"};
    default:
      return {};
  }
}

/// Whether random draws find what the conditions allow, and soon: thousands of searches are drawn.
[[nodiscard]] inline bool is_often_allowed(const engine::Space& space) {
  if (!space.is_constrained()) {
    return true;
  }
  constexpr std::uint64_t drawn = 40;
  std::uint64_t allowed = 0;
  engine::Space free = space;
  engine::Problems problems;
  free.constrain({}, "where", problems);
  for (std::uint64_t trial = 0; trial < drawn; ++trial) {
    allowed += space.allows(free.sample(1, engine::TrialNumber(trial))) ? 1U : 0U;
  }
  return allowed * 8 >= drawn;
}

}  // namespace hpsearch::contract
