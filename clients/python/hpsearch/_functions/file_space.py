"""A search space of Python as the section `hyperparameters` of an experiment file."""

from __future__ import annotations

import math
from typing import Any, Dict, Mapping, Optional

from .._values import plain


def file_space(space: Mapping[str, Any], path: str = "space") -> Dict[str, Any]:
    """The space as an experiment file has it. Values are distributions of hpsearch, frozen distributions of scipy.stats,
    distributions of Optuna, constants, and groups of them.

    TypeError: a value is a list or an array, which is a choice to some libraries and a constant to others, or a
    distribution that an experiment file doesn't have.
    """
    if not isinstance(space, Mapping):
        raise TypeError("{} is {!r}; it must be a dict, as {{\"lr\": hpsearch.loguniform(1e-4, 1e-1)}}".format(path, space))
    out: Dict[str, Any] = {}
    for name, given in space.items():
        if not isinstance(name, str):
            raise TypeError("{} has the name {!r}; names must be texts".format(path, name))
        below = "{}.{}".format(path, name)
        foreign = foreign_distribution(below, given)
        if foreign is not None:
            out[name] = foreign
        elif not isinstance(given, Mapping):
            _refuse_several(below, given)
            out[name] = plain(given, below)
        elif isinstance(given.get("type"), str) or name == "when":
            out[name] = plain(given, below)
        else:
            out[name] = file_space(given, below)
    return out


def foreign_distribution(path: str, given: Any) -> Optional[Dict[str, Any]]:
    """A distribution of Optuna or scipy.stats as an experiment file has it; None if it is something else.

    TypeError: an experiment file has no such distribution.
    """
    if is_optuna(given):
        return _of_optuna(path, given)
    if not callable(getattr(given, "rvs", None)) and not callable(getattr(given, "icdf", None)):
        return None
    made = of_scipy(given)
    if made is None:
        kind = getattr(getattr(given, "dist", None), "name", None) or type(given).__name__
        raise TypeError("{} is the distribution {} of another library; a search can draw from uniform, loguniform and randint "
                        "of scipy.stats. Write hpsearch.uniform(), log(), int() or choice()".format(path, kind))
    return made


def is_optuna(given: Any) -> bool:
    """Whether it is a distribution of Optuna."""
    return any(kind.__module__.startswith("optuna.") and kind.__name__ == "BaseDistribution" for kind in type(given).__mro__)


def of_scipy(given: Any) -> Optional[Dict[str, Any]]:
    """A frozen uniform, loguniform or randint of scipy.stats; None if it is something else."""
    kind = getattr(getattr(given, "dist", None), "name", "")
    if kind not in ("uniform", "loguniform", "reciprocal", "randint"):
        return None
    low, high = (plain(bound, "bound") for bound in given.support())
    if isinstance(low, list) or isinstance(high, list):
        return None  # It samples several values at once.
    moved = len(getattr(given, "args", ())) > 2 or set(getattr(given, "kwds", ())) & {"loc", "scale"}
    if kind == "uniform":
        return {"type": "double", "minval": float(low), "maxval": float(high)}
    if kind == "randint":
        if int(low) == int(high):
            return {"type": "const", "val": int(low)}
        return {"type": "int", "minval": int(low), "maxval": int(high)}
    return None if moved else {"type": "double", "minval": float(low), "maxval": float(high), "scale": "log"}


def _of_optuna(path: str, given: Any) -> Dict[str, Any]:
    if hasattr(given, "choices"):
        for choice in given.choices:
            if not (choice is None or isinstance(choice, (bool, int, str)) or isinstance(choice, float) and math.isfinite(choice)):
                raise TypeError("{} has the choice {!r}; choices are numbers, texts, booleans and None".format(path, choice))
        return {"type": "categorical", "vals": list(given.choices)}
    if not hasattr(given, "high"):
        raise TypeError("{} is a {}; it must be a FloatDistribution, IntDistribution or CategoricalDistribution".format(
            path, type(given).__name__))
    if given.low == given.high:
        return {"type": "const", "val": given.low}
    whole = type(given).__name__.startswith("Int")
    out: Dict[str, Any] = {"type": "int" if whole else "double", "minval": given.low, "maxval": given.high}
    if getattr(given, "log", False):
        out["scale"] = "log"
    if getattr(given, "step", None) not in (None, 1 if whole else None):
        out["step"] = given.step
    return out


def _refuse_several(path: str, given: Any) -> None:
    """Lists, tuples, sets, ranges, and arrays with a dimension."""
    is_array = callable(getattr(given, "tolist", None)) and getattr(given, "shape", ()) != ()
    if isinstance(given, (list, tuple, set, frozenset, range)) or is_array:
        shown = repr(given) if len(repr(given)) <= 60 else "a {}".format(type(given).__name__)
        raise TypeError("{0} is {1}; write hpsearch.choice({2}) to search among these values, or hpsearch.const({2}) to give each "
                        "trial all of them".format(path, shown, shown if shown.startswith("[") else "[...]"))
