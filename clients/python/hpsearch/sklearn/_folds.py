"""One candidate on one fold: fit and score."""

# pyright: reportAttributeAccessIssue=false
# Pyright also looks for a library in this directory, and takes this package or module for the one of its name.

from __future__ import annotations

import time
import traceback
import warnings
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split

from ._joblib import cloudpickle
from ._scoring import Scoring
from ._warm import Warm, warm_parameter


class FoldFit:
    """What a fit on one fold gave. Scores (by name; none if the fit failed) and times (seconds) are of this fit alone; model:
    None unless it is kept; trained: units of the resource; error: the traceback of a fit that failed, or None."""

    __slots__ = ("error", "fit_time", "model", "score_time", "test_scores", "train_scores", "trained")

    def __init__(self) -> None:
        self.test_scores: Dict[str, float] = {}
        self.train_scores: Dict[str, float] = {}
        self.fit_time = self.score_time = 0.0
        self.trained = 0
        self.model: Any = None
        self.error: Optional[str] = None


class Folds:
    """What all fits of a search share: data, folds, estimator, scoring."""

    estimator: Any
    X: Any
    y: Any
    samples: int              # Samples of X, all folds together.
    splits: List[Tuple[Any, Any]]
    orders: List[Any]         # Orders of each fold's training samples, so that each prefix is a fair share; None without n_samples.
    fit_params: Dict[str, Any]
    score_params: Dict[str, Any]
    scoring: Scoring
    resource: str
    longest: int              # Units of the resource that a candidate trains at most.
    warm: Warm
    error_score: Any
    train_scores: bool
    config: Dict[str, Any]    # The configuration of scikit-learn.

    _arrays = ("X", "y", "splits", "orders", "fit_params", "score_params")

    def divided(self) -> Tuple[Dict[str, Any], "Folds"]:
        """Arrays, and the rest."""
        rest = Folds()
        rest.__dict__.update({name: value for name, value in self.__dict__.items() if name not in self._arrays})
        return {name: getattr(self, name) for name in self._arrays}, rest

    def joined(self, arrays: Dict[str, Any]) -> "Folds":
        """Both together again."""
        self.__dict__.update(arrays)
        return self

    def train(self, fold: int, units: int) -> Any:
        """The training samples of a fold for so many units of the resource."""
        train = self.splits[fold][0]
        return train if self.resource != "n_samples" else np.sort(self._prefix(fold, 0, units))

    def _prefix(self, fold: int, start: int, units: int) -> Any:
        order = self.orders[fold]
        first, last = (-(-len(order) * each // self.samples) for each in (start, units))
        return order[first:last]

    def added(self, fold: int, start: int, units: int) -> Any:
        """The training samples that `units` has and `start` has not."""
        return np.sort(self._prefix(fold, start, units))

    def of_samples(self, params: Dict[str, Any], chosen: Any) -> Dict[str, Any]:
        """The parameters of fit or score, those with a value for each sample cut to the chosen samples."""
        def cut(value: Any) -> Any:
            per_sample = not isinstance(value, (str, bytes, dict)) and (hasattr(value, "shape") or hasattr(value, "__len__"))
            shape: Any = getattr(value, "shape", ())
            if not per_sample or (shape[0] if shape else len(value)) != self.samples:
                return value
            return _safe_indexing(value, chosen)
        return {name: cut(value) for name, value in params.items()}


def fair_order(labels: Any, random: np.random.RandomState, count: int) -> Any:
    """A permutation of `count` samples; with labels, each class has its share in every prefix."""
    order = random.permutation(count)
    if labels is None:
        return order
    place = np.empty(count)
    shuffled = np.asarray(labels)[order]
    for label in np.unique(shuffled):
        members = np.flatnonzero(shuffled == label)
        place[members] = (np.arange(len(members)) + random.uniform(size=len(members))) / len(members)
    return order[np.argsort(place, kind="stable")]


def fit_fold(folds: Folds, fold: int, params: Dict[str, Any], start: int, units: int, kept: Any, keep: bool,
             apart: bool) -> FoldFit:
    """Trains on a fold until `units`, from `kept`, a model of `start` units, if there is one. keep: return the model too.
    apart: models are bytes. A failed fit has no scores, or raises if error_score is "raise"."""
    with config_context(**folds.config):
        done = FoldFit()
        if isinstance(kept, bytes):
            kept = cloudpickle.loads(kept)
        model = kept if kept is not None else _configured(folds, params)
        begin = time.perf_counter()
        try:
            done.trained = _fit(folds, fold, model, start if kept is not None else 0, units)
        except Exception:
            if folds.error_score == "raise":
                raise
            done.fit_time = time.perf_counter() - begin
            done.error = traceback.format_exc()
            return done
        done.fit_time = time.perf_counter() - begin
        begin = time.perf_counter()
        done.test_scores = _scores(folds, model, folds.splits[fold][1], folds.train(fold, units))
        done.score_time = time.perf_counter() - begin
        if folds.train_scores:
            train = folds.train(fold, units)
            done.train_scores = _scores(folds, model, train, None)
        if keep:
            done.model = cloudpickle.dumps(model) if apart else model
        return done


def _configured(folds: Folds, params: Dict[str, Any]) -> Any:
    # Values that are estimators are shared between candidates.
    return clone(folds.estimator).set_params(**{name: clone(value, safe=False) for name, value in params.items()})


def _fit(folds: Folds, fold: int, model: Any, start: int, units: int) -> int:
    """Units trained."""
    def arguments(chosen: Any) -> Tuple[Any, ...]:
        X, y = _safe_split(model, folds.X, folds.y, chosen)
        return (X,) if y is None else (X, y)

    if folds.warm is Warm.SAMPLES:
        added = folds.added(fold, start, units)
        more = folds.of_samples(folds.fit_params, added)
        if start == 0 and is_classifier(model):
            more["classes"] = np.unique(_safe_indexing(folds.y, folds.splits[fold][0]))
        if len(added):
            model.partial_fit(*arguments(added), **more)
        return units - start
    if folds.warm is not Warm.NO:
        model.set_params(**{warm_parameter(folds.resource): True,
                            folds.resource: units if folds.warm is Warm.TOTAL else units - start})
    elif folds.resource != "n_samples":
        model.set_params(**{folds.resource: units})
    train = folds.train(fold, units)
    model.fit(*arguments(train), **folds.of_samples(folds.fit_params, train))
    return units - start


def _scores(folds: Folds, model: Any, chosen: Any, train: Any) -> Dict[str, float]:
    X, y = _safe_split(model, folds.X, folds.y, chosen, train)
    return folds.scoring.scores(model, (X,) if y is None else (X, y), folds.of_samples(folds.score_params, chosen))


def warn_of_failures(fits: List[FoldFit], error_score: Any) -> None:
    """One warning for all fits that failed; ValueError if none succeeded."""
    errors = [each.error for each in fits if each.error is not None]
    if not errors:
        return
    kinds = {error: errors.count(error) for error in errors}
    details = "\n".join(f"{count} fits failed with this error:\n{error}" for error, count in kinds.items())
    if len(errors) == len(fits):
        raise ValueError(f"All the {len(fits)} fits failed. error_score=\"raise\" shows where. Details:\n{details}")
    warnings.warn(f"{len(errors)} fits failed out of a total of {len(fits)}. Their score is {error_score}; "
                  f"error_score=\"raise\" shows where. Details:\n{details}", FitFailedWarning)
