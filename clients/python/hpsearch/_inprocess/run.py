"""Runs a search in this process: asks the engine for work, calls the function, and reports what came of it."""

from __future__ import annotations

import math
import queue
import secrets
import sys
import threading
import time
import traceback
from typing import Any, Mapping, Optional, Set, Tuple

from .._functions.function_call import FunctionCall
from .._functions.function_trial import Pause, Stop
from .._functions.interruption import interruption
from .._functions.python_words import refusal_in_python
from .._functions.search_callbacks import Callbacks
from .._functions.search_display import SearchDisplay
from .._functions.tune_progress import warn_of_failures
from .._problems import BadRequest, ExperimentFailed, items_of
from .._trial import Directive, InvalidHyperparameters, metric_number
from ..run_function import _own_part
from ..search import Search, SearchError
from .experiment import InProcessExperiment, InProcessTrialView
from .trial import InProcessTrial, TrialRecord, value_of

_ENDED = ("COMPLETED", "STOPPED", "FAILED")
_BETWEEN_DRAWINGS = 0.1  # Seconds.
_INVALID = "invalid hyperparameters"


def run_in_process(call: FunctionCall, config: Mapping[str, Any], slots: Any, callbacks: Callbacks, progress: bool) -> InProcessExperiment:
    """Returns the experiment when it has completed.

    ValueError: `slots` is no number. BadRequest: the engine refuses the experiment. ExperimentFailed: the first trials all
    failed alike, or none gave a result. KeyboardInterrupt: Ctrl-C. Both have the results so far as `experiment`.
    """
    slots = 1 if slots is None else slots
    if isinstance(slots, bool) or not isinstance(slots, int) or slots < 1:
        raise ValueError('slots is {!r}; with on="inprocess" it must be a number of threads, at least 1'.format(slots))
    config = dict({"reproducibility": {"experiment_seed": secrets.randbelow(2 ** 31)}}, **config)
    experiment = InProcessExperiment(_engine(config, slots), config)
    total = config["searcher"].get("max_trials")
    run = _Run(call, experiment, callbacks, SearchDisplay(progress, total, str(config["searcher"]["metric"])))
    try:
        if slots == 1:
            run.alone()
        else:
            run.in_threads(slots)
        run.finish()
    except KeyboardInterrupt:
        experiment.end("PAUSED", "interrupted")
        print("\nhpsearch: interrupted; the search in this process is over, and the results so far are the exception's `experiment`",
              file=sys.stderr, flush=True)
        end = interruption()
        end.experiment = experiment  # type: ignore[attr-defined]
        raise end from None
    finally:
        run.is_over = True
        run.display.close()
    return experiment


def _engine(config: Mapping[str, Any], slots: int) -> Search:
    """Failures are this module's: it calls the function again in the same thread, and ends a search whose first trials all fail."""
    try:
        return Search(dict(config, max_restarts=0, pause_on_failures=0), slots)
    except SearchError as error:
        if not error.problems:
            raise
        raise refusal_in_python(BadRequest(str(error), problems=items_of(error.problems))) from None


