"""The search as an estimator of scikit-learn."""

# pyright: reportAttributeAccessIssue=false
# Pyright also looks for a library in this directory, and takes this package or module for the one of its name.

from __future__ import annotations

import math
import numbers
import time
import warnings
from typing import Any, ClassVar, Dict, List, Optional, Sequence, cast

import numpy as np
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state, indexable
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples

from ..search import Search
from ._evaluation import CONCURRENT, Evaluation, evaluate, run
from ._folds import Folds, fair_order, warn_of_failures
from ._results import best_row, cv_results, in_order
from ._scoring import Decision, Scoring
from ._space import Space
from ._warm import warm
from ._workers import workers

_MODES = ("aggressive", "standard", "conservative")
# Rungs below the last one, unless min_resource is given: the first trains a 27th part with divisor 3.
_RUNGS_BELOW = 3


class HpsearchCV(BaseSearchCV):  # type: ignore[misc]
    """Searches hyperparameters of an estimator by asynchronous successive halving with cross-validation.

    Candidates begin with a small amount of a resource. The best 1/divisor of those that were measured get divisor times as
    much, and so on, without waiting for the slowest. best_estimator_ is trained on all data with best_params_.

    estimator: what is tuned; its score method counts unless scoring is given.
    space: a map from parameters to lists, frozen distributions of scipy.stats, or hyperparameters as in an experiment file
        ({"type": "double", "minval": 1e-4, "maxval": 1, "scale": "log"}).
    resource: "n_samples" (training samples, all folds together), or the name of a whole-number parameter of the estimator,
        such as "n_estimators", "max_iter" or "clf__max_iter".
    max_resource: units of the last rung. "auto": all samples, or the estimator's own value of the parameter.
    min_resource: units of the first rung, or a little more. "auto": a 27th part of max_resource with divisor 3, enough for
        each class in each fold, and no more rungs than max_trials can fill.
    divisor: at least 2.
    mode: "aggressive" (one bracket), "standard" or "conservative" (more brackets, which protect against early scores that
        mislead).
    max_trials: number of candidates. A space with fewer combinations, of lists or whole numbers only, tries each once.
    cv, error_score, verbose, return_train_score, n_jobs: as in HalvingRandomSearchCV.
    scoring, refit: as in RandomizedSearchCV. With several scores, the one that refit names also decides who is promoted; with
        refit=False or a function, the first one does.
    warm_start: "auto": a promoted candidate trains on its kept models where the estimator can (docs/python/sklearn.md lists when);
        True: raises ValueError where it can't; False: anew. Kept models stay in memory until the search ends.
    random_state: seed of the candidates and of the order of samples. The same seed gives the same candidates, promotions and
        scores for any n_jobs, if the estimator has a random_state of its own.
    on: "inprocess".

    Attributes, besides those of HalvingRandomSearchCV, whose iterations are the rungs here: trained_resource_ (units trained,
    over all folds), saved_resource_ (units that warm start didn't train again).
    """

    _required_parameters: ClassVar[List[str]] = ["estimator", "space"]

    def __init__(self, estimator: Any, space: Any, *, resource: str = "n_samples", max_resource: Any = "auto",
                 min_resource: Any = "auto", divisor: float = 3, mode: str = "aggressive", max_trials: int = 50, cv: Any = 5,
                 scoring: Any = None, refit: Any = True, n_jobs: Optional[int] = None, warm_start: Any = "auto",
                 error_score: Any = np.nan, return_train_score: bool = True, random_state: Any = None, verbose: int = 0,
                 on: Any = "inprocess") -> None:
        super().__init__(estimator, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv, verbose=verbose, error_score=error_score,
                         return_train_score=return_train_score)
        self.space = space
        self.resource = resource
        self.max_resource = max_resource
        self.min_resource = min_resource
        self.divisor = divisor
        self.mode = mode
        self.max_trials = max_trials
        self.warm_start = warm_start
        self.random_state = random_state
        self.on = on

    def fit(self, X: Any, y: Any = None, **params: Any) -> "HpsearchCV":
        """Searches, and trains the best on all of X and y. params: groups for cv, others for the estimator's fit; with
        scikit-learn's metadata routing, those that were requested."""
        self._check_parameters()
        space = Space(self.space)
        scoring = Scoring(self.estimator, self.scoring, self.error_score)
        decision = Decision(scoring, self.scoring, self.refit)
        X, y = indexable(X, y)
        fit_params, split_params, score_params = self._routed(params)
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits = [(_indexes(train), _indexes(test)) for train, test in cv.split(X, y, **split_params)]
        if not splits:
            raise ValueError(f"cv gives no split: {cv!r}")
        random = check_random_state(self.random_state)
        folds = Folds()
        folds.estimator = clone(self.estimator)
        folds.X, folds.y, folds.samples, folds.splits = X, y, _num_samples(X), splits
        folds.fit_params, folds.score_params, folds.scoring = fit_params, score_params, scoring
        folds.resource, folds.error_score, folds.train_scores = self.resource, self.error_score, self.return_train_score
        folds.warm = warm(self.estimator, self.resource, space.hyperparameters, y is not None, self.warm_start)
        folds.config = sklearn.get_config()
        smallest, folds.longest = self._bounds(folds, y)
        trials = self._trials(space)
        seed = int(random.randint(np.iinfo(np.int32).max))
        folds.orders = self._orders(folds, y, random)
        begin = time.perf_counter()
        with Search(self._experiment(space, smallest, folds.longest, trials, seed), slots=CONCURRENT) as search, \
                workers(run, folds, self.n_jobs) as crew:
            rows = in_order(evaluate(search, space, folds, crew, decision.score))
        fits = [fit for each in rows for fit in each.fits]
        warn_of_failures(fits, self.error_score)
        names = decision.names(fits)
        deciding = decision.name(names)
        self.scorer_, self.n_splits_, self.cv_splitter_ = scoring.scorer, len(splits), cv
        self.multimetric_ = decision.several(fits)
        self._store(rows, names, deciding)
        self._store_rungs(trials, smallest, folds.longest)
        if self.verbose:
            best = np.nanmax(np.append(self.cv_results_[f"mean_test_{deciding}"], -np.inf))
            print(f"HpsearchCV: {trials} candidates, {len(rows) * len(splits)} fits in "
                  f"{time.perf_counter() - begin:.1f} s; "
                  f"{self.trained_resource_} {self.resource} trained over {len(splits)} folds, {self.saved_resource_} saved by "
                  f"warm start; best {deciding} {best:.4g}")
        if self.refit:
            self._refit(X, y, fit_params)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = get_tags(self.estimator).target_tags.multi_output
        return tags

    def _run_search(self, evaluate_candidates: Any) -> None:
        raise NotImplementedError("HpsearchCV has a fit of its own")

    def _check_parameters(self) -> None:
        if self.on != "inprocess":
            raise NotImplementedError(f"on is {self.on!r}; HpsearchCV runs \"inprocess\" only: data and estimator stay in this "
                                      "program. Use hpsearch.tune to search on other machines")
        if not isinstance(self.refit, (bool, np.bool_, str)) and not callable(self.refit):
            raise ValueError(f"refit is {self.refit!r}; it must be True, False, the name of a score or a function of cv_results_ that "
                             "returns a row")
        if self.mode not in _MODES:
            raise ValueError(f"mode is {self.mode!r}; it must be one of {', '.join(_MODES)}")
        if not (isinstance(self.warm_start, bool) or self.warm_start == "auto"):
            raise ValueError(f"warm_start is {self.warm_start!r}; it must be \"auto\", True or False")
        if self.error_score != "raise" and not _number(self.error_score):
            raise ValueError(f"error_score is {self.error_score!r}; it must be \"raise\" or a number")
        if not _whole(self.max_trials):
            raise ValueError(f"max_trials is {self.max_trials!r}; it must be a whole number of at least 1")
        if not _number(self.divisor) or not 2 <= self.divisor <= 1000:
            raise ValueError(f"divisor is {self.divisor!r}; it must be a number from 2 to 1000")
        names = self.estimator.get_params(deep=True)
        if self.resource != "n_samples" and self.resource not in names:
            raise ValueError(f"resource is {self.resource!r}; it must be \"n_samples\" or a parameter of "
                             f"{type(self.estimator).__name__}: {', '.join(sorted(names)) or 'it has none'}")
        if isinstance(self.space, dict) and self.resource in self.space:
            raise ValueError(f"space: {self.resource} is the resource, so the search sets it; leave it out of space")

    def _bounds(self, folds: Folds, y: Any) -> "tuple[int, int]":
        """Units of the first and the last rung."""
        samples = self.resource == "n_samples"
        longest = cast(Any, self.max_resource)
        if _is_auto(longest):
            longest = folds.samples if samples else self.estimator.get_params(deep=True)[self.resource]
            if not _whole(longest):
                raise ValueError(f"max_resource is \"auto\", but the estimator's {self.resource} is {longest!r}; "
                                 "give a whole number")
        if not _whole(longest):
            raise ValueError(f"max_resource is {longest!r}; it must be \"auto\" or a whole number of at least 1")
        if samples and longest > folds.samples:
            raise ValueError(f"max_resource is {longest}, but there are {folds.samples} samples")
        smallest = cast(Any, self.min_resource)
        if _is_auto(smallest):
            smallest = -(-longest // self.divisor**_RUNGS_BELOW)
            if samples:
                classes = len(np.unique(y)) if is_classifier(self.estimator) and y is not None and np.ndim(y) == 1 else 1
                smallest = max(smallest, 2 * len(folds.splits) * classes)
            smallest = min(smallest, longest)
        if not _number(smallest) or not 1 <= smallest <= longest:
            raise ValueError(f"min_resource is {smallest!r}; it must be \"auto\" or a number from 1 to max_resource, {longest}")
        return int(smallest), int(longest)

    def _orders(self, folds: Folds, y: Any, random: np.random.RandomState) -> List[Any]:
        if self.resource != "n_samples":
            return [None] * len(folds.splits)
        fair = is_classifier(self.estimator) and y is not None and type_of_target(y) in ("binary", "multiclass")
        labels = np.asarray(y).ravel() if fair else None
        return [train[fair_order(None if labels is None else labels[train], random, len(train))]
                for train, _ in folds.splits]

    def _trials(self, space: Space) -> int:
        combinations = space.combinations()
        if combinations is None or combinations >= self.max_trials:
            return int(self.max_trials)
        warnings.warn(f"max_trials is {self.max_trials}, but space has only {combinations}: each is tried once. "
                      "GridSearchCV tries all with the whole resource", UserWarning)
        return combinations

    def _experiment(self, space: Space, smallest: int, longest: int, trials: int, seed: int) -> Dict[str, Any]:
        once = {} if space.combinations() is None else {"on_duplicate": "reject"}
        return {"hyperparameters": space.hyperparameters,
                "searcher": {"name": "adaptive_asha", "metric": "score", "smaller_is_better": False, "max_length": longest,
                             "max_trials": trials, "divisor": float(self.divisor), "mode": self.mode,
                             "max_rungs": self._rungs(smallest, longest), "max_concurrent_trials": CONCURRENT, **once},
                "reproducibility": {"experiment_seed": seed}}

    def _rungs(self, smallest: int, longest: int) -> int:
        rungs = 1
        while smallest * self.divisor**rungs <= longest:
            rungs += 1
        return rungs

    def _routed(self, params: Dict[str, Any]) -> "tuple[Dict[str, Any], Dict[str, Any], Dict[str, Any]]":
        """Parameters of the estimator's fit, of cv and of the scorer."""
        params = {name: value for name, value in params.items() if value is not None}
        if sklearn.get_config().get("enable_metadata_routing", False):
            from sklearn.utils.metadata_routing import process_routing

            routed = process_routing(self, "fit", **params)
            return dict(routed.estimator.fit), dict(routed.splitter.split), dict(routed.scorer.score)
        groups = {"groups": params.pop("groups")} if "groups" in params else {}
        return params, groups, {}

    def _store(self, rows: List[Evaluation], names: Sequence[str], deciding: str) -> None:
        """The results, and the best of them. With several scores and refit=False no candidate is the best, as in scikit-learn."""
        results = cv_results(rows, self.resource, names, self.return_train_score, self.error_score)
        self.cv_results_ = results
        self.trained_resource_ = sum(fit.trained for each in rows for fit in each.fits)
        self.saved_resource_ = sum(each.length - fit.trained for each in rows for fit in each.fits if fit.error is None)
        if self.multimetric_ and not self.refit:
            return
        self.best_index_ = int(cast(Any, self.refit)(results)) if callable(self.refit) else best_row(results, deciding)
        if not 0 <= self.best_index_ < len(rows):
            raise IndexError(f"refit returned {self.best_index_}; cv_results_ has {len(rows)} rows")
        self.best_params_ = results["params"][self.best_index_]
        if not callable(self.refit):
            self.best_score_ = float(results[f"mean_test_{deciding}"][self.best_index_])

    def _store_rungs(self, trials: int, smallest: int, longest: int) -> None:
        """The attributes of HalvingRandomSearchCV about its iterations: rungs, here."""
        reached = self.cv_results_["resource"]
        self.n_resources_ = [int(each) for each in np.unique(reached)]
        self.n_candidates_ = [int(np.sum(reached == each)) for each in self.n_resources_]
        self.min_resources_, self.max_resources_ = self.n_resources_[0], longest
        self.n_iterations_ = len(self.n_resources_)
        self.n_possible_iterations_ = self._rungs(smallest, longest)
        self.n_required_iterations_ = 1 + math.floor(math.log(trials, self.divisor))
        self.n_remaining_candidates_ = math.ceil(self.n_candidates_[-1] / self.divisor)

    def _refit(self, X: Any, y: Any, fit_params: Dict[str, Any]) -> None:
        values = {name: clone(value, safe=False) for name, value in self.best_params_.items()}
        self.best_estimator_ = clone(self.estimator).set_params(**values)
        begin = time.perf_counter()
        self.best_estimator_.fit(*((X,) if y is None else (X, y)), **fit_params)
        self.refit_time_ = time.perf_counter() - begin
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _indexes(chosen: Any) -> Any:
    """Numbers of samples; cv may give a mask."""
    chosen = np.asarray(chosen)
    return np.flatnonzero(chosen) if chosen.dtype == bool else chosen


def _number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def _whole(value: Any) -> bool:
    return _number(value) and isinstance(value, numbers.Integral) and int(value) >= 1
