"""What a trial finds, says and hears; outside of one, a stand-in with the same answers."""

from __future__ import annotations

import copy
import enum
import json
import math
import os
import pathlib
import shutil
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, NoReturn, Optional, Union

from ._client.connection import Connection, Disconnected

if TYPE_CHECKING:
    from .mirrors import Mirrors

AnyPath = Union[str, "os.PathLike[str]"]

_ASKS_AT_MOST_EVERY = 1.0  # Seconds between two questions of should_stop(), and how long one may take.
_LONGEST_LOG_LINE = 16 * 1024
USER_ATTRS = "user_attrs.json"  # In the working directory of a trial.
DEFAULT_WAIT = 20.0  # Seconds that the end of a program waits for a mirror; less than a worker waits for the program.


class Directive(str, enum.Enum):
    """What to do after a report."""

    CONTINUE = "continue"  #: Train on.
    PAUSE = "pause"  #: Save a checkpoint, then end; the trial may go on later from there.
    STOP = "stop"  #: End; nothing more is wanted.

    def __str__(self) -> str:
        return self.value


class InvalidHyperparameters(SystemExit):
    """Ends the program after invalid_hyperparameters(); passes through `except Exception`."""


class TrialInfo(NamedTuple):
    """Which trial a program runs."""

    in_trial: bool  #: Also in the second and further processes of a trial, whose calls do nothing.
    experiment_id: int  #: At its daemon, from 1.
    experiment_name: str  #: As in the experiment file.
    trial_id: int  #: Unique among all trials of the daemon.
    trial_number: int  #: Within its experiment, from 0.
    attempt: int  #: From 1; grows each time the trial runs again.
    seed: int  #: The trial's seed; the same in every attempt.
    slots: List[int]  #: GPU slots of this attempt; empty on processors.


def _rank() -> int:
    """Which of a trial's processes this is; the first, 0, speaks for all."""
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"):
        rank = os.environ.get(name, "")
        if rank.isdigit():
            return int(rank)
    return 0


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> Dict[str, Any]:
    """`above` over `below`, group by group."""
    out = dict(below)
    for name, value in above.items():
        old = out.get(name)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        out[name] = _merged(old, value) if both else value  # type: ignore[arg-type]
    return out


def metric_number(name: str, value: Any) -> float:
    """A metric as a number; scalars of NumPy, PyTorch, TensorFlow and JAX are some."""
    if isinstance(value, str) or value is None:
        raise TypeError("metric {!r} is {!r}; it must be a number".format(name, value))
    try:
        return float(value.detach() if callable(getattr(value, "detach", None)) else value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            "metric {!r} is a {} that is no single number: {}".format(name, type(value).__name__, error)) from error


def _numbers(prefix: str, metrics: Mapping[str, Any]) -> Dict[str, Any]:
    out: Dict[str, Any] = {}
    for name, value in metrics.items():
        path = prefix + str(name)
        out[str(name)] = _numbers(path + ".", value) if isinstance(value, Mapping) else metric_number(path, value)
    return out


def _whole(step: Any) -> int:
    try:
        whole = int(step)
    except (TypeError, ValueError, OverflowError):
        whole = -1
    if whole < 0 or whole != step:
        raise ValueError("step is {!r}; it must be a whole number of at least 0".format(step))
    return whole


def _environment_int(name: str, default: int) -> int:
    return int(os.environ.get(name) or default)


