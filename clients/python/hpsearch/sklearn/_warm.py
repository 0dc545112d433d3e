"""Whether, and how, a kept model of an estimator trains on instead of anew."""

from __future__ import annotations

import enum
from typing import Any, Mapping

from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline


class Warm(enum.Enum):
    """How a kept model goes on."""

    NO = "no"              # It does not: the fit begins anew.
    TOTAL = "total"        # warm_start, and the parameter counts all iterations: trees of a forest.
    MORE = "more"          # warm_start, and the parameter counts the iterations of one fit: epochs of a linear model.
    SAMPLES = "samples"    # partial_fit with the samples that are new.


def _owner(estimator: Any, prefix: str) -> Any:
    """The part of an estimator that a parameter "prefix__NAME" belongs to; None if fits make copies of it."""
    for name in prefix.split("__") if prefix else ():
        if not isinstance(estimator, Pipeline) or estimator.memory is not None or estimator.steps[-1][0] != name:
            return None
        estimator = estimator.steps[-1][1]
    return estimator


def warm(estimator: Any, resource: str, space: Mapping[str, Any], labels: bool, wanted: Any) -> Warm:
    """How models of `estimator` go on when `resource` grows. labels: y is given. wanted: "auto", True (ValueError if they
    can't) or False."""
    if wanted is False:
        return Warm.NO
    found = _possible(estimator, resource, space, labels)
    if wanted is True and found is Warm.NO:
        raise ValueError(f"warm_start is True, but {type(estimator).__name__} can't continue a fit when {resource} grows; "
                         "use \"auto\"")
    return found


def _possible(estimator: Any, resource: str, space: Mapping[str, Any], labels: bool) -> Warm:
    if resource == "n_samples":
        # Only where one pass is the whole fit (naive Bayes): others make many passes over all samples.
        one_pass = labels and (is_classifier(estimator) or is_regressor(estimator)) and hasattr(estimator, "partial_fit")
        passes = {"max_iter", "n_iter", "warm_start"} & set(estimator.get_params(deep=False))
        return Warm.SAMPLES if one_pass and not passes else Warm.NO
    prefix, _, name = resource.rpartition("__")
    owner = _owner(estimator, prefix)
    if owner is None or warm_parameter(resource) in space or "warm_start" not in owner.get_params(deep=False):
        return Warm.NO
    # Ensembles count all their members; the histogram boosting calls them max_iter.
    return Warm.TOTAL if name == "n_estimators" or hasattr(owner, "max_bins") else Warm.MORE


def warm_parameter(resource: str) -> str:
    """The parameter warm_start beside a resource: of the same part of a pipeline."""
    prefix, between, _ = resource.rpartition("__")
    return prefix + between + "warm_start"
