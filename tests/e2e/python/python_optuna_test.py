"""An unmodified objective of Optuna in hpsearch.tune() with the real programs, and its results as a study again.

With the genuine Optuna of build/python-genuine (scripts/setup python), or of HPSEARCH_GENUINE_PYTHON; skipped without.
"""

import os
import subprocess
import textwrap
import unittest

import harness

PACKAGE = harness.ROOT / "clients" / "python"
PYTHON = os.environ.get("HPSEARCH_GENUINE_PYTHON") or str(harness.ROOT / "build" / "python-genuine" / "bin" / "python3")

SCRIPT = """
    import optuna
    import hpsearch as hp

    def f(trial):
        x = trial.suggest_float("x", -10, 10)
        layers = trial.suggest_int("layers", 1, 4)
        kind = trial.suggest_categorical("kind", ["sgd", "adam", None])
        trial.set_user_attr("twice", 2 * x)
        if layers == 4 and kind is None:
            raise optuna.TrialPruned()
        for step in range(9):
            loss = (x - 2) ** 2 + layers + 1 / (step + 1)
            trial.report(loss, step)
            if trial.should_prune():
                raise optuna.TrialPruned()
            if layers == 3 and step == 4:
                raise optuna.TrialPruned()  # A rule of its own.
        return loss

    SPACE = {"x": optuna.distributions.FloatDistribution(-10, 10), "layers": hp.int(1, 3),
             "kind": optuna.distributions.CategoricalDistribution(["sgd", "adam"])}

    if __name__ == "__main__":
        e = hp.tune(hp.optuna.objective(f, SPACE), max_trials=18, max_length=9, slots=2, seed=3, progress=False)
        assert e.config["searcher"]["stop_once"] is True, e.config
        study = hp.optuna.to_study(e)
        assert len(study.trials) == 18
        assert abs(study.best_value - e.best.metric) < 1e-12 and study.best_params == e.best.params
        assert study.best_trial.number == e.best.number
        states = [trial.state.name for trial in study.trials]
        assert set(states) == {"COMPLETE", "PRUNED"}, states
        for trial in study.trials:
            assert min(trial.intermediate_values) == 1, trial
            if trial.params["layers"] == 3:
                assert max(trial.intermediate_values) <= 5, trial
            elif trial.state.name == "COMPLETE":
                assert sorted(trial.intermediate_values) == list(range(1, 10)), trial
        earlier = hp.optuna.import_study(study)
        assert len(earlier) == 18
        again = hp.tune(hp.optuna.objective(f, SPACE), max_trials=2, slots=2, seed=4, progress=False, max_length=9, searcher={
            "name": "random", "sampler": "tpe", "tpe": {"initial_results": 4}, "prior": earlier})
        assert len(again.config["searcher"]["prior"]) == 18

        def outside(trial):
            return trial.suggest_float("x", 0, 1)
        try:
            hp.tune(hp.optuna.objective(outside, {"x": hp.uniform(-10, 10)}), max_trials=1, progress=False, max_restarts=0)
        except hp.ExperimentFailed as error:
            print("outside:", error)
        else:
            raise AssertionError("it ran")
"""

ENDINGS = """
    import math
    import optuna
    import hpsearch as hp

    def f(trial):
        n = trial.suggest_int("n", 0, 3)
        if n == 0:
            raise optuna.TrialPruned("infeasible")
        if n == 1:
            raise RuntimeError("no")
        if n == 2:
            return math.nan
        return 1.5

    if __name__ == "__main__":
        e = hp.tune(hp.optuna.objective(f, {"n": hp.int(0, 3)}), max_trials=5, slots=1, seed=1, progress=False, max_restarts=0,
                    searcher={"name": "random", "points_to_evaluate": [{"n": n} for n in (3, 2, 1, 0, 3)]})
        study = hp.optuna.to_study(e)
        ended = {}
        for trial in study.trials:
            ended.setdefault(trial.params["n"], set()).add((trial.state.name, trial.user_attrs["state"]))
        print(sorted(ended.items()))
        print(e.best.metric, study.best_value)
"""


@unittest.skipUnless(os.path.exists(PYTHON), f"no genuine Optuna here: scripts/setup python makes {PYTHON}")
class PythonOptuna(harness.Case):
    def run_script(self, text):
        script = self.folder / "script.py"
        script.write_text(textwrap.dedent(text))
        variables = harness.environment() | {"PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1",
                                             "HPSEARCH_STATE_HOME": str(self.folder / "state"), "HPSEARCH_BIN": str(harness.BIN)}
        done = subprocess.run([PYTHON, str(script)], cwd=self.folder, env=variables, text=True, capture_output=True,
                              timeout=harness.PATIENCE * 4, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_each_way_to_end_has_its_state(self):
        self.assertEqual(self.run_script(ENDINGS).split("\n")[:2], [
            "[(0, {('PRUNED', 'STOPPED')}), (1, {('FAIL', 'FAILED')}), (2, {('FAIL', 'FAILED')}), (3, {('COMPLETE', 'COMPLETED')})]",
            "1.5 1.5"])

    def test_the_block_of_the_page_runs(self):
        block = (harness.ROOT / "docs" / "python" / "optuna.md").read_text().split("```python\n")[1].split("```")[0]
        self.assertRegex(self.run_script(block), r"'layers': \d.*'lr': ")

    def test_an_unmodified_objective_runs_and_its_results_are_a_study(self):
        self.assertIn("suggest_float('x') asks for [0, 1], and the space has [-10, 10]; it must lie inside", self.run_script(SCRIPT))


if __name__ == "__main__":
    unittest.main()
