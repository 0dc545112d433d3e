#include "daemon/streams/experiment_places.hpp"

#include <utility>

#include "daemon/streams/event_selection.hpp"

namespace hpsearch::daemon {

net::Watch ExperimentPlaces::fill(const std::shared_ptr<ExperimentPlaces>& places, Runtime& runtime) {
  for (const auto& [id, record] : runtime.engine().experiments()) {
    places->put(id, engine::workspace_of(record.config));
  }
  return runtime.watch_events([places, &runtime](const engine::Event& event) {
    const auto* created = std::get_if<engine::ExperimentCreated>(&event.body);
    const auto* record = created == nullptr ? nullptr : runtime.engine().find(created->experiment);
    if (record != nullptr) {
      places->put(record->id, engine::workspace_of(record->config));
    }
  });
}

void ExperimentPlaces::put(engine::ExperimentId experiment, std::string_view workspace) {
  const std::scoped_lock lock(mutex_);
  workspaces_.insert_or_assign(experiment, std::string(workspace));
}

bool ExperimentPlaces::shows(const Scope& scope, const engine::EventBody& event) const {
  if (scope.is_all()) {
    return true;
  }
  if (const auto experiment = experiment_of(event)) {
    const std::scoped_lock lock(mutex_);
    const auto found = workspaces_.find(*experiment);
    return found != workspaces_.end() && scope.has(found->second);
  }
  return std::visit(
      [&scope](const auto& body) {
        if constexpr (requires { body.workspace; }) {
          return scope.has(body.workspace);
        } else {
          return true;
        }
      },
      event);
}

}  // namespace hpsearch::daemon
