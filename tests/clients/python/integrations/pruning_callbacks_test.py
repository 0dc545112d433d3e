"""The pruning callbacks of optuna-integration, unmodified, in objectives that hpsearch runs; with the genuine packages of the
interpreter that runs this. Skipped, and said so, without. One of them: … LightGBMTest."""

import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "clients" / "python"))
BIN = os.environ.get("E2E_BIN_DIR", "")
os.environ.setdefault("KERAS_BACKEND", "jax")
SEED = 7

try:
    import numpy
    import optuna
    import optuna_integration
except ImportError as missing:
    print(f"skipped: {missing} (scripts/setup python)")
    print("OK (skipped=1)")
    sys.exit(0)

import hpsearch as hp

SPACE = {"lr": hp.loguniform(0.01, 0.5)}
ROWS = numpy.random.default_rng(SEED).normal(size=(120, 4))
SIGNS = (ROWS @ [1, 2, 3, 4] > 0).astype(float)


class Recorded(hp.FunctionTrial):
    """A trial that the search stops at step 4."""

    def __init__(self):
        super().__init__({"lr": 0.1}, length=9)
        self.recorded = []

    def report(self, step, *args, **more):
        self.recorded.append((step, args[0]["value"]))
        return hp.STOP if step >= 4 else hp.CONTINUE


class Pruning:
    def train(self, trial, callback):
        """Nine rounds; returns the last value."""
        raise NotImplementedError

    def test_the_search_stops_the_training_through_the_callback(self):
        trial = Recorded()
        ended = []

        def objective(own):
            try:
                return self.train(own, self.callback(own))
            except optuna.TrialPruned:
                ended.append("pruned")
                raise
        self.assertIsNone(hp.optuna.objective(objective, SPACE)(trial))
        self.assertEqual(ended, ["pruned"])
        self.assertEqual([step for step, _ in trial.recorded], [1, 2, 3, 4])
        values = [value for _, value in trial.recorded]
        self.assertEqual(values, sorted(values, reverse=True), "these trainings get better with each round")

    def test_a_training_that_is_not_stopped_ends_with_its_value(self):
        value = hp.optuna.objective(lambda own: self.train(own, self.callback(own)), SPACE)(hp.FunctionTrial({"lr": 0.1}, length=10))
        self.assertGreater(value, 0)


class LightGBMTest(Pruning, unittest.TestCase):
    def callback(self, trial):
        return optuna_integration.LightGBMPruningCallback(trial, "binary_logloss")

    def train(self, trial, callback, metric="binary_logloss"):
        import lightgbm
        data = lightgbm.Dataset(ROWS, label=SIGNS, free_raw_data=False)
        how = {"objective": "binary", "metric": metric, "num_leaves": 4, "verbose": -1, "num_threads": 1,
               "learning_rate": trial.suggest_float("lr", 0.01, 0.5)}
        booster = lightgbm.train(how, data, num_boost_round=9, valid_sets=[data], valid_names=["valid_0"], callbacks=[callback])
        return booster.best_score["valid_0"][metric] if booster.best_score else booster.eval_valid()[0][2]

    def test_the_callback_finds_the_direction_of_the_search(self):
        from hpsearch.optuna._objective import run_objective

        def objective(own):
            return self.train(own, optuna_integration.LightGBMPruningCallback(own, "auc"), "auc")
        with self.assertRaisesRegex(ValueError, "inconsistent with the objective values"):
            run_objective(objective, hp.FunctionTrial({"lr": 0.1}, length=10), SPACE)
        self.assertGreater(run_objective(objective, hp.FunctionTrial({"lr": 0.1}, length=10), SPACE, smaller_is_better=False), 0.8)

    @unittest.skipUnless(BIN, "E2E_BIN_DIR names no programs")
    def test_tune_gives_its_direction_to_the_callback(self):
        folder = tempfile.mkdtemp(prefix="hpsearch-pruning-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)

        def objective(trial):
            import lightgbm
            import numpy
            import optuna_integration
            rows = numpy.random.default_rng(7).normal(size=(120, 4))
            data = lightgbm.Dataset(rows, label=(rows.sum(axis=1) > 0).astype(float), free_raw_data=False)
            booster = lightgbm.train({"objective": "binary", "metric": "auc", "num_leaves": 4, "verbose": -1, "num_threads": 1,
                                      "learning_rate": trial.suggest_float("lr", 0.01, 0.5)}, data, num_boost_round=9, valid_sets=[data],
                                     valid_names=["valid_0"], callbacks=[optuna_integration.LightGBMPruningCallback(trial, "auc")])
            return booster.eval_valid()[0][2]
        with unittest.mock.patch.dict(os.environ, HPSEARCH_BIN=BIN, HPSEARCH_STATE_HOME=folder):
            found = hp.tune(hp.optuna.objective(objective), max_length=9, max_trials=4, smaller_is_better=False, slots=2, seed=1,
                            progress=False, ask=False)
        self.assertEqual({trial.state for trial in found.trials} - {"COMPLETED", "STOPPED"}, set())
        self.assertGreater(found.best.metric, 0.8)


class XGBoostTest(Pruning, unittest.TestCase):
    def callback(self, trial):
        return optuna_integration.XGBoostPruningCallback(trial, "valid-logloss")

    def train(self, trial, callback):
        import xgboost
        data = xgboost.DMatrix(ROWS, label=SIGNS)
        scores = {}
        xgboost.train({"max_depth": 2, "nthread": 1, "objective": "binary:logistic", "eval_metric": "logloss",
                       "learning_rate": trial.suggest_float("lr", 0.01, 0.5)}, data, num_boost_round=9, evals=[(data, "valid")],
                      verbose_eval=False, callbacks=[callback], evals_result=scores)
        return scores["valid"]["logloss"][-1]


class KerasTest(Pruning, unittest.TestCase):
    def callback(self, trial):
        return optuna_integration.KerasPruningCallback(trial, "val_loss")

    def train(self, trial, callback):
        import keras
        keras.utils.set_random_seed(SEED)
        model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
        model.compile(optimizer=keras.optimizers.SGD(trial.suggest_float("lr", 0.01, 0.5)), loss="binary_crossentropy")
        seen = model.fit(ROWS, SIGNS, validation_data=(ROWS, SIGNS), batch_size=60, epochs=9, verbose=0, callbacks=[callback])
        return seen.history["val_loss"][-1]


if __name__ == "__main__":
    unittest.main()