class Trial:
    """The program's side of its attempt. Module functions speak through one that is made at the first call."""

    def __init__(self) -> None:
        address = os.environ.get("HPSEARCH_SOCKET")
        self._in_trial = bool(address or os.environ.get("HPSEARCH_TRIAL_ID"))
        # Processes that the program started itself inherit the socket of the first.
        self._connection = Connection(address) if address and _rank() == 0 else None
        self._lock = threading.RLock()
        self._length: Optional[int] = _environment_int("HPSEARCH_LENGTH", 0) or None
        self._directive = Directive.CONTINUE
        self._asked_at = -math.inf
        self._patience = float(os.environ.get("HPSEARCH_REPORT_TIMEOUT") or 10)
        self._mirrors: Optional[Mirrors] = None

    # --- what it finds ---

    def params(self, defaults: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
        text = os.environ.get("HPSEARCH_PARAMS")
        path = os.environ.get("HPSEARCH_PARAMS_FILE")
        if not text and path and os.path.exists(path):
            text = pathlib.Path(path).read_text(encoding="utf-8")
        given = json.loads(text or "{}")
        if not isinstance(given, dict):
            raise ValueError("HPSEARCH_PARAMS is {}; it must be a JSON object".format(text))
        return _merged(copy.deepcopy(dict(defaults or {})), given)

    def length(self, default: Optional[int] = None) -> int:
        with self._lock:
            if self._length is None:
                if default is None:
                    raise LookupError("outside a trial there is no length; say length(default)")
                self._length = _whole(default)
            return self._length

    def latest_checkpoint(self) -> Optional[pathlib.Path]:
        path = os.environ.get("HPSEARCH_LATEST_CHECKPOINT")
        return pathlib.Path(path) if path else None

    def directory(self, variable: str, fallback: str) -> pathlib.Path:
        path = pathlib.Path(os.environ.get(variable) or fallback)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def info(self) -> TrialInfo:
        slots = os.environ.get("HPSEARCH_SLOT_IDS") or ""
        return TrialInfo(
            in_trial=self._in_trial,
            experiment_id=_environment_int("HPSEARCH_EXPERIMENT_ID", 0),
            experiment_name=os.environ.get("HPSEARCH_EXPERIMENT_NAME") or "",
            trial_id=_environment_int("HPSEARCH_TRIAL_ID", 0),
            trial_number=_environment_int("HPSEARCH_TRIAL_NUMBER", 0),
            attempt=_environment_int("HPSEARCH_ATTEMPT", 1),
            seed=_environment_int("HPSEARCH_TRIAL_SEED", 0),
            slots=[int(slot) for slot in slots.split(",") if slot])

    # --- what it says ---

    def report(self, step: Any, metrics: Mapping[str, Any], group: str) -> Directive:
        at = _whole(step)
        numbers = _numbers("", metrics)
        if not numbers:
            raise ValueError("a report at step {} without metrics; give at least one".format(at))
        if self._connection is None:
            return Directive.CONTINUE if self._in_trial else self._report_locally(at, numbers, group)
        if self._mirrors is not None:
            self._mirrors.put(at, numbers, group)
        message: Dict[str, Any] = {"type": "report", "step": at, "metrics": numbers}
        if group != "validation":
            message["group"] = group
        decides = group == "validation" and self._length is not None and at >= self._length
        return self._hear(self._connection.ask(message, None if decides else self._patience))

    def checkpoint(self, path: Optional[AnyPath], step: Optional[Any]) -> Directive:
        message: Dict[str, Any] = {"type": "checkpoint"}
        if step is not None:
            message["step"] = _whole(step)
        if path is not None and not os.path.exists(path):
            raise FileNotFoundError("the checkpoint {} does not exist".format(os.fspath(path)))
        if self._connection is None and self._in_trial:
            return Directive.CONTINUE
        if self._connection is None:
            where = "" if path is None else " " + os.fspath(path)
            print("hpsearch: checkpoint{} at step {}".format(where, step), flush=True)
            return self._directive
        target = self.directory("HPSEARCH_CHECKPOINT_DIR", "checkpoint")
        if path is not None and not _lies_in(pathlib.Path(path), target):
            _copy_into(pathlib.Path(path), target)
        return self._hear(self._connection.ask(message, None))

    def should_stop(self) -> bool:
        connection = self._connection
        with self._lock:
            now = time.monotonic()
            due = now - self._asked_at >= _ASKS_AT_MOST_EVERY
            asks = connection is not None and due and self._directive is Directive.CONTINUE
            if asks:
                self._asked_at = now
        if connection is not None and asks:
            self._hear(connection.ask_at_once({"type": "progress"}, _ASKS_AT_MOST_EVERY))
        return self._directive is not Directive.CONTINUE

    def remark(self, message: Dict[str, Any], shown: str) -> None:
        if self._connection is None:
            if not self._in_trial:
                print("hpsearch: " + shown, flush=True)
            return
        try:
            self._connection.tell(message)
        except Disconnected:
            pass  # For people only; what matters says so by itself.

    def invalid_hyperparameters(self, why: str) -> NoReturn:
        text = "invalid hyperparameters: {}".format(why)
        print("hpsearch: " + text, file=sys.stderr, flush=True)
        if self._connection is None:
            raise InvalidHyperparameters(0 if self._in_trial else 1)
        if self._mirrors is not None:
            self._mirrors.invalid(str(why))
        self._connection.ask({"type": "invalid_hyperparameters", "why": str(why)}, None)
        raise InvalidHyperparameters(0)

    # --- what trackers get of it ---

    def mirror(self, tracker: str, options: Mapping[str, Any], wait: float) -> None:
        if self._connection is None:
            if not self._in_trial:
                print("hpsearch: nothing is mirrored to {} outside a trial".format(tracker), flush=True)
            return
        from . import mirrors
        if self._mirrors is None:
            longest = _environment_int("HPSEARCH_MAX_LENGTH", self._length or 0)
            self._mirrors = mirrors.Mirrors(mirrors.identity(self.info(), self.params()), longest)
        self._mirrors.add(tracker, options, wait)

    def mirror_as_configured(self) -> None:
        """To the trackers of the experiment's environment.mirrors. One that cannot be used fails no trial."""
        names = os.environ.get("HPSEARCH_MIRRORS") or ""
        if not names or self._connection is None:
            return
        os.environ["HPSEARCH_MIRRORS"] = ""  # Programs that this one starts inherit it, and the run is this one's.
        for name in names.split(","):
            try:
                self.mirror(name, {}, DEFAULT_WAIT)
            except Exception as error:  # noqa: B902 - whatever a package does while it is imported.
                print("hpsearch: mirror: {}: {}. The trial goes on without it".format(name, error), file=sys.stderr,
                      flush=True)

    # --- inside ---

    def renew(self) -> None:
        """For a forked child: the threads that held the locks are not there, and those of the mirrors neither."""
        self._lock = threading.RLock()
        self._mirrors = None
        if self._connection is not None:
            self._connection.renew()

    def _hear(self, answer: Optional[Dict[str, Any]]) -> Directive:
        if answer is None:
            return self._directive
        with self._lock:
            # What a later version may say that this one does not know is not to be trained on blindly, either.
            word = answer.get("directive", "continue")
            known = word in Directive._value2member_map_
            self._directive = Directive(word) if known else Directive.STOP
            if "length" in answer:
                self._length = int(answer["length"])
            if self._mirrors is not None:
                self._mirrors.heard(self._directive.value, self._length)
            return self._directive

    def _report_locally(self, step: int, metrics: Dict[str, Any], group: str) -> Directive:
        prefix = "" if group == "validation" else group + "."
        named = ", ".join("{}{} = {:.6g}".format(prefix, name, value) for name, value in _flat("", metrics))
        print("hpsearch: step {}: {}".format(step, named), flush=True)
        over = group == "validation" and self._length is not None and step >= self._length
        self._directive = Directive.STOP if over else Directive.CONTINUE
        return self._directive


def _flat(prefix: str, metrics: Mapping[str, Any]) -> Any:
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from _flat(prefix + name + ".", value)
        else:
            yield prefix + name, value


def _lies_in(path: pathlib.Path, directory: pathlib.Path) -> bool:
    """Whether it is the directory, or an entry at any depth below it: also by links, and also a link that leads out."""
    entries = [path] if path.name in ("", "..") else [path, path.parent]
    places = [pathlib.Path(os.path.realpath(entry)) for entry in entries]
    return any(os.path.samefile(above, directory) for place in places for above in (place, *place.parents))


def _copy_into(source: pathlib.Path, target: pathlib.Path) -> None:
    """The content of a directory, or one file, as all that lies in `target`.

    A copy, never a link: a program that writes the same file again would change what was handed over. All three
    directories of ml/output/checkpoints are the worker's; what a link in the place of one leads to is not.
    """
    if any(place.is_symlink() for place in (target, target.parent, target.parent.parent)):
        raise RuntimeError("HPSEARCH_CHECKPOINT_DIR ({}) was replaced by a symbolic link; nothing was removed or "
                           "copied. The worker takes checkpoints only from the directory that it made there"
                           .format(target))
    for old in target.iterdir():
        if old.is_dir() and not old.is_symlink():
            shutil.rmtree(old)
        else:
            old.unlink()
    if source.is_dir():
        for entry in source.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.copytree(entry, target / entry.name, symlinks=True)
            else:
                shutil.copy2(entry, target / entry.name, follow_symlinks=False)
    else:
        shutil.copy2(source, target / source.name)


def shortened(text: Any) -> str:
    return str(text)[:_LONGEST_LOG_LINE]
