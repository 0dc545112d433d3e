"""A PyTorchTrial written for Determined runs on the genuine 0.24 harness, unmodified: on one slot, on two, and in a search.

Needs a Python with the packages determined and torch (scripts/setup determined makes one); skipped without.
"""

import json
import pathlib
import subprocess
import sys
import unittest

import determined_harness_test
import harness

PYTHON = determined_harness_test.PYTHON


class DeterminedPyTorch(determined_harness_test.DeterminedCase):
    def pytorch(self, searcher, **more):
        rate = 0.1 if searcher["name"] == "single" else {"type": "log", "base": 10, "minval": -3, "maxval": 0}
        return self.tree("model_def:DigitsTrial", {"metric": "validation_loss"} | searcher,
                         {"learning_rate": rate, "hidden": 16, "global_batch_size": 32}, **more)

    def test_pytorch_trial(self):
        self.cluster.start_worker(1)
        experiment = self.submit(self.pytorch({"name": "single", "max_length": {"epochs": 3}},
                                              min_validation_period={"epochs": 1}, scheduling_unit=4))
        trial, = self.expect_over(experiment)
        self.assertEqual((trial["state"], trial["reached"], trial["attempts"]), ("COMPLETED", 3, 1), trial)
        reports = self.metrics(experiment, 0)
        losses = [report["metrics"]["validation_loss"] for report in reports if "validation_loss" in report["metrics"]]
        validated = [report["step"] for report in reports if "validation_loss" in report["metrics"]]
        self.assertEqual(validated, [1, 2, 3])
        self.assertLess(losses[-1], losses[0], "nothing was learned")
        self.assertIn("accuracy", reports[-1]["metrics"])
        self.assertTrue(any("training.loss" in report["metrics"] for report in reports))
        checkpoint = pathlib.Path(trial["checkpoint"])
        self.assertEqual(trial["checkpoint_step"], 3)
        self.assertEqual(json.loads((checkpoint / "determined.json").read_text())["steps_completed"], 24)
        self.assertTrue((checkpoint / "state_dict.pth").exists(), list(checkpoint.iterdir()))

    def test_pytorch_trial_on_several_slots(self):
        self.cluster.start_worker(2)
        tree = self.pytorch({"name": "single", "max_length": {"batches": 16}}, resources={"slots_per_trial": 2},
                            max_restarts=0)
        # PyTorch before 2.0 does not understand its own defaults of these two on Python 3.11.
        tree["entrypoint"] = ("python3 -m determined.launch.torch_distributed --redirects 0:1 --tee 0:1 -- "
                              "--trial model_def:DigitsTrial")
        experiment = self.submit(tree)
        trial, = self.expect_over(experiment)
        self.assertEqual((trial["state"], trial["reached"]), ("COMPLETED", 16), trial)
        last = {name: value for report in self.metrics(experiment, 0) for name, value in report["metrics"].items()}
        self.assertEqual(last["processes"], 2)

    def test_pytorch_trial_on_several_nodes(self):
        for name in ("first", "second"):
            self.cluster.start_worker(2, name)
        tree = self.pytorch({"name": "single", "max_length": {"batches": 24}}, resources={"slots_per_trial": 4},
                            max_restarts=0, min_validation_period={"batches": 8}, scheduling_unit=4,
                            variables={"TEST_BATCH_SECONDS": "0.5"})
        tree["entrypoint"] = ("python3 -m determined.launch.torch_distributed --redirects 0:1 --tee 0:1 -- "
                              "--trial model_def:DigitsTrial")
        experiment = self.submit(tree)
        harness.wait_for(lambda: self.cluster.trials(experiment) and
                         any("validation_loss" in report["metrics"] for report in self.metrics(experiment, 0)),
                         "a validation", lambda: str(self.cluster.trials(experiment)))
        self.run_cli("pause", experiment, "--server", self.cluster.server)
        harness.wait_for(lambda: self.cluster.trials(experiment)[0]["state"] == "PAUSED", "it to leave",
                         lambda: str(self.cluster.trials(experiment)))
        self.assertGreater(self.cluster.trials(experiment)[0]["checkpoint_step"], 0)
        self.run_cli("resume", experiment, "--server", self.cluster.server)
        trial, = self.expect_over(experiment)
        self.assertEqual((trial["state"], trial["reached"], trial["attempts"], trial["restarts"]), ("COMPLETED", 24, 2, 0),
                         trial)
        last = {name: value for report in self.metrics(experiment, 0) for name, value in report["metrics"].items()}
        self.assertEqual(last["processes"], 4)

    def test_checkpoints_in_parts_are_refused(self):
        for name in ("first", "second"):
            self.cluster.start_worker(1, name)
        tree = self.pytorch({"name": "single", "max_length": {"batches": 1}}, resources={"slots_per_trial": 2}, max_restarts=0)
        tree["entrypoint"] = ("python3 -m determined.launch.torch_distributed --redirects 0:1 --tee 0:1 -- "
                              "python3 -m determined.launch.wrap_rank RANK -- python3 in_parts.py")
        (self.context / "in_parts.py").write_text("""
import os, time
from determined import core
with core.init(distributed=core.DistributedContext.from_torch_distributed()) as context:
    with context.checkpoint.store_path({"steps_completed": 1}, shard=True) as (path, uuid):
        (path / f"rank{os.environ['RANK']}").write_text("a part")
    time.sleep(60)
""")
        experiment = self.submit(tree)
        trial, = self.expect_over(experiment, "FAILED")
        self.assertIn("has a part on this node", trial["last_failure"])

    def test_pytorch_trials_in_a_search(self):
        self.cluster.start_worker(2)
        experiment = self.submit(self.pytorch({"name": "adaptive_asha", "max_length": {"batches": 72}, "divisor": 3,
                                               "max_trials": 4, "max_rungs": 3, "max_concurrent_trials": 2}))
        trials = self.expect_over(experiment)
        self.assertEqual(len(trials), 4)
        self.assertEqual({trial["restarts"] for trial in trials}, {0})
        reached = sorted(trial["reached"] for trial in trials)
        self.assertLess(reached[0], reached[-1], "nothing was stopped early, or nothing was promoted")


if __name__ == "__main__":
    if PYTHON is None or subprocess.run([str(PYTHON), "-c", "import determined.pytorch"], capture_output=True).returncode:
        sys.exit(harness.skipped("no Python here has the packages determined and torch (scripts/setup determined)"))
    unittest.main()
