"""The space of an objective of Optuna, from calls of it outside of any search."""

from __future__ import annotations

import random
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

from ._space import place, same

_FEWEST_RUNS = 8
_MOST_RUNS = 32


class _Suggested(NamedTuple):
    """What one run was given for one name."""

    distribution: Dict[str, Any]  # As an experiment file has it.
    value: Any


_Run = Dict[str, _Suggested]


class _Enough(BaseException):
    """Ends a run that begins to train. `except Exception` of an objective doesn't catch it."""


class DryTrial:
    """The trial of a dry run: draws values, and ends the run where the objective reports or asks whether to go on."""

    number = 0

    def __init__(self, run: int, draws: random.Random) -> None:
        self._run = run
        self._draws = draws
        self.suggested: _Run = {}
        self.user_attrs: Dict[str, Any] = {}

    @property
    def params(self) -> Dict[str, Any]:
        return {name: one.value for name, one in self.suggested.items()}

    def suggest_float(self, name: str, low: float, high: float, *, step: Optional[float] = None, log: bool = False) -> float:
        return float(self._number(name, "double", float(low), float(high), None if step is None else float(step), log))

    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1, log: bool = False) -> int:
        return int(self._number(name, "int", int(low), int(high), None if step == 1 else int(step), log))

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        listed = list(choices)
        drawn = self._run % len(listed) if self._run < max(_FEWEST_RUNS, len(listed)) else self._draws.randrange(len(listed))
        return self._take(name, {"type": "categorical", "vals": listed}, listed[drawn])

    def report(self, value: float, step: int) -> None:
        raise _Enough

    def should_prune(self) -> bool:
        raise _Enough

    @property
    def study(self) -> Any:
        """Pruning callbacks ask for it when the training has begun."""
        raise _Enough

    def set_user_attr(self, key: str, value: Any) -> None:
        self.user_attrs[key] = value

    # --- inside ---

    def _number(self, name: str, kind: str, low: Any, high: Any, step: Any, log: bool) -> Any:
        if low == high:
            return self._take(name, {"type": "const", "val": low}, low)
        distribution: Dict[str, Any] = {"type": kind, "minval": low, "maxval": high}
        if log:
            distribution["scale"] = "log"
        if step is not None:
            distribution["step"] = step
        return self._take(name, distribution, self._drawn(kind, low, high, step))

    def _drawn(self, kind: str, low: Any, high: Any, step: Any) -> Any:
        """Runs 0 and 1 have the ends of all ranges: what depends on a number shows there."""
        steps = high - low if kind == "int" and step is None else None if step is None else int((high - low) / step + 1e-9)
        size = 1 if step is None else step
        if self._run < 2:
            return low if self._run == 0 else high if steps is None else low + steps * size
        if steps is None:
            return low + self._draws.random() * (high - low)
        return low + self._draws.randrange(int(steps) + 1) * size

    def _take(self, name: str, distribution: Dict[str, Any], value: Any) -> Any:
        known = self.suggested.get(name)
        if known is None:
            known = self.suggested[name] = _Suggested(distribution, value)
        elif not _alike(known.distribution, distribution):
            raise ValueError(_varies(name, known.distribution, distribution, " in one trial"))
        return known.value


def space_of(function: Callable[[Any], Any]) -> Dict[str, Any]:
    """The space of an objective that suggests the same in each trial, or more where a choice or a small integer has certain values.

    ValueError: a suggestion depends on something else; the objective fails in every run; or it suggests nothing.
    """
    draws = random.Random(0)
    runs: List[_Run] = []
    failure: Optional[Exception] = None
    number, wanted = 0, _FEWEST_RUNS
    while number < wanted:
        trial = DryTrial(number, draws)
        number += 1
        try:
            function(trial)
        except _Enough:
            pass
        except Exception as error:
            if isinstance(error, ValueError) and _CURE in str(error):
                raise
            failure = failure or error
            continue  # It may not have come to all suggestions.
        runs.append(trial.suggested)
        most = max((len(one.distribution.get("vals", ())) for one in trial.suggested.values()), default=0)
        wanted = max(wanted, min(most, _MOST_RUNS))
        if any(set(run) != set(runs[0]) for run in runs):
            wanted = _MOST_RUNS  # So that no two suggestions explain the same by chance.
    if not runs:
        raise ValueError("the objective fails in each of {} dry runs that look for its suggestions ({}: {}); {}".format(
            wanted, type(failure).__name__, failure, _CURE)) from failure
    return _common(runs)


