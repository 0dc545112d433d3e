// What a proposal of `sampler: model` costs as results come in: thread CPU time, so that a busy machine tells
// the same. One line for each number of parameters and of results before; each step is a result, a promotion
// now and then, and a proposal. Fits come with some of the proposals, so they show in the slowest.

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/space/space.hpp"
#include "model/model_sampler.hpp"

namespace hpsearch::searchers::model {
namespace {

using engine::Draw;
using engine::TrialNumber;
using engine::Units;
using engine::Value;

double cpu_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

engine::Space cube(std::uint64_t dimensions) {
  Value::Map space;
  for (std::uint64_t i = 0; i < dimensions; ++i) {
    space["x" + std::to_string(i)] = Value::Map{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}};
  }
  engine::Problems problems;
  engine::Problems notes;
  return engine::Space::parse(space, "hyperparameters", problems, notes);
}

/// A bowl whose later parameters matter less, with a learning curve and a little noise.
double metric_of(const engine::Space& space, const Value& hparams, Units length, Draw& draw) {
  double metric = 1 - 0.5 / static_cast<double>(engine::count(length)) + 0.01 * draw.unit();
  double weight = 1;
  for (const double x : space.to_unit(hparams)) {
    metric -= weight * (x - 0.4) * (x - 0.4);
    weight *= 0.7;
  }
  return metric;
}

void run(std::uint64_t dimensions, std::uint64_t results, std::uint64_t steps) {
  const engine::Space space = cube(dimensions);
  const std::vector<Units> rungs{Units{3}, Units{9}, Units{27}};
  ModelSampler sampler(space, rungs.back(), 1, {});
  Draw draw(1, TrialNumber(0), "bench");
  std::uint64_t trial = 0;
  std::uint64_t heard = 0;
  const auto train = [&](const Value& hparams, std::size_t first_rung) {
    sampler.hear_training(hparams, rungs[first_rung]);
    for (std::size_t rung = first_rung; rung < rungs.size(); ++rung) {
      const double metric = metric_of(space, hparams, rungs[rung], draw);
      sampler.hear_result(TrialNumber(trial), rungs[rung],
                          engine::Score::from_metric(metric, engine::Goal::maximize));
      ++heard;
      if (rung + 1 == rungs.size() || draw.unit() > 1.0 / 3) {
        break;
      }
      sampler.hear_training(TrialNumber(trial), rungs[rung + 1]);
    }
    ++trial;
  };
  while (heard < results) {
    train(space.sample(2, TrialNumber(trial)), 0);
  }
  static_cast<void>(sampler.propose(TrialNumber(trial), rungs));
  std::vector<double> times;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const double before = cpu_milliseconds();
    const auto& proposal = sampler.propose(TrialNumber(trial), rungs);
    times.push_back(cpu_milliseconds() - before);
    const Value hparams = proposal.hparams;
    train(hparams, proposal.first_rung);
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  std::printf("%10llu %8llu %8.2f %8.2f %8.2f %6llu %6llu\n", static_cast<unsigned long long>(dimensions),
              static_cast<unsigned long long>(results), at(0.5), at(0.99), times.back(),
              static_cast<unsigned long long>(sampler.work().fits),
              static_cast<unsigned long long>(sampler.work().solves / (steps + 1)));
  std::fflush(stdout);
}

}  // namespace
}  // namespace hpsearch::searchers::model

int main(int argc, char** argv) {
  // STEPS, and PARAMETERS RESULTS of a single line.
  const auto number = [&](int at, std::uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
  };
  const std::uint64_t steps = number(1, 300);
  std::printf("parameters  results  p50 ms   p99 ms   worst    fits solves\n");
  if (argc > 3) {
    hpsearch::searchers::model::run(number(2, 8), number(3, 1000), steps);
    return 0;
  }
  for (const std::uint64_t dimensions : {4U, 8U, 20U, 40U}) {
    for (const std::uint64_t results : {10U, 100U, 1000U, 10000U}) {
      hpsearch::searchers::model::run(dimensions, results, steps);
    }
  }
  return 0;
}
