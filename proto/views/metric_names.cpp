#include "hpsearch/proto/views/metric_names.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "views/json_text.hpp"

namespace hpsearch::views {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t no_step = std::numeric_limits<std::uint64_t>::max();

/// The value of the metric, or nullptr.
const double* value_in(const engine::Metrics& metrics, const std::string& name) {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&name](const auto& metric) { return metric.first == name; });
  return found == metrics.end() ? nullptr : &found->second;
}

}  // namespace

std::string metric_group(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? std::string() : name.substr(0, dot);
}

void MetricNames::note(const engine::Event& event, const engine::ExperimentRecord* record) {
  const auto* taken = std::get_if<engine::ReportTaken>(&event.body);
  const auto* report = taken != nullptr ? std::get_if<engine::MetricsReport>(&taken->report) : nullptr;
  if (const auto* deleted = std::get_if<engine::ExperimentDeleted>(&event.body)) {
    experiments_.erase(deleted->experiment);
  }
  if (report == nullptr) {
    return;
  }
  OfExperiment& of = experiments_[taken->key.experiment];
  const auto trial = static_cast<std::size_t>(taken->key.trial.number());
  note_names(of.names, trial, *report);
  if (record != nullptr && trial < record->trials.size()) {
    note_best(of, trial, *report, *record, event.at);
  }
}

void MetricNames::note_names(std::vector<Name>& names, std::size_t trial,
                             const engine::MetricsReport& report) {
  const auto step = static_cast<std::uint64_t>(engine::count(report.step));
  auto known = names.begin();
  for (const auto& [name, value] : report.metrics) {
    if (known == names.end() || known->name != name) {
      known = std::lower_bound(names.begin(), names.end(), name,
                               [](const Name& one, const std::string& wanted) { return one.name < wanted; });
    }
    if (known == names.end() || known->name != name) {
      Name added;
      added.name = name;
      added.first_step = step;
      known = names.insert(known, std::move(added));
    }
    ++known->count;
    known->first_step = std::min(known->first_step, step);
    known->last_step = std::max(known->last_step, step);
    if (known->reported_by.size() <= trial) {
      known->reported_by.resize(trial + 1, false);
    }
    if (!known->reported_by[trial]) {
      known->reported_by[trial] = true;
      ++known->trials;
    }
    ++known;
  }
}

void MetricNames::note_best(OfExperiment& of, std::size_t trial, const engine::MetricsReport& report,
                            const engine::ExperimentRecord& record, engine::Instant at) {
  const auto step = static_cast<std::uint64_t>(engine::count(report.step));
  const std::string& searchers = record.config.searcher.metric;
  const auto put = [&](const engine::Metrics& metrics) {
    for (Name& known : of.names) {
      const double* value = known.name == searchers ? nullptr : value_in(metrics, known.name);
      if (value == nullptr) {
        continue;
      }
      if (known.at_best.size() <= trial) {
        known.at_best.resize(trial + 1, no_number);
      }
      known.at_best[trial] = std::isfinite(*value) ? *value : no_number;
    }
  };
  const double* metric = value_in(report.metrics, searchers);
  const bool was_best_here = trial < of.best_steps.size() && of.best_steps[trial] == step;
  if (metric == nullptr) {
    if (was_best_here) {
      put(report.metrics);
      return;
    }
    Beside& beside = of.beside[trial];
    if (beside.step != step) {
      beside = {step, {}};
    }
    beside.metrics.insert(beside.metrics.end(), report.metrics.begin(), report.metrics.end());
    return;
  }
  const engine::TrialRecord& now = record.trials[trial];
  if (now.best && now.best_at == at && now.best->metric == *metric) {
    if (of.best_steps.size() <= trial) {
      of.best_steps.resize(trial + 1, no_step);
    }
    of.best_steps[trial] = step;
    for (Name& known : of.names) {
      if (trial < known.at_best.size()) {
        known.at_best[trial] = no_number;
      }
    }
    if (const auto beside = of.beside.find(trial); beside != of.beside.end() && beside->second.step == step) {
      put(beside->second.metrics);
    }
    put(report.metrics);
  }
  of.beside.erase(trial);
}

const MetricNames::Name* MetricNames::find(engine::ExperimentId experiment, std::string_view name) const {
  const auto of = experiments_.find(experiment);
  if (of == experiments_.end()) {
    return nullptr;
  }
  const std::vector<Name>& names = of->second.names;
  const auto known =
      std::lower_bound(names.begin(), names.end(), name,
                       [](const Name& one, std::string_view wanted) { return one.name < wanted; });
  return known != names.end() && known->name == name ? &*known : nullptr;
}

std::vector<std::string> MetricNames::names(engine::ExperimentId experiment) const {
  std::vector<std::string> all;
  if (const auto of = experiments_.find(experiment); of != experiments_.end()) {
    for (const Name& one : of->second.names) {
      all.push_back(one.name);
    }
  }
  return all;
}

bool MetricNames::has(engine::ExperimentId experiment, std::string_view name) const {
  return find(experiment, name) != nullptr;
}

double MetricNames::at_best(const engine::ExperimentRecord& experiment, std::size_t trial,
                            std::string_view name) const {
  const std::optional<engine::Measurement>& best = experiment.trials[trial].best;
  if (!best) {
    return no_number;
  }
  if (name == experiment.config.searcher.metric) {
    return best->metric;
  }
  const Name* known = find(experiment.id, name);
  return known != nullptr && trial < known->at_best.size() ? known->at_best[trial] : no_number;
}

std::string MetricNames::json(engine::ExperimentId experiment) const {
  JsonText json;
  json.open('{').key("metrics").open('[');
  if (const auto found = experiments_.find(experiment); found != experiments_.end()) {
    for (const Name& name : found->second.names) {
      json.open('{')
          .member("name", name.name)
          .member("group", metric_group(name.name))
          .member("count", name.count)
          .member("trials", name.trials)
          .member("first_step", name.first_step)
          .member("last_step", name.last_step)
          .close('}');
    }
  }
  return json.close(']').close('}').take();
}

}  // namespace hpsearch::views
