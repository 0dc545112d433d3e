#include "simulation/cluster/faults/probes.hpp"

namespace hpsearch::simulation {

std::array<std::uint64_t, probe_count>& probe_counts() noexcept {
  static thread_local std::array<std::uint64_t, probe_count> counts{};
  return counts;
}

std::string_view name_of(Probe probe) noexcept {
  switch (probe) {
    case Probe::attempt_taken_over_by_the_next_agent:
      return "attempt_taken_over_by_the_next_agent";
    case Probe::answered_by_the_shim:
      return "answered_by_the_shim";
    case Probe::torn_write_of_a_spool:
      return "torn_write_of_a_spool";
    case Probe::lease_without_a_program:
      return "lease_without_a_program";
    case Probe::program_lost_with_its_shim:
      return "program_lost_with_its_shim";
    case Probe::recovered_an_unanswered_group:
      return "recovered_an_unanswered_group";
    case Probe::recovered_nothing_of_a_group:
      return "recovered_nothing_of_a_group";
    case Probe::recovered_a_group_in_doubt:
      return "recovered_a_group_in_doubt";
    case Probe::lost_a_group_in_doubt:
      return "lost_a_group_in_doubt";
    case Probe::reports_of_a_superseded_attempt:
      return "reports_of_a_superseded_attempt";
    case Probe::attempt_adopted:
      return "attempt_adopted";
    case Probe::attempt_put_on_hold:
      return "attempt_put_on_hold";
    case Probe::decision_told_again:
      return "decision_told_again";
    case Probe::lease_told_again:
      return "lease_told_again";
    case Probe::reports_asked_for_again:
      return "reports_asked_for_again";
    case Probe::worker_back_after_it_was_lost:
      return "worker_back_after_it_was_lost";
    case Probe::trial_lost_and_run_again:
      return "trial_lost_and_run_again";
    case Probe::submission_repeated_after_a_crash:
      return "submission_repeated_after_a_crash";
    case Probe::session_superseded:
      return "session_superseded";
    case Probe::silence_while_the_daemon_stood_still:
      return "silence_while_the_daemon_stood_still";
    case Probe::killed_after_its_grace:
      return "killed_after_its_grace";
    case Probe::stopped_worker_said_goodbye:
      return "stopped_worker_said_goodbye";
    case Probe::ended_for_saying_nothing:
      return "ended_for_saying_nothing";
    case Probe::slots_quarantined:
      return "slots_quarantined";
    case Probe::slots_of_the_unkillable_given_back:
      return "slots_of_the_unkillable_given_back";
    case Probe::attempt_on_several_workers:
      return "attempt_on_several_workers";
    case Probe::member_lost:
      return "member_lost";
    case Probe::refused_by_another_store:
      return "refused_by_another_store";
    case Probe::welcomed_by_another_store:
      return "welcomed_by_another_store";
    case Probe::start_failed_by_the_workers_disk:
      return "start_failed_by_the_workers_disk";
    case Probe::trial_put_off:
      return "trial_put_off";
    case Probe::worker_rests:
      return "worker_rests";
    case Probe::slot_withdrawn:
      return "slot_withdrawn";
    case Probe::slot_well_again:
      return "slot_well_again";
    case Probe::adopted_on_a_slot_in_trouble:
      return "adopted_on_a_slot_in_trouble";
    case Probe::two_names_on_one_connection:
      return "two_names_on_one_connection";
    case Probe::orphan_ended:
      return "orphan_ended";
    case Probe::paused_at_its_rung_by_its_worker:
      return "paused_at_its_rung_by_its_worker";
    case Probe::granted_less_credit:
      return "granted_less_credit";
    case Probe::granted_more_credit_again:
      return "granted_more_credit_again";
    case Probe::other_reports_under_used_numbers:
      return "other_reports_under_used_numbers";
    case Probe::programs_ran_on_for_a_day_without_a_daemon:
      return "programs_ran_on_for_a_day_without_a_daemon";
    case Probe::budget_of_time_over_several_starts:
      return "budget_of_time_over_several_starts";
    case Probe::attempt_evicted:
      return "attempt_evicted";
    case Probe::worker_forgotten:
      return "worker_forgotten";
    case Probe::worker_quarantined_by_itself:
      return "worker_quarantined_by_itself";
    case Probe::stopped_with_untold_exits:
      return "stopped_with_untold_exits";
    case Probe::search_paused_itself:
      return "search_paused_itself";
  }
  return "";
}

}  // namespace hpsearch::simulation
