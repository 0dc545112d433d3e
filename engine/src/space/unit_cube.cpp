#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "hpsearch/engine/space/levels.hpp"
#include "hpsearch/engine/space/space.hpp"
#include "space/leaves.hpp"
#include "space/log_scale.hpp"

namespace hpsearch::engine {

namespace {

// NaN lands at 0, so that whatever a model proposes is a configuration.
double clamped(double coordinate) noexcept {
  return coordinate > 0 ? std::min(coordinate, 1.0) : 0.0;
}

double place_in(double minval, double maxval, double number) noexcept {
  return clamped((number - minval) / (maxval - minval));
}

double at_place(double minval, double maxval, double coordinate) noexcept {
  return std::clamp(minval + coordinate * (maxval - minval), minval, maxval);
}

double width_of(const IntParameter& parameter) noexcept {
  return static_cast<double>(static_cast<std::uint64_t>(parameter.maxval) -
                             static_cast<std::uint64_t>(parameter.minval));
}

struct ToUnit {
  const Value& value;
  std::vector<double>& coordinates;

  void operator()(const ConstParameter&) const {}
  void operator()(const IntParameter& parameter) const {
    const std::int64_t* integer = value.as_integer();
    if (parameter.step || parameter.scale == Scale::log) {
      const Levels levels(parameter);
      const std::uint64_t nearest = integer != nullptr ? levels.nearest(value.number_or(0)) : 0;
      coordinates.push_back(levels.unit(levels.find(value).value_or(nearest)));
      return;
    }
    const std::int64_t number = integer != nullptr ? *integer : parameter.minval;
    const auto offset = static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(parameter.minval);
    coordinates.push_back(
        number < parameter.minval ? 0 : clamped(static_cast<double>(offset) / width_of(parameter)));
  }
  void operator()(const DoubleParameter& parameter) const {
    if (parameter.step) {
      const Levels levels(parameter);
      coordinates.push_back(levels.unit(levels.nearest(value.number_or(parameter.minval))));
      return;
    }
    if (parameter.scale == Scale::log) {
      coordinates.push_back(log_place_of(parameter, value.number_or(parameter.minval)));
      return;
    }
    coordinates.push_back(place_in(parameter.minval, parameter.maxval, value.number_or(parameter.minval)));
  }
  void operator()(const LogParameter& parameter) const {
    // With base 1 every exponent gives the same number, and 0/0 lands at 0.
    const double exponent = std::log(value.number_or(1)) / std::log(parameter.base);
    coordinates.push_back(place_in(parameter.minval, parameter.maxval, exponent));
  }
  void operator()(const CategoricalParameter& parameter) const {
    const std::size_t chosen = category_of(parameter.vals, value);
    for (std::size_t i = 0; i < parameter.vals.size(); ++i) {
      coordinates.push_back(i == chosen ? 1.0 : 0.0);
    }
  }
};

struct FromUnit {
  std::span<const double>& coordinates;

  double take() const {
    HPSEARCH_CHECK(!coordinates.empty(), "as many coordinates as to_unit() gives");
    const double coordinate = clamped(coordinates.front());
    coordinates = coordinates.subspan(1);
    return coordinate;
  }

  Value operator()(const ConstParameter& parameter) const { return parameter.val; }
  Value operator()(const IntParameter& parameter) const {
    if (parameter.step || parameter.scale == Scale::log) {
      const Levels levels(parameter);
      return levels.value(levels.at_unit(take()));
    }
    const auto lowest = static_cast<std::uint64_t>(parameter.minval);
    const std::uint64_t width = static_cast<std::uint64_t>(parameter.maxval) - lowest;
    const double offset = std::round(take() * width_of(parameter));
    // The width of a range of nearly 2^64 integers rounds up to 2^64 as a double.
    return static_cast<std::int64_t>(
        lowest + (offset < 0x1p64 ? std::min(static_cast<std::uint64_t>(offset), width) : width));
  }
  Value operator()(const DoubleParameter& parameter) const {
    if (parameter.step) {
      const Levels levels(parameter);
      return levels.value(levels.at_unit(take()));
    }
    if (parameter.scale == Scale::log) {
      return log_at_place(parameter, take());
    }
    return at_place(parameter.minval, parameter.maxval, take());
  }
  Value operator()(const LogParameter& parameter) const {
    return std::pow(parameter.base, at_place(parameter.minval, parameter.maxval, take()));
  }
  Value operator()(const CategoricalParameter& parameter) const {
    std::size_t chosen = 0;
    double highest = -1;
    for (std::size_t i = 0; i < parameter.vals.size(); ++i) {
      const double coordinate = take();
      if (coordinate > highest) {
        chosen = i;
        highest = coordinate;
      }
    }
    return parameter.vals[chosen];
  }
};

}  // namespace

std::vector<double> Space::to_unit(const Value& configuration) const {
  std::vector<double> coordinates;
  const Value nothing;
  const std::vector<bool> active = active_in(configuration);
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const Leaf& leaf = leaves_[i];
    const Value* value = configuration.at_keys(leaf.keys);
    const std::size_t first = coordinates.size();
    std::visit(ToUnit{value != nullptr ? *value : nothing, coordinates}, leaf.parameter);
    if (!active[i]) {
      const bool one_per_value = std::holds_alternative<CategoricalParameter>(leaf.parameter);
      std::fill(coordinates.begin() + static_cast<std::ptrdiff_t>(first), coordinates.end(),
                one_per_value ? 0.0 : 0.5);
    }
  }
  return coordinates;
}

Value Space::from_unit(std::span<const double> coordinates) const {
  std::vector<Value> values;
  values.reserve(leaves_.size());
  for (const Leaf& leaf : leaves_) {
    values.push_back(std::visit(FromUnit{coordinates}, leaf.parameter));
  }
  HPSEARCH_CHECK(coordinates.empty(), "as many coordinates as to_unit() gives");
  return configuration_of(std::move(values));
}

Value Space::value_from_unit(std::size_t leaf, std::span<const double> coordinates) const {
  return std::visit(FromUnit{coordinates}, leaves_[leaf].parameter);
}

}  // namespace hpsearch::engine
