// A search inside one program: no daemon, no files, no threads. The library decides, this program trains.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <hpsearch/engine/search.hpp>
#include <hpsearch/searchers/registry.hpp>

namespace engine = hpsearch::engine;
using Map = engine::Value::Map;

/// Stands for a training: the loss after `epochs` epochs, best near a learning rate of 0.01 and 100 units.
static double train(double learning_rate, double units, std::uint64_t epochs) {
  return std::abs(std::log10(learning_rate) + 2) + std::abs(units - 100) / 100 +
         1 / static_cast<double>(epochs);
}

int main() {
  const Map config{
      {"hyperparameters", Map{{"learning_rate", Map{{"type", "log"}, {"minval", -4}, {"maxval", 0}}},
                              {"units", Map{{"type", "int"}, {"minval", 8}, {"maxval", 256}}}}},
      {"searcher",
       Map{{"name", "adaptive_asha"}, {"metric", "loss"}, {"max_length", 64}, {"max_trials", 100}}},
      {"reproducibility", Map{{"experiment_seed", 1}}}};
  auto search = engine::Search::open(config, hpsearch::searchers::registry());
  if (!search) {
    std::fprintf(stderr, "%s\n", search.error().message.c_str());
    return 2;
  }
  while (const auto work = search->ask()) {
    const double rate = work->hparams.at_path("learning_rate")->number_or(0);
    const double units = work->hparams.at_path("units")->number_or(0);
    engine::Decision todo{{}, engine::Directive::train_on, work->length};
    while (todo.directive == engine::Directive::train_on) {
      todo = search->report(work->trial, todo.length, train(rate, units, engine::count(todo.length))).value();
    }
  }
  const auto best = search->best();
  std::printf("best of %zu trials: loss %.4f with learning_rate %.5f and %.0f units\n",
              search->experiment().trials.size(), best->metric,
              best->hparams.at_path("learning_rate")->number_or(0),
              best->hparams.at_path("units")->number_or(0));
}
