"""What tune() shows while its search runs."""

from __future__ import annotations

import sys
import time
from typing import Optional

from ._experiment import Experiment
from ._notebook import show_card
from ._problems import ExperimentFailed
from ._search_directory import LocalExperiment
from ._snapshot import Snapshot

_BETWEEN_LINES = 2.0  # Seconds.


def follow_search(experiment: Experiment, name: Optional[str], progress: bool) -> Experiment:
    """Returns the experiment when it has completed; shows progress on standard error, or in a notebook as a card.

    Ctrl-C leaves the search running, and says how to return.
    """
    in_notebook = progress and "ipykernel" in sys.modules
    if in_notebook:
        show_card(experiment)
    shown: Optional[Snapshot] = None
    shown_at = 0.0
    try:
        for change in experiment.watch():
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
        again = "the same call returns to it" if name else "its state is in {}".format(
            experiment.directory if isinstance(experiment, LocalExperiment) else experiment._transport.address)
        print("\nhpsearch: interrupted; the search goes on, and {}. To end it: hpsearch.Client({!r}).experiment({}).cancel()"
              .format(again, str(experiment._transport.address), experiment.id), file=sys.stderr)
        raise
    finally:
        if isinstance(experiment, LocalExperiment):
            experiment.release()
    _warn_of_failures(experiment)
    return experiment


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
    return "{}: {}, {} of {} trials ended, {}".format(now.name, now.state.lower(), ended, total, best)
