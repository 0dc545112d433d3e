"""HpsearchCV with the scikit-learn of the interpreter that runs this, and the C library that the build made."""

import os
import pathlib
import pickle
import sys
import types
import unittest
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "clients" / "python"))
LIBRARY = pathlib.Path(os.environ["E2E_BIN_DIR"]).parent / "lib" / "libhpsearch.so.0"
os.environ["HPSEARCH_LIBRARY"] = str(LIBRARY)
# Workers import this file's classes and the package.
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "clients" / "python"), str(pathlib.Path(__file__).parent)])

try:
    import sklearn
except ImportError:
    print("skipped: scikit-learn is missing (scripts/setup examples, scripts/setup python)")
    print("OK (skipped=1)")
    sys.exit(0)
if not LIBRARY.exists():
    print(f"skipped: there is no {LIBRARY}; the programs are not built")
    print("OK (skipped=1)")
    sys.exit(0)

import joblib
import numpy as np
from scipy.stats import expon, loguniform, randint, uniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import GroupKFold, HalvingRandomSearchCV, ShuffleSplit, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from hpsearch._trial import Directive
from hpsearch.search import Work
from hpsearch.sklearn import HpsearchCV
from hpsearch.sklearn._evaluation import evaluate
from hpsearch.sklearn._folds import FoldFit, fair_order
from hpsearch.sklearn._space import Space
from hpsearch.sklearn._warm import Warm

X, Y = make_classification(n_samples=180, n_features=8, n_informative=4, n_classes=3, random_state=0)
VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])


def forest(**more):
    given = {"resource": "n_estimators", "max_resource": 9, "max_trials": 9, "cv": 2, "random_state": 1, **more}
    return HpsearchCV(RandomForestClassifier(random_state=0), {"max_depth": randint(1, 8), "max_features": uniform(0.1, 0.8)}, **given)


def outcome(search):
    results = search.cv_results_
    return (results["params"], results["mean_test_score"].tolist(), results["mean_train_score"].tolist(), results["trained"].tolist(),
            search.best_params_)


class OtherBackend(joblib._parallel_backends.ThreadingBackend):
    """A backend that HpsearchCV has no door to but joblib.Parallel."""


class Picky(ClassifierMixin, BaseEstimator):
    """Rejects some of its parameters when it is fitted."""

    def __init__(self, bad=False, rounds=1):
        self.bad = bad
        self.rounds = rounds

    def fit(self, X, y, sample_weight=None):
        if self.bad:
            raise RuntimeError("bad is not good")
        self.classes_, counts = np.unique(y, return_counts=True)
        self.most_ = self.classes_[np.argmax(counts)]
        self.weights_ = sample_weight
        self.samples_ = len(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.most_)


class Steps(ClassifierMixin, BaseEstimator):
    """Scores how many iterations it has had in all; kind only makes candidates differ."""

    def __init__(self, kind=0, max_iter=1, warm_start=False):
        self.kind = kind
        self.max_iter = max_iter
        self.warm_start = warm_start

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.done_ = (getattr(self, "done_", 0) if self.warm_start else 0) + self.max_iter
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def score(self, X, y):
        return self.done_


class Rows(ClassifierMixin, BaseEstimator):
    """Learns which rows it has seen, in one pass; scores how many, -1 if it got one twice, and -2 on rows that it has seen."""

    def __init__(self, kind=0):
        self.kind = kind

    def fit(self, X, y):
        self.seen_ = []
        return self.partial_fit(X, y, np.unique(y))

    def partial_fit(self, X, y, classes=None):
        self.seen_ = getattr(self, "seen_", []) + X[:, 0].tolist()
        if classes is not None:
            self.classes_ = classes
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def score(self, X, y):
        if set(X[:, 0].tolist()) & set(self.seen_):
            return -2
        return len(self.seen_) if len(set(self.seen_)) == len(self.seen_) else -1


