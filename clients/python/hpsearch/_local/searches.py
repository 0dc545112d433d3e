"""hpsearch.searches() and hpsearch.open(): the searches of this machine, running or ended."""

from __future__ import annotations

import datetime
import pathlib
from typing import List, Optional

from .._client.experiment import Experiment
from .._functions.snapshot import BestSoFar, Snapshot
from .._problems import Problem
from .places import Place, place_named, places
from .search_directory import SearchDirectory


class LocalSearch:
    """A search of this machine, as it was when it was listed. open() returns its experiment."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.running: bool = SearchDirectory.of_place(place).is_running()  #: Whether a process runs it.
        last = place.last()
        self._snapshot: Optional[Snapshot] = None if last is None else Snapshot(last)

    @property
    def name(self) -> str:
        """What open() and `hpsearch list` call it: the name of its directory, or its path if another search has that name."""
        return self._place.name

    @property
    def path(self) -> pathlib.Path:
        """The directory with all that belongs to it."""
        return self._place.whole

    @property
    def is_named(self) -> bool:
        """Whether its name was given. tune() without a name makes one up, and such searches are removed after some time."""
        return self._place.is_named

    def now(self) -> Snapshot:
        """The experiment; of hpsearch.local(), the last one. It reads the store of a search that was interrupted, once.

        NotFound: there is none yet. Unreachable: it cannot be read.
        """
        if self._snapshot is None:
            directory = SearchDirectory.of_place(self._place)
            self._snapshot = directory.experiments()[-1]
        return self._snapshot

    @property
    def state(self) -> str:
        """As of Experiment.state; NOT RUNNING if it has not ended and no process uses it, NOT BEGUN without an experiment."""
        try:
            now = self.now()
        except Problem:
            return "NOT BEGUN"
        return now.state if now.ended or self.running else "NOT RUNNING"

    @property
    def created(self) -> datetime.datetime:
        """When it was submitted, in local time."""
        return datetime.datetime.fromtimestamp(float(self.now().raw["created_at"]))

    @property
    def best(self) -> Optional[BestSoFar]:
        """The best result; None before the first one."""
        return self.now().best

    def open(self) -> Experiment:
        """The experiment; see hpsearch.open()."""
        return SearchDirectory.of_place(self._place).opened()

    def __repr__(self) -> str:
        best = None if self._snapshot is None else self._snapshot.best
        return "<search {!r}: {}{}>".format(
            self.name, "running" if self.running else self._snapshot.state if self._snapshot else "not running",
            "" if best is None else ", best {:.6g} (trial {})".format(best.metric, best.trial))


def searches() -> List[LocalSearch]:
    """The searches of this machine that hpsearch.open() finds: those of `hpsearch run` in the current directory, then all that
    Python started: tune(), sweeps of Hydra, and local(). `hpsearch list` shows the same."""
    return [LocalSearch(place) for place in places()]


def open(name: str, experiment: Optional[int] = None) -> Experiment:
    """The experiment of a search of this machine, running or ended, without a call of its function.

    `name` is one of searches(), or the path of its directory. Of a search that has ended, a daemon is started that only reads; it ends with this
    process. `experiment` is a number, where hpsearch.local() has several experiments.

    NotFound: there is no such search, or it has no experiment yet. ValueError: it has several experiments. Unreachable: it
    cannot be read.
    """
    return SearchDirectory.of_place(place_named(name)).opened(experiment)
