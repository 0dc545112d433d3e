"""hpsearch.tune() where a part of the space fails: such trials are data, and what ends the search has its experiment."""

import re
import textwrap
import unittest

import harness

PACKAGE = harness.ROOT / "clients" / "python"


class PythonBadTrials(harness.Case):
    def run_script(self, text, expect=0):
        path = self.folder / "script.py"
        path.write_text(textwrap.dedent(text))
        process = self.start("/usr/bin/python3", "-B", path, log="script.log", extra={
            "PYTHONPATH": str(PACKAGE), "HPSEARCH_STATE_HOME": str(self.folder / "state"), "HPSEARCH_BIN": str(harness.BIN)})
        self.assertEqual(process.popen.wait(harness.PATIENCE), expect, process.said())
        return process.said()

    def test_a_part_of_the_space_may_fail(self):
        said = self.run_script("""
            import hpsearch as hp

            def loss(x):
                if x > 0.6:
                    raise ZeroDivisionError("x is large")
                return float("nan") if x < 0.2 else (x - 0.5) ** 2

            result = hp.tune(loss, {"x": hp.uniform(0, 1)}, max_trials=16, seed=3, slots=2)
            for trial in result.trials:
                print("trial", trial.state, round(trial.params["x"], 3), trial.raw["attempts"], trial.failure.strip().splitlines()[-1:])
            """)
        trials = re.findall(r"trial (\w+) ([\d.]+) (\d+) (.*)", said)
        self.assertEqual(len(trials), 16, said)
        for state, x, attempts, failure in trials:
            bad = float(x) > 0.6 or float(x) < 0.2
            self.assertEqual((state, attempts), ("FAILED" if bad else "COMPLETED", "1"), said)
            self.assertIn("ZeroDivisionError: x is large" if float(x) > 0.6 else "returned nan as 'value'" if bad else "[]", failure)
        self.assertGreaterEqual(sum(state == "FAILED" for state, *_ in trials), 2, said)
        self.assertRegex(said, r"warning: \d+ of 16 trials failed and have no part in the result")
        self.assertNotIn("the search paused", said)

    def test_what_ends_the_search_has_the_experiment(self):
        said = self.run_script("""
            import hpsearch as hp

            def broken(x):
                raise RuntimeError("no such data")

            try:
                hp.tune(broken, {"x": hp.uniform(0, 1)}, max_trials=40, slots=2, name="broken", sampler="tpe")
            except hp.ExperimentFailed as error:
                print("ended", error.experiment.state, len(error.experiment.trials), error.experiment.config["searcher"]["sampler"])
                print(error)
            """)
        self.assertRegex(said, r"ended PAUSED \d+ tpe")
        self.assertIn("hpsearch.open('broken') has its results. When the cause is outside of the function and its arguments, the same call with "
                      "name='broken' goes on", said)


if __name__ == "__main__":
    unittest.main()
