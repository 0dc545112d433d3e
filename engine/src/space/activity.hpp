#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {

/// A `when` that a file has, while its space is being read.
struct WrittenCondition {
  std::size_t leaf = 0;
  const Value* when = nullptr;
  std::string path;  // The path of `when`.
};

/// Gives the leaves their conditions, or says what is wrong with them. Several of one leaf must all hold.
void read_conditions(std::span<const WrittenCondition> written, std::string_view at,
                     std::vector<Space::Leaf>& leaves, Problems& problems);

/// All leaves that hang together without a circle: each after its parents, and as near to the last of them as
/// can be; else in their order.
[[nodiscard]] std::vector<std::size_t> ordered_by_parents(std::span<const Space::Leaf> leaves);

/// By leaf, those that have conditions on it, ascending.
[[nodiscard]] std::vector<std::vector<std::size_t>> children_of(std::span<const Space::Leaf> leaves);

/// The values that a leaf allows, or "" if the value is one of them.
[[nodiscard]] std::string objection_to(const Value& value, const Parameter& parameter);

/// The value as draws of the leaf give it (1e3 for an int is 1000), where it lies in it.
[[nodiscard]] Value settled(const Value& value, const Parameter& parameter);

}  // namespace hpsearch::engine
