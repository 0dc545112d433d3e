"""Trials of an experiment, as they are seen from outside."""

from __future__ import annotations

import os
import pathlib
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union, overload

from .._checkpoint import Checkpoint
from .._problems import NotFound
from .._functions.snapshot import number_of
from .annotation import Annotation, annotate
from .files import TrialFile, files_of, save_files, user_attrs_of
from .stream import follow
from .transport import Transport

_MOST_LOG_BYTES = 131072
_PAGE = 500


class Explanation:
    """Why a trial is where it is."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self.raw: Mapping[str, Any] = answer  #: The whole answer of the daemon.
        self.state: str = str(answer.get("state") or "")
        self.reason: str = str((answer.get("reason") or {}).get("text") or "")  #: Why it is in its state.
        self.now: str = str(answer.get("now") or "")  #: What it does.
        self.next: str = str(answer.get("next") or "")  #: What happens next.
        self.history: List[Mapping[str, Any]] = list(answer.get("history") or [])  #: Its stored events.

    def __str__(self) -> str:
        lines = ["trial {}: {}".format(self.raw.get("trial"), self.state)]
        for name, text in (("why", self.reason), ("now", self.now), ("next", self.next)):
            if text:
                lines.append("  {}: {}".format(name, text))
        return "\n".join(lines)

    __repr__ = __str__


class TrialView:
    """A trial of an experiment, as it was when it was read; refresh() reads it again."""

    def __init__(self, transport: Transport, experiment: int, answer: Mapping[str, Any]) -> None:
        self._transport = transport
        self._experiment = experiment
        self.raw: Mapping[str, Any] = answer  #: The whole answer of the daemon.

    @property
    def number(self) -> int:
        """Its number in the experiment, from 0."""
        return int(self.raw["trial"])

    @property
    def params(self) -> Dict[str, Any]:
        """Its hyperparameters, nested as in the space."""
        return dict(self.raw.get("hparams") or {})

    @property
    def state(self) -> str:
        """PENDING, RUNNING, PAUSED, COMPLETED, STOPPED, FAILED or CANCELED."""
        return str(self.raw["state"])

    @property
    def metric(self) -> Optional[float]:
        """The best value of the searcher's metric; None before the first report."""
        return number_of(self.raw.get("best_metric"))

    @property
    def last_metric(self) -> Optional[float]:
        """The latest value of the searcher's metric; None before the first report."""
        return number_of(self.raw.get("metric"))

    @property
    def reached(self) -> int:
        """How far it has reported, in the experiment's unit."""
        return int(self.raw.get("reached") or 0)

    @property
    def length(self) -> int:
        """How far it is asked to train, in the experiment's unit."""
        return int(self.raw.get("length") or 0)

    @property
    def attempts(self) -> int:
        """How many times it was started; 0 before the first."""
        return int(self.raw.get("attempts") or 0)

    @property
    def failure(self) -> str:
        """How its last failed attempt ended, with the end of its log; "" if none failed."""
        return str(self.raw.get("last_failure") or "")

    @property
    def checkpoint(self) -> Optional[Checkpoint]:
        """Its checkpoint: that of the best result where it is kept, else the latest. None if it has none."""
        kept = self.raw.get("best_checkpoint")
        name = "best_checkpoint" if kept else "checkpoint"
        path = str(self.raw.get(name) or "")
        if not path:
            return None
        return Checkpoint(self._transport, self._experiment, self.number, path,
                          int(self.raw.get(name + "_step") or 0))

    def checkpoints(self) -> List[Checkpoint]:
        """All its checkpoints that are kept."""
        answer = self._transport.get(self._path("/checkpoints"))
        return [Checkpoint(self._transport, self._experiment, self.number, str(one["path"]), int(one["step"]),
                           str(one.get("id") or "")) for one in answer["checkpoints"]]

    def refresh(self) -> "TrialView":
        """Reads it again, and returns it."""
        self.raw = self._transport.get(self._path())
        return self

    def explain(self) -> Explanation:
        """Why it is where it is; print it."""
        return Explanation(self._transport.get(self._path("/explain")))

    def metrics(self) -> List[Dict[str, Any]]:
        """All its reports, as {"step", "attempt", "metrics": {name: number}}."""
        out: List[Dict[str, Any]] = []
        after = None
        while True:
            page = self._transport.get(self._path("/metrics"), {"after": after})
            out += page["metrics"]
            after = page["next"]
            if after is None:
                return out

    def utilization(self, attempt: int = 0, *, worker: Optional[int] = None) -> List[Dict[str, Any]]:
        """How much of its machine an attempt (0: the latest) used, at most 500 stretches of its time in order, as {"at",
        "seconds", "cores", "memory_bytes", "devices": [{"index", "utilization", "memory_bytes"}]}.

        `at` is the end of the stretch in seconds since the epoch, `cores` how many it kept busy on average, `memory_bytes`
        the largest memory, `utilization` the percent of the time in which the device was busy. What was not measured is
        None; an attempt of less than 20 s may have no stretch. `worker` is one of its workers, by ID, where it has several.
        NotFound: there was no such attempt.
        """
        columns = self._transport.get(self._path("/attempts/{}/utilization".format(attempt)), {"worker": worker})
        out: List[Dict[str, Any]] = []
        for row, at in enumerate(columns["at"]):
            devices = [{"index": device["index"], "utilization": device["utilization"][row],
                        "memory_bytes": device["memory_bytes"][row]} for device in columns["devices"]]
            out.append({"at": at, "seconds": columns["seconds"][row], "cores": columns["cores"][row],
                        "memory_bytes": columns["memory_bytes"][row], "devices": devices})
        return out

    @overload
    def log(self, follow: None = None, *, stream: str = "stdout", attempt: int = 0) -> str: ...
    @overload
    def log(self, follow: bool, *, stream: str = "stdout", attempt: int = 0) -> Union[str, Iterator[str]]: ...

    def log(self, follow: Optional[bool] = None, *, stream: str = "stdout",
            attempt: int = 0) -> Union[str, Iterator[str]]:
        """The log of an attempt (0: the latest) as one text; with `follow` pieces of it as they are written.

        `stream` is "stdout" or "stderr". Following ends with the attempt.
        """
        if follow:
            return self._follow_log(stream, attempt)
        out: List[str] = []
        offset = 0
        while True:
            piece = self._transport.get(self._path("/log"), {"stream": stream, "attempt": attempt, "offset": offset,
                                                             "limit": _MOST_LOG_BYTES})
            out.append(piece["text"])
            read = len(piece["text"].encode("utf-8", "replace"))
            offset = int(piece["offset"]) + read
            if read == 0 or offset >= int(piece["size"]):
                return "".join(out)

    def files(self) -> List[TrialFile]:
        """The files that it left in its working directory, by name: of a search of this machine from the disk, else from the
        daemon. NotFound: the daemon keeps no files."""
        return files_of(self._transport, self._experiment, self.number)

    def save_files(self, to: "os.PathLike[str] | str") -> pathlib.Path:
        """Saves its files as a tar archive, in which those of attempt N are below attempt-N, and returns its path.

        FileExistsError: `to` exists. NotFound: it left no file, or the daemon keeps none.
        """
        return save_files(self._transport, self._experiment, self.number, self.attempts, to)

    @property
    def user_attrs(self) -> Dict[str, Any]:
        """What its function gave to trial.set_user_attr(), as of its last attempt that ended."""
        return user_attrs_of(self._transport, self._experiment, [self.number]).get(self.number, {})

    @property
    def annotation(self) -> Annotation:
        """What users wrote about it: note, labels, starred."""
        return Annotation(self.raw)

    def annotate(self, *, note: Optional[str] = None, labels: Optional[Sequence[str]] = None,
                 starred: Optional[bool] = None) -> Annotation:
        """Writes a note of at most 10,000 bytes, labels or a star. What is None stays; `labels` are all that it has then.

        BadRequest: a text is too long.
        """
        written = annotate(self._transport, self._path(), note, labels, starred)
        self.raw = dict(self.raw, note=written.note, labels=list(written.labels), starred=written.starred)
        return written

    def stop(self) -> None:
        """Stops it and keeps its result. WrongState: it has ended."""
        self._transport.ask("POST", self._path("/stop"))

    def retry(self) -> None:
        """Runs it once more. WrongState: it has not failed."""
        self._transport.ask("POST", self._path("/retry"))

    def cancel(self) -> None:
        """Cancels it; its result does not count. WrongState: it has ended."""
        self._transport.ask("POST", self._path("/cancel"))

    def __repr__(self) -> str:
        metric = "no result" if self.metric is None else "{:.6g}".format(self.metric)
        return "<trial {}: {}, {} at {}, {}>".format(self.number, self.state, metric, self.reached, self.params)

    def _path(self, rest: str = "") -> str:
        return "/api/v1/experiments/{}/trials/{}{}".format(self._experiment, self.number, rest)

    def _follow_log(self, stream: str, attempt: int) -> Iterator[str]:
        for message in follow(self._transport, self._path("/log"),
                              {"follow": True, "stream": stream, "attempt": attempt or None}):
            if message.event == "log":
                yield str(message.json()["text"])


