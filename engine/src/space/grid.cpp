#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "hpsearch/engine/space/levels.hpp"
#include "hpsearch/engine/space/space.hpp"
#include "space/grid_axes.hpp"
#include "space/leaves.hpp"
#include "space/log_scale.hpp"

namespace hpsearch::engine {

namespace {

constexpr Cardinality most = (Cardinality{1} << 127U) - 1;

// Different values of a parameter that has levels; up to 2^64.
template <class Range>
Cardinality values_in(const Range& parameter) noexcept {
  return Cardinality{Levels(parameter).last()} + 1;
}

template <class Range>
Cardinality points_on(const Range& parameter) noexcept {
  const Cardinality values = values_in(parameter);
  return parameter.count || !parameter.step ? std::min<Cardinality>(parameter.count.value_or(0), values)
                                            : values;
}

// How many points an axis has; 0 when that was not said.
struct AxisSize {
  Cardinality operator()(const ConstParameter&) const noexcept { return 1; }
  Cardinality operator()(const IntParameter& parameter) const noexcept { return points_on(parameter); }
  Cardinality operator()(const DoubleParameter& parameter) const noexcept {
    return parameter.step ? points_on(parameter) : parameter.count.value_or(0);
  }
  Cardinality operator()(const LogParameter& parameter) const noexcept { return parameter.count.value_or(0); }
  Cardinality operator()(const CategoricalParameter& parameter) const noexcept {
    return parameter.vals.size();
  }
};

// Both ends are what was asked for, to the last bit, and rounding leads nowhere beyond them.
double real_point(double minval, double maxval, std::uint64_t index, std::uint64_t points) noexcept {
  if (points == 1) {
    const double sum = minval + maxval;
    return std::isfinite(sum) ? sum / 2 : minval / 2 + maxval / 2;
  }
  if (index == points - 1) {
    return maxval;
  }
  const double place = static_cast<double>(index);
  const double steps = static_cast<double>(points - 1);
  const double product = place * (maxval - minval);
  return std::min(maxval,
                  minval + (std::isfinite(product) ? product / steps : place / steps * (maxval - minval)));
}

// round(min + i·(max-min)/(k-1)), half away from zero, without ever leaving the integers.
std::int64_t integer_point(std::int64_t minval, std::uint64_t width, std::uint64_t index,
                           std::uint64_t points) noexcept {
  const auto lowest = static_cast<std::uint64_t>(minval);
  // A single point is the middle: the second of three.
  const std::uint64_t steps = points == 1 ? 2 : points - 1;
  const Cardinality product = Cardinality{points == 1 ? 1 : index} * width;
  const auto floor = static_cast<std::int64_t>(lowest + static_cast<std::uint64_t>(product / steps));
  const Cardinality twice_rest = product % steps * 2;
  const bool up = twice_rest > steps || (twice_rest == steps && floor >= 0);
  return up ? floor + 1 : floor;
}

// A power of ten between powers of ten is to be one: 0.001 and not 0.0010000000000000002.
double rounded(double number) noexcept {
  constexpr int digits = 12;
  std::array<char, 32> text{};
  char* const begin = text.data();
  const auto written =
      std::to_chars(begin, begin + text.size(), number, std::chars_format::scientific, digits - 1);
  std::from_chars(begin, written.ptr, number);
  return number;
}

// At equal ratios; both ends are what was asked for.
double log_point(const DoubleParameter& parameter, std::uint64_t index, std::uint64_t points) noexcept {
  const double place = points == 1 ? 0.5 : static_cast<double>(index) / static_cast<double>(points - 1);
  const double number = log_at_place(parameter, place);
  return index == 0 || place == 1 ? number : std::clamp(rounded(number), parameter.minval, parameter.maxval);
}

// The level next to each number at equal ratios. Where several numbers have the same level, the points are
// the levels one after the other until the ratios have caught up.
std::uint64_t log_level(const Levels& levels, std::uint64_t index, std::uint64_t points) noexcept {
  if (points == 1) {
    return levels.at_unit(0.5);
  }
  return std::max(index, levels.at_unit(static_cast<double>(index) / static_cast<double>(points - 1)));
}

struct AxisPoint {
  std::uint64_t index;
  std::uint64_t points;

  Value operator()(const ConstParameter& parameter) const { return parameter.val; }
  Value operator()(const IntParameter& parameter) const {
    if (parameter.step || parameter.scale == Scale::log) {
      return on_level(Levels(parameter));
    }
    return integer_point(parameter.minval, Levels(parameter).last(), index, points);
  }
  Value operator()(const DoubleParameter& parameter) const {
    if (parameter.step) {
      return on_level(Levels(parameter));
    }
    if (parameter.scale == Scale::log) {
      return log_point(parameter, index, points);
    }
    return real_point(parameter.minval, parameter.maxval, index, points);
  }
  Value operator()(const LogParameter& parameter) const {
    return std::pow(parameter.base, real_point(parameter.minval, parameter.maxval, index, points));
  }
  Value operator()(const CategoricalParameter& parameter) const {
    return parameter.vals[static_cast<std::size_t>(index)];
  }

 private:
  [[nodiscard]] Value on_level(const Levels& levels) const {
    return levels.value(levels.scale() == Scale::log
                            ? log_level(levels, index, points)
                            : static_cast<std::uint64_t>(integer_point(0, levels.last(), index, points)));
  }
};

/// Where on its axis a leaf has a value, ascending.
struct PlacesOn {
  const Value& value;
  std::uint64_t points;

