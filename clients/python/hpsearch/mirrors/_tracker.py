"""What a tracker is to a mirror."""

from __future__ import annotations

import abc
from typing import Any, Dict, Iterator, Mapping, NamedTuple, Sequence, Tuple

#: What a trial's run can be marked with in a tracker.
RUNNING = "RUNNING"
PAUSED = "PAUSED"  #: Below its length: the search goes on with it.
PRUNED = "PRUNED"  #: The search ended it below the experiment's max_length, or promotes others; a promotion makes it RUNNING again.
FINISHED = "FINISHED"
FAILED = "FAILED"
INVALID = "INVALID"  #: The state of a trial with invalid hyperparameters.
STATUSES = (RUNNING, PAUSED, PRUNED, FINISHED, FAILED, INVALID)


class Identity(NamedTuple):
    """The trial whose run a mirror keeps."""

    run: str  #: STORE-EXPERIMENT-TRIAL; the same in every attempt, and of no other trial of any daemon.
    experiment: str
    trial: int  #: Within its experiment, from 0.
    attempt: int  #: From 1.
    seed: int
    hyperparameters: Mapping[str, Any]  #: Nested as configured.


class Point(NamedTuple):
    """One report."""

    step: int
    seconds: float  #: Since 1970.
    metrics: Dict[str, float]  #: By dotted names, training metrics as training.NAME.


class End(NamedTuple):
    """How the attempt ended."""

    status: str  #: One of STATUSES.
    reason: str
    step: int  #: The step of the last report; 0 if there was none.


class Tracker(abc.ABC):
    """One run in one tracker. All calls come from one thread, may take as long as they need, and may raise.

    After an exception open() is called again: it finds out what arrived.
    """

    #: As given to hpsearch.mirror().
    name = ""

    @abc.abstractmethod
    def open(self, trial: Identity) -> None:
        """Starts the trial's run, or opens the one of earlier attempts."""

    @abc.abstractmethod
    def write(self, points: Sequence[Point]) -> None:
        """Adds points, in the order of their reports. What earlier attempts wrote at the same steps is not doubled."""

    @abc.abstractmethod
    def close(self, end: End) -> None:
        """Marks the run and lets go of it."""


def flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[Tuple[str, Any]]:
    """Nested values by dotted names."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from flat(value, prefix + str(name) + ".")
        else:
            yield prefix + str(name), value
