#include "hpsearch/proto/views/metric_names.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "views/json_text.hpp"

namespace hpsearch::views {

std::string metric_group(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? std::string() : name.substr(0, dot);
}

void MetricNames::note(const engine::Event& event) {
  const auto* taken = std::get_if<engine::ReportTaken>(&event.body);
  const auto* report = taken != nullptr ? std::get_if<engine::MetricsReport>(&taken->report) : nullptr;
  if (report == nullptr) {
    return;
  }
  std::vector<Name>& names = names_[taken->key.experiment];
  const auto trial = static_cast<std::size_t>(taken->key.trial.number());
  const auto step = static_cast<std::uint64_t>(engine::count(report->step));
  auto known = names.begin();
  for (const auto& [name, value] : report->metrics) {
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

std::string MetricNames::json(engine::ExperimentId experiment) const {
  JsonText json;
  json.open('{').key("metrics").open('[');
  if (const auto found = names_.find(experiment); found != names_.end()) {
    for (const Name& name : found->second) {
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
