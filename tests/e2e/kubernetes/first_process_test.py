"""A worker that is the first process of a container: it has orphans of others, and gets each signal."""

import os
import pathlib
import signal
import subprocess
import unittest

import harness

UNSHARE = ["/usr/bin/unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc"]


def children_of(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@unittest.skipIf(subprocess.run([*UNSHARE, "true"], capture_output=True).returncode != 0, "namespaces of processes are refused here")
class FirstProcess(harness.Case):
    def test_reaps_orphans_and_hands_signals_on(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        orphan = ["/bin/sh", "-c", '(sleep 0.2 &); exec "$@"', "sh"]
        process = cluster.start_worker(1, launcher=[*UNSHARE, *orphan])
        harness.wait_for(lambda: cluster.get("/api/v1/workers")["workers"], "the worker to connect", process.said)
        first = children_of(process.popen.pid)[0]
        harness.wait_for(lambda: len(children_of(first)) == 1, "the orphan to be reaped", lambda: str(children_of(first)))
        self.assertNotEqual(state_of(children_of(first)[0]), "Z", "the worker runs")
        experiment = cluster.submit(harness.experiment(self.ledger_path, {"name": "random", "max_trials": 1, "max_length": {"epochs": 1}}))
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        os.kill(int(first), signal.SIGTERM)
        self.assertEqual(process.popen.wait(60), 0, process.said())
        self.assertIn("asked to stop", process.said())


if __name__ == "__main__":
    unittest.main()
