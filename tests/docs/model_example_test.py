"""The digits example with `sampler: model` on its recorded curves: how much training it takes to find a configuration as
good as the best of the same search with random draws."""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "digits" / "model.yaml"
CURVES = ROOT / "examples" / "digits" / "curves.csv.gz"
SEEDS = range(1, 11)


class ModelExample(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        with gzip.open(CURVES) as packed, open(self.folder / "curves.csv", "wb") as curves:
            shutil.copyfileobj(packed, curves)

    def simulated(self, sampler, seed):
        """The improvements: (training up to there, best loss)."""
        text = EXAMPLE.read_text(encoding="utf-8")
        self.assertEqual(text.count("sampler: model\n"), 1)
        file = self.folder / f"{sampler}.yaml"
        file.write_text(text.replace("sampler: model\n", f"sampler: {sampler}\n"), encoding="utf-8")
        done = subprocess.run(
            [pathlib.Path(os.environ["E2E_BIN_DIR"], "hpsearch"), "simulate", file, "--seed", str(seed), "--curves",
             self.folder / "curves.csv", "--output", "json"], capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        # A second is an epoch of each of the slots, which are all busy until the last trials.
        return [(step["at"] * result["workers"], step["metric"]) for step in result["regret"]["steps"]]

    def test_the_model_needs_at_most_half_the_training_of_random_draws(self):
        needed = {"random": [], "model": []}
        for seed in SEEDS:
            improvements = {sampler: self.simulated(sampler, seed) for sampler in needed}
            best = min(loss for _, loss in improvements["random"])
            for sampler, steps in improvements.items():
                reached = [trained for trained, loss in steps if loss <= best]
                self.assertTrue(reached, f"seed {seed}: {sampler} never reaches {best}")
                needed[sampler].append(reached[0])
        mean = {sampler: sum(of_each) / len(of_each) for sampler, of_each in needed.items()}
        print(f"epochs until the best of random draws: {mean['random']:.0f} by random draws, {mean['model']:.0f} by the "
              f"model; {needed}")
        self.assertLessEqual(mean["model"], 0.5 * mean["random"])


if __name__ == "__main__":
    unittest.main()