class SearchTest(unittest.TestCase):
    def test_results_have_the_columns_of_halving_and_more(self):
        search = forest().fit(X, Y)
        halving = HalvingRandomSearchCV(RandomForestClassifier(random_state=0), {"max_depth": randint(1, 8), "max_features": uniform(0.1, 0.8)},
                                        resource="n_estimators", max_resources=9, n_candidates=9, cv=2, random_state=1).fit(X, Y)
        self.assertLessEqual(set(halving.cv_results_), set(search.cv_results_))
        self.assertEqual(set(search.cv_results_) - set(halving.cv_results_), {"candidate", "rung", "resource", "trained", "stopped_at"})
        results = search.cv_results_
        self.assertEqual(len({len(column) for column in results.values()}), 1)
        self.assertEqual(search.n_resources_, [1, 3, 9])
        self.assertEqual(search.n_candidates_[0], 9)
        self.assertEqual(sum(search.n_candidates_), len(results["rung"]))
        self.assertEqual(results["param_n_estimators"].tolist(), results["resource"].tolist())
        best = search.best_index_
        self.assertEqual(results["resource"][best], 9)
        self.assertEqual(search.best_score_, max(results["mean_test_score"][results["resource"] == 9]))
        self.assertEqual(len(search.best_estimator_.estimators_), 9)
        self.assertEqual(search.cv_splitter_.get_n_splits(), 2)
        for candidate in range(9):
            rows = results["candidate"] == candidate
            self.assertEqual(set(results["stopped_at"][rows]), {results["resource"][rows].max()})
        self.assertGreater(search.score(X, Y), 0.6)

    def test_the_same_seed_gives_the_same_search_for_any_number_of_workers(self):
        one = forest(n_jobs=1).fit(X, Y)
        for jobs in (2, 3):
            self.assertEqual(outcome(forest(n_jobs=jobs).fit(X, Y)), outcome(one))
        with joblib.parallel_backend("threading", n_jobs=3):
            self.assertEqual(outcome(forest().fit(X, Y)), outcome(one))
        joblib.register_parallel_backend("other", OtherBackend)
        with joblib.parallel_backend("other", n_jobs=2):
            self.assertEqual(outcome(forest().fit(X, Y)), outcome(one))
        self.assertNotEqual(outcome(forest(random_state=2).fit(X, Y))[0], outcome(one)[0])

    def test_the_attributes_of_halving_say_how_the_rungs_went(self):
        search = forest().fit(X, Y)
        halving = HalvingRandomSearchCV(RandomForestClassifier(random_state=0), {"max_depth": randint(1, 8), "max_features": uniform(0.1, 0.8)},
                                        resource="n_estimators", max_resources=9, n_candidates=9, cv=2, random_state=1).fit(X, Y)
        self.assertEqual({name for name in vars(halving) if name.endswith("_") and not name.startswith("_")} - set(vars(search)), set())
        for name in ("n_iterations_", "n_required_iterations_", "n_possible_iterations_", "min_resources_", "max_resources_", "n_resources_",
                     "multimetric_"):
            self.assertEqual(getattr(search, name), getattr(halving, name), name)
        self.assertEqual(search.n_remaining_candidates_, -(-search.n_candidates_[-1] // 3))
        short = forest(max_trials=5, min_resource=2).fit(X, Y)
        self.assertEqual((short.n_required_iterations_, short.n_possible_iterations_), (2, 2))

    def test_a_space_of_lists_is_drawn_without_replacement(self):
        space = {"kind": [1, 2, 3], "max_iter": [5, 5.0]}
        search = HpsearchCV(Steps(), space, max_trials=50, cv=2, random_state=0)
        with self.assertWarnsRegex(UserWarning, "max_trials is 50, but space has only 6: each is tried once"):
            search.fit(X, Y)
        results = search.cv_results_
        first = [tuple(params.values()) for params, rung in zip(results["params"], results["rung"]) if rung == 0]
        self.assertEqual(sorted(map(repr, first)), sorted(repr((kind, most)) for kind in (1, 2, 3) for most in (5, 5.0)))
        for seed in range(3):  # And fewer than there are.
            rows = HpsearchCV(Steps(), {"kind": list(range(8))}, max_trials=7, cv=2, random_state=seed).fit(X, Y).cv_results_
            self.assertEqual(len({params["kind"] for params, rung in zip(rows["params"], rows["rung"]) if rung == 0}), 7)

    def test_several_scores_and_the_one_that_decides(self):
        from sklearn.metrics import get_scorer
        scoring = {"right": get_scorer("accuracy"), "f1": "f1_macro"}
        for how in (scoring, ["accuracy", "f1_macro"], lambda model, X, y: {"right": get_scorer("accuracy")(model, X, y),
                                                                             "f1": get_scorer("f1_macro")(model, X, y)}):
            name = "f1_macro" if isinstance(how, list) else "f1"
            search = forest(scoring=how, refit=name, n_jobs=2).fit(X, Y)
            self.assertTrue(search.multimetric_)
            self.assertIsInstance(search.scorer_, types.FunctionType if callable(how) else dict)
            results, last = search.cv_results_, search.cv_results_["rung"] == 2
            self.assertEqual(search.best_score_, results[f"mean_test_{name}"][last].max())
            self.assertAlmostEqual(search.score(X, Y), get_scorer("f1_macro")(search.best_estimator_, X, Y))
            for part in ("split0_test_", "std_test_", "rank_test_", "mean_train_"):
                self.assertIn(part + name, results)
            self.assertNotIn("mean_test_score", results)
        # The same as with this score alone; the other score promotes others.
        alone = forest(scoring="f1_macro").fit(X, Y)
        self.assertEqual(alone.cv_results_["mean_test_score"].tolist(), search.cv_results_["mean_test_f1"].tolist())

        def opposite(model, X, y):
            return {"depth": -model.get_params()["max_depth"], "accuracy": model.score(X, y)}
        shallow, right = (forest(scoring=opposite, refit=name).fit(X, Y) for name in ("depth", "accuracy"))
        self.assertEqual(shallow.best_params_["max_depth"], min(params["max_depth"] for params in shallow.cv_results_["params"]))
        self.assertNotEqual(shallow.best_params_, right.best_params_)
        none = forest(scoring=opposite, refit=False).fit(X, Y)  # The first score decides; no candidate is the best.
        self.assertEqual(none.cv_results_["params"], shallow.cv_results_["params"])
        self.assertFalse(hasattr(none, "best_params_"))
        chosen = forest(scoring=opposite, refit=lambda results: int(results["rank_test_accuracy"].argmin())).fit(X, Y)
        self.assertEqual(chosen.cv_results_["rank_test_accuracy"][chosen.best_index_], 1)

    def test_of_several_scores_one_that_fails_is_error_score(self):
        def broken(model, X, y):
            raise RuntimeError("no such score")
        with self.assertWarnsRegex(UserWarning, "Scoring failed.*(?s:.*)no such score"):
            search = forest(scoring={"accuracy": "accuracy", "broken": broken}, refit="accuracy", error_score=-1).fit(X, Y)
        self.assertEqual(set(search.cv_results_["mean_test_broken"]), {-1})
        self.assertGreater(search.best_score_, 0.5)
        with self.assertRaisesRegex(RuntimeError, "no such score"):
            forest(scoring={"accuracy": "accuracy", "broken": broken}, refit="accuracy", error_score="raise").fit(X, Y)

    def test_it_clones_pickles_and_nests(self):
        search = HpsearchCV(make_pipeline(StandardScaler(), SGDClassifier(random_state=0, tol=None)),
                            {"sgdclassifier__alpha": loguniform(1e-5, 1e-1)}, resource="sgdclassifier__max_iter", max_resource=9,
                            max_trials=4, cv=2, random_state=0)
        twin = clone(search)
        self.assertEqual(outcome(twin.fit(X, Y)), outcome(search.fit(X, Y)))
        self.assertGreater(search.saved_resource_, 0)
        again = pickle.loads(pickle.dumps(search))
        self.assertEqual(again.predict(X).tolist(), search.predict(X).tolist())
        scores = cross_validate(make_pipeline(StandardScaler(), clone(search)), X, Y, cv=2, error_score="raise")["test_score"]
        self.assertGreater(min(scores), 0.4)

    def test_a_regressor_and_a_transformer_without_labels_are_searched(self):
        from sklearn.decomposition import PCA
        y = X[:, 0] + X[:, 1]
        ridge = HpsearchCV(Ridge(), {"alpha": loguniform(1e-3, 1e3)}, max_trials=5, cv=3, random_state=0).fit(X, y)
        self.assertGreater(ridge.best_score_, 0.9)
        self.assertEqual(ridge.n_resources_[-1], len(X))
        pca = HpsearchCV(PCA(), {"n_components": [1, 2, 5]}, max_trials=4, cv=3, random_state=0).fit(X)
        self.assertIn(pca.transform(X).shape[1], (1, 2, 5))

    def test_passes_the_checks_of_estimators(self):
        from sklearn.utils import estimator_checks
        # Cheap, and with a partial_fit: promoted models are kept.
        search = HpsearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, max_trials=2, cv=2, random_state=0)
        if VERSION >= (1, 6):
            checks = estimator_checks.estimator_checks_generator(search)
        else:
            checks = estimator_checks.check_estimator(search, generate_only=True)
        count = 0
        for estimator, check in checks:
            with self.subTest(check=str(check)), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    check(estimator)
                except unittest.SkipTest:
                    continue
                count += 1
        self.assertGreater(count, 30)


class WarmStartTest(unittest.TestCase):
    def test_a_forest_that_goes_on_is_the_forest_that_is_grown_anew(self):
        warm, cold = forest().fit(X, Y), forest(warm_start=False).fit(X, Y)
        self.assertEqual(outcome(warm)[:3], outcome(cold)[:3])
        self.assertEqual(cold.saved_resource_, 0)
        self.assertGreater(warm.saved_resource_, 0)
        self.assertEqual(warm.trained_resource_ + warm.saved_resource_, cold.trained_resource_)
        results = warm.cv_results_
        first = results["rung"] == 0
        self.assertEqual(results["trained"][first].tolist(), results["resource"][first].tolist())
        self.assertTrue((results["trained"][~first] < results["resource"][~first]).all())

    def test_naive_bayes_gets_only_the_added_samples(self):
        def search(warm):
            return HpsearchCV(GaussianNB(), {"var_smoothing": loguniform(1e-9, 1)}, max_trials=9, cv=3, random_state=0, min_resource=20,
                              warm_start=warm).fit(X, Y)
        warm, cold = search(True), search(False)
        self.assertGreater(warm.saved_resource_, 0)
        self.assertEqual(warm.n_resources_[-1], len(X))
        full = warm.cv_results_["resource"] == len(X)
        self.assertTrue(full.any())
        self.assertAlmostEqual(warm.best_score_, cold.best_score_, delta=0.05)

    def test_a_promoted_model_gets_each_sample_once_and_is_scored_on_others(self):
        rows = np.arange(90.0).reshape(90, 1)
        search = HpsearchCV(Rows(), {"kind": list(range(9))}, max_trials=9, cv=3, min_resource=10, random_state=0, warm_start=True).fit(
            rows, np.arange(90) % 3)
        results = search.cv_results_
        self.assertGreater(results["rung"].max(), 0)
        self.assertEqual(results["mean_test_score"].tolist(), [-(-60 * units // 90) for units in results["resource"]])
        self.assertEqual(set(results["mean_train_score"]), {-2})

    def test_the_first_rung_has_samples_of_each_class_for_each_fold(self):
        rows = np.arange(90.0).reshape(90, 1)
        search = HpsearchCV(Rows(), {"kind": list(range(9))}, max_trials=9, cv=3, random_state=0).fit(rows, np.arange(90) % 3)
        self.assertEqual(search.n_resources_[0], 30)  # One of 10, 30 and 90: at least two of three classes in three folds.

    def test_an_estimator_that_counts_the_iterations_of_one_fit_gets_the_difference(self):
        for warm in (True, False):
            search = HpsearchCV(Steps(), {"kind": list(range(9))}, resource="max_iter", max_resource=9, max_trials=9, cv=2,
                                random_state=0, warm_start=warm).fit(X, Y)
            results = search.cv_results_
            self.assertEqual(search.n_resources_, [1, 3, 9])
            self.assertEqual(results["mean_test_score"].tolist(), results["resource"].tolist())
            self.assertEqual(search.saved_resource_ > 0, warm)
            self.assertEqual(search.best_estimator_.done_, 9)

    def test_what_cannot_go_on_is_trained_anew(self):
        tree = HpsearchCV(DecisionTreeClassifier(random_state=0), {"min_samples_leaf": [1, 4]}, resource="max_depth", max_resource=9,
                          max_trials=4, cv=2, random_state=0)
        self.assertEqual(tree.fit(X, Y).saved_resource_, 0)
        with self.assertRaisesRegex(ValueError, "warm_start is True, but DecisionTreeClassifier can't continue"):
            tree.set_params(warm_start=True).fit(X, Y)
        # More samples do not grow a forest that has its trees.
        samples = HpsearchCV(RandomForestClassifier(n_estimators=3, random_state=0), {"max_depth": [1, 4]}, max_trials=4, cv=2,
                             random_state=0).fit(X, Y)
        self.assertEqual(samples.saved_resource_, 0)


class ModelTimeTest(unittest.TestCase):
    """The engine hears of scores in the order of a clock in which a fit lasts as long as its resource."""

    def order(self, kind):
        """(trial, length) in the order of the reports: two candidates at a time; trial 1 pauses, and is given again to 9."""
        class Engine:
            waiting = [Work({"trial": trial, "hparams": {}, "from": 0, "length": length, "seed": 0})
                       for trial, length in enumerate((14, 3, 3, 1))]
            out = 0

            def __init__(self):
                self.reports = []

            def ask(self):
                if self.out == 2 or not self.waiting:
                    return None
                self.out += 1
                return self.waiting.pop(0)

            def report(self, work, length, score):
                self.reports.append((work.trial, length))
                self.out -= 1
                if work.trial == 1 and length == 3:
                    self.waiting.append(Work({"trial": 1, "hparams": {}, "from": 3, "length": 9, "seed": 0}))
                    return Directive.PAUSE
                return Directive.STOP

        folds = types.SimpleNamespace(warm=kind, longest=14, splits=[0])
        space = types.SimpleNamespace(values=lambda params: params)
        workers = types.SimpleNamespace(apart=False, submit=lambda *_: types.SimpleNamespace(result=FoldFit))
        engine = Engine()
        evaluate(engine, space, folds, workers, lambda fits: 0.0)
        return engine.reports

    def test_short_fits_are_reported_before_a_long_one_that_began_earlier(self):
        # Trial 0 ends at 14. Meanwhile 1 ends at 3, 2 at 6, 3 at 7; then 1 trains to 9, anew until 16, or on until 13.
        self.assertEqual(self.order(Warm.NO), [(1, 3), (2, 3), (3, 1), (0, 14), (1, 9)])
        self.assertEqual(self.order(Warm.TOTAL), [(1, 3), (2, 3), (3, 1), (1, 9), (0, 14)])


class SpaceTest(unittest.TestCase):
    def test_distributions_and_lists_become_hyperparameters(self):
        pair, odd = (1, 2), Ridge()
        space = Space({"a": uniform(1, 2), "b": loguniform(1e-3, 1), "c": randint(2, 5), "d": ["x", None, 2], "e": [pair, odd],
                       "f": expon(scale=2), "g": np.array([1.5, 2.5]), "h": {"type": "int", "minval": 1, "maxval": 3}, "i": [1, 1.0, True]})
        made = space.hyperparameters
        self.assertEqual(made["a"], {"type": "double", "minval": 1.0, "maxval": 3.0})
        self.assertEqual(made["b"]["scale"], "log")
        self.assertEqual(made["c"], {"type": "int", "minval": 2, "maxval": 4})
        self.assertEqual(made["d"], {"type": "categorical", "vals": ["x", None, 2]})
        values = space.values({"a": 1.5, "d": None, "e": 1, "f": 0.5, "g": 2.5, "h": 2, "i": 2})
        self.assertEqual((values["a"], values["d"], values["h"]), (1.5, None, 2))
        self.assertIs(values["e"], odd)
        self.assertIs(values["i"], True)
        self.assertAlmostEqual(values["f"], 2 * np.log(2))

    def test_what_cannot_be_converted_is_named(self):
        class Draws:
            def rvs(self, random_state=None):
                return 1
        for space, kind, words in (({"alpha": Draws()}, TypeError, "space: alpha is a distribution of type Draws without quantiles"),
                                   ({"alpha": 3}, TypeError, "space: alpha is of type int; it must be a list"),
                                   ({"alpha": []}, ValueError, "space: alpha is an empty list"), ({}, ValueError, "space is empty"),
                                   ([{"alpha": [1]}], TypeError, "space is a list of 1 maps"), ({1: [2]}, TypeError, "has the name 1")):
            with self.assertRaisesRegex(kind, words):
                HpsearchCV(Ridge(), space).fit(X, Y)

    def test_conditions_leave_parameters_out(self):
        search = HpsearchCV(SVC(), {"kernel": ["rbf", "linear"], "gamma": {"type": "double", "minval": 0.01, "maxval": 1, "scale": "log",
                                                                          "when": {"kernel": "rbf"}}},
                            max_trials=6, cv=2, random_state=0).fit(X, Y)
        for params, column in zip(search.cv_results_["params"], search.cv_results_["param_gamma"]):
            self.assertEqual("gamma" in params, params["kernel"] == "rbf")
            self.assertEqual(column is np.ma.masked, params["kernel"] != "rbf")


class InputTest(unittest.TestCase):
    def test_each_refusal_is_one_sentence_with_what_is_allowed(self):
        for given, words in (({"scoring": ["accuracy", "f1_macro"]}, "refit is True; with the scores accuracy, f1_macro it must be"),
                             ({"scoring": ["accuracy", "f1_macro"], "refit": "recall"}, "refit is 'recall'; with the scores accuracy, f1_macro"),
                             ({"resource": "trees"}, "resource is 'trees'.*n_estimators"),
                             ({"resource": "max_depth", "max_resource": 5}, "max_depth is the resource"), ({"mode": "fast"}, "mode is 'fast'.*aggressive"),
                             ({"divisor": 1}, "divisor is 1"), ({"max_trials": 0}, "max_trials is 0"), ({"min_resource": 10}, "min_resource is 10"),
                             ({"max_resource": 2.5}, "max_resource is 2.5"), ({"refit": "accuracy"}, "refit is 'accuracy'"),
                             ({"resource": "n_samples", "max_resource": 1000}, "there are 180 samples"), ({"warm_start": 3}, "warm_start is 3"),
                             ({"scoring": lambda model, X, y: {"a": 1, "b": 2}}, "refit is True; with the scores a, b")):
            with self.subTest(given=given), self.assertRaisesRegex(ValueError, words) as caught:
                forest(**given).fit(X, Y)
            self.assertEqual(len(str(caught.exception).splitlines()), 1)
        with self.assertRaisesRegex(NotImplementedError, "on is 'local'; HpsearchCV runs \"inprocess\" only"):
            forest(on="local").fit(X, Y)

    def test_a_failed_candidate_ranks_last_and_is_reported(self):
        def search(bad, **more):
            return HpsearchCV(Picky(), {"bad": bad}, resource="rounds", max_resource=9, max_trials=6, cv=2, random_state=0, **more)
        with self.assertWarnsRegex(RuntimeWarning, "bad is not good"):
            mixed = search([True, False]).fit(X, Y)
        results = mixed.cv_results_
        failed = np.array([params["bad"] for params in results["params"]])
        self.assertTrue(np.isnan(results["mean_test_score"][failed]).all())
        self.assertGreater(results["rank_test_score"][failed].min(), results["rank_test_score"][~failed].max())
        self.assertFalse(mixed.best_params_["bad"])
        with self.assertRaisesRegex(ValueError, "fits failed"):
            search([True]).fit(X, Y)
        with self.assertRaisesRegex(RuntimeError, "bad is not good"):
            search([True, False], error_score="raise").fit(X, Y)
        with self.assertRaisesRegex(RuntimeError, "bad is not good"):
            search([True, False], error_score="raise", n_jobs=2).fit(X, Y)

    def test_groups_and_weights_reach_folds_and_fits(self):
        groups, weight = np.arange(len(X)) // 60, np.arange(len(X), dtype=float)
        search = HpsearchCV(Picky(), {"rounds": [1, 2]}, max_trials=3, cv=GroupKFold(3), random_state=0)
        if VERSION >= (1, 4):
            search.fit(X, Y, groups=groups, sample_weight=weight)
            self.assertEqual(search.best_estimator_.weights_.tolist(), weight.tolist())
            with sklearn.config_context(enable_metadata_routing=True):
                picky = Picky().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
                routed = HpsearchCV(picky, {"rounds": [1, 2]}, max_trials=3, cv=GroupKFold(3), random_state=0, n_jobs=2)
                routed.fit(X, Y, groups=groups, sample_weight=weight)
                self.assertEqual(routed.best_estimator_.weights_.tolist(), weight.tolist())
                with self.assertRaisesRegex(Exception, "sample_weight.* not explicitly set"):
                    clone(search).fit(X, Y, groups=groups, sample_weight=weight)
        else:
            search.fit(X, Y, groups=groups, sample_weight=weight)
            self.assertEqual(search.best_estimator_.weights_.tolist(), weight.tolist())

    def test_frames_callable_refit_and_no_refit(self):
        try:
            import pandas
        except ImportError:
            frame = X
        else:
            frame = pandas.DataFrame(X, columns=[f"x{n}" for n in range(X.shape[1])])
        kept = forest(refit=False).fit(frame, Y)
        self.assertFalse(hasattr(kept, "best_estimator_"))
        self.assertIn("max_depth", kept.best_params_)
        chosen = forest(refit=lambda results: 0, cv=ShuffleSplit(2, random_state=0)).fit(frame, Y)
        self.assertEqual(chosen.best_index_, 0)
        self.assertEqual(chosen.best_params_, chosen.cv_results_["params"][0])
        if frame is not X:
            self.assertEqual(list(chosen.feature_names_in_), list(frame.columns))

    def test_every_prefix_of_samples_has_its_share_of_each_class(self):
        labels = np.array([0] * 60 + [1] * 30 + [2] * 10)
        for seed in range(5):
            order = fair_order(labels, np.random.RandomState(seed), len(labels))
            self.assertEqual(sorted(order), list(range(100)))
            counts = np.bincount(labels[order[:20]], minlength=3)
            self.assertTrue((abs(counts - [12, 6, 2]) <= 1).all(), counts)


class PageTest(unittest.TestCase):
    def test_the_example_of_the_page_runs(self):
        block = (ROOT / "docs" / "python" / "sklearn.md").read_text().split("```python\n")[1].split("```")[0]
        known = {}
        exec(block, known)
        self.assertGreater(known["search"].best_score_, 0.85)
        self.assertGreater(known["search"].saved_resource_, 0)


if __name__ == "__main__":
    unittest.main()
