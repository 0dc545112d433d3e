#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "daemon/core/store_executor.hpp"
#include "daemon/store/memory_store.hpp"
#include "simulation/cluster/faults/faults.hpp"
#include "simulation/cluster/nodes/process.hpp"
#include "simulation/cluster/promises.hpp"
#include "simulation/disk/disk_image.hpp"
#include "simulation/disk/passing_store.hpp"

namespace hpsearch::simulation {

/// Which store a simulated daemon has: a model of one, or the real one on a simulated disk.
enum class StoreKind : std::uint8_t { model, sqlite };

/// The disk of the daemon's machine: it outlives the daemon.
struct Disk {
  StoreKind kind = StoreKind::model;
  std::shared_ptr<daemon::MemoryDisk> log = std::make_shared<daemon::MemoryDisk>();  ///< Of the model.
  DiskImage files{"/state"};                                                         ///< Of the real store.
  engine::Instant full_until;
  /// A group that was given to the real store and not answered: it is there wholly or not at all.
  std::vector<engine::Event> in_doubt;
};

/// A store on that disk, whose daemon may die right before or right after a group is written.
class SimulatedStore final : public PassingStore {
 public:
  struct Surroundings {
    VirtualTime& time;
    const Process& daemon;
    Faults& faults;
    Promises& promises;
    std::function<void()> die;  ///< kill -9 of the daemon, now.
  };
  SimulatedStore(std::unique_ptr<daemon::EventStore> inner, Disk& disk, Surroundings world)
      : PassingStore(std::move(inner)), disk_(disk), world_(std::move(world)) {}

  /// The same in every run of a seed, other than a real store's.
  [[nodiscard]] std::uint64_t cluster() const noexcept override { return 0x73696d756c61746f; }
  engine::Status append(std::span<const engine::Event> group) override;

 private:
  engine::Status append_to_model(std::span<const engine::Event> group);

  Disk& disk_;
  Surroundings world_;
};

/// The daemon's second thread on virtual time: the disk takes a while for each piece of work.
[[nodiscard]] daemon::EmployStoreExecutor on_a_slow_disk(Process& process, Faults& faults,
                                                         engine::Draw& draw);

}  // namespace hpsearch::simulation