class Trials(Sequence[TrialView]):
    """The trials of an experiment: trials[17], len(trials), iteration in the order of their numbers."""

    def __init__(self, transport: Transport, experiment: int) -> None:
        self._transport = transport
        self._path = "/api/v1/experiments/{}/trials".format(experiment)
        self._experiment = experiment

    def __len__(self) -> int:
        return int(self._transport.get(self._path, {"limit": 1})["total"])

    @overload
    def __getitem__(self, at: int) -> TrialView: ...
    @overload
    def __getitem__(self, at: slice) -> List[TrialView]: ...

    def __getitem__(self, at: Union[int, slice]) -> Union[TrialView, List[TrialView]]:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        number = at + len(self) if at < 0 else at
        try:
            return TrialView(self._transport, self._experiment, self._transport.get("{}/{}".format(self._path, number)))
        except NotFound as error:
            raise IndexError(error.detail) from error

    def __iter__(self) -> Iterator[TrialView]:
        return self.select()

    def select(self, where: Optional[str] = None, *, state: Optional[str] = None,
               sort: Optional[str] = None) -> Iterator[TrialView]:
        """Trials that satisfy a condition, as "lr<0.01 and state=COMPLETED"; `sort` as "metric,-created_at".

        BadRequest: the condition is wrong, or there is nothing of a name to sort by.
        """
        after = None
        while True:
            page = self._transport.get(self._path, {"where": where, "state": state, "sort": sort, "after": after,
                                                    "limit": _PAGE})
            for answer in page["trials"]:
                yield TrialView(self._transport, self._experiment, answer)
            after = page["next"]
            if after is None:
                return

    def __repr__(self) -> str:
        return "<{} trials of experiment {}>".format(len(self), self._experiment)
