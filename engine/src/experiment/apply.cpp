#include "applier.hpp"

namespace hpsearch::engine {

ExperimentRecord& Applier::experiment(ExperimentId id) const {
  ExperimentRecord& record = world.experiments.at(id);
  touch(world, record);
  return record;
}

void Applier::touch_all() const {
  for (const ExperimentId id : world.going) {
    experiment(id);
  }
}

void Applier::operator()(const StoreRestored& restored) const {
  // This event's own Lsn may have been a lease's in what is lost.
  world.numbering.begin_anew(Lsn(event.lsn.number() - 1), restored.numbers_from);
}

void touch(World& world, ExperimentRecord& record) {
  if (!record.on_agenda) {
    record.on_agenda = true;
    world.agenda.touched.push_back(record.id);
  }
}

void apply(World& world, const Event& event) {
  world.last_lsn = event.lsn;
  world.last_instant = event.at;
  std::visit(Applier{world, event}, event.body);
}

}  // namespace hpsearch::engine
