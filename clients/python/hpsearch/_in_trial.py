"""The calls of a program inside a trial; the package offers each of them as its own."""

from __future__ import annotations

import json
import os
import pathlib
import threading
from typing import Any, Dict, Mapping, NoReturn, Optional

from ._trial import DEFAULT_WAIT, AnyPath, Directive, Trial, TrialInfo, shortened

CONTINUE = Directive.CONTINUE
PAUSE = Directive.PAUSE
STOP = Directive.STOP

_trial: Optional[Trial] = None
_making = threading.Lock()


def _current() -> Trial:
    global _trial
    with _making:
        if _trial is None:
            _trial = Trial()
            _trial.mirror_as_configured()
        return _trial


def _renew() -> None:
    global _making
    _making = threading.Lock()
    if _trial is not None:
        _trial.renew()


if hasattr(os, "register_at_fork"):  # Where there is no fork, the package still serves outside a trial.
    os.register_at_fork(after_in_child=_renew)


def params(defaults: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
    """The trial's hyperparameters, nested as configured, over `defaults` for what the search does not set."""
    return _current().params(defaults)


def length(default: Optional[int] = None) -> int:
    """Train until this length in all, in unit(). It grows when the trial is promoted: look again after each report.

    Outside a trial it is `default`; LookupError when there is none.
    """
    return _current().length(default)


def unit() -> str:
    """What steps and lengths count: "batches", "epochs", "records" or the experiment's own word."""
    return os.environ.get("HPSEARCH_UNIT") or "steps"


def report(step: int, *args: Mapping[str, Any], **metrics: Any) -> Directive:
    """Reports validation metrics after training `step` units in all, and returns what to do now.

    Names may be dotted or nested, and given as a mapping: report(3, {"val/acc": 0.9}). At length() and with the
    searcher's metric this waits for the search's decision; below, a few seconds at most.

    TypeError: a value is no number. ValueError: the step is no whole number of at least 0, or there are no metrics.
    Refused: the worker does not take the report; the message has the reason. Disconnected: the worker is lost.
    """
    return _current().report(step, _joined(args, metrics), "validation")


def report_training(step: int, *args: Mapping[str, Any], **metrics: Any) -> Directive:
    """As report(), for training metrics. They are kept apart, as training.NAME, and nothing waits for them."""
    return _current().report(step, _joined(args, metrics), "training")


def _joined(mappings: Any, metrics: Dict[str, Any]) -> Dict[str, Any]:
    joined: Dict[str, Any] = {}
    for mapping in mappings:
        if not isinstance(mapping, Mapping):
            raise TypeError("{!r} is no mapping of metric names to numbers; write report(step, name=number)".format(
                mapping))
        joined.update(mapping)
    joined.update(metrics)
    return joined


def checkpoint(path: Optional[AnyPath] = None, step: Optional[int] = None) -> Directive:
    """Hands over a complete checkpoint: a file, or a directory's content. Returns when nothing can tear it.

    It is copied, in place of all that lies in checkpoint_dir(). What was written there is not copied, which is the
    cheaper way: with checkpoint_dir() as `path`, or anything in it, or none, all that lies there is the checkpoint,
    as it is. `step` is the last reported one if not given. Before a report at length(), save first, report then.

    FileNotFoundError: `path` does not exist. ValueError: the step is no whole number of at least 0. Disconnected: the worker
    is lost.
    """
    return _current().checkpoint(path, step)


def latest_checkpoint() -> Optional[pathlib.Path]:
    """The directory to start from, with what the last checkpoint() held; None on a fresh start."""
    return _current().latest_checkpoint()


def checkpoint_dir() -> pathlib.Path:
    """Write checkpoints here; outside a trial ./checkpoint."""
    return _current().directory("HPSEARCH_CHECKPOINT_DIR", "checkpoint")


def output_dir() -> pathlib.Path:
    """What lies here at the end is kept; outside a trial ./output."""
    return _current().directory("HPSEARCH_OUTPUT_DIR", "output")


def should_stop() -> bool:
    """Whether to save a checkpoint and end now. It asks the worker at most once a second, and waits at most one second."""
    return _current().should_stop()


def invalid_hyperparameters(why: str) -> NoReturn:
    """These values cannot work, because of `why`: the search tries others, and the program ends here."""
    _current().invalid_hyperparameters(why)


def progress(fraction: float) -> None:
    """Shows how much of the present work is done: `fraction`, from 0 to 1."""
    share = float(fraction)
    _current().remark({"type": "progress", "fraction": share}, "{:.0%}".format(share))


def log_line(text: Any) -> None:
    """A line for people, in the trial's log."""
    line = shortened(text)
    _current().remark({"type": "log", "text": line}, line)


def mirror(tracker: str, *, wait: float = DEFAULT_WAIT, **options: Any) -> None:
    """Sends what the trial reports from now on to "mlflow", "tensorboard" or "wandb" too, as one run per trial.

    The run has the trial's hyperparameters and seed, and is opened again by each attempt. At the end of the program it
    gets a status, which takes `wait` seconds at most. A tracker that cannot be reached delays no report and fails no
    trial; standard error has a line about what it did not get. Outside a trial, nothing is sent.

    mlflow: tracking_uri, experiment, run_name, tags. tensorboard: logdir. wandb: what wandb.init() takes.

    ValueError: no such tracker, or it has not what it needs. TypeError: no such option. ImportError: the tracker's
    package is not installed.
    """
    _current().mirror(tracker, options, wait)


def trial() -> TrialInfo:
    """Which trial this program runs; zeros and empty texts outside a trial."""
    return _current().info()


def in_trial() -> bool:
    """Whether this program runs in a trial."""
    return _current().info().in_trial


def seed() -> int:
    """The trial's own seed, from 0 to 2^31 - 1, the same in every attempt; 0 outside a trial."""
    return _current().info().seed


def metric() -> str:
    """The searcher's metric; "" outside a trial."""
    return os.environ.get("HPSEARCH_METRIC") or ""


def data() -> Dict[str, Any]:
    """The section `data` of the experiment, which may have anything; {} outside a trial."""
    given = json.loads(os.environ.get("HPSEARCH_DATA") or "{}")
    return given if isinstance(given, dict) else {}
