"""hpsearch.optuna with the genuine Optuna of the interpreter that runs this. Skipped, and said so, without."""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "clients" / "python"))

try:
    import optuna
except ImportError:
    print("skipped: Optuna is missing (scripts/setup python)")
    print("OK (skipped=1)")
    sys.exit(0)

import hpsearch as hp

optuna.logging.set_verbosity(optuna.logging.ERROR)
VERSION = tuple(map(int, optuna.__version__.split(".")[:2]))
SPACE = {"x": hp.uniform(-10, 10), "n": hp.int(1, 8), "kind": hp.choice("a", "b", True, None), "net": {"lr": hp.loguniform(1e-4, 1e-1)}}
VALUES = {"x": 2.5, "n": 3, "kind": "b", "net": {"lr": 0.01}}


def run(function, params=None, space=None, length=9):
    return hp.optuna.objective(function, space or SPACE)(hp.FunctionTrial(params or VALUES, length=length))


class Objectives(unittest.TestCase):
    def fails(self, call, sentence, **more):
        with self.assertRaises(ValueError) as caught:
            run(call, **more)
        self.assertIn(sentence, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_suggestions_are_the_values_of_the_trial(self):
        def f(trial):
            got = (trial.suggest_float("x", -10, 10), trial.suggest_int("n", 1, 8), trial.suggest_categorical("kind", [None, "a", "b", True]),
                   trial.suggest_float("net.lr", 1e-5, 1, log=True))
            self.assertEqual(got, (2.5, 3, "b", 0.01))
            self.assertEqual(trial.params, {"x": 2.5, "n": 3, "kind": "b", "net.lr": 0.01})
            trial.set_user_attr("k", [1])
            self.assertEqual(trial.user_attrs, {"k": [1]})
            return 4
        self.assertEqual(run(f), 4.0)

    def test_a_choice_keeps_its_type(self):
        got = run(lambda t: float(t.suggest_categorical("kind", [1, True, "a", "b", None]) is True), params={**VALUES, "kind": True})
        self.assertEqual(got, 1.0)

    def test_what_is_not_in_the_space_fails_in_a_sentence(self):
        self.fails(lambda t: t.suggest_float("y", 0, 1), "the space has no 'y'; it has x, n, kind, net.lr")
        self.fails(lambda t: t.suggest_float("x", 0, 10), "suggest_float('x') asks for [0, 10], and the space has [-10, 10]")
        self.fails(lambda t: t.suggest_float("x", -10, 10, step=2), "in steps of 2, and the value is 2.5")
        self.fails(lambda t: t.suggest_int("x", -10, 10), "the space must have integers there")
        self.fails(lambda t: t.suggest_float("kind", 0, 1), "must have numbers there")
        self.fails(lambda t: t.suggest_categorical("kind", ["b"]), "the space has 'a'")
        self.fails(lambda t: t.suggest_categorical("kind", ["a", "b", 1, None]), "the space has True")
        self.fails(lambda t: t.suggest_float("when", 0, 1), "its condition", space={**SPACE, "when": hp.uniform(0, 1)})

    def test_what_is_no_number_fails_in_a_sentence(self):
        for returned in (None, (1, 2), "1", True):
            with self.assertRaisesRegex(TypeError, "it must be one number"):
                run(lambda t: returned)
        with self.assertRaisesRegex(AttributeError, "a trial of hpsearch has no 'storage'"):
            run(lambda t: t.storage)
        with self.assertRaisesRegex(AttributeError, "the study of a trial of hpsearch has no 'best_value'; it has direction"):
            run(lambda t: t.study.best_value)

    def test_steps_from_0_are_counted_from_1_and_the_end_of_the_length_prunes(self):
        for first in (0, 1):
            steps = []

            def f(trial):
                for step in range(first, first + 20):
                    trial.report(1.0, step)
                    steps.append(step)
                    if trial.should_prune():
                        raise optuna.TrialPruned
                return 1.0
            self.assertIsNone(run(f, length=9))
            self.assertEqual(len(steps), 9)

    def test_nothing_is_reported_after_pruning_and_a_step_once(self):
        class Recorded(hp.FunctionTrial):
            recorded = []

            def report(self, step, *args, **more):
                self.recorded.append((step, args[0]))
                return hp.STOP if step >= 5 else hp.CONTINUE

        def f(trial):
            for step in (0, 1, 1, 4, 3, 5):
                trial.report(step, step)
            return math.nan
        self.assertIsNone(hp.optuna.objective(f, SPACE)(Recorded(VALUES)))
        self.assertEqual([step for step, _ in Recorded.recorded], [1, 2, 5])

    def test_the_returned_value_is_that_of_the_full_length(self):
        trial = hp.FunctionTrial(VALUES, length=9)
        self.assertEqual(hp.optuna.objective(lambda t: t.report(7, 0) or 0.5, SPACE)(trial), 0.5)
        self.assertEqual((trial._step, trial.reports), (9, 2))

    def test_a_trial_that_is_pruned_before_its_first_report_has_invalid_values(self):
        def f(trial):
            if trial.suggest_int("n", 1, 8) == 3:
                raise optuna.TrialPruned
            trial.report(1.0, 0)
            raise optuna.TrialPruned
        with unittest.mock.patch.object(hp._in_trial, "invalid_hyperparameters", side_effect=SystemExit) as recorded:
            with self.assertRaises(SystemExit):
                run(f)
            recorded.assert_called_once_with("the objective pruned the trial before its first report")
            self.assertIsNone(run(f, params={**VALUES, "n": 4}))
            recorded.assert_called_once()

    def test_distributions_of_optuna_are_a_space(self):
        o = optuna.distributions
        made = hp.optuna.objective(len, {
            "a": o.FloatDistribution(0, 1), "b": o.FloatDistribution(1e-3, 1, log=True), "c": o.FloatDistribution(0, 1, step=0.25),
            "d.e": o.IntDistribution(1, 9, step=2), "d.f": o.CategoricalDistribution([1, "x", None]), "g": o.IntDistribution(4, 4), "h": 5}).space
        self.assertEqual(made, {
            "a": {"type": "double", "minval": 0.0, "maxval": 1.0}, "b": {"type": "double", "minval": 0.001, "maxval": 1.0, "scale": "log"},
            "c": {"type": "double", "minval": 0.0, "maxval": 1.0, "step": 0.25},
            "d": {"e": {"type": "int", "minval": 1, "maxval": 9, "step": 2}, "f": {"type": "categorical", "vals": [1, "x", None]}},
            "g": {"type": "const", "val": 4}, "h": 5})
        # They are distributions everywhere.
        self.assertEqual(hp.experiment(["true"], searcher={}, space={"net": {"a": o.FloatDistribution(0, 1)}})["hyperparameters"],
                         {"net": {"a": {"type": "double", "minval": 0.0, "maxval": 1.0}}})
        try:
            from hpsearch.sklearn._space import Space
        except ImportError:
            pass
        else:
            space = Space({"n": o.IntDistribution(1, 9, log=True), "kind": o.CategoricalDistribution(["a", "b"])})
            self.assertEqual(space.hyperparameters, {"n": {"type": "int", "minval": 1, "maxval": 9, "scale": "log"},
                                                     "kind": {"type": "categorical", "vals": ["a", "b"]}})
            self.assertEqual(space.values({"n": 3, "kind": "a"}), {"n": 3, "kind": "a"})
        with self.assertRaisesRegex(ValueError, "a is a hyperparameter itself"):
            hp.optuna.objective(len, {"a": o.FloatDistribution(0, 1), "a.b": o.FloatDistribution(0, 1)})
        with self.assertRaisesRegex(TypeError, "has the choice"):
            hp.optuna.objective(len, {"a": o.CategoricalDistribution([(1, 2)])})
        with self.assertRaisesRegex(TypeError, r"space.a is \[1, 2\]; write hpsearch.choice"):
            hp.optuna.objective(len, {"a": [1, 2]})

    def test_the_module_leaves_the_genuine_one_in_its_place(self):
        done = subprocess.run([sys.executable, "-c", "import hpsearch.optuna, optuna; print(optuna.__name__, optuna.create_study)"],
                              env={**os.environ, "PYTHONPATH": str(ROOT / "clients" / "python")}, capture_output=True, text=True, check=True)
        self.assertTrue(done.stdout.startswith("optuna <function"), done.stdout)


class Answers:
    """An experiment whose daemon's answers are given."""

    id = 7
    config = {"searcher": {"max_length": {"epochs": 9}}}
    _transport = unittest.mock.Mock(state=pathlib.Path("/nowhere"))

    def __init__(self, head, trials, curves):
        self.lines, self.curves = [head, *trials], curves

    def export_raw(self, kind):
        return "\n".join(map(json.dumps, self.lines)) + "\n"

    def curves_raw(self, trials, metric=None, points=None):
        return [{"metric": "loss", "trials": self.curves}]


def recorded(number, state, value, params, reached=3):
    ours = {"COMPLETE": "COMPLETED", "PRUNED": "STOPPED", "FAIL": "FAILED", "WAITING": "PAUSED"}.get(state, state)
    return {"number": number, "state": state, "value": value, "params": params, "datetime_start": 1e9, "user_attrs": {
        "state": ours, "reached": reached},
            "datetime_complete": 1e9 + 5 if state in ("COMPLETE", "PRUNED", "FAIL") else None}


HEAD = {"study_name": "s", "direction": "minimize", "metric": "loss", "distributions": {
    "lr": {"name": "FloatDistribution", "attributes": {"low": 1e-4, "high": 0.1, "log": True, "step": None}},
    "q": {"name": "FloatDistribution", "attributes": {"low": 0.0, "high": 1.0, "log": False, "step": 0.3}},
    "n": {"name": "IntDistribution", "attributes": {"low": 1, "high": 8, "log": True, "step": 1}},
    "kind": {"name": "CategoricalDistribution", "attributes": {"choices": ["a", [1, 2], None]}}}}


def params(lr, n=2, kind="a", q=0.3):
    return {"lr": lr, "n": n, "kind": kind, "q": q}


class Studies(unittest.TestCase):
    def study(self):
        trials = [recorded(0, "COMPLETE", 0.5, params(0.01)), recorded(1, "PRUNED", 0.7, params(0.02, 3, [1, 2])),
                  recorded(2, "FAIL", None, params(0.03)), recorded(3, "RUNNING", 0.9, params(0.04)), recorded(4, "WAITING", None, params(0.05)),
                  recorded(5, "COMPLETE", {"class": "nan"}, params(0.10000000000000002, 8, None, 0.6)), recorded(6, "COMPLETE", 0.4, {"lr": 0.09})]
        curves = [{"trial": 0, "step": [1, 2, 3], "last": [0.9, 0.5, 0.6], "nonfinite": []},
                  {"trial": 1, "step": [1, 2], "last": [0.7, 0.8], "nonfinite": [[3, "nan"]]},
                  {"trial": 6, "step": [3], "last": [0.4], "nonfinite": []}]
        with unittest.mock.patch("hpsearch.optuna._export.user_attrs_of", lambda transport, experiment: {1: {"note": [1], "reached": 99}}):
            return hp.optuna.to_study(Answers(HEAD, trials, curves))

    def test_trials_have_their_states_values_and_curves(self):
        study = self.study()
        self.assertEqual([one.state.name for one in study.trials], ["COMPLETE", "PRUNED", "FAIL", "RUNNING", "WAITING", "FAIL", "COMPLETE"])
        self.assertEqual([one.value for one in study.trials], [0.5, 0.8, None, None, None, None, 0.4])
        self.assertEqual(study.best_trial.number, 6)
        self.assertEqual(study.trials[0].intermediate_values, {1: 0.9, 2: 0.5, 3: 0.6})
        self.assertTrue(math.isnan(study.trials[1].intermediate_values[3]))
        self.assertEqual(study.trials[1].params["kind"], "[1, 2]")
        self.assertEqual(study.trials[0].duration.total_seconds(), 5)
        self.assertEqual(study.user_attrs, {"experiment": 7, "metric": "loss", "max_length": 9})
        self.assertEqual(study.trials[1].user_attrs, {"note": [1], "reached": 3, "state": "STOPPED"})
        if VERSION >= (3, 2):
            self.assertEqual(study.metric_names, ["loss"])

    def test_the_direction_is_that_of_the_search(self):
        trials = [recorded(0, "COMPLETE", 0.5, params(0.01)), recorded(1, "COMPLETE", 0.7, params(0.02))]
        study = hp.optuna.to_study(Answers({**HEAD, "direction": "maximize"}, trials, []))
        self.assertEqual((study.direction.name, study.best_trial.number), ("MAXIMIZE", 1))
        self.assertEqual(len(hp.optuna.import_study(study, most=1)), 1)
        self.assertEqual(hp.optuna.import_study(study, most=1)[0]["metric"], 0.7)

    def test_plots_and_importances_of_optuna_work(self):
        study = self.study()
        try:
            import plotly  # noqa: F401
        except ImportError:
            self.skipTest("no plotly here")
        names = ["plot_contour", "plot_edf", "plot_intermediate_values", "plot_optimization_history", "plot_parallel_coordinate", "plot_slice"]
        if VERSION >= (3, 2):
            names += ["plot_rank", "plot_timeline"]
        for name in names:
            self.assertGreater(len(getattr(optuna.visualization, name)(study).to_json()), 100, name)

    def test_a_study_becomes_earlier_results(self):
        found = hp.optuna.import_study(self.study())
        self.assertEqual(found, [
            {"hparams": {"lr": 0.01, "n": 2, "kind": "a", "q": 0.3}, "length": 3, "metric": 0.5},
            {"hparams": {"lr": 0.02, "n": 3, "kind": "[1, 2]", "q": 0.3}, "length": 3, "metric": 0.8},
            {"hparams": {"lr": 0.09}, "length": 3, "metric": 0.4}])
        with tempfile.TemporaryDirectory() as folder:
            found.write(pathlib.Path(folder, "earlier.jsonl"))
            self.assertEqual([json.loads(line) for line in open(pathlib.Path(folder, "earlier.jsonl"))], found)

    def test_lengths_stay_when_optuna_goes_on_and_the_study_comes_back(self):
        with unittest.mock.patch("hpsearch.optuna._export.user_attrs_of", lambda transport, experiment: {}):
            study = hp.optuna.to_study(Answers(HEAD, [
                recorded(0, "COMPLETE", 0.5, params(0.01), reached=9), recorded(1, "PRUNED", 0.7, params(0.02), reached=3),
                recorded(2, "WAITING", None, params(0.03), reached=3)],
                [{"trial": 1, "step": [1, 2, 3], "last": [0.9, 0.8, 0.7], "nonfinite": []}]))

        def f(trial):  # Counts from 0, as objectives of Optuna do; those of the search were counted from 1.
            lr = trial.suggest_float("lr", 1e-4, 0.1, log=True)
            for step in range(9):
                trial.report(lr, step)
                if trial.number == 3 and step == 4:
                    raise optuna.TrialPruned()
            return lr

        study.optimize(f, n_trials=3)  # The first is trial 2, which waited.
        study.optimize(lambda trial: trial.suggest_float("lr", 1e-4, 0.1, log=True), n_trials=1)
        found = hp.optuna.import_study(study)
        self.assertEqual([one["length"] for one in found], [9, 3, 9, 5, 9, 9])

    def test_a_study_of_optuna_is_read_from_its_storage(self):
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{folder}/studies.db"
            study = optuna.create_study(storage=url, study_name="first", direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1))

            def f(trial):
                x = trial.suggest_float("net.x", 0, 1)
                for step in range(3):
                    trial.report(x + step, step)
                return x + 2
            study.optimize(f, n_trials=10)
            found = hp.optuna.import_study(url, "first")
            self.assertEqual([one["length"] for one in found], [3] * 10)
            self.assertEqual(found[0]["metric"], found[0]["hparams"]["net"]["x"] + 2)
            few = hp.optuna.import_study(url, "first", most=4)
            self.assertEqual(len(few), 4)
            self.assertLessEqual({one["metric"] for one in sorted(found, key=lambda one: -one["metric"])[:2]}, {one["metric"] for one in few})
            with self.assertRaises(KeyError):
                hp.optuna.import_study(url, "second")

    def test_several_objectives_are_rejected(self):
        with self.assertRaisesRegex(ValueError, "has 2 objectives; a search has one"):
            hp.optuna.import_study(optuna.create_study(directions=["minimize", "minimize"]))


class Page(unittest.TestCase):
    def test_the_objective_of_the_page_runs_by_itself(self):
        block = (ROOT / "docs" / "python" / "optuna.md").read_text().split("```python\n")[1].split("```")[0]
        names = {"__name__": "page"}
        exec(compile(block, "optuna.md", "exec"), names)
        hp.optuna.objective(names["objective"], names["space"])(hp.FunctionTrial({"lr": 0.01, "layers": 1}, length=9))
        names["optuna"].create_study().optimize(names["objective"], n_trials=2)


if __name__ == "__main__":
    unittest.main()
