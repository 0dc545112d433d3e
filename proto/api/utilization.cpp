#include "hpsearch/proto/api/utilization.hpp"

#include <cstddef>
#include <map>
#include <utility>

#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/proto/api/workers.hpp"
#include "hpsearch/proto/wire/wire.hpp"

namespace hpsearch::api {
namespace {

/// `part` per `whole`, of both in milliseconds.
std::optional<double> ratio(const std::optional<std::uint64_t>& part, std::uint64_t whole, double per = 1) {
  return part && whole > 0 ? std::optional(per * static_cast<double>(*part) / static_cast<double>(whole))
                           : std::nullopt;
}

constexpr double percent = 100;

}  // namespace

Utilization utilization_of(const std::vector<proto::Utilization>& stretches) {
  Utilization columns;
  // Instances of one GPU have the same index. No worker has more devices than slots.
  std::map<std::pair<std::uint64_t, std::size_t>, DeviceUtilization> devices;
  for (std::size_t row = 0; row < stretches.size(); ++row) {
    const proto::Utilization& stretch = stretches[row];
    columns.at.push_back(static_cast<double>(stretch.at_ms) / 1e3);
    columns.seconds.push_back(static_cast<double>(stretch.ms) / 1e3);
    columns.cores.push_back(ratio(stretch.cpu_ms, stretch.ms));
    columns.memory_bytes.push_back(stretch.memory_bytes);
    std::map<std::uint64_t, std::size_t> seen;
    for (const proto::DeviceUtilization& device : stretch.devices) {
      const std::pair name(device.index, seen[device.index]++);
      if (devices.size() >= proto::max_worker_slots && !devices.contains(name)) {
        continue;
      }
      DeviceUtilization& column = devices[name];
      column.index = device.index;
      column.utilization.resize(row);
      column.memory_bytes.resize(row);
      column.utilization.push_back(ratio(device.busy_ms, stretch.ms, percent));
      column.memory_bytes.push_back(device.memory_bytes);
    }
  }
  for (auto& [name, column] : devices) {
    column.utilization.resize(stretches.size());
    column.memory_bytes.resize(stretches.size());
    columns.devices.push_back(std::move(column));
  }
  return columns;
}

AttemptLoad load_of(const engine::AttemptKey& attempt, const proto::Utilization& last) {
  AttemptLoad load{{attempt.experiment, attempt.trial, attempt.attempt},
                   static_cast<double>(last.at_ms) / 1e3,
                   ratio(last.cpu_ms, last.ms),
                   last.memory_bytes,
                   {}};
  for (const proto::DeviceUtilization& device : last.devices) {
    load.devices.push_back({device.index, ratio(device.busy_ms, last.ms, percent), device.memory_bytes});
  }
  return load;
}

}  // namespace hpsearch::api
