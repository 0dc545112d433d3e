#include "simulation/cluster/nodes/search_on_disk.hpp"

#include <string_view>

#include "engine/state_text.hpp"
#include "hpsearch/proto/events/stored.hpp"
#include "simulation/invariants.hpp"

namespace hpsearch::simulation {

std::string decision_in(const Event& event) {
  const auto bytes = proto::encode_event(event.body);
  const std::string body(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const auto* granted = std::get_if<engine::LeaseGranted>(&event.body)) {
    return "lease of trial " + std::to_string(granted->trial.number()) + " to " +
           std::to_string(engine::count(granted->length));
  }
  const bool decides = std::holds_alternative<engine::TrialCreated>(event.body) ||
                       std::holds_alternative<engine::TrialPromoted>(event.body) ||
                       std::holds_alternative<engine::TrialPaused>(event.body) ||
                       std::holds_alternative<engine::TrialEnded>(event.body) ||
                       std::holds_alternative<engine::LengthReached>(event.body) ||
                       std::holds_alternative<engine::ExperimentEnded>(event.body);
  return decides ? body : "";
}
std::size_t hash_of(const Event& event) {
  const auto bytes = proto::encode_event(event.body);
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) ^
         static_cast<std::size_t>(event.at.micros());
}
std::size_t standing(const engine::Engine& engine) {
  return std::hash<std::string>{}(engine::state_text(engine));
}
void live_uninterrupted(const Value& search, Uninterrupted& calm) {
  DiskImage image("/state");
  SteadyWorker worker(3);
  Life life(image, worker);
  ASSERT_TRUE(life.open());
  engine::Engine fold(searchers::registry());
  life.store()->on_stored = [&] {
    while (calm.events.size() < life.store()->stored.size()) {
      const Event& event = life.store()->stored[calm.events.size()];
      ASSERT_TRUE(fold.replay(event));
      calm.events.push_back(hash_of(event));
      if (std::string decision = decision_in(event); !decision.empty()) {
        calm.decided.push_back(std::move(decision));
      }
      calm.decided_upto.push_back(calm.decided.size());
    }
    calm.stood[fold.last_lsn().number()] = standing(fold);
  };
  life.begin(search);
  life.live();
  ASSERT_TRUE(life.over());
  calm.stood[0] = standing(engine::Engine(searchers::registry()));
  calm.calls = life.disk().calls();
}

}  // namespace hpsearch::simulation
