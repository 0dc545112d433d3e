#include <cmath>
#include <string>
#include <string_view>

#include "hpsearch/engine/space/space.hpp"
#include "space/leaves.hpp"

namespace hpsearch::engine {

namespace {

double real_between(double minval, double maxval, double unit) {
  const double drawn = minval + unit * (maxval - minval);
  // Rounding may carry the largest draws onto the upper end, which is not part of the range.
  return drawn < maxval ? drawn : std::nextafter(maxval, minval);
}

struct Sampler {
  Draw draw;

  Value operator()(const ConstParameter& parameter) { return parameter.val; }
  Value operator()(const IntParameter& parameter) {
    const auto lowest = static_cast<std::uint64_t>(parameter.minval);
    const std::uint64_t width = static_cast<std::uint64_t>(parameter.maxval) - lowest;
    return static_cast<std::int64_t>(lowest + draw.below(width + 1));  // width + 1 = 0 means all 64 bits.
  }
  Value operator()(const DoubleParameter& parameter) {
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

Value Space::sample(std::uint64_t seed, TrialNumber trial) const {
  Value configuration = Value::Map();
  // The prefix keeps these streams apart from the engine's own, whatever users call their parameters.
  constexpr std::string_view prefix = "hyperparameters.";
  std::string stream(prefix);
  for (const Leaf& leaf : leaves_) {
    stream.replace(prefix.size(), std::string::npos, leaf.path);
    Sampler sampler{Draw(seed, trial, stream)};
    put_leaf(configuration, leaf.keys, std::visit(sampler, leaf.parameter));
  }
  return configuration;
}

}  // namespace hpsearch::engine
