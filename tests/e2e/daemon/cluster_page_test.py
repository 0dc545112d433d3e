"""The steps of docs/operating/cluster.md on one machine: a daemon with --checkpoint-root, keys, a worker over TCP that tries the
directory when it joins, and a search whose checkpoints are there. What is wrong with the directory is said by whoever sees it."""

import pathlib
import shutil
import unittest

import harness


class ClusterPage(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.root = self.folder / "shared"

    def begin(self):
        self.cluster.start_daemon("--lost-after", "2", "--checkpoint-root", self.root, workers_open=False)
        self.cluster.wait_until_up()

    def start_worker(self, name):
        shown = harness.subprocess.run([str(harness.BIN / "hpsearch-worker"), "--state-dir", str(self.folder / name), "--show-key"],
                                       capture_output=True, text=True, check=True, timeout=60)
        self.run_cli("keys", "allow", self.cluster.state, name, shown.stdout.strip())
        key = self.folder / "server.key"
        key.write_text(self.run_cli("keys", "list", self.cluster.state, "--output", "json")["server_key"] + "\n")
        worker = self.cluster.start_worker(1, name, "--server-key-file", key)
        harness.wait_for(lambda: self.row_of(name) is not None, f"worker {name} to join", worker.said)
        return worker

    def row_of(self, name):
        """Its line of `hpsearch workers`, as words."""
        rows = [line.split() for line in self.run_cli("workers", "--server", self.cluster.server).stdout.splitlines()]
        return next((row for row in rows if row[-1:] == [name]), None)

    def remarks(self):
        return self.run_cli("workers", "--server", self.cluster.server).stdout

    def test_a_search_runs_with_its_checkpoints_in_the_shared_directory(self):
        self.root.mkdir()
        self.begin()
        worker = self.start_worker("node-1")
        experiment = self.cluster.submit(harness.experiment(
            self.ledger_path, {"name": "async_halving", "max_trials": 4, "num_rungs": 2, "divisor": 2, "max_length": 4}))
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        paths = [pathlib.Path(found["path"]) for trial in self.cluster.trials(experiment)
                 for found in self.cluster.get(f"/api/v1/experiments/{experiment}/trials/{trial['trial']}/checkpoints")["checkpoints"]]
        self.assertTrue(paths)
        self.assertEqual([path for path in paths if self.root not in path.parents], [])
        self.assertNotIn("cannot store checkpoints", self.remarks())
        host, version = (self.cluster.get("/api/v1/workers")["workers"][0][key] for key in ("host", "version"))
        self.assertIn(host, self.row_of("node-1"))
        # The directory is another one for whoever joins now.
        own, = self.root.iterdir()
        shutil.move(own, self.folder / "elsewhere")
        other = self.start_worker("node-2")
        harness.wait_for(lambda: "worker node-2 cannot store checkpoints" in self.remarks(), "node-2 to be unable", self.remarks)
        self.assertIn("is not there", self.remarks())
        self.assertIn("cannot be stored", other.said())
        self.assertNotIn("worker node-1 cannot", self.remarks())
        # A lost worker's line still names its machine.
        worker.popen.kill()
        worker.popen.wait()
        harness.wait_for(lambda: "lost" in self.row_of("node-1"), "node-1 to be lost", self.remarks)
        self.assertIn(host, self.row_of("node-1"))
        self.assertIn(version, self.row_of("node-1"))

    def test_a_daemon_without_the_directory_does_not_start(self):
        self.root.write_text("a file")
        self.cluster.start_daemon("--checkpoint-root", self.root)
        self.assertEqual(self.cluster.daemon.popen.wait(harness.PATIENCE), 2, self.cluster.daemon.said())
        self.assertIn("absolute path of a directory that exists on this machine and on all workers", self.cluster.daemon.said())


if __name__ == "__main__":
    unittest.main()
