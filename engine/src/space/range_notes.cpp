#include "space/range_notes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/numbers.hpp"

namespace hpsearch::engine {
namespace {

using Names = std::pair<std::string_view, std::string_view>;

constexpr std::array<Names, 5> bounds{
    {{"minval", "maxval"}, {"min", "max"}, {"low", "high"}, {"lower", "upper"}, {"start", "end"}}};
constexpr std::array<std::string_view, 4> lists{"vals", "values", "choices", "options"};

bool holds(const Value::Map& group, std::string_view key, bool (*is)(const Value&)) {
  const Value* value = group.find(key);
  return value != nullptr && is(*value);
}

bool is_number(const Value& value) {
  return value.is_number();
}
bool is_list(const Value& value) {
  return value.as_list() != nullptr;
}
bool is_text(const Value& value) {
  return value.as_text() != nullptr;
}

}  // namespace

std::optional<Problem> note_of_untyped_range(const Value::Map& group, std::string path) {
  // {distribution: log_uniform_values, min: …, max: …} or {_type: loguniform, _value: […]}.
  if (holds(group, "distribution", is_text) ||
      (holds(group, "_type", is_text) && holds(group, "_value", is_list))) {
    return Problem{std::move(path), "is a range of another product: its members are read as constants",
                   "type: int, double, log or categorical"};
  }
  for (const auto& [lower, upper] : bounds) {
    if (holds(group, lower, is_number) && holds(group, upper, is_number)) {
      return Problem{std::move(path),
                     "has no type: " + std::string(lower) + " and " + std::string(upper) +
                         " are hyperparameters of their own",
                     "type: int, double or log, with minval and maxval, to search between them"};
    }
  }
  for (const std::string_view list : lists) {
    if (group.size() == 1 && holds(group, list, is_list)) {
      return Problem{std::move(path), "has no type: " + std::string(list) + " is a hyperparameter of its own",
                     "type: categorical, with vals, to search among them"};
    }
  }
  return std::nullopt;
}

bool has_bounds_or_values(const Value::Map& group) noexcept {
  return std::any_of(bounds.begin(), bounds.end(),
                     [&](const Names& names) {
                       return group.contains(names.first) || group.contains(names.second);
                     }) ||
         std::any_of(lists.begin(), lists.end(), [&](std::string_view name) { return group.contains(name); });
}

std::optional<Problem> note_of_exponents(const LogParameter& parameter, std::string path) {
  constexpr double least_ratio = 5;  // Between values a log range is worth it from here on; between exponents
                                     // below 1 it is hardly ever meant.
  constexpr double most_decades = 12;
  const double decades = (parameter.maxval - parameter.minval) * std::abs(std::log10(parameter.base));
  const bool like_small_values =
      parameter.minval > 0 && parameter.maxval <= 1 && parameter.maxval / parameter.minval >= least_ratio;
  if (parameter.base == 1 || (!like_small_values && decades <= most_decades)) {
    return std::nullopt;
  }
  const auto power = [&](double exponent) { return short_number(std::pow(parameter.base, exponent)); };
  Problem note{std::move(path),
               "searches from " + power(parameter.minval) + " to " + power(parameter.maxval) +
                   ": minval and maxval are exponents of " + short_number(parameter.base),
               ""};
  if (parameter.minval > 0 && parameter.base > 1) {
    const auto exponent = [&](double value) {
      return short_number(std::log(value) / std::log(parameter.base));
    };
    note.allowed = "minval: " + exponent(parameter.minval) + " and maxval: " + exponent(parameter.maxval) +
                   ", or type: double with scale: log, to search from " + short_number(parameter.minval) +
                   " to " + short_number(parameter.maxval);
  }
  return note;
}

}  // namespace hpsearch::engine
