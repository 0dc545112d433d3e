"""kill -9 of the daemon at random moments: the same search finishes, nothing lost, nothing doubled.

Judged by the trainings' own ledger, not by what daemon and worker say of themselves.
"""

import time
import unittest

import harness

KILLS = 24
SLOTS = 4
AT_ONCE = 3


class KillDaemon(harness.Case):
    def test_search_survives_kills_at_random_moments(self):
        rng = harness.seeded()
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(SLOTS)
        searcher = {"name": "adaptive_asha", "max_length": 64, "max_trials": 80, "divisor": 4, "mode": "standard",
                    "max_concurrent_trials": AT_ONCE}
        tree = harness.experiment(self.ledger_path, searcher, fake={"METRIC": "equal", "STEP_SECONDS": 0.1})
        experiment = cluster.submit(tree)

        kills = 0
        while kills < KILLS:
            # From "hardly up" to "in the thick of it".
            time.sleep(rng.choice([rng.uniform(0, 0.05), rng.uniform(0, 0.5), rng.uniform(0.3, 1.5)]))
            if cluster.state_of(experiment) == "COMPLETED":
                break
            cluster.kill_daemon()
            kills += 1
            time.sleep(rng.choice([0, rng.uniform(0, 0.3)]))
            cluster.start_daemon()
        self.assertGreaterEqual(kills, 20, "the search was over too soon to be disturbed often enough")
        cluster.wait_until_up()
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")

        trials = cluster.trials(experiment)
        ledger = self.ledger
        self.assertEqual(len(trials), 80)
        self.assertEqual({trial["state"] for trial in trials}, {"COMPLETED", "STOPPED"})

        starts = harness.count((line["trial"], line["attempt"]) for line in ledger.of("start"))
        self.assertEqual(set(starts.values()), {1}, "an attempt was started twice")
        self.assertEqual(sorted(starts), sorted((trial["trial"], attempt) for trial in trials
                                                for attempt in range(1, trial["attempts"] + 1)),
                         "the daemon knows other attempts than were run")
        self.assertEqual({line["why"] for line in ledger.of("end")}, {"pause", "stop"}, "a training was disturbed")
        self.assertEqual(len(ledger.of("end")), len(starts))

        steps = harness.count((line["trial"], line["step"]) for line in ledger.of("step"))
        self.assertEqual(set(steps.values()), {1}, "a step was trained twice")
        final = ledger.final_lengths()
        self.assertEqual(final, {trial["trial"]: trial["reached"] for trial in trials})
        self.assertLessEqual(ledger.most_at_once(), AT_ONCE)

        preview = self.run_cli("preview", self.write_experiment(tree), "--output", "json")
        self.assertEqual({str(length): trials for length, trials in harness.count(final.values()).items()},
                         {str(length): trials for length, trials in preview["final_counts"].items()})

        for trial in trials:
            number = trial["trial"]
            metrics = cluster.get(f"/api/v1/experiments/{experiment}/trials/{number}/metrics")["metrics"]
            self.assertEqual([report["step"] for report in metrics], list(range(1, final[number] + 1)),
                             f"reports of trial {number}")


if __name__ == "__main__":
    unittest.main()
