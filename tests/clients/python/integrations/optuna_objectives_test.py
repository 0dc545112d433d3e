"""Ten objectives as beginners of Optuna write them, each as a search without a change and without a space. Skipped, and said so,
where the interpreter that runs this lacks Optuna or scikit-learn."""

import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "clients" / "python"))

try:
    import optuna
    from sklearn import datasets, ensemble, linear_model, model_selection, neighbors, neural_network, svm
except ImportError as error:
    print("skipped: {} (scripts/setup python)".format(error))
    print("OK (skipped=1)")
    sys.exit(0)

import hpsearch as hp

if "E2E_BIN_DIR" in os.environ:
    os.environ["HPSEARCH_BIN"] = os.environ["E2E_BIN_DIR"]


def parabola(trial):
    return (trial.suggest_float("x", -10, 10) - 2) ** 2


def every_kind(trial):
    kind = trial.suggest_categorical("kind", ["adam", None, True, 0.5])
    layers = trial.suggest_int("layers", 1, 3)
    channels = trial.suggest_int("channels", 32, 512, log=True)
    units = trial.suggest_int("units", 10, 100, step=5)
    dropout = trial.suggest_float("dropout", 0.0, 1.0)
    rate = trial.suggest_float("rate", 1e-5, 1e-2, log=True)
    path = trial.suggest_float("path", 0.0, 1.0, step=0.1)
    return layers + channels / 512 + units / 100 + dropout + rate + path + (kind is None)


def two_classifiers(trial):
    x, y = datasets.load_iris(return_X_y=True)
    if trial.suggest_categorical("classifier", ["svc", "forest"]) == "svc":
        model = svm.SVC(C=trial.suggest_float("c", 1e-10, 1e10, log=True), gamma="auto")
    else:
        model = ensemble.RandomForestClassifier(max_depth=trial.suggest_int("depth", 2, 32, log=True), n_estimators=10)
    return model_selection.cross_val_score(model, x, y, cv=3).mean()


def pruned(trial):
    x, x_test, y, y_test = model_selection.train_test_split(*datasets.load_iris(return_X_y=True), test_size=0.25, random_state=0)
    model = linear_model.SGDClassifier(alpha=trial.suggest_float("alpha", 1e-5, 1e-1, log=True))
    for step in range(9):
        model.partial_fit(x, y, classes=[0, 1, 2])
        trial.report(1 - model.score(x_test, y_test), step)
        if trial.should_prune():
            raise optuna.TrialPruned()
    return 1 - model.score(x_test, y_test)


def layers_in_a_loop(trial):
    x, y = datasets.load_wine(return_X_y=True)
    sizes = [trial.suggest_int("units{}".format(layer), 4, 16, log=True) for layer in range(trial.suggest_int("layers", 1, 3))]
    model = neural_network.MLPClassifier(sizes, max_iter=5, random_state=0)
    return model_selection.cross_val_score(model, x / x.max(axis=0), y, cv=2).mean()


class WithData:
    """An object with the data as the objective."""

    def __init__(self):
        self.x, self.y = datasets.load_diabetes(return_X_y=True)

    def __call__(self, trial):
        model = linear_model.Ridge(alpha=trial.suggest_float("alpha", 1e-3, 10, log=True))
        return -model_selection.cross_val_score(model, self.x, self.y, cv=3).mean()


def with_attributes(trial):
    x, y = datasets.load_iris(return_X_y=True)
    model = neighbors.KNeighborsClassifier(trial.suggest_int("neighbors", 1, 30))
    scores = model_selection.cross_val_score(model, x, y, cv=3)
    trial.set_user_attr("spread", float(scores.max() - scores.min()))
    return 1 - scores.mean()


def fails_on_a_part(trial):
    x = trial.suggest_float("x", -1, 1)
    if x < -0.5:
        raise ValueError("no such model")
    return float("nan") if x > 0.8 else x


def reads_params(trial):
    trial.suggest_float("x", 0, 1)
    trial.suggest_categorical("scale", [1, 10])
    return trial.params["x"] * trial.params["scale"] + 0 * trial.number


def more(trial, offset):
    return trial.suggest_float("x", 0, 1) + offset


class Objectives(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="hpsearch-objectives-")
        cls.addClassCleanup(folder.cleanup)
        os.environ["HPSEARCH_STATE_HOME"] = folder.name

    def search(self, function, ended=8, **more):
        result = hp.tune(hp.optuna.objective(function), max_trials=8, slots=2, seed=1, progress=False, **more)
        counts = result.now().trials
        self.assertEqual(sum(counts.values()) - counts.get("FAILED", 0), ended, counts)
        self.assertEqual(hp.optuna.to_study(result).best_value, result.best.metric)
        return result

    def test_a_parabola(self):
        self.search(parabola)

    def test_every_kind_of_suggestion(self):
        self.search(every_kind)

    def test_a_choice_of_classifiers(self):
        params = [trial.params for trial in self.search(two_classifiers, smaller_is_better=False).trials]
        self.assertEqual({("c" in one, "depth" in one) for one in params}, {(True, False), (False, True)})

    def test_a_training_that_is_pruned(self):
        states = [trial.state.name for trial in hp.optuna.to_study(self.search(pruned, max_length=9)).trials]
        self.assertEqual(set(states), {"COMPLETE", "PRUNED"})

    def test_layers_in_a_loop(self):
        self.search(layers_in_a_loop, smaller_is_better=False)

    def test_an_object_with_data(self):
        self.search(WithData())

    def test_attributes(self):
        result = self.search(with_attributes)
        self.assertTrue(all(trial.user_attrs["spread"] >= 0 for trial in result.trials))
        self.assertTrue(all("spread" in trial.user_attrs for trial in hp.optuna.to_study(result).trials))

    def test_a_space_of_which_a_part_fails(self):
        result = hp.tune(hp.optuna.objective(fails_on_a_part), max_trials=20, slots=2, seed=1, progress=False)
        self.assertGreater(result.now().trials["FAILED"], 0)
        self.assertTrue(-0.5 <= result.best.metric <= 0.8)

    def test_parameters_that_are_read_later(self):
        self.search(reads_params)

    def test_a_lambda_with_more_arguments(self):
        try:
            import cloudpickle  # noqa: F401
        except ImportError:
            self.skipTest("cloudpickle is missing: a lambda's closure can't travel without it")
        result = self.search(lambda trial: more(trial, 5))
        self.assertGreaterEqual(result.best.metric, 5)


if __name__ == "__main__":
    unittest.main()
