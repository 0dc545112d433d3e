#include "hpsearch/workers/shell/utilization_watch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/workers/core/attempt_machine.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"

namespace hpsearch::workers {

using engine::AttemptKey;
using proto::Utilization;
using std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds usual_interval = 10s;
// A worker that is killed loses at most this.
constexpr std::chrono::seconds write_every = 60s;
constexpr std::size_t longest_file = std::size_t{4} * 1024 * 1024;

std::uint64_t in_ms(auto duration) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()));
}

std::string file_in(const AttemptDirectory& directory) {
  return directory.log(proto::utilization_stream).filename().string();
}

/// By index; instances of one GPU stay in their order.
std::vector<proto::DeviceUtilization> use_of(const std::vector<Device>& devices, std::uint64_t ms) {
  std::vector<proto::DeviceUtilization> all;
  for (const Device& device : devices) {
    proto::DeviceUtilization use{.index = device.index};
    if (device.utilization) {
      use.busy_ms =
          ms * static_cast<std::uint64_t>(std::clamp<std::int64_t>(*device.utilization, 0, 100)) / 100;
    }
    if (device.free_bytes && device.memory_bytes > 0) {
      use.memory_bytes = device.memory_bytes - std::min(device.memory_bytes, *device.free_bytes);
    }
    all.push_back(use);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  return all;
}

}  // namespace

std::chrono::milliseconds utilization_interval() {
  const char* text = std::getenv("HPSEARCH_UTILIZATION_INTERVAL");
  const double seconds = engine::number_in<double>(text != nullptr ? text : "").value_or(0);
  return seconds >= 0.05 && seconds <= 3'600
             ? std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1'000))
             : usual_interval;
}

UtilizationWatch::UtilizationWatch(net::Loop& loop, const WorkerState& state, const SlotDevices& devices,
                                   std::chrono::milliseconds every, Running running, OnMeasured on_measured)
    : state_(state),
      devices_(devices),
      running_(std::move(running)),
      on_measured_(std::move(on_measured)),
      next_look_(loop.every(every, [this] { look(); })),
      background_(loop) {
}

void UtilizationWatch::look() {
  std::vector<std::pair<AttemptKey, AttemptDirectory>> attempts;
  for (const AttemptKey& key : running_()) {
    attempts.emplace_back(key, state_.attempt(key));
  }
  if (attempts.empty() || std::exchange(looking_, true)) {
    return;
  }
  background_.run([this, attempts = std::move(attempts)]() -> net::Background::Afterwards {
    Uses uses;
    std::optional<std::vector<ProcessInfo>> all = all_processes();
    const auto at = steady_clock::now();
    ProgramUses programs(all ? *std::move(all) : std::vector<ProcessInfo>());
    for (const auto& [key, directory] : attempts) {
      const std::optional<ProcessRecord> record = directory.read_process();
      const auto root = directory.opened();
      const bool in_container = root && root->has(directory.container().filename());
      if (const auto use = record ? programs.of(*record, in_container) : std::nullopt) {
        uses.emplace(key, *use);
      }
    }
    return [this, uses = std::move(uses), at] {
      looking_ = false;
      take(uses, at);
    };
  });
}

void UtilizationWatch::take(const Uses& uses, steady_clock::time_point at) {
  AttemptsMeasured measured;
  for (const auto& [key, use] : uses) {
    auto watched = watched_.find(key);
    if (watched == watched_.end()) {
      const AttemptDirectory directory = state_.attempt(key);
      const engine::Result<std::string> earlier = directory.read(file_in(directory), longest_file);
      watched = watched_
                    .emplace(key, Watched{.series = UtilizationSeries(
                                              proto::utilization_from(earlier ? *earlier : std::string()))})
                    .first;
    }
    if (const std::optional<Utilization> now = sample(key, watched->second, use, at)) {
      measured.now.emplace(key, *now);
      watched->second.series.add(*now);
      watched->second.has_news = true;
      if (at - watched->second.written_at >= write_every) {
        write(key);
      }
    }
  }
  on_measured_(std::move(measured));
}

/// Nothing at the first look: there is no time before it.
std::optional<Utilization> UtilizationWatch::sample(const AttemptKey& key, Watched& watched,
                                                    const ProgramUse& use,
                                                    steady_clock::time_point at) const {
  const ProgramUse before = std::exchange(watched.before, use);
  const auto since = std::exchange(watched.looked_at, at);
  const std::uint64_t ms = in_ms(at - since);
  if (since == steady_clock::time_point{} || ms == 0) {
    return std::nullopt;
  }
  const std::uint64_t now_ms = in_ms(std::chrono::system_clock::now().time_since_epoch());
  const auto& earlier = watched.series.stretches();
  Utilization now{.at_ms = earlier.empty() ? now_ms : std::max(now_ms, earlier.back().at_ms + 1),
                  .ms = ms,
                  .memory_bytes = use.memory_bytes,
                  .devices = use_of(devices_.devices_of(key), ms)};
  if (use.cpu_micros && before.cpu_micros) {
    // The sum gets smaller if a process has ended and none of the program's has reaped it.
    now.cpu_ms = (std::max(*use.cpu_micros, *before.cpu_micros) - *before.cpu_micros) / 1'000;
  }
  return now;
}

void UtilizationWatch::write(const AttemptKey& key) {
  const auto found = watched_.find(key);
  if (found == watched_.end() || !std::exchange(found->second.has_news, false)) {
    return;
  }
  found->second.written_at = steady_clock::now();
  const AttemptDirectory directory = state_.attempt(key);
  if (const engine::Status written =
          directory.write(file_in(directory), proto::utilization_text(found->second.series.stretches()));
      !written) {
    net::log(net::Level::debug,
             "the utilization of " + attempt_text(key) + " cannot be written: " + written.error().message);
  }
}

}  // namespace hpsearch::workers
