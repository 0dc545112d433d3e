"""A training that hangs: with progress_timeout it is ended and runs again, and until then its silence is shown."""

import unittest

import harness


class HungTraining(harness.Case):
    def test_it_is_ended_and_runs_again(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(1)
        searcher = {"name": "random", "max_length": 4, "max_trials": 1, "max_concurrent_trials": 1}
        experiment = cluster.submit(harness.experiment(self.ledger_path, searcher, fake={"MODE": "hangs"},
                                                       progress_timeout=2, max_restarts=1))
        harness.wait_for(lambda: any(trial["heard_step"] == 1 for trial in cluster.trials(experiment)),
                         "a beat to tell how far the program is")
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        (trial,) = cluster.trials(experiment)
        self.assertEqual((trial["state"], trial["attempts"], trial["restarts"]), ("COMPLETED", 2, 1))
        self.assertIn("no report from it for 2 s (progress_timeout)", trial["last_failure"])
        self.assertEqual([line["attempt"] for line in self.ledger.of("start")], [1, 2])


if __name__ == "__main__":
    unittest.main()