  std::vector<std::uint64_t> operator()(const ConstParameter&) const { return {0}; }
  std::vector<std::uint64_t> operator()(const CategoricalParameter& parameter) const {
    std::vector<std::uint64_t> places;
    for (std::size_t place = 0; place < parameter.vals.size(); ++place) {
      if (parameter.vals[place] == value) {
        places.push_back(place);
      }
    }
    return places;
  }
  template <class Range>
  std::vector<std::uint64_t> operator()(const Range& range) const {
    const auto point = [&](std::uint64_t place) { return AxisPoint{place, points}(range); };
    std::uint64_t first = 0;
    for (std::uint64_t left = points; left > 0;) {  // The axis ascends.
      const std::uint64_t half = left / 2;
      if (is_less(point(first + half), value)) {
        first += half + 1;
        left -= half + 1;
      } else {
        left = half;
      }
    }
    std::vector<std::uint64_t> places;
    for (; first < points && point(first) == value; ++first) {
      places.push_back(first);
    }
    return places;
  }

 private:
  static bool is_less(const Value& a, const Value& b) noexcept {
    return a.as_integer() != nullptr && b.as_integer() != nullptr ? *a.as_integer() < *b.as_integer()
                                                                  : a.number_or(0) < b.number_or(0);
  }
};

// Different values a draw can give; nothing for reals.
struct ValueCount {
  std::optional<Cardinality> operator()(const ConstParameter&) const { return 1; }
  std::optional<Cardinality> operator()(const IntParameter& parameter) const { return values_in(parameter); }
  std::optional<Cardinality> operator()(const DoubleParameter& parameter) const {
    return parameter.step ? std::optional(values_in(parameter)) : std::nullopt;
  }
  std::optional<Cardinality> operator()(const LogParameter&) const { return std::nullopt; }
  std::optional<Cardinality> operator()(const CategoricalParameter& parameter) const {
    return different_values(parameter.vals).size();
  }
};

}  // namespace

std::string to_text(Cardinality number) {
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(number % 10));
    number /= 10;
  } while (number != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

Result<Cardinality> Space::grid_size() const {
  Cardinality size = 1;
  for (const Leaf& leaf : leaves_) {
    const Cardinality points = std::visit(AxisSize{}, leaf.parameter);
    if (points == 0) {
      return Error{Errc::bad_request, "hyperparameters." + leaf.path +
                                          " has no count; a grid requires the count, or a step, of every "
                                          "int, double and log"};
    }
    if (!is_conditional() && size > most / points) {
      return Error{Errc::bad_request, "the grid has more than 2^127 points at hyperparameters." + leaf.path +
                                          "; lower some counts"};
    }
    size *= is_conditional() ? 1 : points;
  }
  if (grid_ != nullptr) {
    const std::optional<Cardinality> points = grid_->size();
    return points ? Result<Cardinality>(*points)
                  : Error{Errc::bad_request, "the grid has more than 2^127 points; lower some counts"};
  }
  return size;
}

std::shared_ptr<const Combinations> grid_of(std::span<const Space::Leaf> leaves) {
  std::vector<Cardinality> sizes;
  for (const Space::Leaf& leaf : leaves) {
    sizes.push_back(std::visit(AxisSize{}, leaf.parameter));
    if (sizes.back() == 0) {
      return nullptr;
    }
  }
  std::optional<Combinations> grid =
      Combinations::of(leaves, sizes, [&](std::size_t leaf, const std::vector<Value>& values) {
        std::vector<std::uint64_t> places;
        for (const Value& value : values) {
          const auto here =
              std::visit(PlacesOn{value, static_cast<std::uint64_t>(sizes[leaf])}, leaves[leaf].parameter);
          places.insert(places.end(), here.begin(), here.end());
        }
        std::sort(places.begin(), places.end());
        return places;
      });
  return grid ? std::make_shared<const Combinations>(*std::move(grid)) : nullptr;
}

Value Space::grid_point(Cardinality index) const {
  if (is_conditional()) {
    HPSEARCH_CHECK(grid_ != nullptr, "grid_size() refused a space without counts");
    const std::vector<Combinations::Place> places = grid_->at(index);
    Value configuration = Value::Map();
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      if (places[i]) {
        const auto size = static_cast<std::uint64_t>(std::visit(AxisSize{}, leaves_[i].parameter));
        put_leaf(configuration, leaves_[i].keys,
                 std::visit(AxisPoint{*places[i], size}, leaves_[i].parameter));
      }
    }
    return configuration;
  }
  std::vector<AxisPoint> points(leaves_.size());
  for (std::size_t i = leaves_.size(); i-- > 0;) {
    const Cardinality size = std::visit(AxisSize{}, leaves_[i].parameter);
    HPSEARCH_CHECK(size != 0, "grid_size() refused a space without counts");
    points[i] = {static_cast<std::uint64_t>(index % size), static_cast<std::uint64_t>(size)};
    index /= size;
  }
  HPSEARCH_CHECK(index == 0, "grid points are numbered below grid_size()");
  Value configuration = Value::Map();
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    put_leaf(configuration, leaves_[i].keys, std::visit(points[i], leaves_[i].parameter));
  }
  return configuration;
}

std::optional<Cardinality> Space::cardinality() const {
  Cardinality size = 1;
  for (const Leaf& leaf : leaves_) {
    const std::optional<Cardinality> values = std::visit(ValueCount{}, leaf.parameter);
    if (!values) {
      return std::nullopt;
    }
    size = size > most / *values ? most : size * *values;
  }
  if (is_conditional()) {
    const std::optional<Combinations> all = Combinations::of_values(leaves_);
    return all ? all->size().value_or(most) : most;
  }
  return size;
}

}  // namespace hpsearch::engine