class _Run:
    """One search. Threads call only piece(); everything else is the caller's."""

    def __init__(self, call: FunctionCall, experiment: InProcessExperiment, callbacks: Callbacks, display: SearchDisplay) -> None:
        searcher = experiment._config["searcher"]
        self.display = display
        self.is_over = False  # No more work is begun, and trials end when they report.
        self._call = call
        self._experiment = experiment
        self._search = experiment.search
        self._callbacks = callbacks
        self._metric = str(searcher["metric"])
        self._smaller_is_better = experiment.sign > 0
        length = searcher["max_length"]
        self._max_length = int(max(length.values()) if isinstance(length, Mapping) else length)
        self._max_restarts = int(experiment._config.get("max_restarts") or 0)
        self._pause_on_failures = int(experiment._config.get("pause_on_failures") or 0)  # 0: never.
        self._begun = time.monotonic()
        self._ended = 0
        self._first_kinds: Optional[Set[str]] = set()  # Kinds of failures; None after a trial that did not fail.
        self._first_error: Optional[BaseException] = None
        self._best: Optional[float] = None
        self._drawn = 0.0

    def alone(self) -> None:
        """All work in the thread of the caller."""
        while not self.is_over:
            work = self._next()
            if work is None:
                return
            self._done(*self.piece(work))

    def in_threads(self, slots: int) -> None:
        """Work in threads; what follows from it in the thread of the caller."""
        given: "queue.SimpleQueue[Optional[TrialRecord]]" = queue.SimpleQueue()
        done: "queue.SimpleQueue[Tuple[TrialRecord, str, Optional[BaseException]]]" = queue.SimpleQueue()

        def run() -> None:
            for record in iter(given.get, None):
                done.put(self.piece(record))

        threads = [threading.Thread(target=run, name="hpsearch-trial-{}".format(number), daemon=True) for number in range(slots)]
        for thread in threads:
            thread.start()
        out = 0
        try:
            while True:
                while out < slots and not self.is_over:
                    work = self._next()
                    if work is None:
                        break
                    given.put(work)
                    out += 1
                if out == 0:
                    return
                finished = done.get()
                out -= 1
                self._done(*finished)
        finally:
            self.is_over = True
            for _ in threads:
                given.put(None)
            for thread in threads:
                thread.join()

    def finish(self) -> None:
        """The search is over: says how. ExperimentFailed: it has no result."""
        experiment, state = self._experiment, self._search.state()
        reason = self._callbacks.reason or str(state.get("reason") or "")
        waited = [record for _, record in sorted(experiment.records.items()) if record.state not in _ENDED]
        ending = str(state["state"]) if state["finished"] else "COMPLETED"
        experiment.end(ending, reason)
        for record in waited:  # They can't be promoted any more.
            record.ended_at = time.monotonic() - self._begun
            self._ended += 1
            self._callbacks.on_trial_end(experiment, InProcessTrialView(experiment, record))
        if state["state"] == "PAUSED" and self._callbacks.reason is None:
            raise self._failed("the search paused itself: " + reason + experiment._last_failure(), reason)
        if ending == "FAILED":
            raise self._failed("the search failed: " + reason + experiment._last_failure(), reason)
        if self._search.best is None:
            raise self._failed("the search has no result" + experiment._last_failure(), reason)
        self.display.draw(self._ended, self._best, self._line(reason), is_last=True)
        warn_of_failures(experiment)

    # --- inside ---

    def _next(self) -> Optional[TrialRecord]:
        self._callbacks.check_time()
        if self._callbacks.reason is not None:
            return None
        work = self._search.ask()
        if work is None:
            return None
        record = self._experiment.records.get(work.trial)
        if record is None:
            record = self._experiment.records[work.trial] = TrialRecord(work)
        else:
            record.begin(work)
        return record

    def piece(self, record: TrialRecord) -> Tuple[TrialRecord, str, Optional[BaseException]]:
        """Calls the function, again while it raises and restarts are left. Returns why the trial failed, "" if it did not, and the
        exception of the function."""
        for _ in range(self._max_restarts):
            done = self._call_once(record)
            if done[2] is None or not done[1] or self.is_over:
                return done
            record.attempts += 1
        return self._call_once(record)

    def _call_once(self, record: TrialRecord) -> Tuple[TrialRecord, str, Optional[BaseException]]:
        trial = InProcessTrial(record, self._search, self._metric, self._smaller_is_better, self._begun, self._over)
        error: Optional[BaseException] = None
        try:
            returned = self._call.call(trial)
            if trial.reports == 0:
                self._report_returned(trial, returned)
        except (Stop, Pause):
            pass
        except InvalidHyperparameters:
            return record, _INVALID, None
        except Exception as failure:
            error = failure
        directive = trial._directive
        if trial.problem:
            return record, trial.problem, None
        if error is not None and directive is Directive.CONTINUE:
            record.failure = "".join(traceback.format_exception(type(error), error, _own_part(error.__traceback__)))
            return record, "{}: {}".format(type(error).__name__, error), error
        if directive is Directive.CONTINUE and not self.is_over:
            if record.last is None:
                return record, "the function ended without a report of {!r}".format(self._metric), None
            while directive is Directive.CONTINUE:  # It has ended before its length: what it reported last is its result.
                directive = self._search.report(record.work, record.work.length, record.last)
        record.state = "PAUSED" if directive is Directive.PAUSE or self.is_over and directive is Directive.CONTINUE else \
            "COMPLETED" if record.reached >= self._max_length or record.work.length >= self._max_length else "STOPPED"
        return record, "", None

    def _over(self) -> bool:
        return self.is_over

    def _report_returned(self, trial: InProcessTrial, returned: Any) -> None:
        """What a function returns that reports nothing is its result at full length."""
        if returned is None and trial._step >= trial.length:
            return
        if returned is None:
            raise TypeError("the function returned None and reported nothing; return a number, or call trial.report(step, {}=…)".format(
                self._metric))
        metrics = {self._metric: returned} if type(returned) is float or not isinstance(returned, Mapping) else returned
        value = value_of(metrics, self._metric)
        if value is None:
            raise TypeError("the function returned {}, without {!r}, the metric of the search; return it, or give tune() another "
                            "metric=".format(", ".join(sorted(map(repr, metrics))) or "an empty dict", self._metric))
        if not math.isfinite(metric_number(self._metric, value)):
            trial.problem = "the function returned {} as {!r}".format(value, self._metric)
            return
        while trial.report(trial.length, metrics) is Directive.CONTINUE:
            pass

    def _done(self, record: TrialRecord, problem: str, error: Optional[BaseException]) -> None:
        """A piece of work is done."""
        experiment = self._experiment
        if problem == _INVALID:
            record.state = "STOPPED"  # Another trial is drawn.
            self._search.tell(record.work, "invalid_hyperparameters", problem)
        elif problem:
            record.state = "FAILED"
            record.failure = record.failure or problem
            self._search.tell(record.work, "failed", problem)
        value = record.best
        if value is not None and record.state != "FAILED" and (
                self._best is None or experiment.sign * value < experiment.sign * self._best):
            self._best = value
            experiment.note_best(record, self._ended)
            if self._callbacks:
                self._callbacks.on_best(experiment, InProcessTrialView(experiment, record))
        if record.state in _ENDED:
            self._ended += 1
            record.ended_at = time.monotonic() - self._begun
            if self._first_kinds is not None:
                self._check_failures(record, problem, error)
            if self._callbacks:
                self._callbacks.on_trial_end(experiment, InProcessTrialView(experiment, record))
        if self.display.is_shown:
            now = time.monotonic()
            if now - self._drawn >= _BETWEEN_DRAWINGS:
                self._drawn = now
                self.display.draw(self._ended, self._best, self._line())

    def _check_failures(self, record: TrialRecord, problem: str, error: Optional[BaseException]) -> None:
        """ExperimentFailed: the first trials all failed alike."""
        kinds = self._first_kinds
        if record.state != "FAILED" or kinds is None:
            self._first_kinds = None
            return
        kinds.add(type(error).__name__ if error is not None else problem.split(" at ")[0])
        self._first_error = self._first_error or error
        if len(kinds) > 1:
            self._first_kinds = None
        elif self._ended == self._pause_on_failures:
            self._experiment.end("FAILED", "the first {} trials all failed alike".format(self._ended))
            raise self._failed("the first {} trials all failed alike; pause_on_failures=None goes on\ntrial {}: {}".format(
                self._ended, record.number, record.failure.rstrip()), "the first {} trials all failed".format(self._ended))

    def _line(self, reason: str = "") -> str:
        best = "no result yet" if self._best is None else "best {} {:.6g}".format(self._metric, self._best)
        return "{} trials ended, {}{}".format(self._ended, best, "; " + reason if reason else "")

    def _failed(self, text: str, reason: str) -> ExperimentFailed:
        failure = ExperimentFailed(text, experiment=self._experiment, reason=reason)
        failure.__cause__ = self._first_error
        return failure


def check_in_process(**arguments: Any) -> None:
    """ValueError: tune() got an argument that a search in this process cannot have."""
    reasons = {
        "name": "its results are in the experiment that tune() returns, and nothing is stored to go on with",
        "context": "the function runs in the present directory",
        "resources": "all trials share this process",
        "preload": "this process has its imports",
        "resume": "nothing is stored to go on with",
        "wait": "it runs in this process",
    }
    for name, value in arguments.items():
        unset = {"resume": "auto", "wait": True}.get(name)
        if value != unset and value not in (None, (), []):
            raise ValueError('{} is {!r}; a search with on="inprocess" has none, because {}. Leave it out, or use on="local"'.format(
                name, value, reasons[name]))
