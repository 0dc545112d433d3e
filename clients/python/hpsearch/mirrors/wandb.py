"""Trials as runs of W&B: one id in every attempt, all trials of an experiment in one group."""

from __future__ import annotations

import glob
import inspect
import os
import sys
from typing import Any, Dict, Optional, Sequence, Set

from ._options import check_options, package
from ._tracker import RUNNING, STATUSES, End, Identity, Point, Tracker
from ._wandb_file import steps_in

_OURS = ("config", "id", "reinit", "resume")  # Arguments of wandb.init() that the mirror sets.


class WandbTracker(Tracker):
    """W&B itself drops steps before the last one of a run. Offline it has no view of earlier attempts, which are
    files beside its own: their steps are read."""

    name = "wandb"

    def __init__(self, options: Dict[str, Any]) -> None:
        self._wandb = package("wandb", "wandb")
        if "hpsearch.wandb" in sys.modules and self._wandb is sys.modules["hpsearch.wandb"]:
            raise ValueError("the mirror wandb needs the genuine package, and this program runs with hpsearch.wandb in "
                             "its place; report without that, or without the mirror")
        check_options(self.name, options, set(inspect.signature(self._wandb.init).parameters) - set(_OURS))
        self._options = options
        self._run: Any = None
        self._first = 0
        self._written: Set[int] = set()

    def open(self, trial: Identity) -> None:
        options = {"group": trial.experiment, "name": "trial-{}".format(trial.trial), **self._options}
        if not options.get("project") and not os.environ.get("WANDB_PROJECT"):
            options["project"] = trial.experiment or "hpsearch"
        about = {"trial": trial.run, "number": trial.trial, "seed": trial.seed, "attempt": trial.attempt}
        self._run = self._wandb.init(
            id=trial.run, resume="allow", reinit="create_new", config={**trial.hyperparameters, "hpsearch": about},
            allow_val_change=True, settings=self._settings(options.pop("settings", None)), **options)
        self._first = self._run.starting_step
        self._written = self._earlier_steps()
        self._mark(RUNNING, "")

    def write(self, points: Sequence[Point]) -> None:
        for point in points:
            if point.step >= self._first and point.step not in self._written:
                self._run.log(point.metrics, step=point.step)

    def close(self, end: End) -> None:
        self._mark(end.status, end.reason)
        self._run.finish(exit_code=1 if end.status in ("FAILED", "INVALID") else 0)

    def _settings(self, given: Any) -> Any:
        # Its console would replace the program's standard output, from which reports are read too.
        ours = {"console": "off", "silent": True}
        if isinstance(given, dict) or given is None:
            return self._wandb.Settings(**{**ours, **(given or {})})
        return given

    def _mark(self, status: str, reason: str) -> None:
        others = tuple(tag for tag in self._run.tags or () if tag not in STATUSES)
        self._run.tags = others if status == RUNNING else (*others, status)
        self._run.summary["hpsearch.status"] = status
        self._run.summary["hpsearch.reason"] = reason

    def _earlier_steps(self) -> Set[int]:
        place: Optional[str] = getattr(self._run.settings, "sync_dir", None)
        if not place or not self._run.offline:
            return set()
        own_names = "offline-run-*-" + glob.escape(self._run.id)
        beside = os.path.join(glob.escape(os.path.dirname(place)), own_names, "*.wandb")
        steps: Set[int] = set()
        for path in glob.glob(beside):
            if os.path.dirname(path) != place:
                steps |= steps_in(path)
        return steps
