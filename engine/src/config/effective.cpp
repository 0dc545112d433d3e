#include <algorithm>

#include "config/experiment_fields.hpp"
#include "config/searcher_section.hpp"

namespace hpsearch::engine {

namespace {

Value number(std::uint64_t count) {
  return static_cast<std::int64_t>(std::min(count, most_integer));
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
  static const SearcherConfig plain;
  Value::Map map{
      {"name", searcher.name},
      {"metric", searcher.metric},
      {"max_length", length_of(searcher.max_length, unit)},
  };
  write_fields(searcher_fields, searcher, map);
  Value::List rungs;
  for (const std::uint64_t count : searcher.bracket_rungs) {
    rungs.push_back(number(count));
  }
  SearcherFields some(searcher, map);
  some.put("bracket_rungs", rungs, Value::List());
  some.put("mode", name_of(searcher.mode), name_of(plain.mode));
  some.put("points_to_evaluate", searcher.points_to_evaluate, Value::List());
  each_field(fields_of_some_searchers, [&](const auto& field) {
    some.put(field.name, write_field(field, searcher), write_field(field, plain));
  });
  for (const auto& [key, value] : searcher.kind_fields) {
    map[key] = value;
  }
  return map;
}

template <class Struct, class Fields>
Value section_value(const Fields& fields, const Struct& section) {
  Value::Map map;
  write_fields(fields, section, map);
  return map;
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
      {"hyperparameters", config.hyperparameters.is_null() ? Value(Value::Map()) : config.hyperparameters},
      {"searcher", searcher_value(config.searcher, config.unit)},
      {"records_per_epoch", config.records_per_epoch ? number(*config.records_per_epoch) : Value()},
      {"min_validation_period", length_of(config.min_validation_period.value_or(Units{0}), config.unit)},
      {"min_checkpoint_period", length_of(config.min_checkpoint_period.value_or(Units{0}), config.unit)},
      {"resources", section_value(resources_fields, config.resources)},
      {"budget", section_value(budget_fields, config.budget)},
      {"checkpoint_storage", section_value(checkpoint_storage_fields, config.retention)},
      {"program_traits", section_value(program_traits_fields, config.program_traits)},
      {"reproducibility", Value::Map{{"experiment_seed", number(config.experiment_seed)}}},
  };
  write_fields(top_fields, config, map);
  add_program(map, config.program);
  return map;
}

std::vector<SectionDescription> describe_experiment() {
  const auto described = [](const auto&... tables) {
    std::vector<FieldDescription> found;
    const auto add = [&](const auto& field) { found.push_back(describe_field(field)); };
    (each_field(tables, add), ...);
    return found;
  };
  return {{"", described(top_fields)},
          {"searcher", described(searcher_fields, fields_of_some_searchers)},
          {"resources", described(resources_fields)},
          {"budget", described(budget_fields)},
          {"checkpoint_storage", described(checkpoint_storage_fields)},
          {"program_traits", described(program_traits_fields)}};
}

}  // namespace hpsearch::engine
