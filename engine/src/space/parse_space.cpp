#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string_view>
#include <type_traits>

#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/combinations.hpp"
#include "hpsearch/engine/space/levels.hpp"
#include "hpsearch/engine/space/numbers.hpp"
#include "hpsearch/engine/space/space.hpp"
#include "space/activity.hpp"
#include "space/grid_axes.hpp"
#include "space/range_notes.hpp"

namespace hpsearch::engine {

namespace {

constexpr std::array<std::string_view, 5> type_names = {"categorical", "const", "double", "int", "log"};

// The fields of int and double.
constexpr std::array<std::string_view, 5> fields_of_numbers = {"count", "maxval", "minval", "scale", "step"};

constexpr std::int64_t most_with_logarithms = std::int64_t{1}
                                              << 53U;  // Beyond, not every integer is a double.
constexpr double most_steps = 0x1p53;

std::string below(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : std::string(path) + "." + std::string(key);
}

// One map with `type`, while it is being read.
class RangeReader {
 public:
  RangeReader(const Value::Map& map, std::string_view path, Problems& problems, Problems& notes)
      : map_(map), path_(path), problems_(problems), notes_(notes) {}

  /// How its booleans are to be spelled; nothing when the file does not say.
  std::optional<BoolStyle> read_bool_style() {
    const Value* given_style = given("bool_style");
    if (given_style == nullptr) {
      return std::nullopt;
    }
    const std::string* name = given_style->as_text();
    const std::optional<BoolStyle> style = name != nullptr ? bool_style_named(*name) : std::nullopt;
    if (!style) {
      problem("bool_style", "is " + quoted(*given_style), "one of python, lower, int, flag, empty_false");
    } else if (!has_boolean()) {
      problem("bool_style", "stands at a hyperparameter that is never true or false", "no bool_style");
    }
    return style;
  }

  Parameter read(std::string_view type) {
    if (type == "const") {
      return read_const();
    }
    if (type == "int") {
      return read_int();
    }
    if (type == "double") {
      return read_double();
    }
    return type == "log" ? read_log() : read_categorical();
  }

 private:
  void problem(std::string_view key, std::string what, std::string allowed) {
    problems_.push_back({below(path_, key), std::move(what), std::move(allowed)});
  }

  void refuse_other_keys(std::span<const std::string_view> of_type) {
    std::vector<std::string_view> known(of_type.begin(), of_type.end());
    known.emplace_back("when");
    for (const auto& [key, value] : map_) {
      if (key == "type" || value.is_null() || std::find(known.begin(), known.end(), key) != known.end()) {
        continue;
      }
      const std::string_view meant = nearest(key, known);
      std::string allowed =
          meant.empty() ? "one of " + any_of(known) : "did you mean `" + std::string(meant) + "`?";
      problem(key, "is not a field of a hyperparameter of this type", std::move(allowed));
    }
  }

  // Null is absent, as everywhere but in a hyperparameter's own value.
  const Value* given(std::string_view key) const {
    const Value* value = map_.find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }

  [[nodiscard]] bool has_boolean() const {
    const Value* vals = given("vals") != nullptr ? given("vals") : given("val");
    const Value::List* list = vals != nullptr ? vals->as_list() : nullptr;
    if (list == nullptr) {
      return vals != nullptr && vals->as_bool() != nullptr;
    }
    return std::any_of(list->begin(), list->end(),
                       [](const Value& value) { return value.as_bool() != nullptr; });
  }

  template <class Number>
  std::optional<Number> number(std::string_view key,
                               std::optional<Number> (*as_number)(const Value&) noexcept,
                               const char* allowed) {
    const Value* value = given(key);
    if (value == nullptr) {
      problem(key, "is missing", allowed);
      return std::nullopt;
    }
    const std::optional<Number> found = as_number(*value);
    if (!found) {
      problem(key, "is " + quoted(*value), allowed);
    }
    return found;
  }

  std::optional<std::uint64_t> read_count() {
    const Value* value = given("count");
    if (value == nullptr) {
      return std::nullopt;
    }
    const std::optional<std::int64_t> count = whole_number(*value);
    if (!count || *count < 1) {
      problem("count", "is " + quoted(*value), "an integer of at least 1: the number of grid points");
      return std::nullopt;
    }
    return static_cast<std::uint64_t>(*count);
  }

