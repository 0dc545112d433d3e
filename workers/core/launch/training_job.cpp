#include "core/launch/training_job.hpp"

#include <cstdint>
#include <map>
#include <utility>

#include "core/launch/launch_parts.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/workers/core/adapters/launch_kinds/launch_kind.hpp"

namespace hpsearch::workers {

using engine::SlotIndex;
using engine::Value;
using jobs::LaunchSpec;

namespace {

Value texts(const Variables& members) {
  Value::Map map;
  for (const auto& [key, text] : members) {
    map[key] = text;
  }
  return map;
}

Value integer(std::uint64_t count) {
  return static_cast<std::int64_t>(count);
}

}  // namespace

std::string training_job(const LaunchSpec& spec, const AttemptPlaces& places, const LentMachine& machine,
                         const std::vector<std::string>& argv, const Value& hparams) {
  Value::List slots;
  Value::List devices;
  Value::List command;
  for (const SlotIndex slot : spec.slots) {
    slots.push_back(integer(slot.number()));
  }
  for (const std::string& device : device_names(spec, machine)) {
    devices.emplace_back(device);
  }
  for (const std::string& word : argv) {
    command.emplace_back(word);
  }
  return engine::compact_json(Value::Map{
      {"version", 1},
      {"experiment",
       Value::Map{{"id", integer(spec.key.experiment.number())}, {"name", spec.experiment_name}}},
      {"trial", Value::Map{{"id", integer(spec.trial_id.number())},
                           {"number", integer(spec.key.trial.number())},
                           {"attempt", integer(spec.key.attempt.number())},
                           {"seed", integer(spec.trial_seed)}}},
      {"command", std::move(command)},
      {"context", Value::Map{{"directory", spec.context_directory}, {"sha256", spec.context_digest}}},
      {"hyperparameters", hparams},
      {"length", Value::Map{{"unit", spec.unit},
                            {"until", integer(count(spec.length))},
                            {"done", integer(count(spec.latest_step))}}},
      {"metric", spec.metric},
      {"inputs", texts(places.inputs)},
      {"outputs", texts(places.outputs)},
      {"resources", Value::Map{{"slots", std::move(slots)},
                               {"devices", std::move(devices)},
                               {"instance_count", integer(addresses_of(spec).size())},
                               {"instance_index", integer(spec.rendezvous.rank)}}},
      {"data", spec.data.is_null() ? Value(Value::Map{}) : spec.data},
  });
}

}  // namespace hpsearch::workers
