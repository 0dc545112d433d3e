#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/space/levels.hpp"
#include "hpsearch/engine/space/partial.hpp"
#include "hpsearch/engine/space/space.hpp"
#include "space/log_scale.hpp"

namespace hpsearch::engine {

namespace {

// Rounding may carry the largest draws onto the upper end, which is not part of the range.
double below(double maxval, double drawn, double minval) {
  return drawn < maxval ? drawn : std::nextafter(maxval, minval);
}

double real_between(double minval, double maxval, double unit) {
  return below(maxval, minval + unit * (maxval - minval), minval);
}

Value on_level(const Levels& levels, Draw& draw) {
  return levels.value(levels.scale() == Scale::log ? levels.at(draw.unit()) : draw.below(levels.last() + 1));
}

struct Sampler {
  Draw draw;

  Value operator()(const ConstParameter& parameter) { return parameter.val; }
  Value operator()(const IntParameter& parameter) {
    if (parameter.step || parameter.scale == Scale::log) {
      return on_level(Levels(parameter), draw);
    }
    const auto lowest = static_cast<std::uint64_t>(parameter.minval);
    const std::uint64_t width = static_cast<std::uint64_t>(parameter.maxval) - lowest;
    return static_cast<std::int64_t>(lowest + draw.below(width + 1));  // width + 1 = 0 means all 64 bits.
  }
  Value operator()(const DoubleParameter& parameter) {
    if (parameter.step) {
      return on_level(Levels(parameter), draw);
    }
    if (parameter.scale == Scale::log) {
      return below(parameter.maxval, log_at_place(parameter, draw.unit()), parameter.minval);
    }
    return real_between(parameter.minval, parameter.maxval, draw.unit());
  }
  Value operator()(const LogParameter& parameter) {
    return std::pow(parameter.base, real_between(parameter.minval, parameter.maxval, draw.unit()));
  }
  Value operator()(const CategoricalParameter& parameter) {
    return parameter.vals[static_cast<std::size_t>(draw.below(parameter.vals.size()))];
  }
};

/// Leaf by leaf; those that `given` has keep its values.
std::vector<Value> drawn_values(std::span<const Space::Leaf> leaves, std::uint64_t seed, TrialNumber trial,
                                const Value& given) {
  std::vector<Value> values;
  values.reserve(leaves.size());
  // The prefix keeps these streams apart from the engine's own, whatever users call their parameters.
  constexpr std::string_view prefix = "hyperparameters.";
  std::string stream(prefix);
  for (const Space::Leaf& leaf : leaves) {
    const Value* known = given.is_null() ? nullptr : given.at_keys(leaf.keys);
    if (known != nullptr) {
      values.push_back(*known);
      continue;
    }
    stream.replace(prefix.size(), std::string::npos, leaf.path);
    Sampler sampler{Draw(seed, trial, stream)};
    values.push_back(std::visit(sampler, leaf.parameter));
  }
  return values;
}

// As Space::sample() has it.
constexpr std::uint64_t most_fills = 20'000;

}  // namespace

Value Space::draw(std::uint64_t seed, TrialNumber trial) const {
  return configuration_of(drawn_values(leaves_, seed, trial, Value()));
}

bool is_whole(const Space& space, const Value& configuration) {
  const std::vector<bool> active = space.active_in(configuration);
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (active[i] && configuration.at_keys(space.leaves()[i].keys) == nullptr) {
      return false;
    }
  }
  return true;
}

Value fill(const Space& space, const Value& configuration, std::uint64_t seed, TrialNumber trial) {
  if (is_whole(space, configuration)) {
    return configuration;
  }
  Value filled = space.configuration_of(drawn_values(space.leaves(), seed, trial, configuration));
  for (std::uint64_t redraw = 1; redraw < most_fills && !space.allows(filled); ++redraw) {
    const std::uint64_t other = Draw(seed, TrialNumber(redraw), "where").bits();
    filled = space.configuration_of(drawn_values(space.leaves(), other, trial, configuration));
  }
  return filled;
}

}  // namespace hpsearch::engine
