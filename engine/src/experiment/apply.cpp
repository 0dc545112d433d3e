#include "applier.hpp"

namespace hpsearch::engine {

ExperimentRecord& Applier::experiment(ExperimentId id) const {
  ExperimentRecord& record = state.experiments.at(id);
  touch(state, record);
  return record;
}

void Applier::touch_all() const {
  for (const ExperimentId id : state.going) {
    experiment(id);
  }
}

void Applier::operator()(const StoreRestored& restored) const {
  // This event's own Lsn may have been a lease's in what is lost.
  state.numbering.begin_anew(Lsn(event.lsn.number() - 1), restored.numbers_from);
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
  std::visit(Applier{state, event}, event.body);
}

}  // namespace hpsearch::engine
