#include <algorithm>
#include <cmath>

#include "base/shown.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/space.hpp"
#include "space/leaves.hpp"
#include "space/numbers.hpp"

namespace hpsearch::engine {

bool same_number(const Value& a, const Value& b) noexcept {
  if (const std::optional<std::int64_t> whole = whole_number(a)) {
    return whole == whole_number(b);
  }
  return a.is_number() && b.is_number() && a.number_or(0) == b.number_or(0);
}

std::size_t category_of(const std::vector<Value>& vals, const Value& value) noexcept {
  auto found = std::find(vals.begin(), vals.end(), value);
  if (found == vals.end()) {
    found = std::find_if(vals.begin(), vals.end(), [&](const Value& val) { return same_number(val, value); });
  }
  return static_cast<std::size_t>(found - vals.begin());
}

namespace {

// What a leaf would have allowed, or "" when the value lies in it.
struct Objection {
  const Value& value;

  std::string operator()(const ConstParameter& parameter) const {
    return parameter.val == value || same_number(parameter.val, value) ? "" : "only " + shown(parameter.val);
  }
  std::string operator()(const IntParameter& parameter) const {
    const std::optional<std::int64_t> number = whole_number(value);
    if (number && *number >= parameter.minval && *number <= parameter.maxval) {
      return "";
    }
    return "an integer from " + std::to_string(parameter.minval) + " to " + std::to_string(parameter.maxval);
  }
  std::string operator()(const DoubleParameter& parameter) const {
    const std::optional<double> number = finite_number(value);
    // Draws leave out the upper end; grids and people may well ask for it.
    if (number && *number >= parameter.minval && *number <= parameter.maxval) {
      return "";
    }
    return "a number from " + python_float(parameter.minval) + " to " + python_float(parameter.maxval);
  }
  std::string operator()(const LogParameter& parameter) const {
    const double from = std::pow(parameter.base, parameter.minval);
    const double to = std::pow(parameter.base, parameter.maxval);
    // A person's 0.001 and pow(10, -3) need not be the same double.
    constexpr double slack = 1e-12;
    const std::optional<double> number = finite_number(value);
    if (number && *number >= std::min(from, to) * (1 - slack) &&
        *number <= std::max(from, to) * (1 + slack)) {
      return "";
    }
    return "a number from " + python_float(std::min(from, to)) + " to " + python_float(std::max(from, to));
  }
  std::string operator()(const CategoricalParameter& parameter) const {
    if (category_of(parameter.vals, value) < parameter.vals.size()) {
      return "";
    }
    constexpr std::size_t longest = 200;
    std::string allowed = "one of " + compact_json(parameter.vals);
    return allowed.size() <= longest ? allowed
                                     : "one of its " + std::to_string(parameter.vals.size()) + " vals";
  }
};

struct Settled {
  const Value& value;

  Value operator()(const ConstParameter& parameter) const { return parameter.val; }
  Value operator()(const IntParameter&) const {
    const std::optional<std::int64_t> number = whole_number(value);
    return number ? Value(*number) : value;
  }
  Value operator()(const DoubleParameter&) const { return real(); }
  Value operator()(const LogParameter&) const { return real(); }
  Value operator()(const CategoricalParameter& parameter) const {
    const std::size_t category = category_of(parameter.vals, value);
    return category < parameter.vals.size() ? parameter.vals[category] : value;
  }

  Value real() const { return value.is_number() ? Value(value.number_or(0)) : value; }
};

// False when something else than a map stands where the leaf's maps belong.
bool has_room(const Value& configuration, const std::vector<std::string>& keys) {
  const Value* here = &configuration;
  for (const std::string& key : keys) {
    if (here->is_null()) {
      return true;
    }
    const Value::Map* map = here->as_map();
    if (map == nullptr) {
      return false;
    }
    here = map->find(key);
    if (here == nullptr) {
      return true;
    }
  }
  return true;
}

using Leaves = std::span<const Space::Leaf>;

// Looks at one map of the configuration; `leaves` are those below it, which stand together in the space.
class ConfigurationCheck {
 public:
  explicit ConfigurationCheck(Problems& problems) : problems_(problems) {}

  void group(const Value::Map& map, Leaves leaves, std::size_t depth, const std::string& at) {
    std::vector<std::string_view> known;
    for (std::size_t first = 0, next = 0; first < leaves.size(); first = next) {
      const std::string& key = leaves[first].keys[depth];
      next = first + 1;
      while (next < leaves.size() && leaves[next].keys[depth] == key) {
        ++next;
      }
      known.push_back(key);
      member(map.find(key), leaves.subspan(first, next - first), depth, at.empty() ? key : at + "." + key);
    }
    for (const auto& [key, value] : map) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        const std::string_view meant = nearest(key, known);
        problems_.push_back({at.empty() ? key : at + "." + key, "is not a hyperparameter of this experiment",
                             meant.empty() ? "" : "did you mean `" + std::string(meant) + "`?"});
      }
    }
  }

 private:
  void member(const Value* value, Leaves leaves, std::size_t depth, const std::string& at) {
    const bool is_leaf = leaves.front().keys.size() == depth + 1;
    if (value == nullptr) {
      problems_.push_back({at, "is missing", is_leaf ? "a value" : "a map"});
    } else if (is_leaf) {
      const std::string allowed = std::visit(Objection{*value}, leaves.front().parameter);
      if (!allowed.empty()) {
        problems_.push_back({at, "is " + shown(*value), allowed});
      }
    } else if (const Value::Map* map = value->as_map()) {
      group(*map, leaves, depth + 1, at);
    } else {
      problems_.push_back({at, "is " + shown(*value), "a map"});
    }
  }

  Problems& problems_;
};

}  // namespace

void Space::check(const Value& configuration, std::string_view at, Problems& problems) const {
  const Value::Map* map = configuration.as_map();
  if (map == nullptr) {
    problems.push_back({std::string(at), "is " + shown(configuration), "a map of hyperparameters"});
    return;
  }
  ConfigurationCheck(problems).group(*map, leaves_, 0, std::string(at));
}

Value Space::settle(const Value& configuration) const {
  Value settled = configuration;
  for (const Leaf& leaf : leaves_) {
    const Value* value = leaf_value(configuration, leaf.keys);
    if (value != nullptr) {
      if (!is_constant(leaf.parameter)) {
        put_leaf(settled, leaf.keys, std::visit(Settled{*value}, leaf.parameter));
      }
    } else if (const auto* constant = std::get_if<ConstParameter>(&leaf.parameter);
               constant != nullptr && has_room(settled, leaf.keys)) {
      put_leaf(settled, leaf.keys, constant->val);
    }
  }
  return settled;
}

}  // namespace hpsearch::engine
