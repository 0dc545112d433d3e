#include "tasks.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>
#include <utility>

#include "cli/surrogates/lcbench.hpp"
#include "cli/surrogates/synthetic.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::quality {
namespace {

using engine::Error;
using engine::Result;
using engine::Value;
using surrogates::LcBench;
using surrogates::LcBenchCurves;
using surrogates::SyntheticCurves;

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return Error{engine::Errc::not_found, path + " cannot be opened"};
  }
  return std::string{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Median metric of random configurations at full length. Their draws are used for nothing else.
double median_of_random(const Value& space_value, SyntheticCurves::Kind kind, std::uint64_t max_length) {
  constexpr std::size_t drawn = 2001;
  engine::Problems problems;
  engine::Problems notes;
  const engine::Space space = engine::Space::parse(space_value, "hyperparameters", problems, notes);
  std::vector<double> metrics;
  for (std::uint64_t i = 0; i < drawn; ++i) {
    const Value hparams = space.sample(0, engine::TrialNumber(i));
    // A fresh optimum for each: the median is that of the task, not of one seed.
    SyntheticCurves curves(kind, space, engine::Units{max_length}, engine::Goal::maximize, 1'000'000 + i);
    const double metric = curves.metric({engine::TrialNumber(i), hparams, 0}, engine::Units{max_length});
    metrics.push_back(metric == metric ? metric : 0.0);  // Diverged: no better than having learnt nothing.
  }
  std::nth_element(metrics.begin(), metrics.begin() + drawn / 2, metrics.end());
  return metrics[drawn / 2];
}

Value unit_cube(bool with_counts) {
  Value::Map space;
  for (const char* name : {"a", "b", "c"}) {
    Value::Map range{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}};
    if (with_counts) {
      range["count"] = 4;
    }
    space[name] = std::move(range);
  }
  return space;
}

}  // namespace

const std::vector<std::string>& development_instances() {
  static const std::vector<std::string> ids{"167168", "189873", "189906", "167152", "167185",
                                            "126026", "189909", "168329", "189908", "126025"};
  return ids;
}

Result<std::vector<Task>> lcbench_tasks(const std::string& directory, const std::vector<std::string>& ids) {
  const Result<std::string> manifest = read_file(directory + "/lcbench_manifest.json");
  if (!manifest) {
    return manifest.error();
  }
  const Result<std::string> weights = read_file(directory + "/lcbench_weights.f32");
  if (!weights) {
    return weights.error();
  }
  Result<LcBench> read = LcBench::read(*manifest, std::as_bytes(std::span(*weights)));
  if (!read) {
    return read.error();
  }
  const auto model = std::make_shared<const LcBench>(std::move(*read));
  std::vector<Task> tasks;
  for (const std::string& id : ids) {
    const auto place = model->find(id);
    if (!place) {
      return Error{engine::Errc::not_found, "the surrogate has no instance " + id};
    }
    const LcBench::Instance& instance = model->instances()[*place];
    Task task;
    task.name = id;
    task.space = LcBench::space();
    task.max_length = LcBench::epochs;
    task.full_training_seconds = instance.mean_full_seconds;
    task.best = instance.best;
    task.median = instance.median52;
    task.curves = [model, at = *place](std::uint64_t) { return std::make_unique<LcBenchCurves>(model, at); };
    tasks.push_back(std::move(task));
  }
  return tasks;
}

std::vector<Task> synthetic_tasks() {
  std::vector<Task> tasks;
  for (const auto kind :
       {SyntheticCurves::Kind::power, SyntheticCurves::Kind::crossing, SyntheticCurves::Kind::diverging}) {
    Task task;
    task.name = surrogates::name_of(kind);
    task.space = unit_cube(false);
    task.grid = unit_cube(true);
    task.full_training_seconds = static_cast<double>(task.max_length);  // A unit takes a second on average.
    engine::Problems problems;
    engine::Problems notes;
    const engine::Space space = engine::Space::parse(task.space, "hyperparameters", problems, notes);
    const auto make = [kind, space, length = task.max_length](std::uint64_t seed) {
      return std::make_unique<SyntheticCurves>(kind, space, engine::Units{length}, engine::Goal::maximize,
                                               seed);
    };
    task.best = *make(0)->best();
    task.median = median_of_random(task.space, kind, task.max_length);
    task.curves = make;
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace hpsearch::quality
