#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/formula.hpp"
#include "hpsearch/engine/space/levels.hpp"
#include "hpsearch/engine/space/numbers.hpp"
#include "hpsearch/engine/space/partial.hpp"
#include "hpsearch/engine/space/space.hpp"
#include "space/activity.hpp"
#include "space/leaves.hpp"

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

std::string text_of(const Value& number) {
  const std::int64_t* whole = number.as_integer();
  return whole != nullptr ? std::to_string(*whole) : python_float(number.number_or(0));
}

// "… in steps of 0.1; the nearest is 0.3"; the nearest is said of numbers inside the range.
std::string steps_of(const Levels& levels, const std::string& step, const Value& given) {
  std::string text = " in steps of " + step;
  const double number = given.number_or(std::nan(""));
  if (number >= levels.value(0).number_or(0) && number <= levels.value(levels.last()).number_or(0)) {
    text += "; the nearest is " + text_of(levels.value(levels.nearest(number)));
  }
  return text;
}

// The values that a leaf allows, or "" if the value is one of them.
struct Objection {
  const Value& value;

  std::string operator()(const ConstParameter& parameter) const {
    return parameter.val == value || same_number(parameter.val, value) ? "" : "only " + quoted(parameter.val);
  }
  std::string operator()(const IntParameter& parameter) const {
    const Levels levels(parameter);
    if (levels.find(value)) {
      return "";
    }
    return "an integer from " + std::to_string(parameter.minval) + " to " + std::to_string(parameter.maxval) +
           (parameter.step.value_or(1) > 1 ? steps_of(levels, std::to_string(*parameter.step), value) : "");
  }
  std::string operator()(const DoubleParameter& parameter) const {
    const std::optional<double> number = finite_number(value);
    const std::string range =
        "a number from " + python_float(parameter.minval) + " to " + python_float(parameter.maxval);
    if (parameter.step) {
      const Levels levels(parameter);
      return levels.find(value) ? "" : range + steps_of(levels, python_float(*parameter.step), value);
    }
    // Draws leave out the upper end; grids and people may well ask for it.
    return number && *number >= parameter.minval && *number <= parameter.maxval ? "" : range;
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
  Value operator()(const DoubleParameter& parameter) const {
    if (parameter.step) {
      const Levels levels(parameter);
      const std::optional<std::uint64_t> level = levels.find(value);
      return level ? levels.value(*level) : real();
    }
    return real();
  }
  Value operator()(const LogParameter&) const { return real(); }
  Value operator()(const CategoricalParameter& parameter) const {
    const std::size_t category = category_of(parameter.vals, value);
    return category < parameter.vals.size() ? parameter.vals[category] : value;
  }

  Value real() const { return value.is_number() ? Value(value.number_or(0)) : value; }
};

}  // namespace

std::string objection_to(const Value& value, const Parameter& parameter) {
  return std::visit(Objection{value}, parameter);
}

Value settled(const Value& value, const Parameter& parameter) {
  return std::visit(Settled{value}, parameter);
}

namespace {

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

/// `given`, but `settled` where that says something. In the order of keys: a map that is filled so moves
/// nothing.
Value laid_over(const Value& given, const Value& settled) {
  const Value::Map* below = given.as_map();
  const Value::Map* above = settled.as_map();
  if (below == nullptr || above == nullptr) {
    return settled;
  }
  Value::Map both;
  auto there = below->begin();
  for (const auto& [key, value] : *above) {
    for (; there != below->end() && there->first < key; ++there) {
      both[there->first] = there->second;
    }
    const bool in_both = there != below->end() && there->first == key;
    both[key] = in_both ? laid_over(there->second, value) : value;
    there += in_both ? 1 : 0;
  }
  for (; there != below->end(); ++there) {
    both[there->first] = there->second;
  }
  return both;
}

using Leaves = std::span<const Space::Leaf>;

/// Whether a configuration that may not lie in the space should have a leaf. Unknown: the value of a parent
/// is missing or wrong, which is said of the parent.
enum class Presence : std::uint8_t { active, inactive, unknown };

std::vector<Presence> presence_in(const Value& configuration, Leaves leaves,
                                  std::span<const std::size_t> parents_first) {
  std::vector<Presence> presence(leaves.size(), Presence::active);
  for (const std::size_t leaf : parents_first) {
    for (const Space::Condition& condition : leaves[leaf].when) {
      const Space::Leaf& parent = leaves[condition.parent];
      Presence here = presence[condition.parent];
      if (here == Presence::active) {
        const auto* constant = std::get_if<ConstParameter>(&parent.parameter);
        const Value* given = configuration.at_keys(parent.keys);
        const Value* value = given == nullptr && constant != nullptr ? &constant->val : given;
        if (value == nullptr || !objection_to(*value, parent.parameter).empty()) {
          here = Presence::unknown;
        } else if (!condition.holds(settled(*value, parent.parameter))) {
          here = Presence::inactive;
        }
      }
      if (here == Presence::inactive || presence[leaf] == Presence::active) {
        presence[leaf] = here;
      }
    }
  }
  return presence;
}

/// A configuration that lacks leaves is refused, or the missing ones are drawn.
enum class MissingLeaves : std::uint8_t { refused, drawn };

// Looks at one map of the configuration; `leaves` are those below it, which stand together in the space.
class ConfigurationCheck {
 public:
  ConfigurationCheck(const Space& space, const Value& configuration, MissingLeaves missing,
                     Problems& problems)
      : space_(space),
        presence_(presence_in(configuration, space.leaves(), space.parents_first())),
        missing_(missing),
        problems_(problems) {}

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
    for (auto member = map.begin(); member != map.end() && found_ < most_found; ++member) {
      const std::string& key = member->first;
      if (!std::binary_search(known.begin(), known.end(), key)) {  // Leaves stand in the order of their keys.
        const bool looks = known.size() * found_ < most_compared;
        const std::string_view meant = looks ? nearest(key, known) : std::string_view();
        problem(at.empty() ? key : at + "." + key, "is not a hyperparameter of this experiment",
                meant.empty() ? "" : "did you mean `" + std::string(meant) + "`?");
      }
    }
  }

