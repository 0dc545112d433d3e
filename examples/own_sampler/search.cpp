// A search with it inside one program: the best of 300 trials, as far as a simulated training goes.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <hpsearch/engine/search.hpp>

#include "evolution.hpp"

namespace engine = hpsearch::engine;
using Map = engine::Value::Map;

int main() {
  const Map config{
      {"hyperparameters", Map{{"learning_rate", Map{{"type", "log"}, {"minval", -4}, {"maxval", 0}}},
                              {"units", Map{{"type", "int"}, {"minval", 8}, {"maxval", 256}}}}},
      {"searcher", Map{{"name", "evolution"},
                       {"metric", "loss"},
                       {"max_length", 64},
                       {"max_trials", 300},
                       {"num_rungs", 3}}},
      {"reproducibility", Map{{"experiment_seed", 1}}}};
  const engine::SearcherKind kinds[] = {evolution_kind()};
  auto search = engine::Search::open(config, kinds);
  if (!search) {
    std::fprintf(stderr, "%s\n", search.error().message.c_str());
    return 2;
  }
  while (const auto work = search->ask()) {
    const double rate = work->hparams.at_path("learning_rate")->number_or(0);
    const double units = work->hparams.at_path("units")->number_or(0);
    engine::Decision todo{{}, engine::Directive::train_on, work->length};
    while (todo.directive == engine::Directive::train_on) {
      const double loss = std::abs(std::log10(rate) + 2) + std::abs(units - 100) / 100 +
                          1 / static_cast<double>(engine::count(todo.length));
      todo = search->report(work->trial, todo.length, loss).value();
    }
  }
  const auto best = search->best();
  std::printf("best of %zu trials: loss %.4f\n", search->experiment().trials.size(), best->metric);
}
