#include <algorithm>

#include "config/sections.hpp"

namespace hpsearch::engine {

namespace {

Value number(std::uint64_t count) {
  return static_cast<std::int64_t>(std::min(count, most_integer));
}

template <class Items>
Value texts(const Items& items) {
  Value::List list;
  for (const std::string& item : items) {
    list.emplace_back(item);
  }
  return list;
}

Value text_map(const std::map<std::string, std::string>& members) {
  Value::Map map;
  for (const auto& [key, value] : members) {
    map[key] = value;
  }
  return map;
}

Value length_of(Units length, const std::string& unit) {
  return Value::Map{{unit, number(count(length))}};
}

// Fields that belong to the searcher's kind, and those that somebody set though they do not.
class SearcherFields {
 public:
  SearcherFields(const SearcherConfig& searcher, Value::Map& map) : searcher_(searcher), map_(map) {}

  void put(std::string_view key, Value value, const Value& by_default) {
    const bool is_own =
        std::find(searcher_.fields.begin(), searcher_.fields.end(), key) != searcher_.fields.end();
    if (is_own || !(value == by_default)) {
      map_[key] = std::move(value);
    }
  }

 private:
  const SearcherConfig& searcher_;
  Value::Map& map_;
};

Value searcher_value(const SearcherConfig& searcher, const std::string& unit) {
  const SearcherConfig plain;
  Value::Map map{
      {"name", searcher.name},
      {"metric", searcher.metric},
      {"smaller_is_better", searcher.smaller_is_better},
      {"max_length", length_of(searcher.max_length, unit)},
      {"source_trial_id", searcher.source_trial_id ? number(*searcher.source_trial_id) : Value()},
      {"source_checkpoint_uuid",
       searcher.source_checkpoint_uuid ? Value(*searcher.source_checkpoint_uuid) : Value()},
  };
  Value::List rungs;
  for (const std::uint64_t count : searcher.bracket_rungs) {
    rungs.push_back(number(count));
  }
  const auto or_null = [](std::uint64_t count) { return count == 0 ? Value() : number(count); };
  SearcherFields fields(searcher, map);
  fields.put("bracket_rungs", rungs, Value::List());
  fields.put("divisor", searcher.divisor, plain.divisor);
  fields.put("max_concurrent_trials", number(searcher.max_concurrent_trials),
             number(plain.max_concurrent_trials));
  fields.put("max_rungs", number(searcher.max_rungs), number(plain.max_rungs));
  fields.put("max_trials", or_null(searcher.max_trials), Value());
  fields.put("mode", name_of(searcher.mode), name_of(plain.mode));
  fields.put("num_rungs", or_null(searcher.num_rungs), Value());
  fields.put("on_duplicate", name_of(searcher.on_duplicate), name_of(plain.on_duplicate));
  fields.put("points_to_evaluate", searcher.points_to_evaluate, Value::List());
  fields.put("stop_once", searcher.stop_once, plain.stop_once);
  for (const auto& [key, value] : searcher.kind_fields) {
    map[key] = value;
  }
  return map;
}

Value resources_value(const ResourcesConfig& resources) {
  return Value::Map{
      {"slots_per_trial", number(resources.slots_per_trial)},
      {"max_slots", resources.max_slots ? number(*resources.max_slots) : Value()},
      {"weight", resources.weight},
      {"priority", number(resources.priority)},
      {"resource_pool", resources.resource_pool},
      {"labels", text_map(resources.labels)},
      {"spans_workers", resources.spans_workers},
      {"least_workers", number(resources.least_workers)},
  };
}

Value budget_value(const BudgetConfig& budget) {
  const auto or_null = [](const auto& limit) { return limit ? Value(*limit) : Value(); };
  return Value::Map{
      {"max_time", budget.max_time ? Value(budget.max_time->in_seconds()) : Value()},
      {"max_slot_hours", or_null(budget.max_slot_hours)},
      {"target", or_null(budget.target)},
      {"max_failed_trials", budget.max_failed_trials ? number(*budget.max_failed_trials) : Value()},
  };
}

Value retention_value(const CheckpointRetention& retention) {
  return Value::Map{
      {"save_experiment_best", number(retention.save_experiment_best)},
      {"save_trial_best", number(retention.save_trial_best)},
      {"save_trial_latest", number(retention.save_trial_latest)},
  };
}

// Adds the program's fields to sections that hold fields of both.
void add_program(Value::Map& decided, const Value::Map& program) {
  for (const auto& [key, value] : program) {
    Value* here = decided.find(key);
    if (here == nullptr) {
      decided[key] = value;
    } else if (here->as_map() != nullptr && value.as_map() != nullptr) {
      add_program(*here->as_map(), *value.as_map());
    }
  }
}

}  // namespace

Value to_value(const ExperimentConfig& config) {
  Value::Map map{
      {"name", config.name},
      {"description", config.description},
      {"labels", texts(config.labels)},
      {"workspace", config.workspace},
      {"project", config.project},
      {"hyperparameters", config.hyperparameters.is_null() ? Value(Value::Map()) : config.hyperparameters},
      {"searcher", searcher_value(config.searcher, config.unit)},
      {"records_per_epoch", config.records_per_epoch ? number(*config.records_per_epoch) : Value()},
      {"min_validation_period", length_of(config.min_validation_period.value_or(Units{0}), config.unit)},
      {"min_checkpoint_period", length_of(config.min_checkpoint_period.value_or(Units{0}), config.unit)},
      {"max_restarts", number(config.max_restarts)},
      {"lost_after", config.lost_after ? Value(config.lost_after->in_seconds()) : Value()},
      {"progress_timeout", config.progress_timeout ? Value(config.progress_timeout->in_seconds()) : Value()},
      {"resources", resources_value(config.resources)},
      {"budget", budget_value(config.budget)},
      {"checkpoint_storage", retention_value(config.retention)},
      {"program_traits", Value::Map{{"begins_anew", config.program_traits.begins_anew},
                                    {"validates_on_demand", config.program_traits.validates_on_demand}}},
      {"reproducibility", Value::Map{{"experiment_seed", number(config.experiment_seed)}}},
  };
  add_program(map, config.program);
  return map;
}

}  // namespace hpsearch::engine
