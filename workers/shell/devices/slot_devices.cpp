#include "hpsearch/workers/shell/devices/slot_devices.hpp"

#include <sys/types.h>

#include <chrono>
#include <utility>

#include "hpsearch/io/net/log.hpp"
#include "hpsearch/workers/core/attempt_machine.hpp"

namespace hpsearch::workers {

using engine::AttemptKey;

namespace {

// The time between polls while a device lists processes of an ended program.
constexpr std::chrono::milliseconds look_again_after{500};

}  // namespace

SlotDevices::SlotDevices(net::Loop& loop, const std::vector<engine::SlotDevice>& devices,
                         const std::string& noun, const DeviceLook& look, OnReport on_report)
    : loop_(loop),
      noun_(noun),
      settle_(engine::Duration::millis(look.settle.count())),
      on_report_(std::move(on_report)),
      use_(devices, noun) {
  if (!look.command.empty() && !devices.empty()) {
    watch_ = std::make_unique<DeviceWatch>(loop_, look);
    next_look_ = loop_.every(look.every, [this] { this->look(); });
  }
}

void SlotDevices::hold(const AttemptKey& key, const std::vector<engine::SlotIndex>& slots,
                       std::vector<std::string> marks, bool had_leaked_processes) {
  if (watch_) {
    use_.began(key, slots, std::move(marks), had_leaked_processes);
  }
}

void SlotDevices::look() {
  if (watch_) {
    watch_->ask([this](const DeviceReport& report) { take(report); });
  }
}

void SlotDevices::forget(const AttemptKey& key) {
  use_.over(key);
  waiting_.erase(key);
}

void SlotDevices::look_for_strangers(const AttemptKey& key) {
  if (!use_.on_devices(key)) {
    return;
  }
  watch_->ask([this, key](const DeviceReport& report) {
    take(report);
    if (const std::string strangers = use_.strangers(key, report); !strangers.empty()) {
      net::log(net::Level::warning, attempt_text(key) + " does not have its devices for itself: " + strangers,
               net::about(key));
    }
  });
}

void SlotDevices::wait_until_free(const AttemptKey& key, std::function<void()> on_free,
                                  std::function<void(const std::string& why)> on_stuck) {
  if (!use_.on_devices(key)) {
    on_free();
    return;
  }
  if (const auto known = waiting_.find(key); known != waiting_.end() && known->second.stuck) {
    return;
  }
  waiting_[key] = Waiting{std::move(on_free), std::move(on_stuck), loop_.now() + settle_, false, {}};
  look_for(key);
}

void SlotDevices::look_for(const AttemptKey& key) {
  watch_->ask([this, key](const DeviceReport& report) {
    take(report);  // First: a program that fails because its device failed isn't at fault.
    const auto found = waiting_.find(key);
    if (found == waiting_.end() || found->second.stuck) {
      return;
    }
    Waiting& waiting = found->second;
    const std::vector<pid_t> left = use_.of(key, report);
    if (left.empty()) {
      const std::string memory = report.problem.empty() ? use_.memory(key, report) : report.problem;
      net::log(net::Level::info, attempt_text(key) + " has left its devices: " + memory, net::about(key));
      free(key);
    } else if (loop_.now() < waiting.until) {
      waiting.next_look = loop_.after(look_again_after, [this, key] { look_for(key); });
    } else {
      waiting.stuck = true;
      const auto on_stuck = waiting.on_stuck;
      on_stuck("its process " + std::to_string(left.front()) + " has ended, and its " + noun_ +
               " still lists it");
    }
  });
}

void SlotDevices::take(const DeviceReport& report) {
  last_report_ = report;
  use_.look(report);
  on_report_(report);
  if (!report.problem.empty()) {
    return;
  }
  std::vector<AttemptKey> free_now;
  for (const auto& [key, waiting] : waiting_) {
    if (waiting.stuck && use_.of(key, report).empty()) {
      free_now.push_back(key);
    }
  }
  for (const AttemptKey& key : free_now) {
    free(key);
  }
}

void SlotDevices::free(const AttemptKey& key) {
  auto waiting = waiting_.extract(key);
  use_.over(key);
  if (!waiting.empty()) {
    waiting.mapped().on_free();
  }
}

}  // namespace hpsearch::workers
