"""Trials as runs of MLflow, found by their tag hpsearch.trial."""

from __future__ import annotations

import importlib
import os
import re
from typing import Any, Dict, List, Mapping, Sequence, Set

from ._options import check_options, package
from ._tracker import FAILED, FINISHED, INVALID, PAUSED, PRUNED, RUNNING, End, Identity, Point, Tracker, flat

_OPTIONS = ("experiment", "run_name", "tags", "tracking_uri")
_STATUSES = {PAUSED: "SCHEDULED", PRUNED: "FINISHED", FINISHED: "FINISHED", FAILED: "FAILED", INVALID: "FAILED"}
_LONGEST_VALUE = 500  # The limit for a parameter in every version of MLflow.
_MOST_PARAMETERS = 100  # MLflow's limit for one request; the next one is for metrics.
_MOST_METRICS = 1000
_NOT_IN_NAMES = re.compile(r"[^\w. /-]")


class MlflowTracker(Tracker):
    """MLflow keeps every value of a metric for ever, so what earlier attempts wrote is looked up once per metric."""

    name = "mlflow"

    def __init__(self, options: Dict[str, Any]) -> None:
        check_options(self.name, options, _OPTIONS)
        self._mlflow = package("mlflow", "mlflow")
        self._entities = importlib.import_module("mlflow.entities")
        # Its default is a file in the current directory, which is of this attempt alone.
        if not options.get("tracking_uri") and not self._mlflow.is_tracking_uri_set():
            raise ValueError("the mirror mlflow has no tracking server; set tracking_uri or MLFLOW_TRACKING_URI, to an "
                             "address or a file that every attempt reaches")
        self._options = options
        self._run = ""
        self._client: Any = None
        self._named: Set[str] = set()
        self._steps: Dict[str, Set[int]] = {}

    def open(self, trial: Identity) -> None:
        self._client = self._mlflow.MlflowClient(tracking_uri=self._options.get("tracking_uri"))
        experiment = self._experiment(trial)
        found = self._client.search_runs([experiment], "tags.`hpsearch.trial` = '{}'".format(trial.run), max_results=1)
        if found:
            run = found[0]
            self._client.update_run(run.info.run_id, status="RUNNING")
        else:
            tags = {**(self._options.get("tags") or {}), "hpsearch.trial": trial.run}
            run = self._client.create_run(experiment, tags=tags, run_name=self._options.get("run_name") or
                                          "trial-{}".format(trial.trial))
        self._run = run.info.run_id
        self._named = set(run.data.metrics)
        self._steps = {}
        self._tag({"experiment": trial.experiment, "seed": str(trial.seed), "attempt": str(trial.attempt),
                   "status": RUNNING, "reason": ""})
        self._write_parameters(trial.hyperparameters, run.data.params)

    def write(self, points: Sequence[Point]) -> None:
        metrics: List[Any] = []
        for point in points:
            for name, value in point.metrics.items():
                key = _allowed(name)
                if point.step not in self._steps_of(key):
                    metrics.append(self._entities.Metric(key, value, int(point.seconds * 1000), point.step))
        for first in range(0, len(metrics), _MOST_METRICS):
            self._client.log_batch(self._run, metrics=metrics[first:first + _MOST_METRICS])

    def close(self, end: End) -> None:
        self._tag({"status": end.status, "reason": end.reason})
        if end.status == PAUSED:
            self._client.update_run(self._run, status=_STATUSES[PAUSED])
        else:
            self._client.set_terminated(self._run, _STATUSES[end.status])

    def _tag(self, values: Mapping[str, str]) -> None:
        tags = [self._entities.RunTag("hpsearch." + name, value) for name, value in values.items()]
        self._client.log_batch(self._run, tags=tags)

    def _experiment(self, trial: Identity) -> str:
        name = self._options.get("experiment") or os.environ.get("MLFLOW_EXPERIMENT_NAME") or trial.experiment
        found = self._client.get_experiment_by_name(name)
        if found is None:
            try:
                return str(self._client.create_experiment(name))
            except self._mlflow.MlflowException:
                found = self._client.get_experiment_by_name(name)  # Another trial was first.
                if found is None:
                    raise
        return str(found.experiment_id)

    def _write_parameters(self, given: Mapping[str, Any], there: Mapping[str, str]) -> None:
        """Those that the run has not: MLflow refuses another value, and an earlier attempt wrote the same."""
        named = {_allowed(name): str(value)[:_LONGEST_VALUE] for name, value in flat(given)}
        new = [self._entities.Param(name, value) for name, value in named.items() if name not in there]
        for first in range(0, len(new), _MOST_PARAMETERS):
            self._client.log_batch(self._run, params=new[first:first + _MOST_PARAMETERS])

    def _steps_of(self, key: str) -> Set[int]:
        if key not in self._steps:
            history = self._client.get_metric_history(self._run, key) if key in self._named else []
            self._steps[key] = {metric.step for metric in history}
        return self._steps[key]


def _allowed(name: str) -> str:
    return _NOT_IN_NAMES.sub("_", name)
