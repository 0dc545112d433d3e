#include <algorithm>
#include <limits>
#include <utility>

#include "cli/surrogates/lcbench.hpp"
#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::surrogates {

using engine::Units;
using engine::sim::Training;

/// The whole curve of a trial: the minimum time of its epochs needs T(52), and 52 epochs in one product cost
/// as much as ten one by one.
struct LcBenchCurves::Curve {
  std::vector<float> accuracy;   // After epochs 1, 2, ….
  std::vector<double> duration;  // Seconds until the end of epoch 1, 2, ….
  double floor = 0;              // The minimum duration of an epoch in seconds.
};

LcBenchCurves::LcBenchCurves(std::shared_ptr<const LcBench> model, std::size_t instance)
    : model_(std::move(model)), instance_(instance) {
}
LcBenchCurves::~LcBenchCurves() = default;

engine::Status LcBenchCurves::covers(const Training& training) {
  const auto configuration = LcBench::configuration_of(training.hparams);
  if (!configuration) {
    return configuration.error();
  }
  return engine::Done{};
}

const LcBenchCurves::Curve& LcBenchCurves::curve_of(const Training& training) {
  const std::size_t number = training.trial.number();
  if (number >= curves_.size()) {
    curves_.resize(number + 1);
  }
  Curve& curve = curves_[number];
  if (!curve.accuracy.empty()) {
    return curve;
  }
  const auto configuration = LcBench::configuration_of(training.hparams);
  HPSEARCH_CHECK(configuration.has_value(), "covers() was asked first");
  std::vector<LcBench::Epoch> epochs(LcBench::epochs);
  model_->evaluate(instance_, *configuration, 1, epochs);
  double last = 0;
  for (const LcBench::Epoch& epoch : epochs) {
    last = std::max(last, static_cast<double>(epoch.time));
  }
  curve.floor = 0.05 * last / static_cast<double>(LcBench::epochs);
  double clock = 0;
  double done = 0;
  for (const LcBench::Epoch& epoch : epochs) {
    const double next = std::max(clock, static_cast<double>(epoch.time));
    done += std::max(next - clock, curve.floor);
    clock = next;
    curve.duration.push_back(done);
    curve.accuracy.push_back(epoch.val_accuracy);
  }
  return curve;
}

double LcBenchCurves::metric(const Training& training, Units length) {
  const std::uint64_t epoch = std::min(engine::count(length), LcBench::epochs);
  return epoch == 0 ? std::numeric_limits<double>::quiet_NaN()
                    : static_cast<double>(curve_of(training).accuracy[epoch - 1]);
}

double LcBenchCurves::seconds(const Training& training, Units from, Units to) {
  const Curve& curve = curve_of(training);
  const auto until = [&curve](Units length) {
    const std::uint64_t epoch = std::min(engine::count(length), LcBench::epochs);
    const double beyond = static_cast<double>(engine::count(length) - epoch);
    return (epoch == 0 ? 0 : curve.duration[epoch - 1]) + curve.floor * beyond;
  };
  return until(to) - until(from);
}

std::optional<double> LcBenchCurves::best() const {
  return model_->instances()[instance_].best;
}

}  // namespace hpsearch::surrogates
