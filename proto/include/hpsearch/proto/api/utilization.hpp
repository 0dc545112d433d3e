#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/proto/api/field_types.hpp"
#include "hpsearch/proto/wire/utilization.hpp"

namespace hpsearch::api {

struct DeviceUtilization {
  static constexpr Schema schema{"DeviceUtilization", "How much a device was used."};
  std::uint64_t index = 0;
  std::vector<std::optional<double>> utilization{};
  std::vector<std::optional<std::uint64_t>> memory_bytes{};

  static void list_fields(auto& fields, auto& self) {
    fields("index", self.index, "Index of the device on its machine.");
    fields("utilization", self.utilization,
           "Percent of the time in which it was busy, with programs of anybody; null: not measured.");
    fields("memory_bytes", self.memory_bytes,
           "Its largest memory in use, by programs of anybody; null: not measured.");
  }
};

struct Utilization {
  static constexpr Schema schema{"Utilization", "How much of its machine an attempt used, in columns."};
  engine::AttemptNumber attempt{};
  engine::WorkerId worker{};
  std::vector<engine::WorkerId> workers{};
  std::optional<std::string> why_none{};
  std::vector<double> at{};
  std::vector<double> seconds{};
  std::vector<std::optional<double>> cores{};
  std::vector<std::optional<std::uint64_t>> memory_bytes{};
  std::vector<DeviceUtilization> devices{};

  static void list_fields(auto& fields, auto& self) {
    fields("attempt", self.attempt, "Number of the attempt.");
    fields("worker", self.worker, "The worker whose figures these are.");
    fields("workers", self.workers, "All workers of the attempt.");
    fields("why_none", self.why_none, "Why the columns are empty; null if they are not.");
    fields("at", self.at, "The end of each stretch of time, by the worker's clock; at most 500.");
    fields("seconds", self.seconds, "How long each stretch is.");
    fields("cores", self.cores,
           "Mean number of cores that the attempt's processes kept busy; null: not measured.");
    fields("memory_bytes", self.memory_bytes,
           "Largest memory of the attempt's processes that was seen; null: not measured.");
    fields("devices", self.devices, "The attempt's devices, each with a column of the same length.");
  }
};

/// Only the columns.
[[nodiscard]] Utilization utilization_of(const std::vector<proto::Utilization>& stretches);

}  // namespace hpsearch::api
