#include "adversarial.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::quality {
namespace {

using engine::Draw;
using engine::TrialNumber;
using engine::Units;
using engine::Value;

constexpr std::uint64_t full_length = 52;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string axis(std::size_t number) {
  return (number < 10 ? "x0" : "x") + std::to_string(number);
}

Value cube(std::size_t dimensions) {
  Value::Map space;
  for (std::size_t i = 0; i < dimensions; ++i) {
    space[axis(i)] = Value::Map{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}};
  }
  return space;
}

/// What a configuration is worth after a full training, from 0 to 1; it is asked for with the optimum of a
/// seed, two coordinates in [.15, .85].
struct Asked {
  const std::vector<double>& x;
  const std::array<double, 2>& optimum;
  std::uint64_t seed;
  TrialNumber trial;
};

double bowl(const Asked& asked) {
  double squares = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    squares += std::pow(asked.x[i] - asked.optimum[i], 2);
  }
  return std::exp(-4 * squares);
}
double noise(const Asked& asked) {
  return Draw(asked.seed, asked.trial, "noise").unit();
}
double needle(const Asked& asked) {
  double farthest = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    farthest = std::max(farthest, std::abs(asked.x[i] - asked.optimum[i]));
  }
  return farthest < 1.0 / 24 ? 1 : 0.2 + 0.05 * Draw(asked.seed, asked.trial, "noise").unit();
}
double half_fails(const Asked& asked) {
  return asked.x[2] < 0.5 ? nan : bowl(asked);
}

struct Kind {
  const char* name;
  std::size_t dimensions;
  double (*worth)(const Asked& asked);
  bool nan_later = false;
};

constexpr std::array<Kind, 5> kinds = {{{"noise", 3, noise},
                                        {"needle", 2, needle},
                                        {"sparse20", 20, bowl},
                                        {"half_fails", 3, half_fails},
                                        {"late_nan", 3, bowl, true}}};

class AdversarialCurves final : public engine::sim::Curves {
 public:
  AdversarialCurves(const Kind& kind, std::uint64_t seed) : kind_(kind), seed_(seed) {
    Draw draw(seed, TrialNumber(0), "optimum");
    for (double& coordinate : optimum_) {
      coordinate = 0.15 + 0.7 * draw.unit();
    }
  }

  double metric(const engine::sim::Training& training, Units length) override {
    std::vector<double> x;
    for (std::size_t i = 0; i < kind_.dimensions; ++i) {
      x.push_back(training.hparams.at_path(axis(i))->number_or(nan));
    }
    const double share = std::min(1.0, static_cast<double>(engine::count(length)) / full_length);
    if (kind_.nan_later && share > 1.0 / 3 && x[0] > optimum_[0] && x[2] > 0.5) {
      return nan;
    }
    const double learnt = (1 - std::exp(-5 * share)) / (1 - std::exp(-5));
    return kind_.worth({x, optimum_, seed_, training.trial}) * learnt;
  }
  [[nodiscard]] bool has_times() const noexcept override { return true; }

 private:
  const Kind& kind_;
  std::uint64_t seed_;
  std::array<double, 2> optimum_{};
};

/// Median of random configurations at full length, each with an optimum of its own.
double median_of(const Kind& kind, const engine::Space& space) {
  std::vector<double> metrics;
  for (std::uint64_t i = 0; i < 2001; ++i) {
    const Value hparams = space.sample(0, TrialNumber(i));
    AdversarialCurves curves(kind, 1'000'000 + i);
    const double metric = curves.metric({TrialNumber(i), hparams, 0}, Units{full_length});
    metrics.push_back(std::isnan(metric) ? 0 : metric);
  }
  std::nth_element(metrics.begin(), metrics.begin() + 1000, metrics.end());
  return metrics[1000];
}

}  // namespace

std::vector<Task> adversarial_tasks() {
  std::vector<Task> tasks;
  for (const Kind& kind : kinds) {
    Task task;
    task.name = kind.name;
    task.space = cube(kind.dimensions);
    task.max_length = full_length;
    task.full_training_seconds = static_cast<double>(full_length);
    task.best = 1;
    engine::Problems problems;
    engine::Problems notes;
    task.median = median_of(kind, engine::Space::parse(task.space, "hyperparameters", problems, notes));
    task.curves = [&kind](std::uint64_t seed) { return std::make_unique<AdversarialCurves>(kind, seed); };
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace hpsearch::quality
