"""kill -9 of workers' agents at random moments: trainings run on under the same process ids, and nothing they said or
ended with is lost or told twice.

E2E_KILLS kills (20; `scripts/soak` 100), while the search goes on. Judged by the trainings' own ledger.
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
        self.worker = cluster.start_worker(SLOTS)
        searcher = {"name": "adaptive_asha", "max_length": 64, "max_trials": 100000, "divisor": 4, "mode": "standard",
                    "max_concurrent_trials": SLOTS}
        tree = harness.experiment(self.ledger_path, searcher, fake={"METRIC": "equal", "STEP_SECONDS": 0.05})
        experiment = cluster.submit(tree)

        def kill():
            self.worker.popen.kill()
            self.worker.popen.wait()

        def start():
            self.worker = cluster.start_worker(SLOTS)

        kills = self.disturb(rng, KILLS, lambda: cluster.state_of(experiment) == "COMPLETED", kill, start, longest_gap=2)
        self.assertEqual(kills, KILLS, "the search was over too soon")
        self.run_cli("set", experiment, "max_trials=1", "--server", cluster.server)  # No trial more than there are.
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        self.judge(cluster, experiment, SLOTS)

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
        # Each by another one: three equal failures would pause the search.
        killers = [signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE]
        for line, killer in zip(self.ledger.of("start"), killers, strict=True):
            os.kill(line["pid"], killer)
        time.sleep(0.5)
        cluster.start_worker(SLOTS)
        cluster.wait_until_over(experiment)
        for trial in cluster.trials(experiment):
            self.assertEqual((trial["state"], trial["attempts"]), ("FAILED", 1), trial)
        told = str(cluster.trials(experiment))
        for killer in killers:
            self.assertIn(f"signal {killer.value}", told)


if __name__ == "__main__":
    unittest.main()
