"""What tune(on="inprocess") returns: the results of a search in this process, read as those of a daemon."""

from __future__ import annotations

import copy
import math
import time
from typing import Any, Dict, Iterator, List, Mapping, NoReturn, Optional, Sequence, Union

from .._client import frames as _frames
from .._client.experiment import Experiment, TrialChoice
from .._client.trials import Explanation, Trials, TrialView
from .._functions.snapshot import Snapshot
from .._problems import ExperimentFailed
from ..search import Search
from .trial import TrialRecord, value_of


class _NoDaemon:
    """In the place of the connection to a daemon."""

    def __getattr__(self, name: str) -> NoReturn:
        raise NotImplementedError('a search with on="inprocess" has no daemon, so it has no logs, files or checkpoints on a disk, and '
                                  'cannot be changed. Use on="local" for these')


class InProcessTrialView(TrialView):
    """A trial of a search in this process."""

    def __init__(self, experiment: "InProcessExperiment", record: TrialRecord) -> None:
        super().__init__(experiment._transport, experiment.id, record.as_answer())
        self._search = experiment.search
        self._record = record

    @property
    def user_attrs(self) -> Dict[str, Any]:
        """What its function gave to trial.set_user_attr()."""
        return copy.deepcopy(self._record.user_attrs)

    def refresh(self) -> "TrialView":
        """Reads it again, and returns it."""
        self.raw = self._record.as_answer()
        return self

    def explain(self) -> Explanation:
        """Why it is where it is; print it."""
        return Explanation(self._search.explain(self.number))

    def metrics(self) -> List[Dict[str, Any]]:
        """All its reports, as {"step", "attempt", "metrics": {name: number}}."""
        return [{"step": step, "attempt": self._record.attempts, "metrics": dict(metrics)} for step, metrics, _ in self._record.reports]


class InProcessTrials(Trials):
    """The trials of a search in this process."""

    def __init__(self, experiment: "InProcessExperiment") -> None:
        super().__init__(experiment._transport, experiment.id)
        self._of = experiment

    def __len__(self) -> int:
        return len(self._of.records)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        number = at + len(self) if at < 0 else at
        if number not in self._of.records:
            raise IndexError("there is no trial {}".format(at))
        return InProcessTrialView(self._of, self._of.records[number])

    def select(self, where: Optional[str] = None, *, state: Optional[str] = None, sort: Optional[str] = None) -> Iterator[TrialView]:
        """The trials in the order of their numbers; of one `state`; or sorted by "metric", the best first, or "-ended_at".

        NotImplementedError: `where`, which only daemons read. ValueError: another `sort`.
        """
        if where is not None:
            raise NotImplementedError("only a daemon reads conditions; select from the table of frame()")
        found = [record for _, record in sorted(self._of.records.items()) if state is None or record.state == state]
        if sort == "metric":
            found.sort(key=lambda record: math.inf if record.best is None else self._of.sign * record.best)
        elif sort == "-ended_at":
            found.sort(key=lambda record: -record.ended_at)
        elif sort is not None:
            raise ValueError('sort is {!r}; it must be "metric" or "-ended_at"'.format(sort))
        return iter([InProcessTrialView(self._of, record) for record in found])


