#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hpsearch::simulation {

/// Rare situations. A long run in which one never came up proves nothing about it, and says so.
enum class Probe : std::uint8_t {
  attempt_taken_over_by_the_next_agent,
  answered_by_the_shim,
  torn_write_of_a_spool,
  lease_without_a_program,
  program_lost_with_its_shim,
  recovered_an_unanswered_group,
  recovered_nothing_of_a_group,
  recovered_a_group_in_doubt,
  lost_a_group_in_doubt,
  reports_of_a_superseded_attempt,
  attempt_put_on_hold,
  attempt_adopted,
  decision_told_again,
  lease_told_again,
  reports_asked_for_again,
  worker_back_after_it_was_lost,
  trial_lost_and_run_again,
  submission_repeated_after_a_crash,
  session_superseded,
  silence_while_the_daemon_stood_still,
  killed_after_its_grace,
  stopped_worker_said_goodbye,
  ended_for_saying_nothing,
  slots_quarantined,
  slots_of_the_unkillable_given_back,
  attempt_on_several_workers,
  member_lost,
  refused_by_another_store,
  welcomed_by_another_store,
  start_failed_by_the_workers_disk,
  trial_put_off,
  worker_rests,
  slot_withdrawn,
  slot_well_again,
  adopted_on_a_slot_in_trouble,
  two_names_on_one_connection,
  orphan_ended,
  paused_at_its_rung_by_its_worker,
  granted_less_credit,
  granted_more_credit_again,
  other_reports_under_used_numbers,
  programs_ran_on_for_a_day_without_a_daemon,
  budget_of_time_over_several_starts,
  search_paused_itself,
  attempt_evicted,
  worker_forgotten,
  worker_quarantined_by_itself,
  stopped_with_untold_exits,
};
inline constexpr std::size_t probe_count = static_cast<std::size_t>(Probe::stopped_with_untold_exits) + 1;

/// How often each was reached by the runs of this thread.
[[nodiscard]] std::array<std::uint64_t, probe_count>& probe_counts() noexcept;
[[nodiscard]] std::string_view name_of(Probe probe) noexcept;

inline void reached(Probe probe) noexcept {
  ++probe_counts()[static_cast<std::size_t>(probe)];
}

}  // namespace hpsearch::simulation
