#include "daemon/attempt_book.hpp"

#include <algorithm>

namespace hpsearch::daemon {

void AttemptBook::note(const engine::Event& event) {
  if (const auto* granted = std::get_if<engine::LeaseGranted>(&event.body)) {
    const engine::AttemptKey key{granted->experiment, granted->trial, granted->attempt,
                                 engine::LeaseId(event.lsn.number())};
    places_[{granted->experiment, granted->trial}].push_back({key, granted->worker});
  }
}

std::optional<AttemptBook::Place> AttemptBook::find(engine::ExperimentId experiment,
                                                    engine::TrialNumber trial,
                                                    std::optional<engine::AttemptNumber> attempt) const {
  const auto found = places_.find({experiment, trial});
  if (found == places_.end()) {
    return std::nullopt;
  }
  const std::vector<Place>& places = found->second;
  if (!attempt) {
    return places.back();
  }
  const auto place =
      std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.key.attempt == *attempt; });
  return place == places.end() ? std::nullopt : std::optional(*place);
}

}  // namespace hpsearch::daemon
