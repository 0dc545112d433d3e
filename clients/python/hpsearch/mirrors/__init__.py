"""Mirrors of a trial's reports in the trackers that a team already has: MLflow, W&B, TensorBoard.

hpsearch.mirror() is the way in. A tracker's package is imported when it is asked for, never before.
"""

from __future__ import annotations

import atexit
import importlib
import os
import sys
import threading
import time
from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Type

from .._trial import TrialInfo
from ._feed import Feed
from ._tracker import FAILED, FINISHED, INVALID, PAUSED, PRUNED, End, Identity, Point, Tracker, flat

_TRACKERS = {"mlflow": "MlflowTracker", "tensorboard": "TensorBoardTracker", "wandb": "WandbTracker"}


def make_tracker(name: str, options: Mapping[str, Any]) -> Tracker:
    """ValueError: there is no such tracker, or it has not what it needs. ImportError: its package is not installed.
    TypeError: it has no such option."""
    if name not in _TRACKERS:
        raise ValueError("{!r} is no tracker that hpsearch mirrors to; it has {}".format(
            name, ", ".join(sorted(_TRACKERS))))
    module = importlib.import_module("." + name, __name__)
    tracker: Tracker = getattr(module, _TRACKERS[name])(dict(options))
    return tracker


class Mirrors:
    """All mirrors of this process's trial."""

    def __init__(self, trial: Identity, length: int) -> None:
        self._trial = trial
        self._longest = length  # No trial of the experiment trains longer.
        self._asked = length  # The length at which the search decided last.
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._feeds: Dict[str, Feed] = {}
        self._patience: Dict[str, float] = {}
        self._step = 0
        self._directive = "continue"
        self._broken = ""
        self._invalid = ""
        self._hook = sys.excepthook
        sys.excepthook = self._on_exception
        atexit.register(self.close)

    def add(self, name: str, options: Mapping[str, Any], wait: float) -> None:
        """As make_tracker(); a tracker that is there already stays as it is."""
        with self._lock:
            if name in self._feeds:
                return
            tracker = make_tracker(name, options)
            self._patience[name] = wait
            # Exit functions run in reverse order: ours comes before the tracker's own, which end its threads.
            self._feeds[name] = Feed(tracker, self._trial, self._close_first)

    def _close_first(self) -> None:
        atexit.register(self.close)

    def put(self, step: int, metrics: Mapping[str, Any], group: str) -> None:
        prefix = "" if group == "validation" else group + "."
        point = Point(step, time.time(), dict(flat(metrics, prefix)))
        with self._lock:
            feeds: List[Feed] = list(self._feeds.values())
            if group == "validation":
                self._step = step
        for feed in feeds:
            feed.put(point)

    def heard(self, directive: str, length: Optional[int]) -> None:
        """The search's answer, and the length that it asks for now."""
        self._directive = directive
        self._asked = length or self._longest

    def invalid(self, why: str) -> None:
        self._invalid = why

    def close(self) -> None:
        """Ends the run in each tracker; again: nothing. Waits for the timeout of add(), all trackers at a time."""
        if os.getpid() != self._process:
            return  # A forked child: the run is its parent's.
        with self._lock:
            feeds, self._feeds = self._feeds, {}
        end = self._end()
        closers = []
        deadline = time.monotonic()
        for name, feed in feeds.items():
            feed.end(end)
            closers.append((feed, deadline + self._patience[name]))
        for feed, until in closers:
            feed.close(max(0.0, until - time.monotonic()))

    def _end(self) -> End:
        if self._invalid:
            return End(INVALID, "invalid hyperparameters: " + self._invalid, self._step)
        if self._broken:
            return End(FAILED, self._broken, self._step)
        if self._directive == "pause" and self._step < self._asked:
            return End(PAUSED, "paused at step {}".format(self._step), self._step)
        if self._step < self._longest and self._directive in ("pause", "stop"):
            # Most trials that pause at their length are never promoted, and no process of them is left then to note it.
            unless = ", unless it is promoted" if self._directive == "pause" else ""
            return End(PRUNED, "stopped at step {} of at most {}{}".format(self._step, self._longest, unless), self._step)
        return End(FINISHED, "ended at step {}".format(self._step), self._step)

    def _on_exception(self, kind: Type[BaseException], error: BaseException, trace: Optional[TracebackType]) -> None:
        self._broken = "{}: {}".format(kind.__name__, error)
        self._hook(kind, error, trace)


def identity(trial: TrialInfo, hyperparameters: Mapping[str, Any]) -> Identity:
    """Of the present trial. A daemon that does not pass its store's number on has the experiment's name there."""
    store = os.environ.get("HPSEARCH_STORE") or trial.experiment_name
    return Identity("{}-{}-{}".format(store, trial.experiment_id, trial.trial_number), trial.experiment_name,
                    trial.trial_number, trial.attempt, trial.seed, hyperparameters)
