#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::simulation {

/// Everything that can go wrong in a simulated cluster.
enum class Fault : std::uint8_t {
  // The daemon and its machine.
  daemon_crash,
  daemon_crash_before_commit,
  daemon_crash_after_commit,
  daemon_crash_while_speaking,
  daemon_upgrade,
  daemon_pause,
  daemon_suspend,
  daemon_away_long,
  power_lost,
  wall_clock_jump,
  // Its disk.
  disk_error,
  crash_at_a_storage_call,
  disk_full,
  disk_slow,
  // The network.
  connection_reset,
  connection_lost_silently,
  partition_both_ways,
  partition_to_daemon,
  partition_to_worker,
  daemon_isolated,
  frame_lost,
  frame_slow,
  frame_duplicated,
  frame_replayed,
  queue_full,
  hello_storm,
  // Workers.
  agent_crash,
  agent_crash_at_work,
  agent_stop,
  agent_upgrade,
  agent_pause,
  node_reboot,
  node_suspend,
  shim_crash,
  spool_slow,
  spool_write_fails,
  // Strangers at the workers' door.
  random_bytes,
  foreign_reports,
  forged_lease,
  raised_epoch,
  stolen_name,
  // Trainings.
  program_crash,
  program_asks_to_run_again,
  program_hang,
  program_exits_without_metric,
  program_ignores_sigterm,
  program_cannot_start,
  program_reports_nan,
  program_reports_out_of_order,
  program_reports_twice,
  program_leaves_children,
  checkpoint_fails,
  invalid_hyperparameters,
  // People.
  user_pause,
  user_cancel,
  user_kill,
  user_ends_trial,
  user_changes_limits,
  user_quarantines_worker,
  user_submits_twice,
  // What came later stands last: each seed keeps the rates it had.
  program_survives_sigkill,
  foreign_store,
  worker_disk_full,
  wall_clock_set,
  frame_of_an_earlier_daemon,
  shims_die_at_once,
  devices_in_trouble,
  second_name,
  orphans_are_ended,
  orphans_pause_at_their_rung,
  daemon_under_load,
  frame_overtaken,
  lying_worker,
  configuration_exits_at_once,
  configuration_kills_its_shim,
  eviction,
  worker_replaced,
  programs_fail_on_a_worker,
  worker_disk_full_at_a_stop,
};
inline constexpr std::size_t fault_count = static_cast<std::size_t>(Fault::worker_disk_full_at_a_stop) + 1;

/// How a fault's rate is to be read.
enum class Rate : std::uint8_t {
  per_hour,  ///< It strikes by itself, so often on average.
  share,     ///< Of the opportunities.
};

struct FaultKind {
  Fault fault;
  std::string_view name;
  Rate rate;
  double least;  ///< Rates are drawn between these, evenly in their logarithm.
  double most;
};
[[nodiscard]] std::span<const FaultKind, fault_count> fault_kinds() noexcept;

/// Which faults strike how often in one run, and how often they did.
class Faults {
 public:
  /// Each kind is off in about half of all seeds, so that runs differ in what they are about.
  explicit Faults(std::uint64_t seed);

  /// bad_request: no such fault, or not a rate.
  engine::Status set(std::string_view name, double rate);
  void calm_all() noexcept { calm_ = true; }  ///< From now on nothing goes wrong.

  [[nodiscard]] double rate(Fault fault) const noexcept {
    return calm_ ? 0 : rates_[static_cast<std::size_t>(fault)];
  }
  /// As it was before everything was healed.
  [[nodiscard]] double drawn_rate(Fault fault) const noexcept {
    return rates_[static_cast<std::size_t>(fault)];
  }
  /// Whether the fault strikes at this opportunity; counted when it does.
  [[nodiscard]] bool strikes(Fault fault);
  /// How long until it strikes by itself; its rate must not be 0.
  [[nodiscard]] engine::Duration next(Fault fault);
  void struck(Fault fault) noexcept { ++struck_[static_cast<std::size_t>(fault)]; }

  [[nodiscard]] const std::array<std::uint64_t, fault_count>& counts() const noexcept { return struck_; }
  [[nodiscard]] std::string describe() const;  ///< "agent_crash=0.31 disk_slow=0.002 …", those that are on.

 private:
  std::array<double, fault_count> rates_{};
  std::array<std::uint64_t, fault_count> struck_{};
  engine::Draw draw_;
  bool calm_ = false;
};

}  // namespace hpsearch::simulation
