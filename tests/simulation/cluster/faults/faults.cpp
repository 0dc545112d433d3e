#include "simulation/cluster/faults/faults.hpp"

#include <cmath>
#include <cstdio>

namespace hpsearch::simulation {
namespace {

constexpr Rate per_hour = Rate::per_hour;
constexpr Rate share = Rate::share;

constexpr std::array<FaultKind, fault_count> kinds{{
    {Fault::daemon_crash, "daemon_crash", per_hour, 0.05, 12},
    {Fault::daemon_crash_before_commit, "daemon_crash_before_commit", share, 0.0005, 0.02},
    {Fault::daemon_crash_after_commit, "daemon_crash_after_commit", share, 0.0005, 0.02},
    {Fault::daemon_crash_while_speaking, "daemon_crash_while_speaking", share, 0.0001, 0.01},
    {Fault::daemon_upgrade, "daemon_upgrade", per_hour, 0.05, 4},
    {Fault::daemon_pause, "daemon_pause", per_hour, 0.05, 6},
    {Fault::daemon_suspend, "daemon_suspend", per_hour, 0.02, 1},
    {Fault::daemon_away_long, "daemon_away_long", share, 0.05, 0.5},
    {Fault::power_lost, "power_lost", share, 0.05, 1},
    {Fault::wall_clock_jump, "wall_clock_jump", share, 0.05, 0.9},
    {Fault::disk_error, "disk_error", share, 0.0005, 0.02},
    {Fault::crash_at_a_storage_call, "crash_at_a_storage_call", share, 0.0002, 0.01},
    {Fault::disk_full, "disk_full", per_hour, 0.02, 1},
    {Fault::disk_slow, "disk_slow", share, 0.001, 0.1},
    {Fault::connection_reset, "connection_reset", per_hour, 0.2, 30},
    {Fault::connection_lost_silently, "connection_lost_silently", per_hour, 0.2, 10},
    {Fault::partition_both_ways, "partition_both_ways", per_hour, 0.1, 6},
    {Fault::partition_to_daemon, "partition_to_daemon", per_hour, 0.1, 6},
    {Fault::partition_to_worker, "partition_to_worker", per_hour, 0.1, 6},
    {Fault::daemon_isolated, "daemon_isolated", per_hour, 0.05, 2},
    {Fault::frame_lost, "frame_lost", share, 0.001, 0.3},
    {Fault::frame_slow, "frame_slow", share, 0.001, 0.2},
    {Fault::frame_duplicated, "frame_duplicated", share, 0.001, 0.2},
    {Fault::frame_replayed, "frame_replayed", per_hour, 0.5, 60},
    {Fault::queue_full, "queue_full", share, 0.0002, 0.02},
    {Fault::hello_storm, "hello_storm", per_hour, 0.1, 4},
    {Fault::agent_crash, "agent_crash", per_hour, 0.05, 3},
    {Fault::agent_crash_at_work, "agent_crash_at_work", share, 0.001, 0.05},
    {Fault::agent_stop, "agent_stop", per_hour, 0.05, 2},
    {Fault::agent_upgrade, "agent_upgrade", per_hour, 0.05, 3},
    {Fault::agent_pause, "agent_pause", per_hour, 0.1, 6},
    {Fault::node_reboot, "node_reboot", per_hour, 0.02, 1},
    {Fault::node_suspend, "node_suspend", per_hour, 0.02, 1},
    {Fault::shim_crash, "shim_crash", per_hour, 0.02, 1},
    {Fault::spool_slow, "spool_slow", share, 0.001, 0.05},
    {Fault::spool_write_fails, "spool_write_fails", share, 0.001, 0.05},
    {Fault::random_bytes, "random_bytes", per_hour, 1, 60},
    {Fault::foreign_reports, "foreign_reports", per_hour, 1, 60},
    {Fault::forged_lease, "forged_lease", per_hour, 1, 60},
    {Fault::raised_epoch, "raised_epoch", per_hour, 1, 30},
    {Fault::stolen_name, "stolen_name", per_hour, 0.5, 10},
    {Fault::program_crash, "program_crash", share, 0.01, 0.3},
    {Fault::program_asks_to_run_again, "program_asks_to_run_again", share, 0.01, 0.1},
    {Fault::program_hang, "program_hang", share, 0.005, 0.05},
    {Fault::program_exits_without_metric, "program_exits_without_metric", share, 0.005, 0.1},
    {Fault::program_ignores_sigterm, "program_ignores_sigterm", share, 0.05, 0.5},
    {Fault::program_cannot_start, "program_cannot_start", share, 0.005, 0.05},
    {Fault::program_reports_nan, "program_reports_nan", share, 0.005, 0.1},
    {Fault::program_reports_out_of_order, "program_reports_out_of_order", share, 0.005, 0.1},
    {Fault::program_reports_twice, "program_reports_twice", share, 0.005, 0.1},
    {Fault::program_leaves_children, "program_leaves_children", share, 0.05, 0.5},
    {Fault::checkpoint_fails, "checkpoint_fails", share, 0.01, 0.3},
    {Fault::invalid_hyperparameters, "invalid_hyperparameters", share, 0.005, 0.1},
    {Fault::user_pause, "user_pause", per_hour, 0.05, 3},
    {Fault::user_cancel, "user_cancel", per_hour, 0.02, 0.5},
    {Fault::user_kill, "user_kill", per_hour, 0.02, 0.5},
    {Fault::user_ends_trial, "user_ends_trial", per_hour, 0.05, 3},
    {Fault::user_changes_limits, "user_changes_limits", per_hour, 0.05, 3},
    {Fault::user_quarantines_worker, "user_quarantines_worker", per_hour, 0.05, 2},
    {Fault::user_submits_twice, "user_submits_twice", share, 0.1, 0.9},
    {Fault::program_survives_sigkill, "program_survives_sigkill", share, 0.05, 0.9},
    {Fault::foreign_store, "foreign_store", per_hour, 0.05, 2},
    {Fault::worker_disk_full, "worker_disk_full", per_hour, 0.05, 2},
    {Fault::wall_clock_set, "wall_clock_set", per_hour, 0.1, 10},
    {Fault::frame_of_an_earlier_daemon, "frame_of_an_earlier_daemon", per_hour, 0.5, 60},
    {Fault::shims_die_at_once, "shims_die_at_once", per_hour, 0.05, 2},
    {Fault::devices_in_trouble, "devices_in_trouble", per_hour, 0.05, 4},
    {Fault::second_name, "second_name", per_hour, 0.5, 10},
    {Fault::orphans_are_ended, "orphans_are_ended", share, 0.05, 0.9},
    {Fault::orphans_pause_at_their_rung, "orphans_pause_at_their_rung", share, 0.05, 0.9},
    {Fault::daemon_under_load, "daemon_under_load", share, 0.05, 0.9},
    {Fault::frame_overtaken, "frame_overtaken", share, 0.001, 0.1},
    {Fault::lying_worker, "lying_worker", per_hour, 2, 240},
    {Fault::configuration_exits_at_once, "configuration_exits_at_once", share, 0.05, 0.6},
    {Fault::configuration_kills_its_shim, "configuration_kills_its_shim", share, 0.02, 0.3},
    {Fault::eviction, "eviction", per_hour, 1, 40},
    {Fault::worker_replaced, "worker_replaced", per_hour, 0.05, 2},
    {Fault::programs_fail_on_a_worker, "programs_fail_on_a_worker", per_hour, 0.05, 2},
    {Fault::worker_disk_full_at_a_stop, "worker_disk_full_at_a_stop", per_hour, 0.05, 2},
}};

std::string short_number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

}  // namespace

std::span<const FaultKind, fault_count> fault_kinds() noexcept {
  return kinds;
}

Faults::Faults(std::uint64_t seed) : draw_(seed, engine::TrialNumber(0), "faults") {
  engine::Draw rates(seed, engine::TrialNumber(0), "rates");
  for (const FaultKind& kind : kinds) {
    const bool on = rates.below(2) == 0;
    const double drawn = kind.least * std::pow(kind.most / kind.least, rates.unit());
    if (on) {
      // As it is printed, so that a run can be had again from what was printed.
      rates_[static_cast<std::size_t>(kind.fault)] = std::stod(short_number(drawn));
    }
  }
}

engine::Status Faults::set(std::string_view name, double rate) {
  for (const FaultKind& kind : kinds) {
    if (kind.name == name) {
      if (!(rate >= 0) || (kind.rate == share && rate > 1)) {
        return engine::Error{engine::Errc::bad_request,
                             std::string(name) + " is " + short_number(rate) + "; it must be " +
                                 (kind.rate == share ? "a share of 0 to 1" : "at least 0 per hour")};
      }
      rates_[static_cast<std::size_t>(kind.fault)] = rate;
      return engine::Done{};
    }
  }
  return engine::Error{engine::Errc::bad_request,
                       "there is no option " + std::string(name) + "; --options lists them"};
}

bool Faults::strikes(Fault fault) {
  const double share_of = rate(fault);
  if (share_of <= 0 || draw_.unit() >= share_of) {
    return false;
  }
  struck(fault);
  return true;
}

engine::Duration Faults::next(Fault fault) {
  const double hours = -std::log(1 - draw_.unit()) / rate(fault);
  return engine::Duration::micros(static_cast<std::int64_t>(std::min(hours, 1e6) * 3.6e9) + 1);
}

std::string Faults::describe() const {
  std::string text;
  for (const FaultKind& kind : kinds) {
    const double value = rates_[static_cast<std::size_t>(kind.fault)];
    if (value > 0) {
      text.append(text.empty() ? "" : " ").append(kind.name).append("=").append(short_number(value));
    }
  }
  return text;
}

}  // namespace hpsearch::simulation
