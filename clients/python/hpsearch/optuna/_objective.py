"""An objective of Optuna as the function of a search, and the trial that it gets."""

from __future__ import annotations

import math
import numbers
import sys
from typing import Any, Callable, Dict, Mapping, Optional, Sequence

from .. import _in_trial as now
from .._functions.function_trial import FunctionTrial, NotFinite
from .._trial import Directive
from ._dry_run import space_of
from ._space import Range, choices_of, file_space, leaves, range_of, same


class _Direction:
    """What pruning callbacks of optuna-integration ask a study for."""

    def __init__(self, smaller_is_better: bool) -> None:
        self._smaller_is_better = smaller_is_better

    @property
    def direction(self) -> Any:
        """As optuna.study.StudyDirection."""
        from optuna.study import StudyDirection
        return StudyDirection.MINIMIZE if self._smaller_is_better else StudyDirection.MAXIMIZE

    def __getattr__(self, name: str) -> Any:
        raise AttributeError("the study of a trial of hpsearch has no {!r}; it has direction".format(name))


class OptunaTrial:
    """What an objective gets as its trial: the calls of optuna.Trial, with the values that the search has drawn.

    Ranges and choices of suggestions must contain those of the space; a space may be narrower than its objective.
    """

    def __init__(self, trial: FunctionTrial, space: Mapping[str, Any], smaller_is_better: bool = True) -> None:
        self._trial = trial
        self._space = dict(leaves(space))
        self._first_step: Optional[int] = None
        self._step = 0
        self._directive: Directive = now.CONTINUE
        self.number = trial.number  #: In its experiment, from 0.
        self.params: Dict[str, Any] = {}  #: What was suggested so far.
        self.study = _Direction(smaller_is_better)  #: Only its `direction`.

    @property
    def user_attrs(self) -> Dict[str, Any]:
        """A copy of what set_user_attr() was given."""
        return self._trial.user_attrs

    def suggest_float(self, name: str, low: float, high: float, *, step: Optional[float] = None, log: bool = False) -> float:
        """The trial's value, from `low` to `high`. ValueError: the space has no such range."""
        return float(self._number(name, Range(low, high, log, step)))

    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1, log: bool = False) -> int:
        """The trial's value, from `low` to `high`. ValueError: the space has no such range."""
        return int(self._number(name, Range(low, high, log, step), whole=True))

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        """The trial's choice. ValueError: the space has others."""
        value = self._value(name)
        offered = choices_of(self._space[name])
        missing = [one for one in ([value] if offered is None else offered) if not any(same(one, other) for other in choices)]
        if missing:
            raise ValueError("suggest_categorical({!r}) has the choices {}, and the space has {!r}; choices of the space must "
                             "be among them".format(name, list(choices), missing[0]))
        return self._suggested(name, next(one for one in choices if same(one, value)))

    def report(self, value: float, step: int) -> None:
        """Reports the metric after `step`. An objective whose first step is 0 has trained 1 by then: steps are counted
        from 1. Once the trial should be pruned, reports have no effect."""
        if isinstance(step, bool) or not isinstance(step, numbers.Integral) or step < 0:
            raise ValueError("report() has the step {!r}; it must be a whole number of at least 0".format(step))
        if self._first_step is None:
            self._first_step = int(step)
        at = int(step) + (1 if self._first_step == 0 else 0)
        if self._directive is not now.CONTINUE or at <= self._step:
            return  # Optuna ignores a step that was reported, too.
        self._send(at, _as_number(value, "report() has the value"))

    def should_prune(self) -> bool:
        """Whether the search stops or pauses this trial now."""
        return self._directive is not now.CONTINUE

    def set_user_attr(self, key: str, value: Any) -> None:
        """Keeps a value with the trial: as hpsearch.FunctionTrial.set_user_attr(). TypeError: it is not JSON."""
        self._trial.set_user_attr(key, value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError("a trial of hpsearch has no {!r}; it has suggest_float, suggest_int, suggest_categorical, report, "
                             "should_prune, number, params, user_attrs, set_user_attr and study.direction".format(name))

    # --- inside ---

    def _send(self, step: int, value: float) -> None:
        self._step = step
        self._directive = self._trial.report(step, {self._trial.metric: value})

    def _finish(self, value: float) -> None:
        """The objective has ended by itself: its value is that of the full length."""
        while self._directive is now.CONTINUE:
            self._send(max(self._trial.length, self._step), value)

    def _value(self, name: str) -> Any:
        if name not in self._space:
            raise ValueError("the space has no {!r}; it has {}".format(name, ", ".join(self._space)))
        found: Any = self._trial.params
        for key in name.split("."):
            if not isinstance(found, Mapping) or key not in found:
                raise ValueError("{!r} has no value in this trial; its condition in the space doesn't hold".format(name))
            found = found[key]
        return found

    def _number(self, name: str, asked: Range, whole: bool = False) -> Any:
        value = self._value(name)
        call = "suggest_{}({!r})".format("int" if whole else "float", name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or whole and value != int(value):
            raise ValueError("{}: its value is {!r}; the space must have {} there".format(
                call, value, "integers" if whole else "numbers"))
        offered = range_of(self._space[name])
        ends = [value] if offered is None else [offered.low, offered.high]
        if not all(Range(asked.low, asked.high).holds(one) for one in ends):
            raise ValueError("{} asks for {}, and the space has {}; it must lie inside".format(
                call, asked, repr(value) if offered is None else offered))
        if not asked.holds(value):
            raise ValueError("{} asks for {}, and the value is {!r}; give the space the same steps".format(call, asked, value))
        return self._suggested(name, value)

    def _suggested(self, name: str, value: Any) -> Any:
        self.params[name] = value
        return value


class Objective:
    """An objective of Optuna that hpsearch.tune() takes as its function. `space` is as in an experiment file."""

    def __init__(self, function: Callable[..., Any], space: Mapping[str, Any]) -> None:
        self.function = function
        self.space = file_space(space)
        self.__name__ = getattr(function, "__name__", "objective")

    def __call__(self, trial: FunctionTrial, **arguments: Any) -> Any:
        """Runs it for one trial; hpsearch.FunctionTrial({...}) makes one outside a search."""
        return run_objective(lambda own: self.function(own, **arguments), trial, self.space)


def objective(function: Callable[..., Any], space: Optional[Mapping[str, Any]] = None) -> Objective:
    """An unmodified objective of Optuna, for hpsearch.tune().

    `space` has distributions of hpsearch or of Optuna. Nothing else is drawn: each suggestion must be in it. What the
    objective returns is the metric at full length, and optuna.TrialPruned ends the trial with what it reported.

    Without `space`, the objective is called at least 8 times in this process, with values drawn here, and each call ends at its first
    report() or should_prune(). The space is what all calls suggest. An objective that trains before, or never reports, trains in
    each of these calls: give it its space.

    TypeError: an entry of the space is of another kind. ValueError: the calls suggest different names or ranges; the message says
    which, and on what it depends.
    """
    if not callable(function):
        raise TypeError("the objective is {!r}; it must be a function".format(function))
    return Objective(function, space_of(function) if space is None else space)


def run_objective(function: Callable[[OptunaTrial], Any], trial: FunctionTrial, space: Mapping[str, Any],
                  smaller_is_better: bool = True) -> Optional[float]:
    """Calls it with an OptunaTrial, and reports its value; None when it was pruned."""
    own = OptunaTrial(trial, space, smaller_is_better)
    try:
        returned = function(own)
    except Exception as error:
        if not _is_pruned(error):
            raise
        if own._step == 0:  # Nothing was measured: another configuration takes its place.
            now.invalid_hyperparameters("the objective pruned the trial before its first report")
        return None
    if own.should_prune():
        return None
    value = _as_number(returned, "the objective returned")
    if not math.isfinite(value):
        raise NotFinite(value, now.metric() or "value")
    own._finish(value)
    return value


def _is_pruned(error: Exception) -> bool:
    optuna = sys.modules.get("optuna")
    return optuna is not None and isinstance(error, optuna.TrialPruned)


def _as_number(value: Any, what: str) -> float:
    if not isinstance(value, (str, bytes, bool)):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise TypeError("{} {!r}; it must be one number".format(what, value))
