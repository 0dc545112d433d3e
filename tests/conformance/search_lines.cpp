#include "conformance/search_lines.hpp"

#include <algorithm>
#include <stdexcept>

#include "conformance/space_lines.hpp"

namespace hpsearch::conformance {

namespace {

using engine::ExperimentConfig;
using engine::SearcherConfig;
using engine::Value;

std::uint64_t count_from(const Value& value) {
  if (value.as_integer() == nullptr) {
    throw std::runtime_error("not a count: " + engine::compact_json(value));
  }
  return static_cast<std::uint64_t>(*value.as_integer());
}

engine::AshaMode mode_from(const Value& value) {
  if (value == Value("standard")) {
    return engine::AshaMode::standard;
  }
  if (value == Value("aggressive")) {
    return engine::AshaMode::aggressive;
  }
  if (value == Value("conservative")) {
    return engine::AshaMode::conservative;
  }
  throw std::runtime_error("not a mode: " + engine::compact_json(value));
}

engine::StoppingRule rule_from(const Value& value) {
  if (value == Value("none")) {
    return engine::StoppingRule::none;
  }
  if (value == Value("median")) {
    return engine::StoppingRule::median;
  }
  if (value == Value("percentile")) {
    return engine::StoppingRule::percentile;
  }
  throw std::runtime_error("not a rule: " + engine::compact_json(value));
}

/// False: it is no field of searcher.stopping.
bool set_rule(engine::StoppingConfig& rules, const std::string& field, const Value& value) {
  if (field == "rule") {
    rules.rule = rule_from(value);
  } else if (field == "percentile") {
    rules.percentile = count_from(value);
  } else if (field == "least_trials") {
    rules.least_trials = count_from(value);
  } else if (field == "after") {
    rules.after = count_from(value);
  } else if (field == "every") {
    rules.every = count_from(value);
  } else if (field == "patience") {
    rules.patience = count_from(value);
  } else if (field == "min_delta") {
    rules.min_delta = value.number_or(-1);
  } else {
    return false;
  }
  return true;
}

void set(ExperimentConfig& config, const std::string& field, const Value& value) {
  SearcherConfig& searcher = config.searcher;
  if (field == "max_length") {
    searcher.max_length = engine::Units{count_from(value)};
  } else if (field == "max_trials") {
    searcher.max_trials = count_from(value);
  } else if (field == "max_concurrent_trials") {
    searcher.max_concurrent_trials = count_from(value);
  } else if (field == "num_rungs") {
    searcher.num_rungs = count_from(value);
  } else if (field == "max_rungs") {
    searcher.max_rungs = count_from(value);
  } else if (field == "divisor") {
    searcher.divisor = value.as_real() != nullptr ? *value.as_real() : static_cast<double>(count_from(value));
  } else if (field == "bracket_rungs") {
    for (const Value& rungs : *value.as_list()) {
      searcher.bracket_rungs.push_back(count_from(rungs));
    }
  } else if (field == "mode") {
    searcher.mode = mode_from(value);
  } else if (field == "stop_once") {
    searcher.stop_once = value == Value(true);
  } else if (field == "smaller_is_better") {
    searcher.smaller_is_better = value == Value(true);
  } else if (field == "seed") {
    config.experiment_seed = count_from(value);
  } else if (!set_rule(searcher.stopping, field, value)) {
    throw std::runtime_error("no such field: " + field);
  }
}

}  // namespace

ExperimentConfig config_of(const Case& one) {
  ExperimentConfig config;
  Case space = one;
  if (std::none_of(one.lines.begin(), one.lines.end(), names_hyperparameter)) {
    space.lines.push_back({"", {"double", "x", "minval=0", "maxval=1"}, std::nullopt});
  }
  config.space = space_of(space);
  for (const Line& line : one.lines) {
    if (line.words.front() == "given") {
      Value point = Value::Map();
      for (auto& [path, value] : assignments(line.words, 1)) {
        put(point, path, std::move(value));
      }
      config.searcher.points_to_evaluate.push_back(std::move(point));
    } else if (line.words.front() == "search") {
      config.searcher.name = line.words.at(1);
      for (const auto& [field, value] : assignments(line.words, 2)) {
        set(config, field, value);
      }
    }
  }
  return config;
}

}  // namespace hpsearch::conformance
