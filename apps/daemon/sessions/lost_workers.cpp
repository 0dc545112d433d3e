#include "daemon/sessions/lost_workers.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/io/net/log.hpp"
#include "hpsearch/proto/sentences/words.hpp"

namespace hpsearch::daemon {
namespace {

constexpr std::chrono::seconds look_every{10};

/// Workers that are not lost, by name.
std::map<std::string_view, engine::WorkerId> present_by_name(const engine::Engine& engine) {
  std::map<std::string_view, engine::WorkerId> present;
  for (const auto& [id, worker] : engine.workers()) {
    if (worker.present && !engine::is_external(worker)) {
      present.emplace(worker.name, id);
    }
  }
  return present;
}

std::string age_text(engine::Duration age) {
  constexpr std::uint64_t minute = 60;
  constexpr std::uint64_t hour = 60 * minute;
  constexpr std::uint64_t day = 24 * hour;
  const auto seconds = static_cast<std::uint64_t>(age.in_micros() / 1'000'000);
  if (seconds < 2 * minute) {
    return std::to_string(seconds) + " s";
  }
  if (seconds < 2 * hour) {
    return std::to_string(seconds / minute) + " min";
  }
  return seconds < 2 * day ? sentences::counted(seconds / hour, "hour")
                           : sentences::counted(seconds / day, "day");
}

}  // namespace

LostWorkers::LostWorkers(Runtime& runtime, Settings settings)
    : runtime_(runtime),
      settings_(std::move(settings)),
      events_(runtime.watch_events([this](const engine::Event& event) { note(event); })),
      clock_(runtime.loop().every(look_every, [this] { look(); })) {
}

void LostWorkers::note(const engine::Event& event) {
  const auto* forgotten = std::get_if<engine::WorkerForgotten>(&event.body);
  if (forgotten == nullptr) {
    return;
  }
  const std::string name = runtime_.engine().forgotten_workers().at(forgotten->worker).name;
  net::log(net::Level::info, "worker \"" + name + "\" was forgotten: " + forgotten->why,
           net::about_worker(name));
  runtime_.when_durable([report = settings_.forgotten, name] { report(name); });
}

void LostWorkers::look() {
  if (runtime_.stalled()) {
    return;
  }
  const engine::Engine& engine = runtime_.engine();
  std::optional<std::map<std::string_view, engine::WorkerId>> present;
  std::vector<engine::ForgetWorker> commands;
  for (const auto& [id, worker] : engine.workers()) {
    if (worker.present || engine::is_external(worker)) {
      continue;
    }
    if (!present) {
      present = present_by_name(engine);
    }
    const engine::Duration age = runtime_.now() - worker.lost_at;
    const auto namesake = present->find(worker.name);
    if (namesake != present->end() && worker.may_return.empty()) {
      commands.push_back(
          {id, "worker " + std::to_string(namesake->second.number()) + " of the same name has its place"});
    } else if (age >= settings_.forget_after) {
      commands.push_back({id, "it was lost for " + age_text(age)});
    }
  }
  for (const engine::ForgetWorker& command : commands) {
    static_cast<void>(runtime_.perform(command));  // Refused while an attempt on several workers ends.
  }
}

}  // namespace hpsearch::daemon
