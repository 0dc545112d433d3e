"""An experiment at one moment."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

ENDED = ("COMPLETED", "CANCELED", "FAILED")
"""States of an experiment that has ended."""


def number_of(metric: Any) -> Optional[float]:
    """A metric of an answer as a number; {"class": "nan"} is NaN, null is None."""
    if metric is None:
        return None
    if isinstance(metric, Mapping):
        return {"nan": math.nan, "+inf": math.inf, "-inf": -math.inf}.get(str(metric.get("class")), math.nan)
    return float(metric)


class BestSoFar(NamedTuple):
    """The best result of a search so far."""

    trial: int  #: Its number in the experiment.
    metric: float  #: The value of the searcher's metric.
    step: int  #: At which it was reported, in the experiment's unit.

    def __str__(self) -> str:
        return "trial {}: {:.6g} at {}".format(self.trial, self.metric, self.step)


class Snapshot:
    """An experiment at one moment, as the daemon described it. It does not change."""

    def __init__(self, answer: Mapping[str, Any], lsn: Optional[int] = None) -> None:
        self.raw: Mapping[str, Any] = answer  #: The whole answer of the daemon.
        self.lsn: Optional[int] = lsn  #: The number of the last event in it; None if it is no part of a stream.

    @property
    def id(self) -> int:
        """Its number at the daemon, from 1."""
        return int(self.raw["id"])

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.raw.get("name") or "")

    @property
    def state(self) -> str:
        """ACTIVE, PAUSED, STOPPING, COMPLETED, CANCELED or FAILED."""
        return str(self.raw["state"])

    @property
    def ended(self) -> bool:
        """Whether it has ended: COMPLETED, CANCELED or FAILED."""
        return self.state in ENDED

    @property
    def reason(self) -> str:
        """Why it ended, or why it paused; "" if nothing needs a reason."""
        return str(self.raw.get("reason") or "")

    @property
    def waits_for(self) -> str:
        """Why none of its trials runs; "" if one runs."""
        return str(self.raw.get("waits_for") or "")

    @property
    def notes(self) -> List[str]:
        """What the daemon noted of it: a direction that contradicts the metric's name, metrics that are never
        reported, …."""
        return [str(doubt) for doubt in self.raw.get("doubts") or []] + \
            [str(note.get("text") or "") for note in self.raw.get("notes") or []]

    @property
    def metric(self) -> str:
        """The name of the searcher's metric."""
        return str(self.raw.get("metric") or "")

    @property
    def smaller_is_better(self) -> bool:
        """Whether the best value of the metric is the smallest one."""
        return bool(self.raw.get("smaller_is_better", True))

    @property
    def unit(self) -> str:
        """Of lengths and steps: "batches", "epochs", …."""
        return str(self.raw.get("unit") or "")

    @property
    def progress(self) -> float:
        """From 0 to 1."""
        return float(self.raw.get("progress") or 0.0)

    @property
    def trials(self) -> Dict[str, int]:
        """How many trials are in each state."""
        return dict(self.raw.get("trials") or {})

    @property
    def best(self) -> Optional[BestSoFar]:
        """The best result; None before the first one."""
        answer = self.raw.get("best")
        metric = number_of(answer.get("metric")) if answer else None
        return BestSoFar(int(answer["trial"]), metric, int(answer["step"])) if answer and metric is not None else None

    def __repr__(self) -> str:
        done = sum(self.trials.get(state, 0) for state in ("COMPLETED", "STOPPED", "FAILED", "CANCELED"))
        best = "no result yet" if self.best is None else "best {:.6g} (trial {})".format(
            self.best.metric, self.best.trial)
        return "<experiment {} {!r}: {}, {} of {} trials ended, {}>".format(
            self.id, self.name, self.state, done, sum(self.trials.values()), best)
