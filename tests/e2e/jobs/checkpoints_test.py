"""Checkpoints of a real search: what outlives it, what is listed, fetched and deleted."""

import json
import pathlib
import unittest

import harness

TRAINING = """
import json, sys
sys.path.insert(0, {package!r})
import hpsearch

epoch = 0
if hpsearch.latest_checkpoint():
    epoch = json.loads((hpsearch.latest_checkpoint() / "state.json").read_text())["epoch"]
directive = hpsearch.CONTINUE
while directive is hpsearch.CONTINUE:
    if epoch < hpsearch.length():
        epoch += 1
    (hpsearch.checkpoint_dir() / "state.json").write_text(json.dumps({{"epoch": epoch}}))
    hpsearch.checkpoint(step=epoch)
    directive = hpsearch.report(epoch, loss=abs(epoch - 2) + hpsearch.params()["x"])
"""


class Checkpoints(harness.Case):
    def search(self, searcher, **storage):
        """Runs it to its end; its state directory."""
        (self.folder / "train.py").write_text(TRAINING.format(package=str(harness.ROOT / "clients" / "python")))
        tree = {"name": "kept", "entrypoint": ["/usr/bin/python3", "-B", "train.py"],
                "hyperparameters": {"x": {"type": "double", "minval": 0, "maxval": 0.1}},
                "searcher": {"metric": "loss", "max_length": {"epochs": 4}} | searcher, "checkpoint_storage": storage}
        self.run_cli("run", self.write_experiment(tree), "--slots", 2)
        return self.folder / ".hpsearch" / "experiment"

    def listed(self, state, *more):
        return self.run_cli("checkpoints", "list", *more, "--state-dir", state, "--output", "json")["checkpoints"]

    def on_disk(self, state):
        return {str(path.parent) for path in pathlib.Path(state).rglob("manifest.json") if "deleted" not in str(path)}

    def wait_until_only(self, state, listed):
        """Deleting is done behind the search's end; a reading command's own daemon goes on with it."""
        wanted = {checkpoint["path"] for checkpoint in listed}
        harness.wait_for(lambda: self.listed(state) and self.on_disk(state) == wanted, "the others to be deleted",
                         lambda: f"{self.on_disk(state)}\n{wanted}")

    def test_the_best_and_the_latest_of_each_trial_outlive_the_search(self):
        state = self.search({"name": "random", "max_trials": 2})
        listed = self.listed(state)
        self.assertEqual([(checkpoint["trial"], checkpoint["step"], checkpoint["best"], checkpoint["latest"])
                          for checkpoint in listed],
                         [(0, 2, True, False), (0, 4, False, True), (1, 2, True, False), (1, 4, False, True)])
        self.wait_until_only(state, listed)

        target = self.folder / "fetched"
        self.run_cli("checkpoints", "download", 1, "--to", target, "--state-dir", state)
        self.assertEqual(json.loads((target / "state.json").read_text()), {"epoch": 2})
        again = self.run_cli("checkpoints", "download", 1, "--to", target, "--state-dir", state, expect=4)
        self.assertIn("already exists", again.stderr)
        pathlib.Path(listed[3]["path"], "state.json").write_text('{"epoch": 9}')
        damaged = self.run_cli("checkpoints", "download", 1, "--latest", "--to", self.folder / "bad", "--state-dir",
                               state, expect=1)
        self.assertIn("state.json is damaged", damaged.stderr)
        self.assertFalse((self.folder / "bad").exists())
        self.assertEqual(len(self.listed(state, 1, 1)), 2)

    def test_only_the_best_of_the_experiment(self):
        state = self.search({"name": "random", "max_trials": 3}, save_experiment_best=1, save_trial_best=0,
                            save_trial_latest=0)
        listed = self.listed(state)
        self.assertEqual([checkpoint["step"] for checkpoint in listed], [2])
        self.assertEqual(listed[0]["trial"], self.run_cli("best", "--state-dir", state, "--output", "json")["trial"])
        self.wait_until_only(state, listed)

    def test_two_stores_share_one_place(self):
        shared = self.folder / "shared"
        state = self.search({"name": "random", "max_trials": 1}, type="shared_fs", host_path=str(shared))
        wanted = {checkpoint["path"] for checkpoint in self.listed(state)}
        harness.wait_for(lambda: self.listed(state) and self.on_disk(shared) == wanted, "the others to be deleted")
        state.parent.rename(self.folder / "first")  # As if another directory's search were given the same host_path.
        self.run_cli("run", self.folder / "experiment.yaml", "--slots", 1)
        others = {checkpoint["path"] for checkpoint in self.listed(state)}
        harness.wait_for(lambda: self.on_disk(shared) == wanted | others, "the others to be deleted")
        self.assertEqual({pathlib.Path(path).parts[-3:] for path in wanted},
                         {pathlib.Path(path).parts[-3:] for path in others}, "experiment, trial and attempt are the same")
        self.assertFalse(wanted & others)

    def test_a_halving_search_resumes_with_nothing_to_keep(self):
        state = self.search({"name": "async_halving", "max_length": {"epochs": 9}, "max_trials": 9, "num_rungs": 3,
                             "divisor": 3}, save_trial_best=0, save_trial_latest=0)
        self.assertEqual(self.listed(state), [])
        harness.wait_for(lambda: not self.listed(state) and not self.on_disk(state), "all to be deleted")

    def test_a_user_deletes_one(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(1)
        (self.folder / "train.py").write_text(TRAINING.format(package=str(harness.ROOT / "clients" / "python")))
        experiment = cluster.submit({"entrypoint": ["/usr/bin/python3", "-B", str(self.folder / "train.py")],
                                     "hyperparameters": {"x": 0}, "searcher": {
                                         "name": "single", "metric": "loss", "max_length": {"epochs": 3}}})
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        server = ("--server", cluster.server)
        text = self.run_cli("checkpoints", "list", *server).stdout
        self.assertRegex(text, r"0 +2 +0 +\d+ +best +/")
        none = self.run_cli("checkpoints", "delete", 0, "--step", 7, *server, expect=3)
        self.assertIn("trial 0 has no checkpoint of step 7", none.stderr)
        self.run_cli("checkpoints", "delete", 0, "--step", 2, *server)
        left = self.run_cli("checkpoints", "list", *server, "--output", "json")
        self.assertEqual([checkpoint["step"] for checkpoint in left["checkpoints"]], [3])
        harness.wait_for(lambda: len(self.on_disk(cluster.state)) == 1, "it to be deleted")
        harness.wait_for(lambda: cluster.get(f"/api/v1/experiments/{experiment}/checkpoints")["being_deleted"] == 0,
                         "the daemon to know it")


class WarmStart(harness.Case):
    def test_trials_begin_from_another_experiments_checkpoint(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(1)
        server = ("--server", cluster.server)
        (self.folder / "train.py").write_text(TRAINING.format(package=str(harness.ROOT / "clients" / "python")))
        (self.folder / "warm.py").write_text(
            "import os, sys, time\n"
            f"sys.path.insert(0, {str(harness.ROOT / 'clients' / 'python')!r})\n"
            "import hpsearch\n"
            "content = (hpsearch.latest_checkpoint() / 'state.json').read_text()\n"
            "print('WARM', os.environ.get('HPSEARCH_WARM_START'), os.environ['DET_LATEST_CHECKPOINT'], content)\n"
            f"while not os.path.exists({str(self.folder / 'go')!r}):\n"
            "    time.sleep(0.02)\n"
            "hpsearch.report(1, loss=1.0)\n")
        searcher = {"name": "single", "metric": "loss", "max_length": {"epochs": 3}}
        first = cluster.submit({"entrypoint": ["/usr/bin/python3", "-B", str(self.folder / "train.py")],
                                "hyperparameters": {"x": 0}, "searcher": searcher})
        self.assertEqual(cluster.wait_until_over(first), "COMPLETED")
        listed = self.run_cli("checkpoints", "list", *server, "--output", "json")["checkpoints"]
        self.assertEqual([checkpoint["id"] for checkpoint in listed], ["1/0/1-2", "1/0/1-3"])

        fetched = self.folder / "fetched"
        self.run_cli("checkpoints", "download", "1/0/1-2", fetched, *server)
        self.assertEqual(json.loads((fetched / "state.json").read_text()), {"epoch": 2})
        none = self.run_cli("checkpoints", "download", "1/0/1-9", self.folder / "none", *server, expect=3)
        self.assertIn("there is no checkpoint 1/0/1-9", none.stderr)

        tree = {"entrypoint": ["/usr/bin/python3", "-B", str(self.folder / "warm.py")], "hyperparameters": {"x": 0},
                "searcher": searcher | {"max_length": {"epochs": 1}, "source_checkpoint_uuid": "1/0/1-2"}}
        unknown = self.write_experiment(tree | {"searcher": tree["searcher"] | {"source_checkpoint_uuid": "1/0/1-9"}})
        refused = self.run_cli("submit", unknown, *server, expect=2)
        self.assertIn("it was deleted, or its upload never finished", refused.stderr)
        second = cluster.submit(tree)
        held = self.run_cli("checkpoints", "delete", "1/0/1-2", *server, expect=None)
        (self.folder / "go").touch()
        self.assertEqual(cluster.wait_until_over(second), "COMPLETED")
        log = self.run_cli("logs", second, 0, *server).stdout
        self.assertIn(f"WARM 1 {listed[0]['path']} {{\"epoch\": 2}}", log)
        self.assertEqual(held.returncode, 4, held.stderr)
        self.assertIn(f"experiment {second} starts its trials from", held.stderr)
        self.assertIn("begins from  checkpoint 1/0/1-2 of trial 0 of experiment 1, trained to 2",
                      self.run_cli("show", second, *server).stdout)
        self.assertIn("begins from checkpoint 1/0/1-2", self.run_cli("explain", second, 0, *server).stdout)
        self.run_cli("checkpoints", "delete", "1/0/1-2", *server)


if __name__ == "__main__":
    unittest.main()
