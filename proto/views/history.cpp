#include "hpsearch/proto/views/history.hpp"

#include <algorithm>

#include "views/json_text.hpp"

namespace hpsearch::views {

using engine::ExperimentRecord;
using engine::Instant;

namespace {

/// The limits of the search; null for no limit.
void put_budget(JsonText& json, const engine::BudgetConfig& budget) {
  json.key("budget");
  if (!budget.max_time && !budget.max_slot_hours && !budget.max_failed_trials) {
    json.null();
    return;
  }
  json.open('{')
      .member("max_time", budget.max_time)
      .member("max_slot_hours", budget.max_slot_hours)
      .member("max_failed_trials", budget.max_failed_trials)
      .close('}');
}

}  // namespace

std::string history_json(const ExperimentRecord& experiment, Instant now) {
  const engine::SearcherConfig& searcher = experiment.config.searcher;
  const Instant end = engine::is_ended(experiment.state) ? experiment.ended_at : now;
  JsonText json;
  json.open('{')
      .member("metric", searcher.metric)
      .member("smaller_is_better", searcher.smaller_is_better)
      .member("unit", experiment.config.unit)
      .key("started_at");
  if (experiment.first_lease_at == Instant{}) {
    json.null();
  } else {
    json.put(experiment.first_lease_at);
  }
  json.key("points").open('[');
  for (const engine::BestPoint& point : experiment.best_history) {
    json.open('{')
        .member("trial", point.trial)
        .member("metric", point.metric)
        .member("length", point.step)
        .member("time", point.at)
        .member("slot_seconds", point.slot_time)
        .member("trials", point.trials)
        .close('}');
  }
  json.close(']')
      .key("end")
      .open('{')
      .member("time", end)
      .member("slot_seconds", experiment.slot_time.until(std::max(end, experiment.slot_time.since())))
      .member("trials", std::uint64_t{experiment.trials.size()})
      .close('}')
      .member("target", experiment.config.budget.target);
  put_budget(json, experiment.config.budget);
  return json.close('}').take();
}

}  // namespace hpsearch::views
