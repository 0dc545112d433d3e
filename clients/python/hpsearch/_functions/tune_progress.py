"""tune() follows its search: prints how it goes, calls callbacks, and ends it where they want that."""

from __future__ import annotations

import sys
import threading
from typing import List, Optional, Set

from .._client.experiment import Experiment
from .._client.notebook import show_card
from .._client.trials import TrialView
from .._problems import ExperimentFailed, Problem, WrongState
from .._local.old_searches import kept_for
from .._local.search_directory import LocalExperiment
from .interruption import interruption
from .python_words import note_in_python
from .search_callbacks import ENDED, Callbacks
from .search_display import SearchDisplay, in_notebook, is_watched
from .snapshot import BestSoFar, Snapshot


def follow_search(experiment: Experiment, name: Optional[str], progress: bool, printed: Set[str],
                  callbacks: Optional[Callbacks] = None) -> Experiment:
    """Returns the experiment when it has completed; shows progress on standard error, or in a notebook as a card. `printed` are
    notes that need not be printed before the end.

    Ctrl-C leaves a search with a name running, and pauses one without: nothing else returns to it. It says how to go on. An
    exception of a callback pauses the search.
    """
    has_card = progress and in_notebook()
    if has_card:
        show_card(experiment)
    searcher = experiment.config["searcher"] if progress and not has_card and is_watched() else {}
    display = SearchDisplay(progress, searcher.get("max_trials"), searcher.get("metric", ""), has_card)
    watch = _CallbackWatch(experiment, callbacks or Callbacks([]), display)
    try:
        for change in experiment.watch():
            for note in change.notes:
                if progress and note not in printed:
                    display.note("note: " + note_in_python(note))
                    printed.add(note)
            display.draw(_ended_in(change), None if change.best is None else change.best.metric, _line(change), change.ended)
            watch.see(change)
            experiment.raise_if_failed(change)
    except ExperimentFailed as failure:
        failure.notes = [note_in_python(note) for note in failure.notes if note not in printed]
        display.close()
        if isinstance(experiment, LocalExperiment):
            experiment.end_runner()  # A search that paused itself would wait for ever.
        raise
    except KeyboardInterrupt:
        display.close()
        _interrupted(experiment, name)
        raise interruption() from None
    except Exception as error:
        display.close()
        if watch.is_calling:
            _pause(experiment, name, "hpsearch: a callback raised {}".format(type(error).__name__))  # It would go on without them.
        raise
    finally:
        watch.close()
        display.close()
        if isinstance(experiment, LocalExperiment):
            experiment.release()
    warn_of_failures(experiment)
    return experiment


class _CallbackWatch:
    """Calls the callbacks for changes of an experiment, and ends it if one wants that, or its time is over."""

    def __init__(self, experiment: Experiment, callbacks: Callbacks, display: SearchDisplay) -> None:
        self.is_calling = False  # Whether an exception is one of a callback.
        self._experiment = experiment
        self._callbacks = callbacks
        self._display = display
        self._seen: Set[int] = set(callbacks.ignored)  # Trials that have ended.
        self._best: Optional[BestSoFar] = None
        self._is_ending = False
        left = callbacks.seconds_left()
        self._timer = None if left is None else threading.Timer(max(0.0, left), self._end_by_time)
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def see(self, change: Snapshot) -> None:
        """After a change."""
        if not self._callbacks:
            return
        ended = self._newly_ended(change)
        self.is_calling = True
        if change.best is not None and change.best != self._best:
            self._best = change.best
            self._callbacks.on_best(self._experiment, self._experiment.trials[change.best.trial])
        for trial in ended:
            self._callbacks.on_trial_end(self._experiment, trial)
        self.is_calling = False
        if self._callbacks.reason is not None and not change.ended:
            self._end()

    def close(self) -> None:
        """The search is over, or is not waited for any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _newly_ended(self, change: Snapshot) -> List[TrialView]:
        found: List[TrialView] = []
        if _ended_in(change) > len(self._seen):
            for trial in self._experiment.trials.select(sort="-ended_at"):
                if trial.state in ENDED and trial.number not in self._seen:
                    found.append(trial)
                    self._seen.add(trial.number)
                elif len(self._seen) >= _ended_in(change):
                    break
        return found[::-1]

    def _end_by_time(self) -> None:
        self._callbacks.check_time()
        try:
            self._end()
        except Problem:
            pass  # It has just ended.

    def _end(self) -> None:
        """No new trial begins; the search ends when the others have ended."""
        if self._is_ending:
            return
        self._is_ending = True
        self._display.note("{}; no new trial begins, and the search ends when those that have begun end".format(self._callbacks.reason))
        try:
            end_search(self._experiment)
        except WrongState:
            pass  # It has just ended.


def end_search(experiment: Experiment) -> None:
    """Lowers max_trials to the number of trials that there are. A grid or a single trial has none, so its budget ends."""
    if "max_trials" in experiment.config["searcher"]:
        experiment.set(max_trials=max(1, sum(experiment.now().trials.values())))
    else:
        experiment.set(max_slot_hours=1e-9)


def _interrupted(experiment: Experiment, name: Optional[str]) -> None:
    if name:
        print("\nhpsearch: interrupted; the search goes on, and the same call returns to it. To end it: {}.cancel()".format(
            _at_daemon(experiment)), file=sys.stderr, flush=True)
        return
    _pause(experiment, name, "\nhpsearch: interrupted")


def _pause(experiment: Experiment, name: Optional[str], why: str) -> None:
    if not isinstance(experiment, LocalExperiment):
        experiment.pause()
        print("{}; the search is paused. To go on: {}.resume(); to end it: .cancel()".format(why, _at_daemon(experiment)),
              file=sys.stderr, flush=True)
        return
    print("{}; the search is paused, and its trials save checkpoints and end. The same call with name={!r} goes on "
          "with it{}".format(why, experiment.directory.name, "" if name else kept_for()), file=sys.stderr, flush=True)
    experiment.end_runner()


def _at_daemon(experiment: Experiment) -> str:
    return "hpsearch.Client({!r}).experiment({})".format(str(experiment._transport.address), experiment.id)


def warn_of_failures(experiment: Experiment) -> None:
    """A search completes without the trials that failed, which may be those that promised most."""
    counts = experiment.now().trials
    failed = counts.get("FAILED", 0)
    first = next(experiment.trials.select(state="FAILED"), None) if failed else None
    if first is not None:
        said = first.failure.rstrip().rsplit("\n", 1)[-1].strip()
        print("hpsearch: warning: {} of {} trials failed and {} no part in the result. Trial {}: {}".format(
            failed, sum(counts.values()), "has" if failed == 1 else "have", first.number, said), file=sys.stderr, flush=True)


def _ended_in(now: Snapshot) -> int:
    return sum(now.trials.get(state, 0) for state in ENDED)


def _line(now: Snapshot) -> str:
    total, ended = sum(now.trials.values()), _ended_in(now)
    best = "no result yet" if now.best is None else "best {} {:.6g} (trial {})".format(
        now.metric, now.best.metric, now.best.trial)
    reason = "; " + now.reason if now.ended and now.reason else ""
    return "{}: {}, {} of {} trials ended, {}{}".format(now.name, now.state.lower(), ended, total, best, reason)
