#include "axes.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "hpsearch/engine/base/check.hpp"
#include "model/numeric/normal.hpp"

namespace hpsearch::searchers::model {

using engine::CategoricalParameter;
using engine::ConstParameter;
using engine::Levels;
using engine::Space;
using engine::Value;

namespace {

double cell_of(double levels, double coordinate) noexcept {
  return std::min(std::floor(coordinate * levels), levels - 1);
}

double middle_of(double levels, double cell) noexcept {
  return (cell + 0.5) / levels;
}

}  // namespace

Axes::Axes(const Space& space) : space_(space) {
  for (const Space::Leaf& leaf : space.leaves()) {
    is_parent_.resize(space.leaves().size(), false);
    for (const Space::Condition& condition : leaf.when) {
      is_parent_[condition.parent] = true;
    }
    if (std::holds_alternative<ConstParameter>(leaf.parameter)) {
      axis_of_.emplace_back();
      continue;
    }
    Axis axis;
    axis.leaf = axis_of_.size();
    axis_of_.emplace_back(axes_.size());
    if (std::optional<Levels> levels = Levels::of(leaf.parameter)) {
      axis.levels = static_cast<double>(levels->last()) + 1;
      axis.kind = Kind::levels;
      if (levels->scale() == engine::Scale::log) {
        axis.kind = Kind::log_levels;
        axis.cells = levels;
      }
    } else if (const auto* categorical = std::get_if<CategoricalParameter>(&leaf.parameter)) {
      axis.is_categorical = true;
      axis.levels = static_cast<double>(categorical->vals.size());
      axis.kind = categorical->vals.size() <= 2 || categorical->ordered ? Kind::levels : Kind::choice;
    }
    axes_.push_back(axis);
    features_ += features(axes_.size() - 1);
  }
}

void Axes::place_of(const Value& configuration, std::span<double> place) const {
  HPSEARCH_CHECK(place.size() == axes_.size(), "a place has a coordinate for each axis");
  const std::vector<double> units = space_.to_unit(configuration);
  std::size_t next = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    if (axis.is_categorical) {
      const auto first = units.begin() + static_cast<std::ptrdiff_t>(next);
      const auto chosen = std::max_element(first, first + static_cast<std::ptrdiff_t>(axis.levels)) - first;
      place[i] = middle_of(axis.levels, static_cast<double>(chosen));
      next += static_cast<std::size_t>(axis.levels);
    } else if (axis.kind == Kind::log_levels) {
      place[i] = axis.cells->place(axis.cells->at_unit(units[next++]));
    } else {
      place[i] = axis.kind == Kind::levels
                     ? middle_of(axis.levels, std::round(units[next] * (axis.levels - 1)))
                     : units[next];
      ++next;
    }
  }
  if (space_.is_conditional()) {
    const std::vector<bool> active = space_.active_in(configuration);
    for (std::size_t leaf = 0; leaf < active.size(); ++leaf) {
      if (!active[leaf] && axis_of_[leaf]) {
        place[*axis_of_[leaf]] = inactive;
      }
    }
  }
}

void Axes::settle(std::span<double> place, engine::Draw& draw) const {
  if (!space_.is_conditional()) {
    return;
  }
  std::vector<bool> active(axis_of_.size(), true);
  std::vector<Value> values(axis_of_.size());
  std::vector<double> units;
  for (const std::size_t leaf : space_.parents_first()) {
    for (const Space::Condition& condition : space_.leaves()[leaf].when) {
      active[leaf] = active[leaf] && active[condition.parent] && condition.holds(values[condition.parent]);
    }
    units.clear();
    if (const std::optional<std::size_t> axis = axis_of_[leaf]) {
      double& here = place[*axis];
      if (!active[leaf]) {
        here = inactive;
      } else if (here == inactive) {
        here = snapped(*axis, draw.unit());
      }
      append_units(axes_[*axis], here, units);
    }
    if (is_parent_[leaf]) {
      values[leaf] = space_.value_from_unit(leaf, units);
    }
  }
}

Value Axes::configuration_at(std::span<const double> place) const {
  std::vector<double> units;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    append_units(axes_[i], place[i], units);
  }
  return space_.from_unit(units);
}

