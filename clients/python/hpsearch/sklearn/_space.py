"""Spaces as users of RandomizedSearchCV write them, as hyperparameters of an experiment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from .._functions.file_space import foreign_distribution, is_optuna, of_scipy

# The quantiles of 0 and 1 can be infinite.
_EDGE = 2.0**-40


class Space:
    """What is searched: `hyperparameters`, as an experiment file has them, and the way back to values of the estimator."""

    def __init__(self, space: Any) -> None:
        """space: a map from the estimator's parameters to lists, frozen distributions of scipy.stats, or hyperparameters as
        in an experiment file ({"type": "double", …}). TypeError or ValueError names what can't be converted."""
        if isinstance(space, (list, tuple)):
            raise TypeError(f"space is a list of {len(space)} maps; it must be one map. Use `when` for parameters that depend on "
                            "others")
        if not isinstance(space, Mapping):
            raise TypeError(f"space is {_kind(space)}; it must be a map from parameters to lists or distributions")
        if not space:
            raise ValueError("space is empty; it must name at least one parameter")
        self.hyperparameters: Dict[str, Any] = {}
        self._decode: Dict[str, Callable[[Any], Any]] = {}
        for name, given in space.items():
            if not isinstance(name, str):
                raise TypeError(f"space has the name {name!r}; names of parameters are texts")
            self.hyperparameters[name], self._decode[name] = _convert(name, given)

    def combinations(self) -> Optional[int]:
        """How many there are; None if a parameter has a range of real numbers, or a condition."""
        count = 1
        for hyperparameter in self.hyperparameters.values():
            values = None if hyperparameter.get("when") is not None else _values(hyperparameter)
            if values is None:
                return None
            count *= values
        return count

    def values(self, drawn: Dict[str, Any]) -> Dict[str, Any]:
        """The estimator's parameters for what the engine drew."""
        return {name: self._decode[name](value) if name in self._decode else value for name, value in drawn.items()}


def _values(hyperparameter: Mapping[str, Any]) -> Optional[int]:
    """How many values it has; None if it is not finite, or wrong, which the engine finds."""
    kind = hyperparameter.get("type")
    try:
        if kind == "categorical":
            return len(hyperparameter["vals"])
        if kind == "int":
            return (int(hyperparameter["maxval"]) - int(hyperparameter["minval"])) // int(hyperparameter.get("step") or 1) + 1
    except (KeyError, TypeError, ValueError):
        return None
    return 1 if kind == "const" else None


def _same(value: Any) -> Any:
    return value


def _kind(value: object) -> str:
    return f"of type {type(value).__name__}"


def _convert(name: str, given: Any) -> Tuple[Any, Callable[[Any], Any]]:
    if isinstance(given, Mapping):
        return dict(given), _same
    if is_optuna(given):
        return foreign_distribution(f"space.{name}", given), _same
    if isinstance(given, (list, tuple, range, np.ndarray)):
        return _choice(name, list(given))
    if hasattr(given, "ppf") and hasattr(given, "support"):
        return _distribution(name, given)
    if hasattr(given, "rvs"):
        raise TypeError(f"space: {name} is a distribution {_kind(given)} without quantiles (ppf); use a list, a frozen "
                        "distribution of scipy.stats or a hyperparameter such as {\"type\": \"double\", \"minval\": 0, \"maxval\": 1}")
    raise TypeError(f"space: {name} is {_kind(given)}; it must be a list, a frozen distribution of scipy.stats or a hyperparameter "
                    "such as {\"type\": \"double\", \"minval\": 0, \"maxval\": 1}")


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value))


def _choice(name: str, values: List[Any]) -> Tuple[Any, Callable[[Any], Any]]:
    if not values:
        raise ValueError(f"space: {name} is an empty list; it must have at least one value")
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    # 1, 1.0 and True are one value to the engine; estimators, functions and pairs are none.
    if all(map(_plain, plain)) and len(set(plain)) == len(plain):
        back = dict(zip(plain, values))
        return {"type": "categorical", "vals": plain}, back.__getitem__
    return {"type": "categorical", "vals": list(range(len(values)))}, lambda index: values[int(index)]


def _distribution(name: str, given: Any) -> Tuple[Any, Callable[[Any], Any]]:
    known = of_scipy(given)
    if known is not None:
        return known, int if known["type"] == "int" else _same
    if not np.isscalar(given.ppf(0.5)):
        raise TypeError(f"space: {name} is a distribution of arrays; it must be a distribution of single values")
    whole = hasattr(given, "pmf") or hasattr(getattr(given, "dist", None), "pmf")

    def quantile(share: float) -> Any:
        value = float(given.ppf(share))
        return int(value) if whole else value
    return {"type": "double", "minval": _EDGE, "maxval": 1 - _EDGE}, quantile
