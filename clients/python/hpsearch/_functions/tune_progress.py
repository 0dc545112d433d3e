"""What tune() shows while its search runs."""

from __future__ import annotations

import sys
import time
from typing import Optional, Set

from .._client.experiment import Experiment
from .._client.notebook import show_card
from .._problems import ExperimentFailed
from .._local.search_directory import LocalExperiment
from .snapshot import Snapshot

_BETWEEN_LINES = 2.0  # Seconds.


def follow_search(experiment: Experiment, name: Optional[str], progress: bool, printed: Set[str]) -> Experiment:
    """Returns the experiment when it has completed; shows progress on standard error, or in a notebook as a card. `printed` are
    notes that need not be printed before the end.

    Ctrl-C leaves a search with a name running, and pauses one without: nothing else returns to it. It says how to go on.
    """
    in_notebook = progress and "ipykernel" in sys.modules
    if in_notebook:
        show_card(experiment)
    shown: Optional[Snapshot] = None
    shown_at = 0.0
    try:
        for change in experiment.watch():
            if progress:
                for note in change.notes:
                    if change.ended or note not in printed:
                        print("hpsearch: note: " + note, file=sys.stderr, flush=True)
                        printed.add(note)
            new_best = change.best is not None and (shown is None or change.best != shown.best)
            if progress and not in_notebook and (change.ended or new_best and time.monotonic() - shown_at > _BETWEEN_LINES):
                print("hpsearch: " + _line(change), file=sys.stderr, flush=True)
                shown, shown_at = change, time.monotonic()
            experiment.raise_if_failed(change)
    except ExperimentFailed:
        if isinstance(experiment, LocalExperiment):
            experiment.end_runner()  # A search that paused itself would wait for ever.
        raise
    except KeyboardInterrupt:
        _interrupted(experiment, name)
        raise
    finally:
        if isinstance(experiment, LocalExperiment):
            experiment.release()
    _warn_of_failures(experiment)
    return experiment


def _interrupted(experiment: Experiment, name: Optional[str]) -> None:
    at_daemon = "hpsearch.Client({!r}).experiment({})".format(str(experiment._transport.address), experiment.id)
    if name:
        print("\nhpsearch: interrupted; the search goes on, and the same call returns to it. To end it: {}.cancel()".format(at_daemon),
              file=sys.stderr, flush=True)
        return
    if not isinstance(experiment, LocalExperiment):
        experiment.pause()
        print("\nhpsearch: interrupted; the search is paused. To go on: {}.resume(); to end it: .cancel()".format(at_daemon),
              file=sys.stderr, flush=True)
        return
    print("\nhpsearch: interrupted; the search is paused, and its trials save checkpoints and end. The same call with name={!r} goes on "
          "with it".format(experiment.directory.name), file=sys.stderr, flush=True)
    experiment.end_runner()


def _warn_of_failures(experiment: Experiment) -> None:
    """A search completes without the trials that failed, which may be those that promised most."""
    counts = experiment.now().trials
    failed = counts.get("FAILED", 0)
    first = next(experiment.trials.select(state="FAILED"), None) if failed else None
    if first is not None:
        said = first.failure.rstrip().rsplit("\n", 1)[-1].strip()
        print("hpsearch: warning: {} of {} trials failed and {} no part in the result. Trial {}: {}".format(
            failed, sum(counts.values()), "has" if failed == 1 else "have", first.number, said), file=sys.stderr, flush=True)


def _line(now: Snapshot) -> str:
    total = sum(now.trials.values())
    ended = total - sum(now.trials.get(state, 0) for state in ("PENDING", "RUNNING", "PAUSED"))
    best = "no result yet" if now.best is None else "best {} {:.6g} (trial {})".format(
        now.metric, now.best.metric, now.best.trial)
    reason = "; " + now.reason if now.ended and now.reason else ""
    return "{}: {}, {} of {} trials ended, {}{}".format(now.name, now.state.lower(), ended, total, best, reason)
