"""cv_results_: a row for each candidate and rung."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence

import numpy as np
from numpy.ma import MaskedArray
from scipy.stats import rankdata

from ._evaluation import Evaluation


def in_order(evaluations: List[Evaluation]) -> List[Evaluation]:
    """By rung, then by candidate."""
    return sorted(evaluations, key=lambda each: (each.length, each.trial))


def cv_results(rows: List[Evaluation], resource: str, names: Sequence[str], train_scores: bool, error_score: Any) -> Dict[str, Any]:
    """The columns of HalvingRandomSearchCV, those of scores for each of `names`, and: candidate (number, from 0), rung, resource (the units that the row's models
    have in all), trained (the units of them that this row's fits trained), stopped_at (the units that the candidate reached
    in the end)."""
    lengths = sorted({each.length for each in rows})
    reached: Dict[int, int] = {}
    for each in rows:
        reached[each.trial] = max(each.length, reached.get(each.trial, 0))
    rung = np.array([lengths.index(each.length) for each in rows])
    units = np.array([each.length for each in rows])
    results: Dict[str, Any] = {"iter": rung, "n_resources": units}

    def columns(name: str, values: Any, folds: bool) -> None:
        table = np.array(values, dtype=float)
        if folds:
            for fold in range(table.shape[1]):
                results[f"split{fold}_{name}"] = table[:, fold]
        with np.errstate(invalid="ignore"):
            results[f"mean_{name}"] = table.mean(axis=1)
            results[f"std_{name}"] = table.std(axis=1)

    columns("fit_time", [[fit.fit_time for fit in each.fits] for each in rows], False)
    columns("score_time", [[fit.score_time for fit in each.fits] for each in rows], False)
    params = [each.params if resource == "n_samples" else {**each.params, resource: each.length} for each in rows]
    for name in sorted({name for each in params for name in each}):
        column: Any = MaskedArray(np.empty(len(rows), dtype=object), mask=True)
        for row, values in enumerate(params):
            if name in values:
                column[row] = values[name]
        results[f"param_{name}"] = column
    results["params"] = params
    for name in names:
        columns(f"test_{name}", [[fit.test_scores.get(name, error_score) for fit in each.fits] for each in rows], True)
        means = results[f"mean_test_{name}"]
        ranked = np.where(np.isnan(means), -np.inf, means)
        results[f"rank_test_{name}"] = rankdata(-ranked, method="min").astype(np.int32)
        if train_scores:
            columns(f"train_{name}", [[fit.train_scores.get(name, error_score) for fit in each.fits] for each in rows], True)
    results["candidate"] = np.array([each.trial for each in rows])
    results["rung"] = rung
    results["resource"] = units
    results["trained"] = np.array([max(fit.trained for fit in each.fits) for each in rows])
    results["stopped_at"] = np.array([reached[each.trial] for each in rows])
    return results


def best_row(results: Dict[str, Any], score: str) -> int:
    """The row with the best mean of a score among those that trained longest: scores of shorter trainings don't compare."""
    means = np.where(results["rung"] == results["rung"].max(), results[f"mean_test_{score}"], np.nan)
    if np.isnan(means).all():
        return int(np.argmax(results["rung"]))
    return int(np.nanargmax(means))
