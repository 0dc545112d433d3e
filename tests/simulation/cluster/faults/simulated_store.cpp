#include "simulation/cluster/faults/simulated_store.hpp"

#include <chrono>
#include <utility>

#include "simulation/cluster/faults/probes.hpp"

namespace hpsearch::simulation {
namespace {

using engine::Errc;
using engine::Error;

class SlowDisk final : public daemon::StoreExecutor {
 public:
  SlowDisk(Process& process, Faults& faults, engine::Draw& draw, std::function<bool()> work)
      : process_(process), faults_(faults), draw_(draw), work_(std::move(work)) {}

  void wake() override {
    if (busy_) {
      return;
    }
    busy_ = true;
    const std::uint64_t micros =
        100 + draw_.below(5'000) + (faults_.strikes(Fault::disk_slow) ? draw_.below(60'000'000) : 0);
    turn_ = process_.after(std::chrono::microseconds(micros), [this] {
      busy_ = false;
      if (work_() && process_.alive()) {
        wake();
      }
    });
  }

  /// As a disk that has been quick: now and then nobody is woken.
  [[nodiscard]] bool may_be_spared() const noexcept override { return !busy_ && draw_.below(2) == 0; }
  [[nodiscard]] bool spare() override {
    if (busy_) {
      return false;
    }
    if (work_() && process_.alive()) {
      wake();
    }
    return true;
  }

 private:
  Process& process_;
  Faults& faults_;
  engine::Draw& draw_;
  std::function<bool()> work_;
  bool busy_ = false;
  net::Watch turn_;
};

}  // namespace

engine::Status SimulatedStore::append_to_model(std::span<const engine::Event> group) {
  if (disk_.full_until > world_.time.now()) {
    return Error{Errc::unavailable, "the disk is full"};
  }
  if (world_.faults.strikes(Fault::disk_error)) {
    return Error{Errc::corrupt, "input/output error"};
  }
  return PassingStore::append(group);
}

engine::Status SimulatedStore::append(std::span<const engine::Event> group) {
  if (world_.faults.strikes(Fault::daemon_crash_before_commit)) {
    reached(Probe::recovered_nothing_of_a_group);
    world_.die();
    return Error{Errc::corrupt, "the machine died"};
  }
  world_.promises.offered(group, world_.daemon.now());
  engine::Status stored = engine::Done{};
  if (disk_.kind == StoreKind::model) {
    stored = append_to_model(group);
  } else {
    disk_.in_doubt.assign(group.begin(), group.end());
    stored = PassingStore::append(group);
    if (stored || stored.error().code == Errc::unavailable) {
      disk_.in_doubt.clear();
    }
  }
  if (stored) {
    world_.promises.committed(group);
  }
  if (world_.faults.strikes(Fault::daemon_crash_after_commit)) {
    reached(Probe::recovered_an_unanswered_group);
    world_.die();
  }
  return stored;
}

daemon::EmployStoreExecutor on_a_slow_disk(Process& process, Faults& faults, engine::Draw& draw) {
  return [&process, &faults, &draw](std::function<bool()> work) -> std::unique_ptr<daemon::StoreExecutor> {
    return std::make_unique<SlowDisk>(process, faults, draw, std::move(work));
  };
}

}  // namespace hpsearch::simulation