  template <class Number>
  bool in_order(const std::optional<Number>& minval, const std::optional<Number>& maxval) {
    if (!minval || !maxval) {
      return false;
    }
    if (!(*minval < *maxval)) {
      problem("maxval", "is " + quoted(Value(*maxval)), "above minval, which is " + quoted(Value(*minval)));
      return false;
    }
    return true;
  }

  Scale read_scale() {
    const Value* value = given("scale");
    if (value == nullptr) {
      return Scale::linear;
    }
    const std::string* name = value->as_text();
    const auto* const found =
        name != nullptr ? std::find(scale_names.begin(), scale_names.end(), *name) : scale_names.end();
    if (found == scale_names.end()) {
      problem("scale", "is " + quoted(*value), "linear or log");
      return Scale::linear;
    }
    return static_cast<Scale>(found - scale_names.begin());
  }

  template <class Number>
  bool has_logarithms(Scale scale, Number minval) {
    if (scale == Scale::log && !(minval > 0)) {
      problem("minval", "is " + quoted(Value(minval)) + " on a log scale", "a number above 0");
      return false;
    }
    return true;
  }

  // A range ends at its last step.
  template <class Range>
  void end_at_a_step(Range& parameter) {
    const Levels levels(parameter);
    const Value last = levels.value(levels.last());
    if (levels.last() == 0) {
      problem("step", "is " + quoted(Value(step_of(parameter))),
              "at most maxval - minval, which is " + quoted(Value(parameter.maxval - parameter.minval)));
    } else if (!levels.find(Value(parameter.maxval))) {
      notes_.push_back({below(path_, "maxval"),
                        "is " + quoted(Value(parameter.maxval)) +
                            ", which is not a step from minval: " + quoted(last) + " is the greatest value",
                        ""});
    }
    if constexpr (std::is_same_v<Range, IntParameter>) {
      parameter.maxval = *last.as_integer();
    } else {
      parameter.maxval = *last.as_real();
    }
  }

  static std::int64_t step_of(const IntParameter& parameter) {
    return static_cast<std::int64_t>(*parameter.step);
  }
  static double step_of(const DoubleParameter& parameter) { return *parameter.step; }

  Parameter read_const() {
    static constexpr std::array<std::string_view, 2> known = {"bool_style", "val"};
    refuse_other_keys(known);
    const Value* value = map_.find("val");
    if (value == nullptr) {
      problem("val", "is missing", "the value");
      return ConstParameter{};
    }
    return ConstParameter{*value};
  }

  Parameter read_int() {
    refuse_other_keys(fields_of_numbers);
    IntParameter parameter;
    parameter.count = read_count();
    parameter.scale = read_scale();
    if (const Value* step = given("step")) {
      const std::optional<std::int64_t> whole = whole_number(*step);
      if (whole && *whole >= 1) {
        parameter.step = static_cast<std::uint64_t>(*whole);
      } else {
        problem("step", "is " + quoted(*step), "an integer of at least 1");
      }
    }
    const auto minval = number<std::int64_t>("minval", whole_number, "an integer");
    const auto maxval = number<std::int64_t>("maxval", whole_number, "an integer");
    if (in_order(minval, maxval) && has_logarithms(parameter.scale, *minval)) {
      if (parameter.scale == Scale::log && *maxval > most_with_logarithms) {
        problem("maxval", "is " + quoted(Value(*maxval)) + " on a log scale", "at most 2^53");
        return parameter;
      }
      parameter.minval = *minval;
      parameter.maxval = *maxval;
      if (parameter.step) {
        end_at_a_step(parameter);
      }
    }
    return parameter;
  }

  Parameter read_double() {
    refuse_other_keys(fields_of_numbers);
    DoubleParameter parameter;
    parameter.count = read_count();
    parameter.scale = read_scale();
    if (const Value* step = given("step")) {
      parameter.step = finite_number(*step);
      if (!parameter.step || !(*parameter.step > 0)) {
        problem("step", "is " + quoted(*step), "a number above 0");
        parameter.step.reset();
      }
    }
    const auto minval = number<double>("minval", finite_number, "a number");
    const auto maxval = number<double>("maxval", finite_number, "a number");
    if (in_order(minval, maxval) && has_logarithms(parameter.scale, *minval)) {
      if (!std::isfinite(*maxval - *minval)) {
        problem("maxval", "is too far from minval", "maxval - minval within the range of a double");
        return parameter;
      }
      parameter.minval = *minval;
      parameter.maxval = *maxval;
      if (parameter.step && !((*maxval - *minval) / *parameter.step < most_steps)) {
        problem("step", "is " + quoted(Value(*parameter.step)), "a number that makes at most 2^53 values");
        parameter.step.reset();
      } else if (parameter.step) {
        end_at_a_step(parameter);
      }
    }
    return parameter;
  }

