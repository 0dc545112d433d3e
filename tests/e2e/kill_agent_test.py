"""kill -9 of workers' agents at random moments: trainings run on under the same process ids, and nothing they said or
ended with is lost or told twice.

Judged by the trainings' own ledger.
"""

import os
import signal
import time
import unittest

import harness

KILLS = int(os.environ.get("E2E_KILLS", "20"))
SLOTS = 4


class KillAgent(harness.Case):
    def test_search_survives_agents_that_die_at_random_moments(self):
        rng = harness.seeded()
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        worker = cluster.start_worker(SLOTS)
        searcher = {"name": "adaptive_asha", "max_length": 64, "max_trials": 80, "divisor": 4, "mode": "standard",
                    "max_concurrent_trials": SLOTS}
        tree = harness.experiment(self.ledger_path, searcher, fake={"METRIC": "equal", "STEP_SECONDS": 0.05})
        experiment = cluster.submit(tree)

        kills = 0
        while kills < KILLS:
            # From "hardly up" to "in the thick of it".
            time.sleep(rng.choice([rng.uniform(0, 0.1), rng.uniform(0, 0.5), rng.uniform(0.3, 1.5)]))
            if cluster.state_of(experiment) == "COMPLETED":
                break
            worker.popen.kill()
            worker.popen.wait()
            kills += 1
            time.sleep(rng.choice([0, rng.uniform(0, 0.3), rng.uniform(0, 2)]))
            worker = cluster.start_worker(SLOTS)
        self.assertGreaterEqual(kills, min(KILLS, 10), "the search was over too soon to be disturbed often enough")
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        self.judge(cluster, experiment)

    def test_daemon_away_changes_no_training(self):
        for away in [float(text) for text in os.environ.get("E2E_AWAY_SECONDS", "0 1 20").split()]:
            with self.subTest(away=away):
                self.ledger_path = self.folder / f"ledger-{away}"
                cluster = harness.Cluster(self)
                cluster.state = self.folder / f"daemon-{away}"
                cluster.start_daemon()
                cluster.wait_until_up()
                worker = cluster.start_worker(SLOTS, f"worker-{away}")
                searcher = {"name": "random", "max_length": 40, "max_trials": 8, "max_concurrent_trials": SLOTS}
                tree = harness.experiment(self.ledger_path, searcher, fake={"METRIC": "equal", "STEP_SECONDS": 0.1})
                experiment = cluster.submit(tree)
                harness.wait_for(lambda: len(self.ledger.of("step")) > 3 * SLOTS, "trainings to run")
                cluster.kill_daemon()
                # Both at once, too: the agent alone knows what was said meanwhile.
                worker.popen.kill()
                worker.popen.wait()
                worker = cluster.start_worker(SLOTS, f"worker-{away}")
                time.sleep(away)
                cluster.start_daemon()
                self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
                self.judge(cluster, experiment)
                worker.end()
                cluster.daemon.end()

    def test_exit_codes_of_the_time_without_agent_arrive(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        worker = cluster.start_worker(SLOTS)
        searcher = {"name": "random", "max_length": 1000, "max_trials": SLOTS, "max_concurrent_trials": SLOTS}
        tree = harness.experiment(self.ledger_path, searcher, fake={"STEP_SECONDS": 0.05}, max_restarts=0)
        experiment = cluster.submit(tree)
        harness.wait_for(lambda: len(self.ledger.of("start")) == SLOTS, "trainings to start")
        time.sleep(0.5)
        worker.popen.kill()
        worker.popen.wait()
        for line in self.ledger.of("start"):
            os.kill(line["pid"], signal.SIGABRT)
        time.sleep(0.5)
        cluster.start_worker(SLOTS)
        cluster.wait_until_over(experiment)
        for trial in cluster.trials(experiment):
            self.assertEqual((trial["state"], trial["attempts"]), ("FAILED", 1), trial)
            self.assertIn("signal 6", str(trial), trial)

    def judge(self, cluster, experiment):
        trials = cluster.trials(experiment)
        ledger = self.ledger
        starts = harness.count((line["trial"], line["attempt"]) for line in ledger.of("start"))
        self.assertEqual(set(starts.values()), {1}, "an attempt was started twice")
        # An agent may die between lease and start; the daemon then knows an attempt that never was.
        self.assertLessEqual(set(starts), {(trial["trial"], attempt) for trial in trials
                                           for attempt in range(1, trial["attempts"] + 1)})
        self.assertLessEqual({line["why"] for line in ledger.of("end")}, {"pause", "stop"}, "a training was disturbed")
        self.assertEqual(len(ledger.of("end")), len(starts))
        steps = harness.count((line["trial"], line["step"]) for line in ledger.of("step"))
        self.assertEqual(set(steps.values()), {1}, "a step was trained twice: a process was replaced")
        final = ledger.final_lengths()
        self.assertEqual(final, {trial["trial"]: trial["reached"] for trial in trials})
        self.assertLessEqual(ledger.most_at_once(), SLOTS)
        for trial in trials:
            number = trial["trial"]
            metrics = cluster.get(f"/api/v1/experiments/{experiment}/trials/{number}/metrics")["metrics"]
            self.assertEqual([report["step"] for report in metrics], list(range(1, final[number] + 1)),
                             f"reports of trial {number}")


if __name__ == "__main__":
    unittest.main()
