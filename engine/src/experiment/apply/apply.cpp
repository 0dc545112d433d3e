#include "applier.hpp"
#include "event_checks.hpp"

namespace hpsearch::engine {

ExperimentRecord& Applier::experiment(ExperimentId id) const {
  ExperimentRecord& record = state.experiments.at(id);
  record.changed_by = event.lsn;
  touch(state, record);
  return record;
}

void Applier::touch_all() const {
  for (const ExperimentId id : state.going) {
    experiment(id);
  }
}

void touch(EngineState& state, ExperimentRecord& record) {
  if (!record.on_agenda) {
    record.on_agenda = true;
    state.agenda.touched.push_back(record.id);
  }
}

void apply(EngineState& state, const Event& event) {
  state.last_lsn = event.lsn;
  state.last_instant = event.at;
  const Applier applier{state, event};
  std::visit([&applier](const auto& body) { apply(applier, body); }, event.body);
}

}  // namespace hpsearch::engine
