"""Finalists of a search are trained again with other seeds; the best mean wins."""

import json
import statistics
import unittest

import harness

# By itself a larger x is better; the seed of the trial counts for as much.
TRAINING = """
import json, os
x = float(os.environ["HPSEARCH_HP_X"])
noise = int(os.environ["HPSEARCH_TRIAL_SEED"]) % 1000 / 1000
print("HPSEARCH " + json.dumps({"step": 1, "gain": x + noise}), flush=True)
"""


class Repeats(harness.Case):
    def test_the_best_mean_of_several_seeds_wins(self):
        program = self.folder / "train.py"
        program.write_text(TRAINING)
        file = self.write_experiment({
            "entrypoint": ["/usr/bin/python3", "-IS", str(program)],
            "hyperparameters": {"x": {"type": "double", "minval": 0, "maxval": 1}},
            "searcher": {"name": "random", "metric": "gain", "smaller_is_better": False, "max_length": 1,
                         "max_trials": 6, "max_concurrent_trials": 2, "repeats": 3, "finalists": 2},
            "reproducibility": {"experiment_seed": 7},
        })
        preview = self.run_cli("preview", file, "--output", "json")
        self.assertEqual((preview["trials"], preview["repeats"]), (6, 4))
        self.run_cli("run", file, "--slots", 3)
        state = self.folder / ".hpsearch" / "experiment"
        trials = self.run_cli("trials", "--state-dir", state, "--output", "json")["trials"]
        self.assertEqual(len(trials), 10)

        gains = {}
        for trial in trials:
            gains.setdefault(json.dumps(trial["hparams"]), []).append(trial["metric"])
        finalists = {hparams: of for hparams, of in gains.items() if len(of) > 1}
        self.assertEqual([len(of) for of in finalists.values()], [3, 3])
        self.assertEqual({len(set(of)) for of in finalists.values()}, {3}, "two trainings had the same seed")
        first = {hparams: of[0] for hparams, of in gains.items()}
        self.assertEqual(set(finalists), set(sorted(first, key=first.get)[-2:]))

        winner = max(finalists, key=lambda hparams: statistics.mean(finalists[hparams]))
        best = self.run_cli("best", "--state-dir", state, "--output", "json")
        self.assertEqual(json.dumps(best["hparams"]), winner)
        self.assertEqual(best["metric"], max(finalists[winner]))
        shown = self.run_cli("show", "--state-dir", state, "--output", "json")
        self.assertEqual([finalist["hparams"] for finalist in shown["finalists"]],
                         [json.loads(hparams) for hparams in
                          sorted(finalists, key=lambda hparams: -statistics.mean(finalists[hparams]))])
        self.assertAlmostEqual(shown["best"]["mean"], statistics.mean(finalists[winner]))
        self.assertAlmostEqual(shown["best"]["deviation"], statistics.stdev(finalists[winner]))
        last = max(trial["trial"] for trial in trials)
        explained = self.run_cli("explain", 1, last, "--state-dir", state).stdout
        self.assertIn("repeat 3 of 3 of trial ", explained)


if __name__ == "__main__":
    unittest.main()
