#include "hpsearch/workers/core/adapters/determined/determined_config.hpp"

#include <cstdint>
#include <string>

namespace hpsearch::workers {

using engine::Value;

namespace {

// determined 0.24, schemas of experiment.json and of the sections it names.
Value defaults() {
  return Value::Map{
      {"bind_mounts", Value::List{}},
      {"checkpoint_policy", "best"},
      {"data", Value::Map{}},
      {"debug", false},
      {"description", ""},
      {"environment", Value::Map{{"environment_variables", Value::Map{}}, {"image", nullptr}}},
      {"hyperparameters", Value::Map{}},
      {"labels", Value::List{}},
      {"max_restarts", 5},
      {"optimizations", Value::Map{{"aggregation_frequency", 1},
                                   {"auto_tune_tensor_fusion", false},
                                   {"average_aggregated_gradients", true},
                                   {"average_training_metrics", true},
                                   {"grad_updates_size_file", nullptr},
                                   {"gradient_compression", false},
                                   {"mixed_precision", "O0"},
                                   {"tensor_fusion_cycle_time", 1},
                                   {"tensor_fusion_threshold", 64}}},
      {"perform_initial_validation", false},
      {"profiling",
       Value::Map{
           {"begin_on_batch", 0}, {"enabled", false}, {"end_after_batch", nullptr}, {"sync_timings", true}}},
      {"records_per_epoch", 0},
      {"reproducibility", Value::Map{{"experiment_seed", 0}}},
      {"resources", Value::Map{{"devices", Value::List{}},
                               {"native_parallel", false},
                               {"priority", nullptr},
                               {"resource_pool", ""},
                               {"shm_size", nullptr},
                               {"slots_per_trial", 1},
                               {"weight", 1}}},
      {"scheduling_unit", 100},
      {"searcher", Value::Map{}},
  };
}

/// Writes all values that are set in `over` into `under`; null means not set.
void lay_over(Value::Map& under, const Value::Map& over) {
  for (const auto& [key, value] : over) {
    Value* here = under.find(key);
    if (here != nullptr && here->as_map() != nullptr && value.as_map() != nullptr) {
      lay_over(*here->as_map(), *value.as_map());
    } else if (!value.is_null()) {
      under[key] = value;
    } else if (here == nullptr) {
      under[key] = nullptr;
    }
  }
}

/// A period of 0 means "never" in every unit. Determined has only these three units.
void spell_period(Value::Map& config, std::string_view key) {
  Value period = Value::Map{{"batches", 0}};
  const Value* given = config.find(key);
  for (const char* unit : {"batches", "records", "epochs"}) {
    const Value* amount = given == nullptr ? nullptr : given->at_path(unit);
    if (amount != nullptr && amount->number_or(0) > 0) {
      period = Value::Map{{unit, *amount}};
    }
  }
  config[key] = std::move(period);
}

}  // namespace

Value determined_config(const Value& effective) {
  Value config = defaults();
  Value::Map& map = *config.as_map();
  if (const Value::Map* given = effective.as_map()) {
    lay_over(map, *given);
  }
  spell_period(map, "min_checkpoint_period");
  spell_period(map, "min_validation_period");

  Value::Map storage{{"type", "shared_fs"},     {"host_path", determined_storage_path},
                     {"storage_path", nullptr}, {"save_experiment_best", 0},
                     {"save_trial_best", 1},    {"save_trial_latest", 1}};
  for (const char* key : {"save_experiment_best", "save_trial_best", "save_trial_latest"}) {
    if (const Value* kept = effective.at_path(std::string("checkpoint_storage.") + key)) {
      storage[key] = *kept;
    }
  }
  map["checkpoint_storage"] = std::move(storage);
  return config;
}

}  // namespace hpsearch::workers
