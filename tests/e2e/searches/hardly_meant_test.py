"""Searches that end otherwise than their files suggest: `validate`, `run` and the summary say so."""

import unittest

import harness


class HardlyMeantTest(harness.Case):
    def check(self, hyperparameters, searcher, note, at_the_end=None):
        """`note` is printed by validate and by run before it starts, and `at_the_end` (the same if missing) in the summary."""
        (self.folder / "train.py").write_text("""
import hpsearch
step, decision = 0, hpsearch.CONTINUE
while decision is hpsearch.CONTINUE:
    step += 1
    decision = hpsearch.report(step, loss=1 / step)
""")
        self.write_experiment({
            "entrypoint": ["/usr/bin/python3", "train.py"], "hyperparameters": hyperparameters,
            "environment": {"environment_variables": {"PYTHONPATH": str(harness.ROOT / "clients/python")}},
            "searcher": {"metric": "loss", "max_length": {"epochs": 27}} | searcher})
        self.assertIn(note, self.run_cli("validate", "experiment.yaml").stderr)
        ran = self.run_cli("run", "experiment.yaml", "--slots", 2)
        self.assertIn(note, ran.stderr)
        self.assertIn(at_the_end or note, ran.stdout)

    def test_trials_that_repeat_earlier_ones(self):
        self.check({"a": {"type": "categorical", "vals": [1, 2]}, "b": {"type": "int", "minval": 1, "maxval": 2}},
                   {"name": "random", "max_trials": 6, "max_length": {"epochs": 1}},
                   "there are only 4 different configurations: at least 2 trials repeat an earlier one")

    def test_rungs_that_promote_nobody_to_the_full_length(self):
        self.check({"a": {"type": "int", "minval": 1, "maxval": 8}},
                   {"name": "async_halving", "num_rungs": 4, "divisor": 3, "max_trials": 60, "on_duplicate": "reject"},
                   "trains no trial to the full length of 27 epochs: of 8 trials, the longest trains 3 epochs",
                   "no trial was trained to the full length of 27 epochs, the longest to 3 epochs")

    def test_range_of_which_a_model_reaches_only_some_values(self):
        self.check({"a": {"type": "int", "minval": 0, "maxval": 2 ** 62}},
                   {"name": "random", "sampler": "model", "max_trials": 2, "max_length": {"epochs": 1}},
                   "has more than 2^53 values, and searcher.sampler reaches only some of them")


if __name__ == "__main__":
    unittest.main()