void Axes::append_units(const Axis& axis, double coordinate, std::vector<double>& units) const {
  if (coordinate == inactive) {
    coordinate = 0.5;  // It is not looked at.
  }
  if (axis.kind == Kind::real) {
    units.push_back(coordinate);
    return;
  }
  if (axis.kind == Kind::log_levels) {
    units.push_back(axis.cells->unit(axis.cells->at(coordinate)));
    return;
  }
  const double cell = cell_of(axis.levels, coordinate);
  if (axis.is_categorical) {
    for (double value = 0; value < axis.levels; ++value) {
      units.push_back(value == cell ? 1.0 : 0.0);
    }
  } else {
    units.push_back(cell / std::max(axis.levels - 1, 1.0));
  }
}

void Axes::features_of(std::span<const double> place, std::span<double> features) const {
  HPSEARCH_CHECK(features.size() == features_, "room for all features");
  std::size_t next = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    if (axis.kind != Kind::choice) {
      features[next++] = place[i] == inactive ? 0.5 : place[i];
      continue;
    }
    constexpr double half_of_distance_one = 0.70710678118654752440;
    const double cell = place[i] == inactive ? -1 : cell_of(axis.levels, place[i]);
    for (double value = 0; value < axis.levels; ++value) {
      features[next++] = value == cell ? half_of_distance_one : 0.0;
    }
  }
}

double Axes::spread(std::size_t axis) const noexcept {
  const Axis& here = axes_[axis];
  switch (here.kind) {
    case Kind::choice:
      return (1 - 1 / here.levels) / 2;
    case Kind::levels:
      return (1 - 1 / (here.levels * here.levels)) / 12;
    case Kind::real:
    case Kind::log_levels:
      return 1.0 / 12;
  }
  return 0;
}

double Axes::snapped(std::size_t axis, double coordinate) const noexcept {
  coordinate = std::clamp(coordinate, 0.0, 1.0);
  const Axis& here = axes_[axis];
  if (here.kind == Kind::log_levels) {
    return here.cells->place(here.cells->at(coordinate));
  }
  return here.kind == Kind::real ? coordinate : middle_of(here.levels, cell_of(here.levels, coordinate));
}

Levels::Cell Axes::cell(std::size_t axis, double coordinate) const noexcept {
  const Axis& here = axes_[axis];
  if (here.kind == Kind::log_levels) {
    return here.cells->cell(here.cells->at(coordinate));
  }
  const double half = 0.5 / here.levels;
  return {coordinate - half, coordinate + half};
}

double Axes::near(std::size_t axis, double coordinate, double width, engine::Draw& draw) const {
  const Axis& here = axes_[axis];
  if (here.kind == Kind::choice || coordinate == inactive) {
    return snapped(axis, draw.unit());
  }
  if (here.kind == Kind::levels && width * here.levels < 1) {
    const double cell = cell_of(here.levels, coordinate) + (draw.unit() < 0.5 ? -1 : 1);
    return middle_of(here.levels, std::clamp(cell, 0.0, here.levels - 1));
  }
  if (here.kind == Kind::log_levels) {
    const std::uint64_t level = here.cells->at(coordinate);
    const std::uint64_t above = std::min(level + 1, here.cells->last());
    const std::uint64_t below = level - (level > 0 ? 1 : 0);
    if (width < (here.cells->place(above) - here.cells->place(below)) / static_cast<double>(above - below)) {
      return here.cells->place(draw.unit() < 0.5 ? below : above);
    }
  }
  const double which = draw.unit();
  if (which < 0.1) {
    return snapped(axis, which < 0.05 ? 0.0 : 1.0);
  }
  return snapped(axis, coordinate + width * normal_quantile(draw.unit()));
}

std::uint64_t Axes::fingerprint(std::span<const double> place) const noexcept {
  std::uint64_t hash = 0;
  for (const double coordinate : place) {
    // Logarithms and back differ in last bits.
    hash ^= static_cast<std::uint64_t>(std::llround(coordinate * 0x1p40));
    hash *= 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29U;
  }
  return hash;
}

}  // namespace hpsearch::searchers::model
