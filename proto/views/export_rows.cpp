#include "hpsearch/proto/views/export_rows.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/api/trials.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/views/csv_line.hpp"

namespace hpsearch::views {

using engine::ExperimentRecord;
using engine::TrialState;
using engine::Value;

namespace {

constexpr const char* csv_names[] = {"trial",    "id",          "state",          "length",
                                     "reached",  "best_metric", "best_step",      "metric",
                                     "attempts", "restarts",    "slot_seconds",   "created_at",
                                     "ended_at", "checkpoint",  "best_checkpoint"};

/// Text for values that aren't finite: "nan", "inf".
Value plain(const Value& metric) {
  const std::optional<double> number = metric.is_number() ? std::nullopt : proto::real_of(metric);
  return number ? Value(*number) : metric;
}

std::string csv_row(const ExperimentRecord& experiment, const Value& trial) {
  std::vector<Value> cells;
  for (const char* name : csv_names) {
    const Value* cell = trial.at_path(name);
    cells.push_back(cell == nullptr ? Value() : plain(*cell));
  }
  const Value* hparams = trial.at_path("hparams");
  for (const engine::Space::Leaf& leaf : experiment.hparams.space().leaves()) {
    const Value* value = hparams == nullptr ? nullptr : hparams->at_keys(leaf.keys);
    cells.push_back(value == nullptr ? Value() : *value);
  }
  return csv_line(cells);
}

Value optuna_number(const char* name, double low, double high, bool is_log, Value step) {
  return Value::Map{
      {"name", name},
      {"attributes", Value::Map{{"low", low}, {"high", high}, {"log", is_log}, {"step", std::move(step)}}}};
}

struct Distribution {
  Value operator()(const engine::ConstParameter& it) const {
    return Value::Map{{"name", "CategoricalDistribution"},
                      {"attributes", Value::Map{{"choices", Value::List{it.val}}}}};
  }
  Value operator()(const engine::CategoricalParameter& it) const {
    return Value::Map{{"name", "CategoricalDistribution"}, {"attributes", Value::Map{{"choices", it.vals}}}};
  }
  Value operator()(const engine::IntParameter& it) const {
    return Value::Map{{"name", "IntDistribution"},
                      {"attributes", Value::Map{{"low", it.minval},
                                                {"high", it.maxval},
                                                {"log", it.scale == engine::Scale::log},
                                                {"step", static_cast<std::int64_t>(it.step.value_or(1))}}}};
  }
  Value operator()(const engine::DoubleParameter& it) const {
    return optuna_number("FloatDistribution", it.minval, it.maxval, it.scale == engine::Scale::log,
                         it.step ? Value(*it.step) : Value());
  }
  Value operator()(const engine::LogParameter& it) const {
    const double low = std::pow(it.base, it.minval);
    const double high = std::pow(it.base, it.maxval);
    return optuna_number("FloatDistribution", std::min(low, high), std::max(low, high), true, {});
  }
};

const char* optuna_state(TrialState state) {
  switch (state) {
    case TrialState::completed:
      return "COMPLETE";
    case TrialState::stopped:
      return "PRUNED";
    case TrialState::failed:
    case TrialState::canceled:
      return "FAIL";
    case TrialState::running:
      return "RUNNING";
    case TrialState::pending:
    case TrialState::paused:
      break;
  }
  return "WAITING";
}

Value seconds_or_null(engine::Instant at) {
  return at == engine::Instant{} ? Value() : Value(static_cast<double>(at.micros()) / 1e6);
}

Value optuna_trial(const ExperimentRecord& experiment, engine::TrialNumber number) {
  const engine::TrialRecord& trial = experiment.trials[number.number()];
  const Value hparams = experiment.hparams[number.number()];
  Value::Map params;
  for (const engine::Space::Leaf& leaf : experiment.hparams.space().leaves()) {
    if (const Value* value = hparams.at_keys(leaf.keys)) {
      params[leaf.path] = *value;
    }
  }
  const bool has_value = trial.best.has_value() && !trial.invalid;
  return Value::Map{
      {"number", static_cast<std::int64_t>(number.number())},
      {"state", optuna_state(trial.state)},
      {"value", has_value ? Value(trial.best->metric) : Value()},
      {"params", std::move(params)},
      {"datetime_start", seconds_or_null(trial.created_at)},
      {"datetime_complete", engine::is_closed(trial.state) ? seconds_or_null(trial.ended_at) : Value()},
      {"user_attrs", Value::Map{{"state", engine::name_of(trial.state)},
                                {"length", static_cast<std::int64_t>(engine::count(trial.length))},
                                {"reached", static_cast<std::int64_t>(engine::count(trial.reached))}}}};
}

}  // namespace

std::string export_head(const ExperimentRecord& experiment, ExportFormat format) {
  if (format == ExportFormat::csv) {
    std::vector<Value> names(std::begin(csv_names), std::end(csv_names));
    for (const engine::Space::Leaf& leaf : experiment.hparams.space().leaves()) {
      names.emplace_back("hparams." + leaf.path);
    }
    return csv_line(names);
  }
  if (format == ExportFormat::jsonl) {
    return "";
  }
  Value::Map distributions;
  for (const engine::Space::Leaf& leaf : experiment.hparams.space().leaves()) {
    distributions[leaf.path] = std::visit(Distribution{}, leaf.parameter);
  }
  return engine::compact_json(
             Value::Map{{"study_name", experiment.config.name},
                        {"direction", experiment.config.searcher.smaller_is_better ? "minimize" : "maximize"},
                        {"metric", experiment.config.searcher.metric},
                        {"distributions", std::move(distributions)}}) +
         "\n";
}

std::string export_row(const ExperimentRecord& experiment, engine::TrialNumber trial, ExportFormat format,
                       engine::Instant now) {
  switch (format) {
    case ExportFormat::csv:
      return csv_row(experiment, proto::encode_value(api::trial_of(experiment, trial, now)));
    case ExportFormat::jsonl:
      return engine::compact_json(proto::encode_value(api::trial_of(experiment, trial, now))) + "\n";
    case ExportFormat::optuna:
      break;
  }
  return engine::compact_json(optuna_trial(experiment, trial)) + "\n";
}

}  // namespace hpsearch::views
