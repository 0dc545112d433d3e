"""What a program made is not lost: files in its working directory, models, damaged checkpoints, a project that moves."""

import json
import os
import pathlib
import signal
import subprocess
import tarfile
import unittest

import harness

# As people write it: it knows nothing of hpsearch.
SCRIPT = """
import argparse, pathlib
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
x = parser.parse_args().x
for epoch in range(1, 3):
    print(f"epoch {epoch} loss {x / epoch:.4f}")
pathlib.Path("runs").mkdir()
pathlib.Path("runs/model.txt").write_text(f"weights of {x}\\n")
pathlib.Path("notes.txt").write_text("changed\\n")
pathlib.Path("dump.bin").write_bytes(b"0" * int(DUMP))
"""

SAVING = """
import json, os, pathlib, sys, time
sys.path.insert(0, {package!r})
import hpsearch

epoch = 0
if hpsearch.latest_checkpoint():
    epoch = json.loads((hpsearch.latest_checkpoint() / "state.json").read_text())["epoch"]
print("begins at", epoch, flush=True)
directive = hpsearch.CONTINUE
while directive is hpsearch.CONTINUE:
    epoch += 1
    (hpsearch.checkpoint_dir() / "state.json").write_text(json.dumps({{"epoch": epoch}}))
    hpsearch.checkpoint(step=epoch)
    directive = hpsearch.report(epoch, loss=1 / epoch)
    {after}
"""


