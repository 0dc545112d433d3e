"""Carries reports to a tracker on a thread of its own, so that no report waits for it."""

from __future__ import annotations

import collections
import sys
import threading
import time
from typing import Callable, Deque, Dict, List, Optional

from ._tracker import End, Identity, Point, Tracker

_MOST_WAITING = 10_000  # Reports; some megabytes.
_MOST_AT_ONCE = 500
_FIRST_PAUSE = 1.0  # Seconds after a failure; doubles with each that follows.
_LONGEST_PAUSE = 60.0
_TRIES_AFTER_END = 2  # A tracker that refuses at once holds up the end of the program no longer than that.


class Feed:
    """Points go in from any thread and never wait; the tracker takes them when it can.

    While it can't, the latest `most_waiting` reports are kept. Of each metric, steps only grow: a report of a step
    that was reported before, or of an earlier one, is left out. `opened` is called on the thread after each open().
    """

    def __init__(self, tracker: Tracker, trial: Identity, opened: Optional[Callable[[], None]] = None,
                 most_waiting: int = _MOST_WAITING, first_pause: float = _FIRST_PAUSE) -> None:
        self._tracker = tracker
        self._trial = trial
        self._opened = opened
        self._most_waiting = most_waiting
        self._first_pause = first_pause
        self._changed = threading.Condition()
        # Guarded by _changed, as all that follows; it is held for moments only.
        self._waiting: Deque[Point] = collections.deque()
        self._taken: List[Point] = []
        self._last_steps: Dict[str, int] = {}
        self._dropped: List[int] = []  # Number, first step, last step.
        self._end: Optional[End] = None
        self._failure = ""
        self._is_done = False
        self._thread = threading.Thread(target=self._carry, name="hpsearch-" + tracker.name, daemon=True)
        self._thread.start()

    def put(self, point: Point) -> None:
        with self._changed:
            fresh = {name: value for name, value in point.metrics.items()
                     if self._last_steps.get(name, -1) < point.step}
            if not fresh or self._end is not None:
                return
            self._last_steps.update((name, point.step) for name in fresh)
            if len(self._waiting) >= self._most_waiting:
                self._drop(self._waiting.popleft())
            self._waiting.append(point._replace(metrics=fresh))
            self._changed.notify_all()

    def end(self, end: End) -> None:
        """Nothing more comes: what waits is handed over, and the run ended in the tracker."""
        with self._changed:
            if self._end is None:
                self._end = end
                self._changed.notify_all()

    def close(self, patience: float) -> None:
        """After end(): waits `patience` seconds at most for that, then logs what the tracker did not take."""
        self._thread.join(patience)
        with self._changed:
            for point in (*self._taken, *self._waiting):
                self._drop(point)
            self._taken = []
            self._waiting.clear()
            if self._dropped:
                number, first, last = self._dropped
                _say("{}: {} report{} dropped, of step{}: {}".format(
                    self._tracker.name, number, " was" if number == 1 else "s were",
                    " {}".format(first) if first == last else "s {} to {}".format(first, last),
                    self._failure or "it took reports too slowly"))
                self._dropped = []
            elif not self._is_done:
                _say("{}: the end of the run was not recorded: {}".format(
                    self._tracker.name, self._failure or "it did not answer in {:g} s".format(patience)))
            self._is_done = True

    def _drop(self, point: Point) -> None:
        number, first, last = self._dropped or (0, point.step, point.step)
        self._dropped = [number + 1, min(first, point.step), max(last, point.step)]

    def _carry(self) -> None:
        is_open = False
        failures = 0
        failures_after_end = 0
        while True:
            try:
                if not is_open:
                    self._tracker.open(self._trial)
                    is_open = True
                    if self._opened is not None:
                        self._opened()
                if not self._carry_some():
                    return
                failures = 0
            except BaseException as error:  # noqa: B902 - whatever a tracker's library does, the trial goes on.
                is_open = False
                failures += 1
                was_ended = self._note(error)
                failures_after_end += was_ended
                if failures_after_end >= _TRIES_AFTER_END:
                    return
                pause = self._first_pause * 2 ** min(failures - 1, 16)
                self._wait_to_retry(self._first_pause if was_ended else min(_LONGEST_PAUSE, pause), was_ended)

    def _carry_some(self) -> bool:
        """Hands over what waits, when something does; False after the end."""
        with self._changed:
            while not self._taken and not self._waiting and self._end is None:
                self._changed.wait()
            while self._waiting and len(self._taken) < _MOST_AT_ONCE:
                self._taken.append(self._waiting.popleft())
            points, end = list(self._taken), self._end
        if points:
            self._tracker.write(points)
            with self._changed:
                self._taken = []
                self._failure = ""
            return True
        assert end is not None
        self._tracker.close(end)
        with self._changed:
            self._is_done = True
            self._failure = ""
        return False

    def _note(self, error: BaseException) -> bool:
        """Whether the end had come before."""
        text = "{}: {}".format(type(error).__name__, " ".join(str(error).split())[:500])
        with self._changed:
            if not self._failure and not self._is_done:
                _say("{} cannot be reached: {}. Its reports wait; the trial goes on".format(self._tracker.name, text))
            self._failure = text
            return self._end is not None

    def _wait_to_retry(self, seconds: float, was_ended: bool) -> None:
        """The end of the program is worth a try at once."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while time.monotonic() < deadline and was_ended == (self._end is not None):
                self._changed.wait(max(0.0, deadline - time.monotonic()))


def _say(text: str) -> None:
    # One write: other threads write too.
    sys.stderr.write("hpsearch: mirror: " + text + "\n")
    sys.stderr.flush()
