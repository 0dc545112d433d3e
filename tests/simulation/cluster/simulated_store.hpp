#pragma once

#include <functional>
#include <memory>

#include "daemon/store/memory_store.hpp"
#include "daemon/store_executor.hpp"
#include "simulation/cluster/faults.hpp"
#include "simulation/cluster/process.hpp"
#include "simulation/cluster/promises.hpp"

namespace hpsearch::simulation {

/// The disk of the daemon's machine: it outlives the daemon.
struct Disk {
  std::shared_ptr<daemon::MemoryDisk> log = std::make_shared<daemon::MemoryDisk>();
  engine::Instant full_until;
};

/// A store on that disk. A group is written whole or not at all; the machine may die right before or right after.
class SimulatedStore final : public daemon::EventStore {
 public:
  struct World {
    VirtualTime& time;
    Faults& faults;
    Promises& promises;
    std::function<void()> die;  ///< kill -9 of the daemon, now.
  };
  SimulatedStore(Disk& disk, World world);

  [[nodiscard]] std::uint64_t cluster() const noexcept override { return log_.cluster(); }
  [[nodiscard]] std::uint64_t daemon_epoch() const noexcept override { return log_.daemon_epoch(); }
  [[nodiscard]] engine::Result<std::uint32_t> chain_at(engine::Lsn lsn) override { return log_.chain_at(lsn); }
  using EventStore::recover;
  engine::Status recover(engine::Lsn after, const Visit& visit) override { return log_.recover(after, visit); }
  engine::Status append(std::span<const engine::Event> group) override;
  [[nodiscard]] engine::Lsn last_lsn() const noexcept override { return log_.last_lsn(); }
  [[nodiscard]] engine::Result<std::vector<engine::Event>> read(engine::Lsn after, std::size_t limit) override {
    return log_.read(after, limit);
  }
  [[nodiscard]] engine::Result<std::vector<engine::Event>> history(engine::ExperimentId experiment,
                                                                   engine::TrialNumber trial) override {
    return log_.history(experiment, trial);
  }
  [[nodiscard]] engine::Result<std::vector<daemon::MetricPoint>> metrics(engine::ExperimentId experiment,
                                                                         engine::TrialNumber trial) override {
    return log_.metrics(experiment, trial);
  }

 private:
  Disk& disk_;
  World world_;
  daemon::MemoryStore log_;
};

/// The daemon's second thread on virtual time: the disk takes a while for each piece of work.
[[nodiscard]] daemon::EmployStoreExecutor on_a_slow_disk(Process& process, Faults& faults, engine::Draw& draw);

}  // namespace hpsearch::simulation
