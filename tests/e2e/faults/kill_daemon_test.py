"""kill -9 of the daemon at random moments: the same search finishes, nothing lost, nothing doubled.

E2E_KILLS kills (24; `scripts/soak` 100). Judged by the trainings' own ledger, not by what daemon and worker say of themselves.
"""

import os
import unittest

import harness

KILLS = int(os.environ.get("E2E_KILLS", "24"))
TRIALS = max(80, 3 * KILLS)  # They take three times as long as the kills.
SLOTS = 4
AT_ONCE = 3


class KillDaemon(harness.Case):
    def test_search_survives_kills_at_random_moments(self):
        rng = harness.seeded()
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(SLOTS)
        searcher = {"name": "adaptive_asha", "max_length": 64, "max_trials": TRIALS, "divisor": 4, "mode": "standard",
                    "max_concurrent_trials": AT_ONCE}
        tree = harness.experiment(self.ledger_path, searcher, fake={"METRIC": "equal", "STEP_SECONDS": 0.1})
        experiment = cluster.submit(tree)

        kills = self.disturb(rng, KILLS, lambda: cluster.state_of(experiment) == "COMPLETED", cluster.kill_daemon,
                             cluster.start_daemon, longest_gap=0.3)
        self.assertEqual(kills, KILLS, "the search was over too soon to be disturbed often enough")
        cluster.wait_until_up()
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")

        trials = cluster.trials(experiment)
        ledger = self.ledger
        self.assertEqual(len(trials), TRIALS)
        self.assertEqual({trial["state"] for trial in trials}, {"COMPLETED", "STOPPED"})

        starts = {(line["trial"], line["attempt"]) for line in ledger.of("start")}
        self.assertEqual(starts, {(trial["trial"], attempt) for trial in trials for attempt in range(1, trial["attempts"] + 1)},
                         "the daemon knows other attempts than were run")
        self.judge(cluster, experiment, AT_ONCE)

        final = ledger.final_lengths()
        preview = self.run_cli("preview", self.write_experiment(tree), "--output", "json")
        self.assertEqual({str(length): trials for length, trials in harness.count(final.values()).items()},
                         {str(length): trials for length, trials in preview["final_counts"].items()})


if __name__ == "__main__":
    unittest.main()
