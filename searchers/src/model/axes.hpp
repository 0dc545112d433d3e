#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/levels.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::searchers::model {

/// The searched space, one axis for each leaf that is no constant, and how the model sees it.
///
/// A place has one coordinate in [0, 1] per axis: on the parameter's own scale, or, where it has so many
/// levels (integers, steps, ordered values), that of a level in its cell. The model sees features: a
/// coordinate as it is, but one feature per value of an unordered categorical of three or more, so that any
/// two are as far apart as the ends of a range.
///
/// An inactive parameter has the coordinate `inactive`; the model sees it in the middle of its range, and no
/// value of a categorical.
class Axes {
 public:
  static constexpr double inactive = -1;

  explicit Axes(const engine::Space& space);

  [[nodiscard]] std::size_t size() const noexcept { return axes_.size(); }
  [[nodiscard]] std::size_t features() const noexcept { return features_; }

  /// How many places the axis has; 0: as many as there are numbers.
  [[nodiscard]] double levels(std::size_t axis) const noexcept { return axes_[axis].levels; }
  /// The place of the nearest level, for an axis with levels.
  [[nodiscard]] engine::Levels::Cell cell(std::size_t axis, double coordinate) const noexcept;
  /// The flat name of its hyperparameter.
  [[nodiscard]] const std::string& name(std::size_t axis) const noexcept {
    return space_.leaves()[axes_[axis].leaf].path;
  }
  /// How many features it has; those of all axes follow each other.
  [[nodiscard]] std::size_t features(std::size_t axis) const noexcept {
    return axes_[axis].kind == Kind::choice ? static_cast<std::size_t>(axes_[axis].levels) : 1;
  }
  /// Half the mean squared distance between the features of two random coordinates. (Cells of a log scale are
  /// taken as a range.)
  [[nodiscard]] double spread(std::size_t axis) const noexcept;

  /// Whether places near each other are alike.
  [[nodiscard]] bool has_order(std::size_t axis) const noexcept { return axes_[axis].kind != Kind::choice; }

  /// The point of a configuration; a value outside a range is moved to its end.
  void place_of(const engine::Value& configuration, std::span<double> place) const;
  [[nodiscard]] engine::Value configuration_at(std::span<const double> place) const;
  /// False where the space's conditions leave the configuration out.
  [[nodiscard]] bool allows(std::span<const double> place) const {
    return !space_.is_constrained() || space_.allows(configuration_at(place));
  }
  void features_of(std::span<const double> place, std::span<double> features) const;

  /// Makes a place one of a configuration as far as conditions say: of a parameter that is inactive there,
  /// the coordinate is taken away; one that has become active gets a uniform one.
  void settle(std::span<double> place, engine::Draw& draw) const;

  /// The nearest place that is a configuration.
  [[nodiscard]] double snapped(std::size_t axis, double coordinate) const noexcept;
  /// A coordinate near another: uniform where values have no order; a neighbour where `width` is less than a
  /// level; else now and then an end of the range, for optima lie in corners often, and mostly a normal step
  /// of that width.
  [[nodiscard]] double near(std::size_t axis, double coordinate, double width, engine::Draw& draw) const;

  /// The same for places of the same configuration, though computed in different ways.
  [[nodiscard]] std::uint64_t fingerprint(std::span<const double> place) const noexcept;

 private:
  enum class Kind : std::uint8_t { real, levels, log_levels, choice };
  struct Axis {
    std::size_t leaf = 0;
    Kind kind = Kind::real;
    bool is_categorical = false;
    double levels = 0;
    std::optional<engine::Levels> cells = {};  ///< Set for log levels, which are not equally wide.
  };

  void append_units(const Axis& axis, double coordinate, std::vector<double>& units) const;

  engine::Space space_;
  std::vector<Axis> axes_;
  std::vector<std::optional<std::size_t>> axis_of_;  // By leaf; none: a constant.
  std::vector<bool> is_parent_;                      // By leaf.
  std::size_t features_ = 0;
};

}  // namespace hpsearch::searchers::model
