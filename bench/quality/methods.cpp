#include "methods.hpp"

#include <utility>

namespace hpsearch::quality {
namespace {

using engine::Value;

constexpr std::int64_t more_than_any_budget_trains = 50'000;

Value::Map asha(int rungs, double divisor, bool stop_once) {
  return Value::Map{
      {"name", "async_halving"}, {"num_rungs", rungs}, {"divisor", divisor}, {"stop_once", stop_once}};
}

Value::Map adaptive(const char* mode, double divisor, bool stop_once) {
  return Value::Map{
      {"name", "adaptive_asha"}, {"mode", mode}, {"divisor", divisor}, {"stop_once", stop_once}};
}

Value::Map with_sampler(const char* sampler, Value::Map searcher) {
  searcher["sampler"] = sampler;
  return searcher;
}

}  // namespace

const std::vector<Method>& all_methods() {
  static const std::vector<Method> methods{
      {"random", "random search, every trial to the end", Value::Map{{"name", "random"}}, 0, false},
      {"grid", "grid, every trial to the end", Value::Map{{"name", "grid"}}, 0, true},
      {"asha_4_from_1", "one ASHA bracket, divisor 4, rungs 1 3 13 52, promotion", asha(4, 4, false), 0,
       false},
      {"asha_4_from_1_stop", "the same, stopping", asha(4, 4, true), 0, false},
      {"asha_3_from_1", "one ASHA bracket, divisor 3, rungs 1 5 17 52, promotion", asha(4, 3, false), 0,
       false},
      {"asha_3_from_5", "one ASHA bracket, divisor 3, rungs 5 17 52, promotion", asha(3, 3, false), 0, false},
      {"asha_3_from_3", "one ASHA bracket, divisor 3, rungs 3 9 27 52, promotion", asha(4, 3, false), 81,
       false},
      {"asha_3_from_3_stop", "the same, stopping", asha(4, 3, true), 81, false},
      {"random_model", "every trial to the end, chosen by the model",
       with_sampler("model", Value::Map{{"name", "random"}}), 0, false},
      {"random_anneal", "every trial to the end, chosen by annealing",
       with_sampler("anneal", Value::Map{{"name", "random"}}), 0, false},
      {"random_tpe", "every trial to the end, chosen by TPE",
       with_sampler("tpe", Value::Map{{"name", "random"}}), 0, false},
      {"asha_3_from_3_tpe", "asha_3_from_3, configurations by TPE", with_sampler("tpe", asha(4, 3, false)),
       81, false},
      {"asha_3_from_3_model", "asha_3_from_3, configurations and first rungs by the model",
       with_sampler("model", asha(4, 3, false)), 81, false},
      {"asha_3_from_3_anneal", "asha_3_from_3, configurations by annealing",
       with_sampler("anneal", asha(4, 3, false)), 81, false},
      {"asha_3_from_3_stop_model", "asha_3_from_3_stop, configurations and first rungs by the model",
       with_sampler("model", asha(4, 3, true)), 81, false},
      {"asha_2_from_3", "one ASHA bracket, divisor 2, rungs 3 6 13 26 52, promotion", asha(5, 2, false), 0,
       false},
      {"adaptive_aggressive", "adaptive_asha aggressive, divisor 4, promotion",
       adaptive("aggressive", 4, false), 0, false},
      {"adaptive_aggressive_stop", "the same, stopping", adaptive("aggressive", 4, true), 0, false},
      {"adaptive_standard", "adaptive_asha standard, divisor 4, promotion", adaptive("standard", 4, false), 0,
       false},
      {"adaptive_standard_model", "adaptive_standard, configurations and first rungs by the model",
       with_sampler("model", adaptive("standard", 4, false)), 0, false},
      {"adaptive_standard_stop", "the same, stopping", adaptive("standard", 4, true), 0, false},
      {"adaptive_conservative", "adaptive_asha conservative, divisor 4, promotion",
       adaptive("conservative", 4, false), 0, false},
      {"adaptive_conservative_stop", "the same, stopping", adaptive("conservative", 4, true), 0, false},
  };
  return methods;
}

Value experiment(const Method& method, const Task& task, std::uint64_t seed, std::uint64_t workers) {
  Value::Map searcher = method.searcher;
  const std::uint64_t length = method.nominal_length > 0 ? method.nominal_length : task.max_length;
  searcher["metric"] = "quality";
  searcher["smaller_is_better"] = false;
  searcher["max_length"] = Value::Map{{"epochs", static_cast<std::int64_t>(length)}};
  searcher["max_concurrent_trials"] = static_cast<std::int64_t>(workers);
  if (!method.needs_grid) {
    searcher["max_trials"] = more_than_any_budget_trains;
  }
  return Value::Map{{"name", method.name},
                    {"entrypoint", "simulated"},
                    {"hyperparameters", method.needs_grid ? task.grid : task.space},
                    {"searcher", std::move(searcher)},
                    {"reproducibility", Value::Map{{"experiment_seed", static_cast<std::int64_t>(seed)}}}};
}

}  // namespace hpsearch::quality
