#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "conformance/table.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::conformance {

/// A line that names a hyperparameter: `int|double|log|categorical|const PATH field=value …`, or one that
/// says when it is active: `when PATH PARENT=value …`.
[[nodiscard]] inline bool names_hyperparameter(const Line& line) {
  static constexpr std::array<std::string_view, 6> types = {"int",         "double", "log",
                                                            "categorical", "const",  "when"};
  return !line.answer && std::find(types.begin(), types.end(), line.words.front()) != types.end();
}

/// The space that a case's lines describe.
[[nodiscard]] inline engine::Space space_of(const Case& one) {
  engine::Value hyperparameters = engine::Value::Map();
  for (const Line& line : one.lines) {
    if (names_hyperparameter(line) && line.words.front() != "when") {
      engine::Value::Map range{{"type", line.words.front()}};
      for (auto& [field, value] : assignments(line.words, 2)) {
        range[field] = std::move(value);
      }
      put(hyperparameters, line.words.at(1), std::move(range));
    }
  }
  for (const Line& line : one.lines) {
    if (names_hyperparameter(line) && line.words.front() == "when") {
      engine::Value::Map conditions;
      for (auto& [parent, values] : assignments(line.words, 2)) {
        conditions[parent] = std::move(values);
      }
      put(hyperparameters, line.words.at(1) + ".when", std::move(conditions));
    }
  }
  engine::Problems problems;
  engine::Problems notes;
  engine::Space space = engine::Space::parse(hyperparameters, "hyperparameters", problems, notes);
  for (const engine::Problem& problem : problems) {
    ADD_FAILURE() << engine::describe(problem);
  }
  return space;
}

/// The value of a leaf in a configuration; nullptr when it has none.
[[nodiscard]] inline const engine::Value* value_at(const engine::Value& configuration,
                                                   const engine::Space::Leaf& leaf) {
  const engine::Value* here = &configuration;
  for (const std::string& key : leaf.keys) {
    here = here->as_map() == nullptr ? nullptr : here->as_map()->find(key);
    if (here == nullptr) {
      return nullptr;
    }
  }
  return here;
}

/// `path=value` of every leaf that is there, in the order of the leaves.
[[nodiscard]] inline std::string flat_text(const engine::Space& space, const engine::Value& configuration) {
  std::string text;
  for (const engine::Space::Leaf& leaf : space.leaves()) {
    const engine::Value* value = value_at(configuration, leaf);
    if (value != nullptr) {
      text += (text.empty() ? "" : " ") + leaf.path + '=' + engine::compact_json(*value);
    }
  }
  return text;
}

}  // namespace hpsearch::conformance
