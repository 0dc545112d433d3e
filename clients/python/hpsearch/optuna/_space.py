"""Search spaces in Optuna's words and in ours."""

from __future__ import annotations

import json
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

from .._functions.file_space import file_space as of_python, is_optuna

_NEAR = 1e-9  # Relative: bounds of logarithmic ranges are powers, and lose their last digits.


class Range(NamedTuple):
    """A range of numbers, both ends included."""

    low: float
    high: float
    log: bool = False
    step: Optional[float] = None

    def holds(self, value: float) -> bool:
        """Whether the value lies in it, and on a step."""
        room = _NEAR * max(abs(self.low), abs(self.high))
        if not self.low - room <= value <= self.high + room:
            return False
        if self.step is None:
            return True
        steps = (value - self.low) / self.step
        return abs(steps - round(steps)) < 1e-6

    def __str__(self) -> str:
        return "[{:g}, {:g}]{}{}".format(self.low, self.high, "" if self.step is None else " in steps of {:g}".format(self.step),
                                         ", logarithmic" if self.log else "")


def file_space(space: Mapping[str, Any]) -> Dict[str, Any]:
    """The space as an experiment file has it. Values may be distributions of Optuna; their dotted names become nested.

    TypeError: a value is a list, or a distribution of no kind that is known. ValueError: two names exclude each other, as a and a.b.
    """
    out: Dict[str, Any] = {}
    for name, given in space.items():
        keys = tuple(name.split(".")) if is_optuna(given) else (name,)
        place(out, keys, of_python({name: given})[name])
    return out


def place(into: Dict[str, Any], keys: Tuple[str, ...], value: Any) -> None:
    """Sets a nested member. ValueError: there is one in its way."""
    for key in keys[:-1]:
        into = into.setdefault(key, {})
        if not isinstance(into, dict) or "type" in into:
            raise ValueError("{}: {} is a hyperparameter itself".format(".".join(keys), key))
    if keys[-1] in into:
        raise ValueError("{} is there twice".format(".".join(keys)))
    into[keys[-1]] = value


def leaves(space: Mapping[str, Any], before: str = "") -> Iterator[Tuple[str, Any]]:
    """(dotted name, distribution or constant) of each hyperparameter of a file's space."""
    for name, given in space.items():
        if isinstance(given, Mapping) and not isinstance(given.get("type"), str):
            yield from leaves(given, before + name + ".")
        else:
            yield before + name, given


def range_of(given: Any) -> Optional[Range]:
    """The range of a distribution of a file; None if it is none."""
    if not isinstance(given, Mapping) or given.get("type") not in ("double", "int", "log"):
        return None
    low, high = given["minval"], given["maxval"]
    if given["type"] == "log":
        low, high = sorted((float(given.get("base", 10)) ** low, float(given.get("base", 10)) ** high))
        return Range(low, high, True)
    return Range(low, high, given.get("scale") == "log", given.get("step"))


def choices_of(given: Any) -> Optional[List[Any]]:
    """The choices of a distribution or constant of a file; None if it is a range."""
    if not isinstance(given, Mapping):
        return [given]
    if given["type"] == "categorical":
        return list(given["vals"])
    return [given.get("val")] if given["type"] == "const" else None


def same(left: Any, right: Any) -> bool:
    """Whether two choices are the same value; True is not 1."""
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def hashable(value: Any) -> Any:
    """The value as a choice of Optuna: lists and maps are their JSON."""
    return json.dumps(value, sort_keys=True) if isinstance(value, (list, dict)) else value
