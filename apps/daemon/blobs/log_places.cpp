#include "daemon/blobs/log_places.hpp"

#include <optional>
#include <variant>

namespace hpsearch::daemon {

using engine::Errc;
using engine::Error;

const engine::Place* AttemptPlaces::on(engine::WorkerId worker) const noexcept {
  for (const engine::Place& node : nodes) {
    if (node.worker == worker) {
      return &node;
    }
  }
  return nullptr;
}

engine::Result<AttemptPlaces> places_of(EventStore& store, const engine::Numbering& numbering,
                                        engine::ExperimentId experiment, engine::TrialNumber trial,
                                        std::uint64_t attempt) {
  const auto events = store.history(experiment, trial);
  if (!events) {
    return events.error();
  }
  std::optional<AttemptPlaces> places;
  for (const engine::Event& event : *events) {
    const auto* granted = std::get_if<engine::LeaseGranted>(&event.body);
    const auto* adopted = std::get_if<engine::AttemptAdopted>(&event.body);
    const auto* lost = std::get_if<engine::AttemptLost>(&event.body);
    if (adopted != nullptr && (attempt == 0 || adopted->key.attempt.number() == attempt)) {
      places = AttemptPlaces{adopted->key, {{adopted->worker, adopted->slots}}, ""};
    }
    if (granted != nullptr && (attempt == 0 || granted->attempt.number() == attempt)) {
      places = AttemptPlaces{{experiment, trial, granted->attempt, numbering.lease_of(event.lsn)},
                             {{granted->worker, granted->slots}},
                             ""};
      places->nodes.insert(places->nodes.end(), granted->others.begin(), granted->others.end());
    }
    if (lost != nullptr && places && lost->key.attempt == places->key.attempt) {
      places->lost_because = lost->why.empty() ? "its worker was lost" : lost->why;
    }
  }
  if (!places) {
    return Error{Errc::not_found,
                 "trial " + std::to_string(trial.number()) +
                     (attempt == 0 ? " has not run yet" : " has no attempt " + std::to_string(attempt))};
  }
  return *places;
}

std::optional<engine::Place> place_of(EventStore& store, const engine::Numbering& numbering,
                                      const engine::AttemptKey& key, engine::WorkerId worker) {
  const auto places = places_of(store, numbering, key.experiment, key.trial, key.attempt.number());
  const engine::Place* place =
      places && engine::label_of(places->key) == engine::label_of(key) ? places->on(worker) : nullptr;
  return place == nullptr ? std::nullopt : std::optional(*place);
}

}  // namespace hpsearch::daemon
