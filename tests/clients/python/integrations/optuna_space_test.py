"""The space of an objective of Optuna without a space: what dry runs suggest. Optuna isn't needed."""

import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "clients" / "python"))

import hpsearch as hp
from hpsearch.optuna._dry_run import space_of


class DryRuns(unittest.TestCase):
    def refused(self, objective, text):
        with self.assertRaisesRegex(ValueError, text):
            hp.optuna.objective(objective)

    def test_an_objective_that_always_suggests_the_same_needs_no_space(self):
        trained = []

        def objective(trial):
            lr = trial.suggest_float("lr", 1e-5, 1.0, log=True)
            trial.set_user_attr("begun", True)
            trial.suggest_float("net.dropout", 0, 0.5, step=0.25)
            trial.suggest_int("net.layers", 1, 4)
            trial.suggest_int("width", 16, 64, step=16)
            trial.suggest_float("fixed", 2, 2)
            kind = trial.suggest_categorical("kind", ["a", None, 3])
            for epoch in range(9):
                trained.append(kind)
                trial.report(lr, epoch)
                trained.append(epoch)

        self.assertEqual(hp.optuna.objective(objective).space, {
            "lr": {"type": "double", "minval": 1e-5, "maxval": 1.0, "scale": "log"},
            "net": {"dropout": {"type": "double", "minval": 0.0, "maxval": 0.5, "step": 0.25},
                    "layers": {"type": "int", "minval": 1, "maxval": 4}},
            "width": {"type": "int", "minval": 16, "maxval": 64, "step": 16},
            "fixed": {"type": "const", "val": 2.0},
            "kind": {"type": "categorical", "vals": ["a", None, 3]}})
        self.assertEqual(trained, ["a", None, 3, "a", None, 3, "a", None], "a run went on behind its first report")

    def test_each_choice_of_many_is_tried(self):  # Only one of 20 branches suggests something else.
        def objective(trial):
            if trial.suggest_categorical("kind", list(range(20))) == 17:
                trial.suggest_float("extra", 0, 1)
            return 0.0
        self.assertEqual(hp.optuna.objective(objective).space["extra"], {
            "type": "double", "minval": 0.0, "maxval": 1.0, "when": {"kind": [17]}})

    def test_choices_and_small_integers_decide_what_else_is_suggested(self):
        def objective(trial):
            if trial.suggest_categorical("classifier", ["svc", "forest"]) == "svc":
                trial.suggest_float("c", 1e-3, 1e3, log=True)
            elif trial.suggest_categorical("deep", [True, False]):
                raise ValueError("deep forests fail")
            trial.suggest_categorical("loss", ["l1", "l2"])  # Two values, as the classifier: dry runs must tell them apart.
            return sum(trial.suggest_int("units{}".format(layer), 4, 8) for layer in range(trial.suggest_int("layers", 1, 3)))

        space = hp.optuna.objective(objective).space
        self.assertEqual({name: one.get("when") for name, one in space.items()}, {
            "classifier": None, "c": {"classifier": ["svc"]}, "loss": None, "layers": None, "units0": None, "deep": {"classifier": ["forest"]},
            "units1": {"layers": [2, 3]}, "units2": {"layers": [3]}})

    def test_what_depends_on_something_is_refused_and_says_on_what(self):
        def layers(trial):
            return sum(trial.suggest_float("u{}".format(layer), 0, 1) for layer in range(trial.suggest_int("layers", 1, 30)))

        def two(trial):
            both = trial.suggest_categorical("a", [1, 2]) + trial.suggest_categorical("b", [1, 2])
            return trial.suggest_float("extra", 0, 1) if both == 4 else 0.0

        def bounds(trial):
            low = trial.suggest_float("low", 0, 1)
            trial.suggest_categorical("other", ["a", "b"])
            return trial.suggest_float("high", 0, 2 if low > 0.5 else 1)

        def twice(trial):
            return trial.suggest_float("x", 0, 1) + trial.suggest_float("x", 0, 2)

        draws = random.Random(3)

        def by_chance(trial):
            trial.suggest_float("x", 0, 1)
            return trial.suggest_float("y", 0, 1) if draws.random() < 0.5 else 0.0

        self.refused(layers, "suggests 'u1' only in some trials, which depends on 'layers'")
        self.refused(two, "suggests 'extra' only in some trials, which depends on something else than one other suggestion; give")
        self.refused(bounds, r"suggests 'high' with the range \[0, 1\] and with the range \[0, 2\], which depends on 'low'; give")
        self.refused(twice, r"suggests 'x' with the range \[0, 1\] and with the range \[0, 2\] in one trial")
        self.refused(by_chance, "suggests 'y' only in some trials, which depends on something else")
        self.refused(lambda trial: 1.0, "the objective suggests nothing")

    def test_runs_that_fail_say_nothing(self):
        def fails_at_the_end_of_its_range(trial):
            x = trial.suggest_float("x", 0, 1)
            if x == 0:
                raise ZeroDivisionError("x")
            return trial.suggest_int("n", 1, 2) / x

        def fails(trial):
            trial.suggest_float("x", 0, 1)
            raise RuntimeError("no GPU")

        self.assertEqual(sorted(space_of(fails_at_the_end_of_its_range)), ["n", "x"])
        self.refused(fails, r"fails in each of 8 dry runs .*RuntimeError: no GPU.*; give .* its space")


if __name__ == "__main__":
    unittest.main()
