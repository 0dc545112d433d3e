#include "cli/results/attempt_use.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "cli/artifacts/log_source.hpp"
#include "cli/client/answers.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/proto/wire/utilization.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

template <class Number>
using Column = std::vector<std::optional<Number>>;

/// Over the time in which it was measured.
std::optional<double> mean(const Column<double>& column, const std::vector<double>& seconds) {
  double sum = 0;
  double time = 0;
  for (std::size_t i = 0; i < std::min(column.size(), seconds.size()); ++i) {
    sum += column[i].value_or(0) * seconds[i];
    time += column[i] ? seconds[i] : 0;
  }
  return time > 0 ? std::optional(sum / time) : std::nullopt;
}

std::optional<std::uint64_t> largest(const Column<std::uint64_t>& column) {
  const auto found = std::max_element(column.begin(), column.end());
  return found == column.end() ? std::nullopt : *found;
}

std::string cores_text(double cores) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f cores", cores);
  return text.data();
}

Value value_of(const std::optional<std::uint64_t>& number) {
  return number ? Value(static_cast<std::int64_t>(*number)) : Value{};
}
Value value_of(const std::optional<double>& number) {
  return number ? Value(*number) : Value{};
}

}  // namespace

std::optional<AttemptUse> use_in(const api::Utilization& columns) {
  if (columns.at.empty()) {
    return std::nullopt;
  }
  AttemptUse use{mean(columns.cores, columns.seconds), largest(columns.memory_bytes), {}};
  for (const api::DeviceUtilization& device : columns.devices) {
    use.devices.push_back(
        {device.index, mean(device.utilization, columns.seconds), largest(device.memory_bytes)});
  }
  return use;
}

Outcome<api::Utilization> read_utilization(const Server& server, std::uint64_t experiment,
                                           std::uint64_t trial, std::uint64_t attempt, std::uint64_t worker) {
  const auto left = server.left_state();
  if (!left) {
    return read_as<api::Utilization>(server.client().get(experiment_target(
        experiment, "/trials/" + std::to_string(trial) + "/attempts/" + std::to_string(attempt) +
                        "/utilization?worker=" + std::to_string(worker))));
  }
  const LeftLogs source(*left, experiment, trial, {std::string(proto::utilization_stream), 0, 0});
  std::string text;
  for (;;) {
    const Outcome<LogPart> part = source.read(attempt, text.size(), false);
    text += part ? part->text : "";
    if (!part || part->text.empty() || text.size() >= part->size) {
      return api::utilization_of(proto::utilization_from(text));
    }
  }
}

std::string use_text(const AttemptUse& use, std::string_view device) {
  std::string text;
  const auto add = [&text](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  if (use.cores) {
    add(cores_text(*use.cores) + " on average");
  }
  if (use.memory_bytes) {
    add("at most " + bytes_text(*use.memory_bytes) + " of memory");
  }
  for (const AttemptUse::Device& one : use.devices) {
    const std::string busy =
        one.utilization ? " busy " + percent_text(*one.utilization / 100) + " of the time" : std::string();
    const std::string memory = one.memory_bytes ? " with at most " + bytes_text(*one.memory_bytes) : "";
    if (!busy.empty() || !memory.empty()) {
      add(std::string(device) + " " + std::to_string(one.index) + busy + memory);
    }
  }
  return text;
}

Value::Map use_value(const AttemptUse& use) {
  Value::List devices;
  for (const AttemptUse::Device& device : use.devices) {
    devices.emplace_back(Value::Map{{"index", static_cast<std::int64_t>(device.index)},
                                    {"utilization", value_of(device.utilization)},
                                    {"memory_bytes", value_of(device.memory_bytes)}});
  }
  return {{"cores", value_of(use.cores)},
          {"memory_bytes", value_of(use.memory_bytes)},
          {"devices", std::move(devices)}};
}

}  // namespace hpsearch::cli
