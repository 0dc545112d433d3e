"""Checkpoints in a real S3 server, carried by rclone: resumed from, kept as the rule says, refused without rclone."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import unittest.mock

import harness
import s3_server
from checkpoints_test import TRAINING

SECRET = "a-secret-that-nobody-prints"
SERVER = s3_server.command()


class ObjectStorage(harness.Case):
    def start_server(self):
        """An S3 server with a bucket `models`; its address."""
        return s3_server.start(self, SERVER, "models")[1]

    def tree(self, address, searcher):
        (self.folder / "train.py").write_text(TRAINING.format(package=str(harness.ROOT / "clients" / "python")))
        return {"name": "kept", "entrypoint": ["/usr/bin/python3", "-B", "train.py"],
                "hyperparameters": {"x": {"type": "double", "minval": 0, "maxval": 0.1}},
                "searcher": {"metric": "loss", "max_length": {"epochs": 4}} | searcher,
                "checkpoint_storage": {"type": "s3", "bucket": "models", "prefix": "digits", "endpoint_url": address,
                                       "access_key": "anybody", "secret_key": SECRET}}

    def test_a_search_keeps_and_resumes_its_checkpoints_there(self):
        address = self.start_server()
        searcher = {"name": "async_halving", "max_trials": 4, "num_rungs": 2, "divisor": 4}
        self.run_cli("run", self.write_experiment(self.tree(address, searcher)), "--slots", 2)
        state = self.folder / ".hpsearch" / "experiment"
        trials = self.run_cli("trials", "--state-dir", state, "--output", "json")["trials"]
        self.assertEqual(max(trial["reached"] for trial in trials), 4)
        self.assertTrue(all(trial["restarts"] == 0 for trial in trials), trials)
        listed = self.run_cli("checkpoints", "list", "--state-dir", state, "--output", "json")["checkpoints"]
        self.assertTrue(listed)
        for checkpoint in listed:  # Below the number of the store.
            self.assertRegex(checkpoint["path"], r"^s3://models/digits/\d+/1/")
        wanted = sorted(checkpoint["path"].removeprefix("s3://models/") + "/" + name for checkpoint in listed
                        for name in ("manifest.json", "state.json"))
        harness.wait_for(lambda: self.run_cli("checkpoints", "list", "--state-dir", state) and
                         s3_server.names_in(address, "models") == wanted, "what is not kept to be deleted",
                         lambda: f"{s3_server.names_in(address, 'models')}\n{wanted}")
        self.download(state, listed[0])
        self.fetch_model(state, {checkpoint["path"] for checkpoint in listed})
        for path in pathlib.Path(state).rglob("*.log"):
            self.assertNotIn(SECRET, path.read_text(errors="replace"), path)

    def download(self, state, checkpoint):
        """With the keys of whoever asks: the daemon shows none."""
        target = self.folder / "fetched"
        asked = ("checkpoints", "download", checkpoint["id"], target, "--state-dir", state)
        os.environ.update(RCLONE_RETRIES="1", RCLONE_LOW_LEVEL_RETRIES="1", AWS_ACCESS_KEY_ID="anybody",
                          AWS_SECRET_ACCESS_KEY=SECRET)
        try:
            self.run_cli(*asked)
            (target / "state.json").unlink()
            (target / ".hpsearch-download").touch()
            shutil.move(target, str(target) + ".unfinished")  # As if it had broken off.
            self.run_cli(*asked)
        finally:
            for name in ("RCLONE_RETRIES", "RCLONE_LOW_LEVEL_RETRIES", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
                del os.environ[name]
        self.assertEqual(sorted(path.name for path in target.iterdir()), ["manifest.json", "state.json"])
        self.assertFalse(pathlib.Path(str(target) + ".unfinished").exists())

    def fetch_model(self, state, stored):
        """What the best trial left is its checkpoint in the bucket."""
        with unittest.mock.patch.dict(os.environ, AWS_ACCESS_KEY_ID="anybody", AWS_SECRET_ACCESS_KEY=SECRET):
            found = self.run_cli("best", "--copy-to", self.folder / "model", "--state-dir", state, "--output", "json")
        best = self.run_cli("best", "--state-dir", state, "--output", "json")
        self.assertEqual((found["kind"], found["path"]), ("checkpoint", best["best_checkpoint"]))
        self.assertIn(found["path"], stored)
        self.assertEqual(json.loads((self.folder / "model/state.json").read_text()),
                         {"epoch": best["best_checkpoint_step"]})

    def test_trials_begin_from_a_checkpoint_there(self):
        address = self.start_server()
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(1)
        tree = self.tree(address, {"name": "single"}) | {"hyperparameters": {"x": 0}}
        tree["entrypoint"][-1] = str(self.folder / "train.py")
        first = cluster.submit(tree)
        self.assertEqual(cluster.wait_until_over(first), "COMPLETED")
        second = cluster.submit({"entrypoint": "cat $HPSEARCH_LATEST_CHECKPOINT/state.json; echo; echo 'HPSEARCH {\"step\": 1, \"loss\": 1}'",
                                 "hyperparameters": {"x": 0}, "searcher": {
                                     "name": "single", "metric": "loss", "max_length": {"epochs": 1},
                                     "source_checkpoint_uuid": f"{first}/0/1-4"}})
        self.assertEqual(cluster.wait_until_over(second), "COMPLETED")
        self.assertIn('{"epoch": 4}', self.run_cli("logs", second, 0, "--server", cluster.server).stdout)

    def test_a_paused_trial_goes_on_from_there(self):
        address = self.start_server()
        searcher = {"name": "adaptive_asha", "max_trials": 9, "divisor": 3, "mode": "aggressive",
                    "max_length": {"epochs": 9}}
        experiment = self.write_experiment(self.tree(address, searcher))
        # Later trials are worse, whoever is first: so one that was paused is promoted.
        program = self.folder / "train.py"
        program.write_text(program.read_text().replace("import json, sys", "import json, os, sys").replace(
            'hpsearch.params()["x"]', 'int(os.environ["HPSEARCH_TRIAL_NUMBER"])'))
        self.run_cli("run", experiment, "--slots", 2)
        state = self.folder / ".hpsearch" / "experiment"
        trials = self.run_cli("trials", "--state-dir", state, "--output", "json")["trials"]
        self.assertTrue(any(trial["attempts"] > 1 for trial in trials), "no trial was resumed")
        shown = self.run_cli("show", "--state-dir", state, "--output", "json")
        self.assertEqual((shown["state"], shown["notes"]), ("COMPLETED", []))

    def test_a_server_that_is_away_is_named(self):
        tree = self.tree(f"http://127.0.0.1:{harness.free_port()}", {"name": "single"}) | {"max_restarts": 0}
        tree["hyperparameters"] = {"x": 0}
        tree["checkpoint_storage"]["endpoint_url"] += "/"
        os.environ.update(RCLONE_RETRIES="1", RCLONE_LOW_LEVEL_RETRIES="1")  # Else it tries for minutes.
        self.addCleanup(os.environ.pop, "RCLONE_RETRIES")
        self.addCleanup(os.environ.pop, "RCLONE_LOW_LEVEL_RETRIES")
        done = self.run_cli("run", self.write_experiment(tree), "--slots", 1, expect=None)
        self.assertRegex(done.stdout + done.stderr, r"cannot store a checkpoint at s3://models/digits/\d+/1/0/1-1")
        self.assertNotIn(SECRET, done.stdout + done.stderr)


class WithoutRclone(harness.Case):
    def test_a_node_without_rclone_refuses(self):
        folder = self.folder / "bin"
        folder.mkdir()
        for name in ("sh", "env", "python3"):
            (folder / name).symlink_to(shutil.which(name, path="/usr/bin:/bin"))
        tree = {"name": "kept", "entrypoint": "true", "max_restarts": 0, "hyperparameters": {"x": 0},
                "searcher": {"name": "single", "metric": "loss", "max_length": {"epochs": 1}},
                "checkpoint_storage": {"type": "s3", "bucket": "models"}}
        done = subprocess.run([str(harness.BIN / "hpsearch"), "run", str(self.write_experiment(tree))],
                              capture_output=True, text=True, timeout=harness.PATIENCE, cwd=self.folder,
                              env=harness.environment() | {"PATH": str(folder)}, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("rclone is not on the PATH of this machine; install it", done.stdout + done.stderr)


if __name__ == "__main__":
    if shutil.which("rclone") is None:
        sys.exit(harness.skipped("S3 was not tested: rclone is not installed (Debian: rclone)"))
    if SERVER is None:
        sys.exit(harness.skipped("S3 was not tested: there is no S3 server (pip install 'moto[server]')"))
    unittest.main()
