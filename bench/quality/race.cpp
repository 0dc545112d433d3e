#include "race.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hpsearch/engine/sim/simulation.hpp"
#include "hpsearch/searchers/registry.hpp"

namespace hpsearch::quality {
namespace {

namespace sim = engine::sim;
using engine::Units;

/// Curves of programs that have nothing more to train after `end`.
class EndingAt final : public sim::Curves {
 public:
  EndingAt(sim::Curves& curves, std::uint64_t end) : curves_(curves), end_(Units{end}) {}

  engine::Status covers(const sim::Training& training) override { return curves_.covers(training); }
  double metric(const sim::Training& training, Units length) override {
    return curves_.metric(training, cut(length));
  }
  bool has_times() const noexcept override { return true; }
  double seconds(const sim::Training& training, Units from, Units to) override {
    return curves_.seconds(training, cut(from), cut(to));
  }

 private:
  Units cut(Units length) const { return std::min(length, end_); }
  sim::Curves& curves_;
  Units end_;
};

}  // namespace

engine::Result<Race> race(const Method& method, const Task& task, sim::Curves& given, std::uint64_t seed,
                          std::uint64_t workers, const std::vector<double>& budgets) {
  EndingAt curves(given, task.max_length);
  const auto clock_of = [&](double budget) {
    return budget * task.full_training_seconds / static_cast<double>(workers);
  };
  sim::Options options;
  options.workers = workers;
  options.duration = sim::DurationModel::curve;
  options.until = engine::Duration::micros(std::llround(clock_of(budgets.back()) * 1e6));
  options.keep_decisions = false;
  const auto simulated =
      sim::simulate(experiment(method, task, seed, workers), searchers::registry(), curves, options);
  if (!simulated) {
    return simulated.error();
  }
  constexpr double nothing = -std::numeric_limits<double>::infinity();
  std::vector<double> best(budgets.size(), nothing);
  Race result;
  result.trials = simulated->trials.size();
  for (const sim::Piece& piece : simulated->pieces) {
    const sim::Training training{piece.trial, simulated->trials[piece.trial.number()].hparams, piece.op};
    const double begin = static_cast<double>(piece.begin.micros()) / 1e6;
    const std::uint64_t last = std::min(engine::count(piece.to), task.max_length);
    for (std::uint64_t epoch = engine::count(piece.from) + 1; epoch <= last; ++epoch) {
      ++result.epochs;
      const double at = begin + curves.seconds(training, piece.from, Units{epoch});
      const double metric = curves.metric(training, Units{epoch});
      for (std::size_t i = 0; i < budgets.size(); ++i) {
        if (at <= clock_of(budgets[i]) && metric > best[i]) {
          best[i] = metric;
        }
      }
    }
  }
  for (const double metric : best) {
    const bool measured = metric > nothing;
    result.incumbent.push_back(measured ? metric : std::nan(""));
    result.regret.push_back(measured ? std::max(0.0, (task.best - metric) / (task.best - task.median)) : 1.0);
  }
  return result;
}

}  // namespace hpsearch::quality