class InProcessExperiment(Experiment):
    """The results of a search in this process: best, trials, frame(), curves(), history(), now(), plot.history() and plot.curves().

    They are gone with this object; save() returns the state of the engine, which hpsearch.Search.load() reads. What needs a daemon
    raises NotImplementedError.
    """

    def __init__(self, search: Search, config: Mapping[str, Any]) -> None:
        self.search: Search = search  #: The engine.
        self.records: Dict[int, TrialRecord] = {}
        self.sign = 1.0 if config["searcher"].get("smaller_is_better", True) else -1.0
        self.id = 0
        self._smaller_is_better = self.sign > 0
        self._config = config
        self._transport: Any = _NoDaemon()
        self._path = ""
        self._begun = time.monotonic()
        self._improved: List[Mapping[str, Any]] = []
        self._reason = ""
        self._state = "ACTIVE"

    # --- state ---

    def now(self) -> Snapshot:
        """All of it, at this moment."""
        state = self.search.state()
        if self._state != "ACTIVE":
            counts = {name: 0 for name in state["trials"]}
            for record in self.records.values():
                counts[record.state] = counts.get(record.state, 0) + 1
            state.update(state=self._state, reason=self._reason, trials=counts)
        state.update(id=self.id, name=str(self._config.get("name") or ""))
        return Snapshot(state)

    @property
    def config(self) -> Dict[str, Any]:
        """The experiment file, as tune() made it."""
        return copy.deepcopy(dict(self._config))

    @property
    def trials(self) -> InProcessTrials:
        """Its trials: trials[17], len(trials), iteration."""
        return InProcessTrials(self)

    @property
    def best(self) -> TrialView:
        """The best trial. ExperimentFailed: there is no result."""
        best = self.search.best
        if best is None:
            raise ExperimentFailed("the search has no result" + (": " + self._reason if self._reason else ""), experiment=self, reason=self._reason)
        return InProcessTrialView(self, self.records[best.trial])

    def watch(self) -> Iterator[Snapshot]:
        """As it is: it doesn't change any more when tune() has returned."""
        yield self.now()

    def wait(self, timeout: Optional[float] = None) -> "Experiment":
        """Returns it. ExperimentFailed: it failed."""
        self.raise_if_failed(self.now())
        return self

    def save(self) -> str:
        """The engine's events as text, for hpsearch.Search.load(). Metrics beside the deciding one, checkpoints and user attributes
        are not in it."""
        return self.search.save()

    # --- results ---

    def frame(self, fields: Optional[Sequence[str]] = None, *, where: Optional[str] = None, sample: Optional[int] = None,
              polars: bool = False, bits: int = 64, user_attrs: Optional[bool] = None) -> Any:
        """A row for each trial, as Experiment.frame(). NotImplementedError: `where` or `sample`, which only daemons read.
        ValueError: there is no such field."""
        if where is not None or sample is not None or bits != 64:
            raise NotImplementedError("only a daemon reads where=, sample= and bits=; select from the whole table")
        columns = self._columns()
        if user_attrs is False:
            columns = {name: values for name, values in columns.items() if not name.startswith("user_attrs.")}
        for field in fields or []:
            if field not in columns:
                raise ValueError("there is no field {!r}; there are {}".format(field, ", ".join(columns)))
        return _frames.table_of({field: columns[field] for field in fields} if fields else columns, polars)

    def _columns(self) -> Dict[str, List[Any]]:
        records = [record for _, record in sorted(self.records.items())]
        out: Dict[str, List[Any]] = {
            "trial": [record.number for record in records], "state": [record.state for record in records],
            "metric": [record.best for record in records], "reached": [record.reached for record in records]}
        for prefix, rows in (("hparams.", [_flat(record.params) for record in records]),
                             ("metrics.", [_flat(record.best_metrics) for record in records]),
                             ("user_attrs.", [record.user_attrs for record in records])):
            for name in dict.fromkeys(name for row in rows for name in row):
                out[prefix + name] = [row.get(name) for row in rows]
        return out

    def curves_raw(self, trials: TrialChoice = None, metric: Union[None, str, Sequence[str]] = None,
                   points: Optional[int] = None) -> List[Mapping[str, Any]]:
        """What curves() is made of. All points are kept, so `points` has no effect."""
        own = str(self._config["searcher"]["metric"])
        names: Sequence[str] = [own] if metric is None else [metric] if isinstance(metric, str) else metric
        numbers = self._numbers(trials)
        chosen = [self.records[number] for number in (sorted(self.records) if numbers is None else numbers)]
        out: List[Mapping[str, Any]] = []
        for name in names:
            drawn = []
            for record in chosen:
                values = [(step, value_of(metrics, name)) for step, metrics, _ in record.reports]
                known = [(step, float(value)) for step, value in values if value is not None]
                drawn.append({"trial": record.number, "step": [step for step, value in known if math.isfinite(value)],
                              "last": [value for _, value in known if math.isfinite(value)],
                              "nonfinite": [(step, str(value)) for step, value in known if not math.isfinite(value)]})
            out.append({"metric": name, "unit": self.now().unit, "rungs": [], "trials": drawn})
        return out

    def history(self) -> Mapping[str, Any]:
        """The moments at which the best metric became better: {"points": [{"trial", "metric", "time", "trials"}]}. Times are seconds
        since the start."""
        end = max([record.ended_at for record in self.records.values() if math.isfinite(record.ended_at)], default=0.0)
        ended = sum(math.isfinite(record.ended_at) for record in self.records.values())
        return {"metric": self._config["searcher"]["metric"], "started_at": 0.0, "points": list(self._improved),
                "end": {"time": end, "slot_seconds": end, "trials": ended}}

    def metrics(self) -> List[Mapping[str, Any]]:
        """The metrics that the trials reported, as {"name", "count", "trials"}."""
        counts: Dict[str, List[int]] = {}
        for record in self.records.values():
            for _, metrics, _ in record.reports:
                for name in _flat(metrics):
                    counts.setdefault(name, []).append(record.number)
        return [{"name": name, "count": len(numbers), "trials": len(set(numbers))} for name, numbers in counts.items()]

    def __repr__(self) -> str:
        return repr(self.now())

    def _repr_html_(self) -> str:
        from .._client.notebook import card_of
        return card_of(self.now(), self.history())

    def _ipython_display_(self) -> None:
        import importlib
        shown = importlib.import_module("IPython.display")
        shown.display(shown.HTML(self._repr_html_()))

    # --- inside ---

    def note_best(self, record: TrialRecord, ended: int) -> None:
        """The trial has the best result so far, when `ended` trials have ended."""
        seconds = time.monotonic() - self._begun
        self._improved.append({"trial": record.number, "metric": record.best, "time": seconds, "slot_seconds": seconds, "trials": ended})

    def end(self, state: str, reason: str) -> None:
        """The search is over. Trials that wait for a promotion have got none."""
        self._state, self._reason = state, reason
        for record in self.records.values():
            if record.state in ("PAUSED", "RUNNING"):
                record.state = "STOPPED" if state in ("COMPLETED", "FAILED") else record.state

    def _last_failure(self) -> str:
        failed = [record for record in self.records.values() if record.failure]
        if not failed:
            return ""
        last = max(failed, key=lambda record: record.number)
        return "\ntrial {}: {}".format(last.number, last.failure.rstrip())


def _flat(values: Mapping[str, Any]) -> Dict[str, Any]:
    """Nested names with dots."""
    if not any(isinstance(value, dict) for value in values.values()):
        return dict(values)
    out: Dict[str, Any] = {}
    for name, value in values.items():
        out.update({"{}.{}".format(name, inner): one for inner, one in _flat(value).items()} if isinstance(value, dict) else {name: value})
    return out
