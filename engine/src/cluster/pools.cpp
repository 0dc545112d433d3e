// Which workers an experiment may run on, and how much of it they could hold.

#include <algorithm>
#include <map>
#include <string>

#include "hpsearch/engine/cluster/worker.hpp"

namespace hpsearch::engine {

bool serves(const WorkerRecord& worker, const ResourcesConfig& wanted) noexcept {
  if (wanted.external || is_external(worker)) {
    return wanted.external && is_external(worker);
  }
  return pool_named(worker.pool) == pool_named(wanted.resource_pool) &&
         std::all_of(wanted.labels.begin(), wanted.labels.end(), [&worker](const auto& label) {
           const auto found = worker.labels.find(label.first);
           return found != worker.labels.end() && found->second == label.second;
         });
}

bool could_hold(const WorkerRecord& worker, std::uint64_t slots) {
  if (slots > worker.slots.total() || (worker.withdrawn.empty() && worker.leaked_processes.empty())) {
    return slots <= worker.slots.total();
  }
  SlotLedger vacant(worker.slots.total(), shares_of(worker.devices));
  for (const auto& [slot, state] : worker.withdrawn) {
    if (!state.released) {
      vacant.withdraw(slot);
    }
  }
  for (const auto& [key, leaked_processes] : worker.leaked_processes) {
    for (std::size_t i = 0; !leaked_processes.released && i < leaked_processes.slots.size(); ++i) {
      vacant.withdraw(leaked_processes.slots[i]);
    }
  }
  return vacant.find_free(slots).has_value();
}

std::vector<std::uint32_t> shares_of(const std::vector<SlotDevice>& devices) {
  std::map<std::string, std::uint32_t> numbers;
  std::vector<std::uint32_t> shares;
  for (const SlotDevice& device : devices) {
    const auto number = static_cast<std::uint32_t>(numbers.size());
    shares.push_back(numbers.try_emplace(device.uuid, number).first->second);
  }
  if (numbers.size() == devices.size()) {
    shares.clear();
  }
  return shares;
}

}  // namespace hpsearch::engine
