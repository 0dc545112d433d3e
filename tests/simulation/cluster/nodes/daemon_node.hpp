#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/core/runtime.hpp"
#include "daemon/sessions/lost_workers.hpp"
#include "daemon/sessions/worker_sessions.hpp"
#include "simulation/cluster/faults/simulated_store.hpp"
#include "simulation/cluster/nodes/network.hpp"
#include "simulation/disk/mounted_disk.hpp"

namespace hpsearch::simulation {

/// The daemon's machine: the real Runtime, WorkerSessions and Committer, on a simulated disk and network.
class DaemonNode {
 public:
  DaemonNode(VirtualTime& time, Faults& faults, Network& network, Promises& promises,
             engine::Patience patience, StoreKind store, std::uint64_t seed);
  DaemonNode(const DaemonNode&) = delete;
  DaemonNode& operator=(const DaemonNode&) = delete;
  ~DaemonNode();

  void boot();
  void crash();                           ///< kill -9, now; starts again later.
  void stay_away(engine::Duration time);  ///< kill -9; starts again after that time.
  void upgrade();                         ///< A clean stop; starts again soon.
  void pause(engine::Duration time);
  void suspend(engine::Duration time) { process_.suspend_for(time); }
  void set_wall_clock(engine::Duration by) { process_.set_wall_clock(by); }
  void fill_disk(engine::Duration time) { disk_.full_until = time_.now() + time; }
  void heal() noexcept { disk_.full_until = engine::Instant{}; }

  /// `heard` is when frames of the worker's newest session arrived: a daemon that stands still must read them
  /// before it calls the worker silent. Those that it cannot read any more when it goes on are taken out
  /// again.
  void on_event(const net::Peer& peer, const Frame& frame, std::vector<engine::Instant>& heard);
  /// nullptr while it is down, stopped or ending.
  [[nodiscard]] daemon::Runtime* listening() noexcept;
  [[nodiscard]] const engine::Engine* settled()
      const noexcept;  ///< nullptr while something is on its way to the disk.
  [[nodiscard]] engine::Instant began() const noexcept { return began_; }

 private:
  class Port;

  /// What its disk says to a call: 0, or an errno.
  int before_storage_call(DiskCall call);
  [[nodiscard]] engine::Result<std::unique_ptr<daemon::EventStore>> open_store();
  [[nodiscard]] engine::Status recover();
  void end(bool cleanly, std::optional<engine::Duration> away = std::nullopt);
  void start_again_after(engine::Duration away);
  [[nodiscard]] engine::Duration usual_absence();
  bool send(const net::Peer& peer, std::span<const std::byte> frame);
  void end_sessions_of(const net::Peer& peer);
  [[nodiscard]] daemon::CreditRules credit_rules();
  void observe(const net::Peer& peer, std::uint64_t session, const proto::FromDaemon& message);

  VirtualTime& time_;
  Faults& faults_;
  Network& network_;
  Promises& promises_;
  engine::Patience patience_;
  engine::Draw draw_;
  Disk disk_;
  Process process_;
  engine::Duration forget_after_;
  std::uint64_t starts_ = 0;
  engine::Instant began_;
  bool ending_ = false;
  bool disk_failed_ = false;  // In this life of it.
  net::PeerPort::OnFrame on_frame_;
  std::set<engine::Lsn> told_leases_;  // By this life of it.
  std::set<engine::Lsn> told_decisions_;
  std::map<net::Peer, std::uint64_t> welcomed_;  // Newest sessions.
  // In the order they are made; they go in the reverse one.
  std::unique_ptr<MountedDisk> mount_;
  std::unique_ptr<SimulatedStore> store_;
  std::unique_ptr<daemon::Runtime> runtime_;
  std::unique_ptr<daemon::WorkerSessions> sessions_;
  std::unique_ptr<daemon::LostWorkers> lost_workers_;
  net::Watch draining_;
};

}  // namespace hpsearch::simulation
