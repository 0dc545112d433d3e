#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/space/levels.hpp"
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

}  // namespace

Value Space::draw(std::uint64_t seed, TrialNumber trial) const {
  std::vector<Value> values;
  values.reserve(leaves_.size());
  // The prefix keeps these streams apart from the engine's own, whatever users call their parameters.
  constexpr std::string_view prefix = "hyperparameters.";
  std::string stream(prefix);
  for (const Leaf& leaf : leaves_) {
    stream.replace(prefix.size(), std::string::npos, leaf.path);
    Sampler sampler{Draw(seed, trial, stream)};
    values.push_back(std::visit(sampler, leaf.parameter));
  }
  return configuration_of(std::move(values));
}

}  // namespace hpsearch::engine