  Parameter read_log() {
    static constexpr std::array<std::string_view, 4> known = {"base", "count", "maxval", "minval"};
    refuse_other_keys(known);
    LogParameter parameter;
    parameter.count = read_count();
    const auto base = given("base") == nullptr ? std::optional<double>(parameter.base)
                                               : number<double>("base", finite_number, "a number above 0");
    if (base && !(*base > 0)) {
      problem("base", "is " + quoted(Value(*base)), "a number above 0");
      return parameter;
    }
    const auto minval = number<double>("minval", finite_number, "a number: the exponent of the lower end");
    const auto maxval = number<double>("maxval", finite_number, "a number: the exponent of the upper end");
    if (base && in_order(minval, maxval)) {
      for (const auto& [key, exponent] : {std::pair("minval", *minval), std::pair("maxval", *maxval)}) {
        const double end = std::pow(*base, exponent);
        if (!std::isfinite(end) || end == 0) {
          problem(key, "is " + quoted(Value(exponent)),
                  "an exponent; " + python_float(*base) + " to that power is not a usable number");
        }
      }
      if (*base == 1) {
        notes_.push_back({below(path_, "base"), "is 1, and so is every power of it: nothing varies", ""});
      }
      parameter.base = *base;
      parameter.minval = *minval;
      parameter.maxval = *maxval;
      if (std::optional<Problem> note = note_of_exponents(parameter, std::string(path_))) {
        notes_.push_back(*std::move(note));
      }
    }
    return parameter;
  }

  Parameter read_categorical() {
    static constexpr std::array<std::string_view, 4> known = {"val", "vals", "bool_style", "ordered"};
    refuse_other_keys(std::span(known).subspan(given("vals") == nullptr ? 0 : 1));
    std::string_view key = "vals";
    if (given("vals") == nullptr && given("val") != nullptr) {
      key = "val";
      notes_.push_back({below(path_, "val"), "read as `vals`", ""});
    }
    const Value* vals = given(key);
    if (vals == nullptr) {
      problem("vals", "is missing", "a list of at least one value");
      return CategoricalParameter{};
    }
    const Value::List* list = vals->as_list();
    if (list == nullptr || list->empty()) {
      problem(key, "is " + quoted(*vals), "a list of at least one value");
      return CategoricalParameter{};
    }
    const Value* order = given("ordered");
    if (order != nullptr && order->as_bool() == nullptr) {
      problem("ordered", "is " + quoted(*order), "true or false");
      return CategoricalParameter{*list};
    }
    return CategoricalParameter{*list, order != nullptr ? *order->as_bool() : are_ascending_numbers(*list)};
  }

  static bool are_ascending_numbers(const Value::List& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!values[i].is_number() || (i > 0 && !(values[i - 1].number_or(0) < values[i].number_or(0)))) {
        return false;
      }
    }
    return true;
  }

  const Value::Map& map_;
  std::string_view path_;
  Problems& problems_;
  Problems& notes_;
};

class SpaceReader {
 public:
  SpaceReader(std::string_view at, Problems& problems, Problems& notes)
      : at_(at), problems_(problems), notes_(notes) {}

  std::vector<Space::Leaf> read(const Value::Map& hyperparameters) {
    read_group(hyperparameters);
    if (!conditions_.empty()) {
      read_conditions(conditions_, at_, leaves_, problems_);
    }
    return std::move(leaves_);
  }

 private:
  std::string dotted() const {
    std::string path;
    for (const std::string& key : keys_) {
      path = below(path, key);
    }
    return path;
  }

  void add(Parameter parameter, std::optional<BoolStyle> bool_style = std::nullopt) {
    std::string path = dotted();
    // {"a.b": 1} and {"a": {"b": 1}} would share one flat name, and so one stream of draws.
    const auto [place, is_new] = seen_.emplace(path, leaves_.size());
    if (!is_new) {
      problems_.push_back({below(at_, path), "is named twice, once with a dot inside a name",
                           "names that stay different when nested names are joined by dots"});
      return;
    }
    for (const auto& [when, when_path] : when_) {
      conditions_.push_back({leaves_.size(), when, when_path});
    }
    leaves_.push_back({keys_, std::move(path), std::move(parameter), bool_style});
  }

