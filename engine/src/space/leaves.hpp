#pragma once

#include <span>
#include <string>
#include <vector>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/formula.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {

/// Puts a leaf's value in its place; the maps on the way are made. Leaves must come in the space's order, and
/// no leaf lies below another.
inline void put_leaf(Value& configuration, const std::vector<std::string>& keys, Value value) {
  Value* here = &configuration;
  for (const std::string& key : keys) {
    if (here->is_null()) {
      *here = Value::Map();
    }
    Value::Map* map = here->as_map();
    HPSEARCH_CHECK(map != nullptr, "no leaf lies below another");
    here = &(*map)[key];
  }
  *here = std::move(value);
}

/// Which of a categorical's values is meant: the equal one, else the first that is the same number (64 for
/// 64.0); vals.size() when there is none.
[[nodiscard]] std::size_t category_of(const std::vector<Value>& vals, const Value& value) noexcept;

/// Each value once, in the order given; values with different spellings differ.
[[nodiscard]] std::vector<Value> different_values(const std::vector<Value>& vals);

/// True when both are the same number, whatever their types.
[[nodiscard]] bool same_number(const Value& a, const Value& b) noexcept;

/// Whether the configuration satisfies a condition with these leaves as names. A condition on a leaf that the
/// configuration lacks is satisfied.
[[nodiscard]] bool satisfies(const Formula& condition, std::span<const Space::Leaf> leaves,
                             const Value& configuration);

}  // namespace hpsearch::engine
