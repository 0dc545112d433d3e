"""The scores that a candidate gets, and the one that decides."""

# pyright: reportAttributeAccessIssue=false
# Pyright also looks for a library in this directory, and takes this package or module for the one of its name.

from __future__ import annotations

import traceback
import warnings
from typing import Any, Dict, List, Sequence, cast

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _check_multimetric_scoring, _MultimetricScorer

#: The name of the score where there is only one, in the columns of cv_results_.
SINGLE = "score"


class Scoring:
    """What scores models: one scorer, several by name, or a function that returns a number or a dict of them."""

    def __init__(self, estimator: Any, scoring: Any, error_score: Any) -> None:
        """ValueError: there is no such score."""
        self.error_score = error_score
        #: As scorer_ of scikit-learn's searches: a dict if several scores are named.
        self.scorer: Any
        if scoring is None or isinstance(scoring, str) or callable(scoring):
            self.scorer = self._call = check_scoring(estimator, scoring=scoring)
            return
        self.scorer = _check_multimetric_scoring(estimator, sorted(scoring) if isinstance(scoring, (set, frozenset)) else scoring)
        self._call = _MultimetricScorer(scorers=self.scorer, raise_exc=error_score == "raise")

    def scores(self, model: Any, arguments: Sequence[Any], more: Dict[str, Any]) -> Dict[str, float]:
        """The scores of a model by name; {} if the only scorer failed. A score that failed is error_score, with a warning."""
        try:
            given: Any = self._call(model, *arguments, **more)
        except Exception:
            if self.error_score == "raise":
                raise
            self._warn(traceback.format_exc())
            return {}
        if not isinstance(given, dict):
            return {SINGLE: _number(given)}
        return {str(name): self._valid(value) for name, value in given.items()}

    def _valid(self, value: Any) -> float:
        if not isinstance(value, str):
            return _number(value)
        self._warn(value)  # The traceback of one of several scorers.
        return float(self.error_score)

    def _warn(self, details: str) -> None:
        warnings.warn(f"Scoring failed. The score of this fold is {self.error_score}. Details:\n{details}", UserWarning)


class Decision:
    """Which score decides who is promoted and which candidate is the best: the one that refit names, else the first."""

    def __init__(self, scoring: Scoring, wanted: Any, refit: Any) -> None:
        """wanted: the parameter scoring. ValueError: refit doesn't fit it."""
        self._scoring = scoring
        self._refit = refit
        self._named: List[str] = list(scoring.scorer) if isinstance(scoring.scorer, dict) else []
        if self._named:
            self.name(self._named)
        elif isinstance(refit, str) and not callable(wanted):
            raise ValueError(f"refit is {refit!r}; with one score it must be True, False or a function of cv_results_ that returns a row")

    def names(self, fits: Sequence[Any]) -> List[str]:
        """The scores of fits."""
        return self._named or next((list(fit.test_scores) for fit in fits if fit.test_scores), [SINGLE])

    def several(self, fits: Sequence[Any]) -> bool:
        """Whether candidates have several scores, also if it is one with a name: multimetric_ of scikit-learn's searches."""
        return bool(self._named) or self.names(fits) != [SINGLE]

    def name(self, names: Sequence[str]) -> str:
        """The one of these scores that decides. ValueError: refit is another word, or True where there are several."""
        refit = self._refit
        if isinstance(refit, str) and refit in names:
            return refit
        is_single = not self._named and names == [SINGLE]
        if isinstance(refit, str) or refit and not callable(refit) and not is_single:
            raise ValueError(f"refit is {refit!r}; with the scores {', '.join(names)} it must be the name of one, which also decides who "
                             "is promoted, or False, or a function of cv_results_ that returns a row")
        return names[0]

    def score(self, fits: Sequence[Any]) -> float:
        """The mean of the test scores that decide, over the folds of a candidate; NaN if one is."""
        name = self.name(self.names(fits))
        return float(np.mean([fit.test_scores.get(name, self._scoring.error_score) for fit in fits]))


def _number(score: Any) -> float:
    return float(cast(Any, score).item() if hasattr(score, "item") else score)
