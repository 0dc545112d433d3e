"""A TFKerasTrial written for Determined runs on the genuine 0.24 harness, unmodified: alone, and paused and resumed by a search.

Needs a Python with the packages determined and tensorflow, 2.12 at most (scripts/setup determined); skipped without.
"""

import pathlib
import subprocess
import sys
import unittest

import determined_harness_test
import harness

PYTHON = determined_harness_test.PYTHON


class DeterminedKeras(determined_harness_test.DeterminedCase):
    def keras(self, searcher, **more):
        rate = 0.1 if searcher["name"] == "single" else {"type": "log", "base": 10, "minval": -3, "maxval": 0}
        return self.tree("keras_def:DigitsTrial", {"metric": "val_loss"} | searcher,
                         {"learning_rate": rate, "hidden": 16, "global_batch_size": 32}, **more)

    def test_keras_trial(self):
        self.cluster.start_worker(1)
        experiment = self.submit(self.keras({"name": "single", "max_length": {"epochs": 3}}, records_per_epoch=256,
                                            min_validation_period={"epochs": 1}, scheduling_unit=4))
        trial, = self.expect_over(experiment)
        self.assertEqual((trial["state"], trial["reached"], trial["attempts"]), ("COMPLETED", 3, 1), trial)
        reports = self.metrics(experiment, 0)
        losses = {report["step"]: report["metrics"]["val_loss"] for report in reports if "val_loss" in report["metrics"]}
        self.assertEqual(list(losses), [1, 2, 3])
        self.assertLess(losses[3], losses[1], "nothing was learned")
        self.assertTrue(any("training.loss" in report["metrics"] for report in reports), reports)
        self.assertTrue(list(pathlib.Path(trial["checkpoint"]).rglob("*")), "it saved what it learned")

    def test_keras_trials_in_a_search(self):
        self.cluster.start_worker(2)
        experiment = self.submit(self.keras({"name": "adaptive_asha", "max_length": {"batches": 36}, "divisor": 3,
                                             "max_trials": 3, "max_rungs": 2, "max_concurrent_trials": 2}))
        trials = self.expect_over(experiment)
        self.assertEqual({trial["restarts"] for trial in trials}, {0})
        reached = sorted(trial["reached"] for trial in trials)
        self.assertLess(reached[0], reached[-1], "nothing was stopped early, or nothing was promoted")


if __name__ == "__main__":
    if PYTHON is None or subprocess.run([str(PYTHON), "-c", "import determined.keras"], capture_output=True).returncode:
        sys.exit(harness.skipped("no Python here has the packages determined and tensorflow (scripts/setup determined)"))
    unittest.main()
