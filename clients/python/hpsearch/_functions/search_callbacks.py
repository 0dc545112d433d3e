"""Callbacks of hpsearch.tune(): what they are called for, and the conditions that end a search."""

from __future__ import annotations

import math
import re
import time
from typing import Any, Callable, List, Optional, Sequence, Set, Union

from .._client.experiment import Experiment
from .._client.trials import TrialView

ENDED = ("COMPLETED", "STOPPED", "FAILED", "CANCELED")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class StopSearch(Exception):
    """A callback raises it to end the search; its text is the reason. No new trial starts, those that have begun end, and tune()
    returns the experiment."""


class SearchCallback:
    """What tune(callbacks=[...]) calls, in the process and the thread of the caller.

    `trial` is the trial as it is then. A method that raises StopSearch ends the search; any other exception comes out of tune(),
    and the search is paused. Searches of a daemon are seen as it streams them, at most four times a second, so several trials may
    have ended by a call.
    """

    time_limit: Optional[float] = None  #: Seconds after the start of the call at which the search ends; None: never.

    def on_best(self, experiment: Experiment, trial: TrialView) -> None:
        """The trial has the best result so far."""

    def on_trial_end(self, experiment: Experiment, trial: TrialView) -> None:
        """The trial has ended: COMPLETED, STOPPED, FAILED or CANCELED. One that waits for a promotion has not."""


Callback = Union[SearchCallback, Callable[[Experiment, TrialView], Any]]
"""A SearchCallback, or a function that is called as its on_trial_end()."""


def stop_after(time: Union[str, float]) -> SearchCallback:
    """Ends the search after a time, counted from the call of tune(): "90s", "10m", "2h", "1d", or a number of seconds above 0.

    Trials that have begun end. ValueError: it is no such time.
    """
    made = SearchCallback()
    made.time_limit = _seconds(time)
    return made


def stop_at(value: float) -> SearchCallback:
    """Ends the search when a trial's metric is `value` or better."""
    return _StopAt(float(value))


def stop_on_plateau(trials: int = 30, min_delta: float = 0.0) -> SearchCallback:
    """Ends the search when the best metric became better by no more than `min_delta` (at least 0) in the last `trials` (at least 1)
    trials that ended. ValueError: an argument is outside of its range."""
    if trials < 1:
        raise ValueError("trials is {!r}; it must be at least 1".format(trials))
    if not min_delta >= 0:
        raise ValueError("min_delta is {!r}; it must be at least 0".format(min_delta))
    return _StopOnPlateau(trials, float(min_delta))


class _StopAt(SearchCallback):
    def __init__(self, value: float) -> None:
        self._value = value

    def on_best(self, experiment: Experiment, trial: TrialView) -> None:
        metric = trial.metric
        if metric is not None and (metric <= self._value if experiment.smaller_is_better else metric >= self._value):
            raise StopSearch("trial {} has {:.6g}, which is {:.6g} or better".format(trial.number, metric, self._value))


class _StopOnPlateau(SearchCallback):
    def __init__(self, trials: int, min_delta: float) -> None:
        self._trials = trials
        self._min_delta = min_delta
        self._best = math.inf  # Smaller is better.
        self._since = 0

    def on_trial_end(self, experiment: Experiment, trial: TrialView) -> None:
        metric = trial.metric
        score = math.inf if metric is None or math.isnan(metric) else metric if experiment.smaller_is_better else -metric
        if score < self._best - self._min_delta or self._best == math.inf > score:
            self._best, self._since = score, 0
            return
        self._since += 1
        if self._since >= self._trials:
            raise StopSearch("the best metric has not become better in {} trials".format(self._since))


class Callbacks:
    """The callbacks of one call of tune()."""

    def __init__(self, callbacks: Sequence[Callback]) -> None:
        """TypeError: one of them cannot be called."""
        if isinstance(callbacks, (str, SearchCallback)) or not isinstance(callbacks, Sequence):
            raise TypeError("callbacks is {!r}; it must be a list, as [hpsearch.stop_at(0.1)]".format(callbacks))
        self.ignored: Set[int] = set()  #: Trials that had ended before this call.
        self.reason: Optional[str] = None  #: Why the search ends; None: it goes on.
        self._callbacks: List[SearchCallback] = []
        for callback in callbacks:
            if not isinstance(callback, SearchCallback) and not callable(callback):
                raise TypeError("callbacks has {!r}; it must be a hpsearch.SearchCallback, or a function of (experiment, trial)".format(
                    callback))
            self._callbacks.append(callback if isinstance(callback, SearchCallback) else _Function(callback))
        limits = [one.time_limit for one in self._callbacks if one.time_limit is not None]
        self.seconds: Optional[float] = min(limits) if limits else None  #: After which the search ends.
        self._begun = time.monotonic()

    def __bool__(self) -> bool:
        return bool(self._callbacks)

    def ignore_ended(self, experiment: Experiment, before: float = math.inf) -> None:
        """Trials of the search that have ended, `before` a Unix time, are no news: an earlier call saw them."""
        if self._callbacks:
            self.ignored = {trial.number for trial in experiment.trials if trial.state in ENDED and trial.raw["ended_at"] < before}

    def seconds_left(self) -> Optional[float]:
        """Until the time of stop_after(); None without."""
        return None if self.seconds is None else self.seconds - (time.monotonic() - self._begun)

    def check_time(self) -> None:
        """Whether that time is over."""
        left = self.seconds_left()
        if left is not None and left <= 0 and self.reason is None:
            self.reason = "{:g} s are over".format(self.seconds or 0.0)

    def on_best(self, experiment: Experiment, trial: TrialView) -> None:
        self._call(lambda one: one.on_best(experiment, trial))

    def on_trial_end(self, experiment: Experiment, trial: TrialView) -> None:
        self._call(lambda one: one.on_trial_end(experiment, trial))

    def _call(self, call: Callable[[SearchCallback], None]) -> None:
        for one in self._callbacks:
            try:
                call(one)
            except StopSearch as stop:
                self.reason = self.reason or str(stop) or "a callback stopped it"


class _Function(SearchCallback):
    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def on_trial_end(self, experiment: Experiment, trial: TrialView) -> None:
        self._function(experiment, trial)


def _seconds(time: Union[str, float]) -> float:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*", time) if isinstance(time, str) else None
    value = float(match.group(1)) * _UNITS[match.group(2) or "s"] if match else math.nan if isinstance(time, str) else float(time)
    if not 0 < value < math.inf:
        raise ValueError('time is {!r}; it must be as "90s", "10m", "2h", "1d", or a number of seconds above 0'.format(time))
    return value
