"""A trial in the caller's process: what the function gets, and what the search keeps of it."""

from __future__ import annotations

import copy
import math
import pathlib
import tempfile
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from .._functions.function_trial import FunctionTrial, Pause, Stop
from .._trial import Directive, metric_number
from ..search import Search, Work

CONTINUE, PAUSE, STOP = Directive.CONTINUE, Directive.PAUSE, Directive.STOP


class TrialRecord:
    """All that is known of one trial. `state` is that of the engine, except that paused ones are stopped when a search ends."""

    __slots__ = ("attempts", "best", "best_metrics", "ended_at", "failure", "kept", "last", "length", "number", "params", "reached", "reports",
                 "seed", "state", "user_attrs", "work")

    def __init__(self, work: Work) -> None:
        self.number = work.trial
        self.seed = work.seed
        self.attempts = 0
        self.reports: List[Tuple[int, Mapping[str, Any], float]] = []  # Step, metrics, time since the start of the search.
        self.best: Optional[float] = None  # The best value of the deciding metric.
        self.last: Optional[float] = None  # The latest value of it.
        self.best_metrics: Mapping[str, Any] = {}  # All metrics where that was measured.
        self.reached = 0
        self.failure = ""
        self.ended_at = math.inf
        self.kept: Optional[Tuple[int, Any]] = None  # The last checkpoint: step and state.
        self.user_attrs: Dict[str, Any] = {}
        self.begin(work)

    def begin(self, work: Work) -> None:
        """Another piece of work on it."""
        self.work = work
        self.params = work.params
        self.length = work.length
        self.state = "RUNNING"
        self.attempts += 1

    def as_answer(self) -> Dict[str, Any]:
        """As a daemon describes a trial (GET experiments/{e}/trials/{t})."""
        return {"trial": self.number, "hparams": self.params, "state": self.state, "seed": self.seed, "best_metric": self.best,
                "metric": self.last, "reached": self.reached, "length": self.length,
                "attempts": self.attempts, "last_failure": self.failure}


class InProcessTrial(FunctionTrial):
    """The trial that a function gets from tune(on="inprocess"). As FunctionTrial, but checkpoints stay in memory: `save` is called
    when the search pauses the trial, which is the only time at which it can need one."""

    def __init__(self, record: TrialRecord, search: Search, metric: str, smaller_is_better: bool, begun: float,
                 is_over: Callable[[], bool]) -> None:
        self.params = record.params
        self.number = record.number
        self.attempt = record.attempts
        self.seed = record.seed
        self.state: Any = None
        self.reports = 0
        self.problem = ""  # Why the trial fails, although the function goes on.
        self._record = record
        self._search = search
        self._metric = metric
        self._sign = 1.0 if smaller_is_better else -1.0
        self._begun = begun
        self._is_over = is_over
        self._directive = CONTINUE
        self._step = 0
        self._user_attrs = record.user_attrs
        self._output: Optional[pathlib.Path] = None

    @property
    def length(self) -> int:
        """How far to train in all, in the experiment's unit. It grows when the trial is promoted."""
        return self._record.work.length

    @property
    def metric(self) -> str:
        """The name of the metric that decides."""
        return self._metric

    @property
    def output_dir(self) -> pathlib.Path:
        """A directory of this trial, which is made when it is first asked for. Nothing removes it."""
        if self._output is None:
            self._output = pathlib.Path(tempfile.mkdtemp(prefix="hpsearch-trial-{}-".format(self.number)))
        return self._output

    def load(self, into: Any = None) -> Optional[int]:
        """As FunctionTrial.load()."""
        if self._record.kept is None:
            return None
        step, kept = self._record.kept
        self.state = copy.deepcopy(kept)  # The function may change it, and the trial may begin there once more.
        if callable(getattr(into, "load_state_dict", None)):
            into.load_state_dict(self.state)
        elif callable(into):
            into(self.state)
        elif into is not None:
            raise TypeError("load() takes an object with load_state_dict(), or a function; not a {}".format(type(into).__name__))
        self._step = step
        return step

    def report(self, step: int, *args: Mapping[str, Any], save: Optional[Callable[[], Any]] = None, raise_: bool = False,
               **metrics: Any) -> Directive:
        """As FunctionTrial.report()."""
        joined: Dict[str, Any] = {}
        for mapping in args:
            joined.update(mapping)
        joined.update(metrics)
        at = _whole(step)
        self.reports += 1
        self._step = max(self._step, at)
        if self._directive is CONTINUE:
            self._directive = self._decided(at, {name: _number(name, value) for name, value in joined.items()})
            if self._directive is PAUSE and save is not None:
                self._record.kept = (at, copy.deepcopy(save()))
        if raise_ and self._directive is not CONTINUE:
            raise Pause() if self._directive is PAUSE else Stop()
        return self._directive

    def log_line(self, text: Any) -> None:
        """Prints a line: a search in this process has no logs."""
        print(text, flush=True)

    # --- inside ---

    def _store_user_attrs(self) -> None:
        """The record has them."""

    def _decided(self, step: int, metrics: Mapping[str, Any]) -> Directive:
        record = self._record
        value = value_of(metrics, self._metric)
        record.reports.append((step, metrics, time.monotonic() - self._begun))
        if step <= record.reached:
            return CONTINUE  # A promoted trial without a checkpoint comes by once more.
        record.reached = step
        if value is None:
            if step >= self.length:
                raise TypeError("the trial reported {} at its length, {}, without {!r}, the metric of the search; report it, or give "
                                "tune() another metric=".format(", ".join(sorted(map(repr, metrics))) or "nothing", step, self._metric))
            return CONTINUE
        if math.isnan(value):
            self.problem = "{} is NaN at {}".format(self._metric, step)
            return STOP
        record.last = value
        if record.best is None or self._sign * value < self._sign * record.best:
            record.best, record.best_metrics = value, metrics
        if self._is_over():
            return STOP
        directive = self._search.report(record.work, step, value)
        record.length = record.work.length
        return directive


def value_of(metrics: Mapping[str, Any], name: str) -> Optional[float]:
    """A metric, which may be that of a group and a metric: val.loss."""
    found = metrics.get(name)
    if type(found) is float:
        return found
    if found is None:
        group, _, rest = name.partition(".")
        within = metrics.get(group)
        return value_of(within, rest) if rest and isinstance(within, Mapping) else None
    return None if isinstance(found, Mapping) else found


def _number(name: str, value: Any) -> Any:
    if type(value) is float:  # A call of isinstance(value, Mapping) takes microseconds.
        return value
    if isinstance(value, Mapping):
        return {str(inner): _number("{}.{}".format(name, inner), one) for inner, one in value.items()}
    return metric_number(name, value)


def _whole(step: Any) -> int:
    if type(step) is int and step >= 0:
        return step
    whole = int(step)
    if whole < 0 or whole != step:
        raise ValueError("step is {!r}; it must be a whole number of at least 0".format(step))
    return whole
