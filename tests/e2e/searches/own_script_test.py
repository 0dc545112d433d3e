"""examples/own_script: five programs as tutorials show them are searched, with at most 15 lines of YAML and no change.

Those that need a package are skipped where no Python has it: HPSEARCH_BOOSTING_PYTHON, or the system's, is asked.
"""

import os
import shutil
import subprocess
import sys
import unittest

import harness

EXAMPLES = harness.ROOT / "examples" / "own_script"
PYTHONS = (os.environ.get("HPSEARCH_BOOSTING_PYTHON"), "/usr/bin/python3", sys.executable)


def python_with(*packages):
    """A Python that can import them all, or None."""
    code = "; ".join(f"import {package}" for package in packages)
    for python in filter(None, PYTHONS):
        if subprocess.run([python, "-c", code], capture_output=True).returncode == 0:
            return python
    return None


class OwnScript(harness.Case):
    def search(self, name, metric, trials, length, packages=()):
        """Runs the example's search; every trial has to get to the length that its search wants, or be stopped on the way."""
        python = python_with(*packages) if packages else None
        if packages and python is None:
            self.skipTest(f"no Python here has {' and '.join(packages)}: {name} was not searched")
        work = self.folder / "work"
        shutil.copytree(EXAMPLES, work)
        lines = (work / f"{name}.yaml").read_text().splitlines()
        self.assertLessEqual(len(lines), 15)
        tools = self.folder / "tools"
        tools.mkdir()
        if python:  # `python3` of PATH, as it is for whoever has the package.
            (tools / "python3").write_text(f'#!/bin/sh\nexec {python} "$@"\n')
            (tools / "python3").chmod(0o755)
        done = subprocess.run([str(harness.BIN / "hpsearch"), "run", f"{name}.yaml", "--slots", "2", "--seed", "1"],
                              cwd=work, text=True, capture_output=True, timeout=harness.PATIENCE,
                              env=harness.environment() | {"PATH": f"{tools}:{harness.environment()['PATH']}",
                                                           "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        state = work / ".hpsearch" / name
        found = self.run_cli("trials", "--state-dir", state, "--output", "json")["trials"]
        self.assertEqual(len(found), trials, said)
        self.assertTrue(all(trial["metric"] is not None for trial in found), said)
        self.assertNotIn("FAILED", {trial["state"] for trial in found}, said)
        # A program that counts from 0 has trained one unit more than it says.
        self.assertIn(max(trial["reached"] for trial in found), (length - 1, length), said)
        best = self.run_cli("best", "--state-dir", state, "--output", "json")
        self.assertIn(f"best          {metric} ", said)
        # A loop that diverges reports infinity or NaN, which is an object in JSON.
        return best["metric"], [trial["metric"] for trial in found if isinstance(trial["metric"], (int, float))]

    def test_scikit_learn(self):
        best, _ = self.search("svm", "accuracy", trials=5, length=1, packages=("sklearn",))
        self.assertGreater(best, 0.9)

    def test_xgboost(self):
        best, all_of_them = self.search("boosted", "rmse", trials=4, length=20, packages=("xgboost",))
        self.assertLess(best, max(all_of_them))

    def test_lightgbm(self):
        best, all_of_them = self.search("leaves", "l2", trials=6, length=30, packages=("lightgbm",))
        self.assertLess(best, max(all_of_them))

    def test_shell_script(self):
        best, all_of_them = self.search("compress", "ratio", trials=6, length=1)
        self.assertEqual(best, max(all_of_them))

    def test_numpy_loop(self):
        best, all_of_them = self.search("polynomial", "loss", trials=8, length=30, packages=("numpy",))
        self.assertLess(best, max(all_of_them))


if __name__ == "__main__":
  
    unittest.main(verbosity=2)
