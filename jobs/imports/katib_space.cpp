#include "imports/katib_space.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "fields/sections.hpp"
#include "hpsearch/engine/space/numbers.hpp"

namespace hpsearch::jobs {
namespace {

std::optional<double> katib_end(const Value& space, const char* key, const std::string& at, Draft& draft) {
  const Value& given = member_of(space, key);
  const std::optional<double> number = number_in(given);
  if (!number) {
    draft.refuse(at + ".feasibleSpace." + key, given.is_null() ? "is missing" : "is " + quoted(given),
                 "a number");
  }
  return number;
}

std::optional<ForeignRange> katib_between(double low, double high, std::optional<double> step, bool whole,
                                          const Value& space, const std::string& at, Draft& draft) {
  const std::string distribution = text_member(space, "distribution");
  constexpr std::array<std::string_view, 4> known{"uniform", "logUniform", "normal", "logNormal"};
  if (!distribution.empty() && std::find(known.begin(), known.end(), distribution) == known.end()) {
    draft.refuse(at + ".feasibleSpace.distribution", "is " + quoted(Value(distribution)), any_of(known));
    return std::nullopt;
  }
  const bool is_log = distribution.starts_with("log");
  ForeignRange range = step     ? stepped_range(low, high, *step, whole, is_log ? Scale::log : Scale::linear)
                       : is_log ? logarithmic_range(low, high, whole)
                       : whole  ? whole_range(low, high)
                                : real_range(low, high);
  if (distribution == "normal" || distribution == "logNormal") {
    range.remark = "was a " + std::string(is_log ? "log-normal" : "normal") +
                   " distribution between these ends: searched evenly" + (is_log ? " in the logarithm" : "") +
                   (range.remark.empty() ? "" : "; it " + range.remark);
  }
  return range;
}

/// Katib writes all values as text.
Value::List katib_numbers(const Value::List& list) {
  Value::List values;
  for (const Value& value : list) {
    const std::optional<double> number = number_in(value);
    const auto whole = number ? engine::whole_number(Value(*number)) : std::nullopt;
    values.push_back(whole ? Value(*whole) : number ? Value(*number) : value);
  }
  return values;
}

std::optional<ForeignRange> katib_range(const Value& parameter, const std::string& at, Draft& draft) {
  const std::string type = text_member(parameter, "parameterType");
  const Value& space = member_of(parameter, "feasibleSpace");
  if (type == "categorical" || type == "discrete") {
    const Value::List& list = list_member(space, "list");
    if (list.empty()) {
      draft.refuse(at + ".feasibleSpace.list", "is missing", "the values of a " + type + " parameter");
      return std::nullopt;
    }
    return choices(type == "discrete" ? katib_numbers(list) : list);
  }
  if (type != "int" && type != "double") {
    draft.refuse(at + ".parameterType", type.empty() ? "is missing" : "is " + quoted(Value(type)),
                 "double, int, discrete or categorical");
    return std::nullopt;
  }
  const auto low = katib_end(space, "min", at, draft);
  const auto high = katib_end(space, "max", at, draft);
  const std::optional<double> step = number_in(member_of(space, "step"));
  if (!member_of(space, "step").is_null() && (!step || *step <= 0)) {
    draft.refuse(at + ".feasibleSpace.step", "is " + quoted(member_of(space, "step")), "a number above 0");
  }
  if (low && high && *low > *high) {
    draft.refuse(at + ".feasibleSpace.max", "is " + quoted(member_of(space, "max")),
                 "a number from min, which is " + short_number(*low));
  }
  return low && high ? katib_between(*low, *high, step, type == "int", space, at, draft) : std::nullopt;
}

}  // namespace

std::string name_without_hyphens(std::string name) {
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  return name;
}

std::string read_katib_parameter(const Value& parameter, const std::string& at, Draft& draft) {
  std::string given = text_member(parameter, "name");
  const std::string name = name_without_hyphens(given);
  if (name.empty()) {
    draft.refuse(at + ".name", "is missing");
    return "";
  }
  std::vector<std::string> keys;  // A dot separates the groups of a name here.
  for (std::size_t begin = 0, dot = 0; dot != std::string::npos; begin = dot + 1) {
    dot = name.find('.', begin);
    keys.push_back(name.substr(begin, dot - begin));
  }
  if (std::optional<ForeignRange> range = katib_range(parameter, at, draft)) {
    draft.add(keys, *std::move(range));
  }
  return given;
}

}  // namespace hpsearch::jobs
