"""An experiment, as it is seen from outside: its state, its results, and what can be done to it."""

from __future__ import annotations

import sys
import time
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from . import frames as _frames
from .annotation import Annotation, annotate
from .columns import MEDIA_TYPE, in_32_bits, read_columns, with_user_attrs
from .files import user_attrs_of
from .notebook import card_of, show_card
from .plots import Plots
from .._problems import ExperimentCanceled, ExperimentFailed
from .._functions.snapshot import Snapshot
from .stream import follow
from .transport import Transport
from .trials import Trials, TrialView
from .._values import plain

_MOST_CURVES = 200  # In one answer.
_LIMITS = {
    "searcher": ("max_trials", "max_concurrent_trials", "on_duplicate", "points_to_evaluate"),
    "resources": ("max_slots", "priority", "weight"),
    "budget": ("max_time", "max_slot_hours", "max_failed_trials", "target"),
}

TrialChoice = Union[None, str, int, Iterable[int]]
"""Trials of curves: None (the daemon chooses up to 60), "best:20", "all", a number, or numbers."""


class Experiment:
    """An experiment at a daemon.

    Attributes ask the daemon each time: `experiment.state` is the state of now. now() is all of it at one moment.
    """

    def __init__(self, transport: Transport, number: int) -> None:
        self._transport = transport
        self._path = "/api/v1/experiments/{}".format(number)
        self.id: int = number  #: Its number at the daemon, from 1.
        self._smaller_is_better: Optional[bool] = None  # It never changes.
        self.now()  # NotFound is better now than later.

    # --- state ---

    def now(self) -> Snapshot:
        """All of it, at this moment."""
        return Snapshot(self._transport.get(self._path))

    @property
    def name(self) -> str:
        """Its name; several experiments may have the same one."""
        return self.now().name

    @property
    def state(self) -> str:
        """ACTIVE, PAUSED, STOPPING, COMPLETED, CANCELED or FAILED."""
        return self.now().state

    @property
    def smaller_is_better(self) -> bool:
        """Whether the best value of the searcher's metric is the smallest one."""
        if self._smaller_is_better is None:
            self._smaller_is_better = self.now().smaller_is_better
        return self._smaller_is_better

    @property
    def config(self) -> Dict[str, Any]:
        """The experiment file, with all defaults and without secrets."""
        document: Dict[str, Any] = self._transport.get(self._path + "/config")
        return document

    @property
    def file(self) -> str:
        """The experiment file as it was submitted, with <hidden> for each secret. NotFound: the daemon has none."""
        text: str = self._transport.get(self._path + "/file")["text"]
        return text

    @property
    def git(self) -> Optional[Mapping[str, Any]]:
        """The commit of its context, as {"commit", "branch", "dirty"}; None if the context was no Git checkout."""
        state: Optional[Mapping[str, Any]] = self.now().raw.get("git")
        return state

    @property
    def trials(self) -> Trials:
        """Its trials: trials[17], len(trials), iteration, trials.select("lr<0.01")."""
        return Trials(self._transport, self.id)

    @property
    def best(self) -> TrialView:
        """The best trial. ExperimentFailed: there is no result yet; the notes have the cause, if it is known."""
        document = self._transport.get(self._path + "/best")
        if document is None:
            now = self.now()
            raise ExperimentFailed("experiment {} has no result{}".format(
                self.id, ": " + now.reason if now.reason else "" if now.ended else " yet"), experiment=self,
                reason=now.reason, notes=now.notes)
        return TrialView(self._transport, self.id, document)

    # --- waiting ---

    def watch(self) -> Iterator[Snapshot]:
        """The experiment as it changes, at most four times a second; first as it is. Ends when the experiment does.

        A stream that breaks off goes on where it was, also over a restart of the daemon.
        """
        topic = "experiment:{}".format(self.id)
        for message in follow(self._transport, "/api/v1/stream", {"topics": topic}):
            document = message.json()
            if message.event != topic or not document.get("experiment"):
                continue
            change = Snapshot(document["experiment"], int(document["lsn"]))
            yield change
            if change.ended:
                return

    def wait(self, timeout: Optional[float] = None) -> "Experiment":
        """Returns the experiment when it has completed. `timeout` is in seconds.

        ExperimentFailed: it failed, or paused itself because its trials fail. ExperimentCanceled: it was canceled.
        TimeoutError: it takes longer; it goes on. Ctrl-C does not end it either.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            self._wait(deadline)
        except KeyboardInterrupt:
            print("\nhpsearch: interrupted; experiment {0} goes on. To wait again: hpsearch.Client({1!r}).experiment({0})"
                  ".wait(); to end it: .cancel()".format(self.id, str(self._transport.address)), file=sys.stderr)
            raise
        return self

    def _wait(self, deadline: Optional[float]) -> None:
        if deadline is None:
            for change in self.watch():
                self.raise_if_failed(change)
            return
        pause = 0.05
        while True:
            now = self.now()
            self.raise_if_failed(now)
            if now.ended:
                return
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("experiment {} is {} after the given time; it goes on".format(self.id, now.state))
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, 1.0)

    def raise_if_failed(self, now: Snapshot) -> None:
        """Raises what wait() raises, if by `now` the experiment ended, or paused itself, without being completed."""
        about = "experiment {} ({})".format(now.id, now.name)
        why = ": " + now.reason if now.reason else ""
        if now.state == "CANCELED":
            raise ExperimentCanceled(about + " was canceled" + why, experiment=self, reason=now.reason, notes=now.notes)
        if now.state == "FAILED":
            raise ExperimentFailed(about + " failed" + why + self._last_failure(), experiment=self, reason=now.reason,
                                   notes=now.notes)
        if now.state == "PAUSED" and now.reason:
            raise ExperimentFailed("{} paused itself{}{}\n{}".format(about, why, self._last_failure(), self._how_to_go_on()),
                                   experiment=self, reason=now.reason, notes=now.notes)

    def _how_to_go_on(self) -> str:
        """A sentence with the line that resumes it."""
        return "when that is solved, this goes on: hpsearch.Client({!r}).experiment({}).resume()".format(
            str(self._transport.address), self.id)

    # --- results ---

    def frame(self, fields: Optional[Sequence[str]] = None, *, where: Optional[str] = None,
              sample: Optional[int] = None, polars: bool = False, bits: int = 64, user_attrs: Optional[bool] = None) -> Any:
        """A row for each trial: pandas.DataFrame, without pandas a list of dicts, with polars=True polars.DataFrame.

        `fields` are columns of docs/http-api.md; without them trial, state, metric (the best), reached, rung, the
        hyperparameters that vary, as hparams.NAME, and every metric as metrics.NAME: its value where `metric` was measured.
        Hyperparameters and metrics are exactly those of the trials. `where` is a condition, as
        "lr<0.01 and state=COMPLETED"; `sample` the most rows. With `bits` 32, metrics and real hyperparameters are rounded to
        32-bit floats. What trials gave to set_user_attr() follows as user_attrs.NAME: with `user_attrs` True, with False
        not, and else where this machine has the files of the trials, as after tune(). Elsewhere it takes a request for each trial.

        BadRequest: there is no such field, or the condition is wrong. ImportError: polars is not installed. ValueError: `bits`
        is neither 64 nor 32.
        """
        if bits not in (32, 64):
            raise ValueError("bits is {!r}; it must be 64 or 32".format(bits))
        if user_attrs is None:
            user_attrs = not fields and self._transport.state is not None
        adds_number = user_attrs and fields and "trial" not in fields
        asked = ["trial", *fields] if fields and adds_number else fields
        answer = self._transport.ask("GET", self._path + "/columns", {
            "fields": ",".join(asked) if asked else None, "where": where, "sample": sample}, accept=MEDIA_TYPE)
        columns = read_columns(answer.body)
        if user_attrs:
            columns = with_user_attrs(columns, user_attrs_of(self._transport, self.id), keep_number=not adds_number)
        return _frames.frame_of(in_32_bits(columns) if bits == 32 else columns, polars)

    def curves(self, trials: TrialChoice = None, *, metric: Union[None, str, Sequence[str]] = None,
               points: Optional[int] = None, polars: bool = False) -> Any:
        """Learning curves as a long table: trial, step, metric, value. The kinds of tables are those of frame().

        Steps are in the experiment's unit. A curve has at most `points` values (200); of each part of it, the last.
        `metric` are names; without them, the searcher's.

        ValueError: `trials` is none of None, "best:20", "all", a number and numbers.
        """
        return _frames.table_of(_frames.curve_rows(self.curves_raw(trials, metric, points)), polars)

    def curves_raw(self, trials: TrialChoice = None, metric: Union[None, str, Sequence[str]] = None,
                   points: Optional[int] = None) -> List[Mapping[str, Any]]:
        """The answers of the daemon that curves() is made of: with times, the least and the greatest values, events."""
        names: Sequence[Optional[str]] = [metric] if metric is None or isinstance(metric, str) else list(metric)
        numbers = self._numbers(trials)
        chunks: List[Optional[str]] = [None] if numbers is None else [
            ",".join(map(str, numbers[at:at + _MOST_CURVES])) for at in range(0, len(numbers), _MOST_CURVES)]
        return [self._transport.get(self._path + "/curves", {"metric": name, "trials": chunk, "points": points})
                for name in names for chunk in chunks]

    def export_raw(self, kind: str) -> str:
        """All trials as the text of a file: "csv", "jsonl" or "optuna" (docs/http-api.md)."""
        return self._transport.ask("GET", self._path + "/export", {"format": kind}).body.decode("utf-8")

    def history(self) -> Mapping[str, Any]:
        """The moments at which the best metric became better: {"points": [{"trial", "metric", "time", "trials"}]}."""
        return self._read("/history")

    def rungs(self, at: Optional[int] = None) -> Mapping[str, Any]:
        """Brackets and rungs with their results, now or after the event of number `at`."""
        return self._read("/rungs", at=at)

    def importance(self, *, metric: Optional[str] = None, rung: Optional[int] = None) -> Mapping[str, Any]:
        """How much each hyperparameter matters: {"hyperparameters": [{"name", "share"}], "reason"}."""
        return self._read("/importance", metric=metric, rung=rung)

    def timeline(self) -> Mapping[str, Any]:
        """Which slots the attempts held, and when. Times are seconds since the epoch."""
        return self._read("/timeline")

    def metrics(self) -> List[Mapping[str, Any]]:
        """The metrics that programs report, as {"name", "group", "count", "trials", "first_step", "last_step"}."""
        return list(self._read("/metrics")["metrics"])

    @property
    def plot(self) -> Plots:
        """plot.history(), curves(), parallel(), importance(), rungs(): pictures by matplotlib."""
        return Plots(self)

    # --- changes ---

    def pause(self) -> None:
        """Pauses it: running trials save checkpoints and end. WrongState: it has ended."""
        self._transport.ask("POST", self._path + "/pause")

    def resume(self) -> None:
        """Resumes it after a pause. WrongState: it has ended."""
        self._transport.ask("POST", self._path + "/resume")

    def cancel(self) -> None:
        """Cancels it: running trials save checkpoints and end. WrongState: it has ended."""
        self._transport.ask("POST", self._path + "/cancel")

    def kill(self) -> None:
        """Ends it and its programs at once, without checkpoints. WrongState: it has ended."""
        self._transport.ask("POST", self._path + "/kill")

    def archive(self) -> None:
        """Hides it from lists. WrongState: it has not ended."""
        self._transport.ask("POST", self._path + "/archive")

    def unarchive(self) -> None:
        """Shows it in lists again."""
        self._transport.ask("POST", self._path + "/unarchive")

    def delete(self) -> None:
        """Removes it and its checkpoints for ever. WrongState: it has not ended."""
        self._transport.ask("DELETE", self._path)

    def set(self, **limits: Any) -> Snapshot:
        """Changes limits, while it runs or after its end: max_trials, max_concurrent_trials, on_duplicate,
        points_to_evaluate, max_slots, priority, weight, max_time, max_slot_hours, max_failed_trials, target; or sections, as searcher={"max_trials": 400}.

        TypeError: there is no such limit. BadRequest, WrongState: the daemon refuses the change.
        """
        body: Dict[str, Dict[str, Any]] = {}
        for name, value in limits.items():
            section = next((section for section, names in _LIMITS.items() if name in names), None)
            if name in _LIMITS:
                body.setdefault(name, {}).update(plain(value, name))
            elif section is not None:
                body.setdefault(section, {})[name] = plain(value, name)
            else:
                raise TypeError("set() has no limit {!r}; there are {}".format(
                    name, ", ".join(one for names in _LIMITS.values() for one in names)))
        return Snapshot(self._transport.ask("PATCH", self._path, body=body).json())

    @property
    def annotation(self) -> Annotation:
        """What users wrote about it: note, labels, starred."""
        return Annotation(self._read(""))

    def annotate(self, *, note: Optional[str] = None, labels: Optional[Sequence[str]] = None,
                 starred: Optional[bool] = None) -> Annotation:
        """Writes a note of at most 10,000 bytes, labels or a star. What is None stays; `labels` are all that it has then.

        BadRequest: a text is too long. No decision of the search depends on them.
        """
        return annotate(self._transport, self._path, note, labels, starred)

    # --- showing ---

    def __repr__(self) -> str:
        return repr(self.now())

    def _repr_html_(self) -> str:
        return card_of(self.now(), self.history())

    def _ipython_display_(self) -> None:
        show_card(self)

    # --- inside ---

    def _read(self, rest: str, **query: Any) -> Mapping[str, Any]:
        document: Mapping[str, Any] = self._transport.get(self._path + rest, query)
        return document

    def _last_failure(self) -> str:
        for trial in self.trials.select(sort="-ended_at"):
            if trial.failure:
                return "\ntrial {}: {}".format(trial.number, trial.failure.rstrip())
        return ""

    def _numbers(self, trials: TrialChoice) -> Optional[List[int]]:
        if trials is None:
            return None
        if isinstance(trials, int):
            return [trials]
        if not isinstance(trials, str):
            return [int(number) for number in trials]
        word, _, count = trials.partition(":")
        if word == "all" and not count:
            return list(range(len(self.trials)))
        if word == "best" and count.isdigit() and int(count) > 0:
            found: List[int] = []
            for trial in self.trials.select(sort="metric"):
                if trial.metric is None or len(found) == int(count):
                    break
                found.append(trial.number)
            return found
        raise ValueError('trials is {!r}; it must be "best:NUMBER", "all", a number or a list of numbers'.format(trials))
