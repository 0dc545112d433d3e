"""The first four lines of docs/python/python.md beat Optuna's default: six functions, 80 trials, ten seeds.

optuna_default.json has Optuna's results; `bench/python/defaults.py six --record` writes it. Where Optuna is installed, one seed of each
function is compared with it.
"""

import json
import os
import pathlib
import re
import statistics
import sys
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[3]
sys.path[:0] = [str(ROOT / "clients" / "python"), str(ROOT / "bench" / "python")]

import defaults
from six_functions import FUNCTIONS, TRIALS

import hpsearch as hp
from hpsearch._functions import tune as tune_module

if "E2E_BIN_DIR" in os.environ:
    os.environ.setdefault("HPSEARCH_LIBRARY", str(pathlib.Path(os.environ["E2E_BIN_DIR"]).parent / "lib" / "libhpsearch.so.0"))
RECORDED = json.loads((HERE / "optuna_default.json").read_text(encoding="utf-8"))


def section_of_tune(space):
    """What tune() writes for a function that returns a number, and nothing else is said."""
    with unittest.mock.patch.object(tune_module, "SearchDirectory") as directory, unittest.mock.patch.object(tune_module, "check_gpus"):
        hp.tune(number, space, max_trials=TRIALS, wait=False)
    return directory.return_value.start.call_args[0][0]["searcher"]


def number(x):
    return x


class RightDefault(unittest.TestCase):
    def test_it_beats_the_default_of_optuna_on_six_functions(self):
        self.assertEqual(RECORDED["trials"], TRIALS)
        wins = pairs = 0
        regrets, theirs = [], []
        for name, (function, space, least) in FUNCTIONS.items():
            section = dict(section_of_tune({"x": hp.uniform(0, 1)}), metric="value")
            best = RECORDED["best"][name]
            own = [defaults.by_numbers(function, space, section, seed) for seed in range(len(best))]
            draws = [defaults.by_numbers(function, space, dict(section, sampler="random"), seed) for seed in range(len(best))]
            typical = statistics.mean(draws) - least
            regrets.append((statistics.mean(own) - least) / typical)
            theirs.append((statistics.mean(best) - least) / typical)
            with self.subTest(name):
                self.assertLess(statistics.mean(own), statistics.mean(best))
            wins += sum(one < other for one, other in zip(own, best))
            pairs += len(best)
        self.assertGreaterEqual(wins, pairs * 4 // 5)
        page = (ROOT / "docs" / "python" / "python.md").read_text(encoding="utf-8")
        found = re.search(r"mean normalised regret is (\d\.\d+), that of Optuna (\S+) with its default (\d\.\d+)", page.replace("\n", " "))
        self.assertIsNotNone(found, "docs/python/python.md shows the number")
        self.assertAlmostEqual(float(found.group(1)), statistics.mean(regrets), delta=0.005)
        self.assertAlmostEqual(float(found.group(3)), statistics.mean(theirs), delta=0.005)
        self.assertEqual(found.group(2), RECORDED["optuna"])

    def test_optuna_gives_what_was_recorded(self):
        try:
            import optuna
        except ImportError:
            self.skipTest("Optuna is not installed")
        if optuna.__version__ != RECORDED["optuna"]:
            self.skipTest("recorded with Optuna {}, installed is {}".format(RECORDED["optuna"], optuna.__version__))
        for name, (function, space, _) in FUNCTIONS.items():
            self.assertAlmostEqual(defaults.by_optuna(function, space, TRIALS, 0), RECORDED["best"][name][0], places=9)


if __name__ == "__main__":
    unittest.main()