  /// The condition of a map of type, or of a group; null is none.
  bool begin_condition(const Value::Map& map) {
    const Value* when = map.find("when");
    if (when == nullptr || when->is_null()) {
      return false;
    }
    when_.emplace_back(when, below(below(at_, dotted()), "when"));
    return true;
  }

  void read_group(const Value::Map& group) {
    for (const auto& [key, value] : group) {
      if (key == "when" && is_condition_of_group(value)) {
        continue;
      }
      if (key.empty()) {
        problems_.push_back({below(at_, dotted()), "holds a hyperparameter without a name", "a name"});
        continue;
      }
      keys_.push_back(key);
      read_one(value);
      keys_.pop_back();
    }
  }

  void read_one(const Value& value) {
    const Value::Map* map = value.as_map();
    if (map == nullptr || map->empty()) {  // An empty group stays what it is: programs may ask for it.
      add(ConstParameter{value});
      return;
    }
    const Value* type = map->find("type");
    if (type == nullptr) {
      if (std::optional<Problem> note = note_of_untyped_range(*map, below(at_, dotted()))) {
        notes_.push_back(*std::move(note));
      }
      read_conditional_group(*map);
      return;
    }
    const std::string path = below(at_, dotted());
    const std::string* name = type->as_text();
    if (name == nullptr || std::find(type_names.begin(), type_names.end(), *name) == type_names.end()) {
      const std::string_view meant = name != nullptr ? nearest(*name, type_names) : std::string_view();
      std::string allowed = (meant.empty() ? std::string() : "did you mean `" + std::string(meant) + "`? ") +
                            "one of const, int, double, log, categorical";
      if (meant.empty() && name != nullptr && !has_bounds_or_values(*map)) {
        allowed += "; a constant map is {type: const, val: " + quoted(value) + "}";
      }
      problems_.push_back({below(path, "type"), "is " + quoted(*type), std::move(allowed)});
      return;
    }
    RangeReader reader(*map, path, problems_, notes_);
    Parameter parameter = reader.read(*name);
    const bool takes_style = *name == "const" || *name == "categorical";
    const bool conditional = begin_condition(*map);
    add(std::move(parameter), takes_style ? reader.read_bool_style() : std::nullopt);
    if (conditional) {
      when_.pop_back();
    }
  }

  /// `when: 3` in a group is a hyperparameter of that name, and so is any `when` outside groups.
  [[nodiscard]] bool is_condition_of_group(const Value& value) const {
    return !keys_.empty() && value.as_map() != nullptr;
  }

  void read_conditional_group(const Value::Map& group) {
    const Value* when = group.find("when");
    const bool conditional = when != nullptr && is_condition_of_group(*when);
    if (conditional && group.size() == 1) {
      problems_.push_back({below(below(at_, dotted()), "when"), "stands in a group without hyperparameters",
                           "a group with members, or a map with `type`"});
      return;
    }
    if (conditional) {
      begin_condition(group);
    }
    read_group(group);
    if (conditional) {
      when_.pop_back();
    }
  }

  std::string_view at_;
  Problems& problems_;
  Problems& notes_;
  std::vector<std::string> keys_;
  std::vector<Space::Leaf> leaves_;
  std::map<std::string, std::size_t> seen_;
  std::vector<std::pair<const Value*, std::string>>
      when_;  // The `when` of the current leaf and of the groups around it.
  std::vector<WrittenCondition> conditions_;
};

}  // namespace

Space Space::parse(const Value& hyperparameters, std::string_view at, Problems& problems, Problems& notes) {
  Space space;
  if (hyperparameters.is_null()) {
    return space;
  }
  const Value::Map* map = hyperparameters.as_map();
  if (map == nullptr) {
    problems.push_back({std::string(at), "is " + quoted(hyperparameters), "a map of hyperparameters"});
    return space;
  }
  const std::size_t before = problems.size();
  space.leaves_ = SpaceReader(at, problems, notes).read(*map);
  const bool is_conditional = std::any_of(space.leaves_.begin(), space.leaves_.end(),
                                          [](const Leaf& leaf) { return !leaf.when.empty(); });
  if (is_conditional && problems.size() == before) {
    space.parents_first_ = ordered_by_parents(space.leaves_);
    space.grid_ = grid_of(space.leaves_);
  }
  return space;
}

}  // namespace hpsearch::engine
