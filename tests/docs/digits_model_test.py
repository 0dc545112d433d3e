"""examples/digits/model.yaml on its recorded curves: the model reaches the best of random draws with at most half of their
training, on average over ten seeds. Needs no training: the curves of all its configurations are recorded."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "digits"
HPSEARCH = pathlib.Path(os.environ["E2E_BIN_DIR"]) / "hpsearch"
SEEDS = range(1, 11)


def improvements(experiment, seed):
    """(training so far, metric) of every improvement; one worker, an epoch a second."""
    done = subprocess.run([HPSEARCH, "simulate", experiment, "--curves", EXAMPLE / "curves.csv", "--workers", "1", "--seed",
                           str(seed), "--output", "json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return [(step["at"], step["metric"]) for step in json.loads(done.stdout)["regret"]["steps"]]


class DigitsModel(unittest.TestCase):
    def test_reaches_the_best_of_random_draws_with_half_of_the_training(self):
        text = (EXAMPLE / "model.yaml").read_text(encoding="utf-8")
        self.assertIn("sampler: model", text)
        with tempfile.TemporaryDirectory() as folder:
            random = pathlib.Path(folder, "random.yaml")
            random.write_text(text.replace("sampler: model", "sampler: random"), encoding="utf-8")
            needed, reached = [], []
            for seed in SEEDS:
                at, best = improvements(random, seed)[-1]
                needed.append(at)
                steps = improvements(EXAMPLE / "model.yaml", seed)
                reached.append(next((at for at, metric in steps if metric >= best), None))
        print(f"random draws: best after {needed} epochs; the model: as good after {reached}")
        self.assertNotIn(None, reached)
        self.assertLessEqual(sum(reached), sum(needed) / 2)


if __name__ == "__main__":
    unittest.main()
