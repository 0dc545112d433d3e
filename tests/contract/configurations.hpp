#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/levels.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::contract {

/// Different values of one parameter; none where it is a real number.
[[nodiscard]] inline std::vector<engine::Value> values_of(const engine::Parameter& parameter) {
  if (const auto* constant = std::get_if<engine::ConstParameter>(&parameter)) {
    return {constant->val};
  }
  if (const auto* category = std::get_if<engine::CategoricalParameter>(&parameter)) {
    return category->vals;
  }
  std::vector<engine::Value> values;
  if (const std::optional<engine::Levels> levels = engine::Levels::of(parameter)) {
    for (std::uint64_t level = 0; level <= levels->last(); ++level) {
      values.push_back(levels->value(level));
    }
  }
  return values;
}

/// The number of different configurations of a space that its conditions allow; nothing if they are not
/// countable. With conditions of `where` it looks at each of them.
[[nodiscard]] inline std::optional<engine::Cardinality> configurations_in(const engine::Space& space) {
  const std::optional<engine::Cardinality> size = space.cardinality();
  if (!size || !space.is_constrained()) {
    return size;
  }
  std::vector<std::vector<engine::Value>> axes;
  for (const engine::Space::Leaf& leaf : space.leaves()) {
    axes.push_back(values_of(leaf.parameter));
  }
  std::set<std::string> allowed;
  std::vector<std::size_t> at(axes.size(), 0);
  std::size_t turned = 0;
  do {
    std::vector<engine::Value> values;
    for (std::size_t leaf = 0; leaf < axes.size(); ++leaf) {
      values.push_back(axes[leaf][at[leaf]]);
    }
    const engine::Value configuration = space.configuration_of(std::move(values));
    if (space.allows(configuration)) {
      allowed.insert(engine::compact_json(configuration));
    }
    for (turned = 0; turned < axes.size() && ++at[turned] == axes[turned].size(); ++turned) {
      at[turned] = 0;
    }
  } while (turned < axes.size());
  return allowed.size();
}

}  // namespace hpsearch::contract
