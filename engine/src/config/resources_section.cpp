#include <algorithm>

#include "config/sections.hpp"
#include "hpsearch/engine/base/quoted.hpp"

namespace hpsearch::engine {

namespace {

/// Labels that a worker must have.
void read_labels(Section& section, std::map<std::string, std::string>& labels) {
  static const Value::Map none;
  const Value::Map* wanted = section.map("labels");
  for (const auto& [key, value] : wanted != nullptr ? *wanted : none) {
    const std::string* text = value.as_text();
    if (key.empty() || text == nullptr) {
      section.problem("labels." + key, "is " + quoted(value),
                      "text, as a worker's --label KEY=VALUE says it");
    } else {
      labels[key] = *text;
    }
  }
}

}  // namespace

void read_resources(Section& section, ResourcesConfig& resources) {
  if (const auto slots = section.integer("slots_per_trial", 0)) {
    resources.slots_per_trial = *slots;
  }
  resources.max_slots = section.integer("max_slots", 0);
  if (resources.max_slots && *resources.max_slots < resources.slots_per_trial) {
    section.note("max_slots", "is " + std::to_string(*resources.max_slots) + ", and a trial takes " +
                                  std::to_string(resources.slots_per_trial) +
                                  " (slots_per_trial): nothing runs until it is raised");
  }
  if (const auto weight = section.number_above("weight", 0)) {
    resources.weight = *weight;
  }
  if (const auto priority = section.integer("priority", 1, 99)) {
    resources.priority = *priority;
  }
  if (const auto pool = section.text("resource_pool")) {
    resources.resource_pool = *pool;
  }
  read_labels(section, resources.labels);

  resources.spans_workers = section.boolean("spans_workers").value_or(false);
  resources.least_workers = section.integer("least_workers", 2).value_or(resources.least_workers);
}

}  // namespace hpsearch::engine