class LeftFiles(harness.Case):
    def tree(self, entrypoint, searcher, **more):
        return {"name": "left", "entrypoint": entrypoint,
                "hyperparameters": {"x": {"type": "double", "minval": 1, "maxval": 2}},
                "searcher": {"metric": "loss", "max_length": {"epochs": 2}} | searcher} | more

    def search(self, dump, searcher, **more):
        (self.folder / "train.py").write_text(SCRIPT.replace("DUMP", str(dump)))
        (self.folder / "notes.txt").write_text("as it was\n")
        tree = self.tree("/usr/bin/python3 -B train.py --x {x}", searcher,
                         metrics={"loss": "epoch {step} loss {number}"}, **more)
        return self.run_cli("run", self.write_experiment(tree), "--slots", 2, "--fresh")

    def test_a_script_that_knows_nothing_keeps_its_files(self):
        done = self.search(0, {"name": "random", "max_trials": 3})
        trials = self.folder / ".hpsearch/experiment/trials"
        self.assertIn("9 files (", done.stdout)
        self.assertIn(f"of 3 trials in {trials}\n", done.stdout)
        for trial in range(3):
            self.assertEqual(sorted(path.name for path in (trials / str(trial) / "files").rglob("*") if path.is_file()),
                             ["dump.bin", "model.txt", "notes.txt"])
        self.assertEqual((self.folder / "notes.txt").read_text(), "as it was\n")
        listed = self.run_cli("files", "--output", "json")["trials"]
        self.assertEqual([one["trial"] for one in listed], [0, 1, 2])
        self.assertIn("runs/model.txt", self.run_cli("files", 1, 2).stdout)
        self.assertIn("runs/model.txt", self.run_cli("files", "left", 2).stdout)
        self.assertEqual(self.run_cli("files", "path", "left", 2).stdout, f"{trials / '2' / 'files'}\n")
        self.assertEqual(self.run_cli("files", "path", 2).stdout, f"{trials / '2' / 'files'}\n")
        best = self.run_cli("best", "--output", "json")["trial"]
        self.assertEqual(self.run_cli("best", "--path").stdout, f"{trials / str(best) / 'files'}\n")
        self.run_cli("best", "--copy-to", self.folder / "model")
        self.run_cli("files", "get", 1, best, self.folder / "files")
        self.run_cli("files", "get", "left", best, self.folder / "by-name")
        for copy in ("model", "files", "by-name"):
            self.assertIn("weights of", (self.folder / copy / "runs/model.txt").read_text())
        again = self.run_cli("files", "get", best, self.folder / "files", expect=4)
        self.assertIn("already exists", again.stderr)
        self.run_cli("files", "tar", "left", best, self.folder / "files.tar")
        with tarfile.open(self.folder / "files.tar") as archive:
            self.assertEqual(archive.getnames(), [f"attempt-1/{name}" for name in ("dump.bin", "notes.txt", "runs/model.txt")])
            self.assertIn(b"weights of", archive.extractfile("attempt-1/runs/model.txt").read())

    def best_model(self, **more):
        """A search whose trials write their model into the output channel `model`: (best trial, its model)."""
        (self.folder / "train.py").write_text(
            "import os, pathlib, sys\n"
            "x = float(sys.argv[1])\n"
            "print(f'loss {x}')\n"
            "pathlib.Path(os.environ['PAI_OUTPUT_MODEL'], 'model.txt').write_text(f'weights of {x}')\n"
            "pathlib.Path('left.txt').write_text('beside it')\n")
        tree = self.tree("/usr/bin/python3 -B train.py {x}", {"name": "random", "max_trials": 3, "max_length": 1},
                         metrics={"loss": "loss {number}"}, **more)
        self.run_cli("run", self.write_experiment(tree), "--slots", 2, "--fresh")
        best = self.run_cli("best", "--output", "json")
        found = self.run_cli("best", "--copy-to", self.folder / "copy", "--output", "json")
        self.assertEqual((found["kind"], found["trial"]), ("model", best["trial"]))
        wanted = f"weights of {best['hparams']['x']}"
        self.assertEqual(pathlib.Path(found["path"], "model.txt").read_text(), wanted)
        copied = pathlib.Path(found["copied_to"])
        self.assertEqual([path.name for path in copied.iterdir()], ["model.txt"])
        self.assertEqual((copied / "model.txt").read_text(), wanted)
        return best["trial"], pathlib.Path(found["path"])

    def test_the_model_is_what_the_best_trial_put_into_its_channel(self):
        trial, path = self.best_model()
        self.assertEqual(path, self.folder / f".hpsearch/experiment/worker/attempts/1-{trial}-1/ml/output/model")
        # An attempt that began after the store was restored has its lease in its name, and is the later one of two.
        attempts = path.parents[3]
        later = attempts / f"1-{trial}-1.40" / "ml/output/model"
        later.mkdir(parents=True)
        (later / "model.txt").write_text("later weights")
        self.assertEqual(self.run_cli("best", "--path").stdout, f"{later}\n")

    def test_the_model_may_lie_at_the_path_of_its_channel(self):
        trial, path = self.best_model(outputs={"model": {"path": str(self.folder / "models")}})
        self.assertRegex(str(path), rf"^{self.folder}/models/\d+/1/{trial}/1$")

    def test_what_is_not_kept_is_named(self):
        done = self.search(1_500_000, {"name": "random", "max_trials": 1}, keep_files={"max_mb": 1})
        self.assertIn("2 files (", done.stdout)
        told = self.run_cli("files", 1, 0).stdout
        self.assertIn("not kept: dump.bin (1.5 MB): the trial's files are too large: keep_files.max_mb is 1\n", told)
        done = self.search(600_000, {"name": "random", "max_trials": 3}, keep_files={"max_mb": 1})
        self.assertIn("those of 2 other trials were not kept (keep_files.max_mb)", done.stdout)
        best = self.run_cli("best", "--output", "json")["trial"]
        self.assertEqual([one["trial"] for one in self.run_cli("files", "--output", "json")["trials"]], [best])
        self.search(10, {"name": "random", "max_trials": 1}, keep_files={"max_mb": 0})
        self.assertIn("no program left a file", self.run_cli("files").stdout)

    def saving(self, after, length):
        (self.folder / "train.py").write_text(
            SAVING.format(package=str(harness.ROOT / "clients" / "python"), after=after))
        return self.write_experiment(self.tree(
            ["/usr/bin/python3", "-B", "train.py"], {"name": "random", "max_trials": 1, "max_length": {"epochs": length}},
            max_restarts=0, checkpoint_storage={"save_trial_latest": 3}))

    def test_a_damaged_checkpoint_is_done_without(self):
        state = self.folder / ".hpsearch/experiment"
        # It breaks its latest one and asks to be run again, which is no failure.
        damage = (f"if os.environ['HPSEARCH_ATTEMPT'] == '1' and epoch == 3:\n"
                  f"        pathlib.Path('{state}/daemon/checkpoints/1/0/1-3/state.json').write_text('half')\n"
                  f"        sys.exit(75)")
        done = self.run_cli("run", self.saving(damage, 4), "--slots", 1)
        told = done.stdout + done.stderr
        self.assertRegex(told, r"1/0/1-3 is damaged: state.json is missing or damaged; the "
                               r"trial continues from its checkpoint before")
        self.assertEqual(self.run_cli("logs", 0, "--state-dir", state).stdout, "begins at 2\n")
        trial = self.run_cli("trials", "--state-dir", state, "--output", "json")["trials"][0]
        self.assertEqual((trial["state"], trial["restarts"]), ("COMPLETED", 0))
        path = self.run_cli("best", "--path").stdout.strip()
        self.assertEqual(json.loads(pathlib.Path(path, "state.json").read_text()), {"epoch": 4})
        self.assertIn("every file checked", self.run_cli("best", "--copy-to", self.folder / "best").stdout)

    def test_a_project_that_was_moved_goes_on(self):
        first = self.folder / "first"
        first.mkdir()
        experiment = self.saving("time.sleep(0.05)", 60)
        (first / "experiment.yaml").write_text(experiment.read_text())
        (self.folder / "train.py").rename(first / "train.py")
        run = subprocess.Popen([str(harness.BIN / "hpsearch"), "run", "experiment.yaml", "--slots", "1"], cwd=first,
                               env=harness.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(run.kill)
        checkpoints = first / ".hpsearch/experiment/daemon/checkpoints"
        harness.wait_for(lambda: list(checkpoints.rglob("manifest.json")), "a checkpoint")
        run.send_signal(signal.SIGINT)
        output, _ = run.communicate(timeout=harness.PATIENCE)
        self.assertEqual(run.returncode, 130, output)
        second = self.folder / "second"
        first.rename(second)
        self.run_cli("run", "experiment.yaml", "--slots", 1, cwd=second)
        started = [int(text.split()[-1]) for text in
                   (self.run_cli("logs", 0, "--attempt", attempt, "--state-dir",
                                 second / ".hpsearch/experiment").stdout for attempt in (1, 2))]
        self.assertEqual(started[0], 0)
        self.assertGreater(started[1], 0, "it goes on from its checkpoint")
        paths = [one["path"] for one in
                 self.run_cli("checkpoints", "list", "--output", "json", cwd=second)["checkpoints"]]
        self.assertTrue(paths)
        for path in paths:
            self.assertTrue(path.startswith(str(second)), path)
            self.assertTrue(os.path.exists(path), path)


if __name__ == "__main__":
    unittest.main()
