"""Experiments are removed some time after their end: commands name the retention, starred ones stay, and the store stays
sound over a restart."""

import signal
import unittest

import harness


class Retention(harness.Case):
    def run_search(self, cluster):
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 2, "max_trials": 2})
        experiment = cluster.submit(tree)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        return experiment

    def removed(self, cluster, experiment):
        return cluster.call("GET", f"/api/v1/experiments/{experiment}")[0] == 404

    def test_ended_experiments_are_removed_and_starred_ones_stay(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(2)
        first, starred = self.run_search(cluster), self.run_search(cluster)
        self.run_cli("annotate", starred, "--star", "--server", cluster.server)
        cluster.daemon.end(signal.SIGTERM)
        cluster.start_daemon("--keep-experiments", "2s", "--stopped-curves", "thin:10", "--keep-logs", "1GiB")
        cluster.wait_until_up()
        harness.wait_for(lambda: self.removed(cluster, first), "the first experiment to be removed", cluster.daemon.said)
        sentence = rf"experiment {first} was removed on \d{{4}}-\d\d-\d\d by the retention of the daemon, which keeps experiments " \
                   "for 2 seconds after their end"
        for command in (("show", first), ("explain", first, 1), ("best", first), ("trials", first)):
            self.assertRegex(self.run_cli(*command, "--server", cluster.server, expect=3).stderr, sentence)
        self.assertEqual([one["id"] for one in cluster.experiments()], [starred])
        self.run_cli("best", starred, "--server", cluster.server)
        harness.wait_for(lambda: not (cluster.state / "kept" / str(first)).exists(), "its logs to be removed")
        self.assertIn(f'experiment {first} ', cluster.daemon.said())
        cluster.daemon.end(signal.SIGTERM)
        self.assertIn("sound", self.run_cli("store", "verify", cluster.state).stdout)
        cluster.start_daemon()
        cluster.wait_until_up()
        self.assertRegex(self.run_cli("show", first, "--server", cluster.server, expect=3).stderr, sentence)
        self.assertEqual(cluster.submit(harness.experiment(self.ledger_path, {"name": "random", "max_length": 1,
                                                                              "max_trials": 1})), starred + 1)


if __name__ == "__main__":
    unittest.main()
