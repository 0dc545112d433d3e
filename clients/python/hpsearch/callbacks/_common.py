"""What all callbacks have in common."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Callable, Dict, Mapping, Optional

import hpsearch

_POSITION = "hpsearch.json"


#: More than any search asks for: the search ends the training.
_ENDLESS = 1_000_000


def most(given: Optional[int], how: str) -> int:
    """How long to train at most: in a trial, the search ends the training. By hand `given` is the limit:
    the training then ends there, as a trial ends at its length. LookupError, which shows `how` to give it, if it is None.
    """
    if hpsearch.in_trial():
        return _ENDLESS
    if given is None:
        raise LookupError("outside a trial, the training needs a length; write {}".format(how))
    hpsearch.length(given)
    return given


def numbers_of(metrics: Optional[Mapping[str, Any]]) -> Dict[str, float]:
    """Those that are single numbers; what a library logs besides is its own affair."""
    out = {}
    for name, value in (metrics or {}).items():
        try:
            out[str(name)] = float(value)
        except (TypeError, ValueError):
            continue
    return out


def at_length(step: int) -> bool:
    """Whether a report at this step asks for a decision. Outside a trial without a length: never."""
    try:
        return step >= hpsearch.length()
    except LookupError:
        return False


def save(step: int, write: Callable[[pathlib.Path], None]) -> None:
    """Has a checkpoint written where it is handed over without a copy."""
    directory = hpsearch.checkpoint_dir()
    write(directory)
    (directory / _POSITION).write_text(json.dumps({"step": step}), encoding="utf-8")
    hpsearch.checkpoint(directory, step)


def saved_file(name: str) -> Optional[pathlib.Path]:
    """A file of the checkpoint to start from, or None on a fresh start."""
    directory = hpsearch.latest_checkpoint()
    path = directory / name if directory else None
    return path if path and path.exists() else None


def saved_step() -> int:
    """The step of the checkpoint to start from; 0 on a fresh start."""
    path = saved_file(_POSITION)
    return int(json.loads(path.read_text(encoding="utf-8"))["step"]) if path else 0


def report_and_save(step: int, metrics: Mapping[str, float],
                    write: Optional[Callable[[pathlib.Path], None]]) -> hpsearch.Directive:
    """Reports, with the checkpoint that the decision may need: before it at the length, after it at a pause."""
    asks = at_length(step)
    if asks and write is not None and hpsearch.in_trial():
        save(step, write)
    directive = hpsearch.report(step, metrics)
    if directive is hpsearch.PAUSE and not asks and write is not None:
        save(step, write)
    return directive