_CURE = "give hpsearch.optuna.objective() its space"


def _common(runs: List[_Run]) -> Dict[str, Any]:
    names: List[str] = []
    for run in runs:
        names += [name for name in run if name not in names]
    if not names:
        raise ValueError("the objective suggests nothing; a search needs at least one suggestion. " + _CURE.capitalize())
    out: Dict[str, Any] = {}
    for name in names:
        having = [name in run for run in runs]
        when = _condition(runs, having, name)
        if not all(having) and when is None:
            raise ValueError("the objective suggests {!r} only in some trials, which {}; {}, with the condition when={{…}}".format(
                name, _cause(runs, having, name), _CURE))
        with_it = [run for run in runs if name in run]
        first = with_it[0][name].distribution
        equal = [_alike(first, run[name].distribution) for run in with_it]
        if not all(equal):
            other = next(run[name].distribution for run, is_equal in zip(with_it, equal) if not is_equal)
            raise ValueError(_varies(name, first, other, ", which " + _cause(with_it, equal, name)))
        place(out, tuple(name.split(".")), first if when is None else dict(first, when=when))
    return out


def _condition(runs: Sequence[_Run], having: Sequence[bool], name: str) -> Optional[Dict[str, Any]]:
    """The values of the one other suggestion that decide whether a trial has this one. None: all have it, or no single one decides."""
    found: List[Dict[str, Any]] = []
    for other in runs[0] if not all(having) else ():
        possible = _few_values(runs[0][other].distribution)
        if other == name or possible is None or not all(other in run for run in runs):
            continue
        with_it = [run[other].value for run, has in zip(runs, having) if has]
        without = [run[other].value for run, has in zip(runs, having) if not has]
        if any(same(one, two) for one in with_it for two in without):
            continue
        if all(any(same(one, seen) for seen in with_it + without) for one in possible):
            found.append({other: [one for one in possible if any(same(one, seen) for seen in with_it)]})
    return found[0] if len(found) == 1 else None


def _few_values(distribution: Mapping[str, Any]) -> Optional[List[Any]]:
    """All values of a choice or of a small range of integers."""
    if distribution["type"] == "categorical":
        return list(distribution["vals"])
    if distribution["type"] == "int" and "step" not in distribution and distribution["maxval"] - distribution["minval"] < _MOST_RUNS // 4:
        return list(range(distribution["minval"], distribution["maxval"] + 1))
    return None


def _cause(runs: Sequence[_Run], having: Sequence[bool], name: str) -> str:
    """Which other suggestion separates the runs of the two kinds."""
    common = [one for one in runs[0] if one != name and all(one in run for run in runs)]
    for other in common:
        with_it = [run[other].value for run, has in zip(runs, having) if has]
        without = [run[other].value for run, has in zip(runs, having) if not has]
        if runs[0][other].distribution["type"] == "categorical":
            apart = not any(same(one, two) for one in with_it for two in without)
        else:
            apart = min(with_it) > max(without) or max(with_it) < min(without)
        if apart:
            return "depends on {!r}".format(other)
    return "depends on something else than one other suggestion"


def _varies(name: str, one: Mapping[str, Any], other: Mapping[str, Any], which: str) -> str:
    return "the objective suggests {!r} with {} and with {}{}; {}".format(name, _text(one), _text(other), which, _CURE)


def _text(distribution: Mapping[str, Any]) -> str:
    if distribution["type"] == "categorical":
        return "the choices {}".format(distribution["vals"])
    if distribution["type"] == "const":
        return repr(distribution["val"])
    return "the range [{:g}, {:g}]".format(distribution["minval"], distribution["maxval"])


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if one["type"] != "categorical" or other["type"] != "categorical":
        return dict(one) == dict(other)
    left, right = one["vals"], other["vals"]
    return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right))