 private:
  static constexpr std::size_t most_found = 100;  // Further problems would be alike.
  static constexpr std::size_t most_compared = 10'000;

  void problem(std::string at, std::string what, std::string allowed) {
    ++found_;
    problems_.push_back({std::move(at), std::move(what), std::move(allowed)});
  }

  void member(const Value* value, Leaves leaves, std::size_t depth, const std::string& at) {
    if (found_ >= most_found) {
      return;
    }
    const bool is_leaf = leaves.front().keys.size() == depth + 1;
    const auto first = static_cast<std::size_t>(leaves.data() - space_.leaves().data());
    const std::span<const Presence> here = std::span(presence_).subspan(first, leaves.size());
    const auto any = [&](Presence presence) {
      return std::find(here.begin(), here.end(), presence) != here.end();
    };
    const bool only_inactive = !any(Presence::active) && !any(Presence::unknown);
    if (value == nullptr) {
      if (any(Presence::active) && missing_ == MissingLeaves::refused) {
        problem(at, "is missing", is_leaf ? "a value" : "a map");
      }
    } else if (only_inactive && (is_leaf || value->as_map() == nullptr || value->as_map()->empty())) {
      problem(at, "is " + quoted(*value) + ", and this configuration does not have it",
              "left out, except where " + space_.when_text(first));
    } else if (is_leaf && missing_ == MissingLeaves::drawn && any(Presence::unknown)) {
      problem(at, "is " + quoted(*value) + ", and what it depends on is drawn",
              "left out, or together with what it depends on: " + space_.when_text(first));
    } else if (is_leaf) {
      const std::string allowed = std::visit(Objection{*value}, leaves.front().parameter);
      if (!allowed.empty()) {
        problem(at, "is " + quoted(*value), allowed);
      }
    } else if (const Value::Map* map = value->as_map()) {
      group(*map, leaves, depth + 1, at);
    } else {
      problem(at, "is " + quoted(*value), "a map");
    }
  }

  const Space& space_;
  std::vector<Presence> presence_;
  MissingLeaves missing_;
  Problems& problems_;
  std::size_t found_ = 0;
};

/// True if no problem was found.
bool check_shape(const Space& space, const Value& configuration, MissingLeaves missing, std::string_view at,
                 Problems& problems) {
  const Value::Map* map = configuration.as_map();
  if (map == nullptr) {
    problems.push_back({std::string(at), "is " + quoted(configuration), "a map of hyperparameters"});
    return false;
  }
  const std::size_t before = problems.size();
  ConfigurationCheck(space, configuration, missing, problems).group(*map, space.leaves(), 0, std::string(at));
  return problems.size() == before;
}

}  // namespace

void check_part(const Space& space, const Value& configuration, std::string_view at, Problems& problems) {
  if (!check_shape(space, configuration, MissingLeaves::drawn, at, problems)) {
    return;
  }
  if (is_whole(space, configuration)) {
    space.check(configuration, at, problems);
  } else if (!space.allows(configuration)) {
    problems.push_back({std::string(at), "is " + quoted(configuration), "what satisfies `where`"});
  }
}

void Space::check(const Value& configuration, std::string_view at, Problems& problems) const {
  if (!check_shape(*this, configuration, MissingLeaves::refused, at, problems)) {
    return;
  }
  for (const auto& condition : conditions_) {
    if (!satisfies(*condition, leaves_, configuration)) {
      std::string given;
      for (const std::size_t leaf : condition->names()) {
        given += (given.empty() ? "" : ", ") + leaves_[leaf].path + " " +
                 quoted(*configuration.at_keys(leaves_[leaf].keys));
      }
      problems.push_back({std::string(at), "has " + given, "what satisfies `where`: " + condition->text()});
    }
  }
}

Value Space::complete(const Value& configuration) const {
  if (configuration.as_map() == nullptr) {
    return configuration;
  }
  Value settled = Value::Map();
  const std::vector<Presence> presence = presence_in(configuration, leaves_, parents_first_);
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const Leaf& leaf = leaves_[i];
    if (presence[i] != Presence::active) {
      continue;
    }
    const Value* value = configuration.at_keys(leaf.keys);
    const auto* constant = std::get_if<ConstParameter>(&leaf.parameter);
    if (constant == nullptr && value != nullptr) {
      put_leaf(settled, leaf.keys, std::visit(Settled{*value}, leaf.parameter));
    } else if (constant != nullptr &&
               (value == nullptr ? has_room(configuration, leaf.keys) : same_number(*value, constant->val))) {
      put_leaf(settled, leaf.keys,
               constant->val);  // Where it says 1 for 1.0 too: that is no other configuration.
    }
  }
  return laid_over(configuration, settled);
}

}  // namespace hpsearch::engine
