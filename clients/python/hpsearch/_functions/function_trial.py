"""The trial that a function of hpsearch.tune() gets."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
import sys
import time
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Tuple

from .. import _in_trial as now
from .._in_trial import CONTINUE, PAUSE
from .._trial import USER_ATTRS, Directive, metric_number
from .._values import plain

_RECORD = "hpsearch.json"
_STATE = "state.pickle"
_TORCH_STATE = "state.pt"
_BETWEEN_CHECKPOINTS = 60.0  # Seconds. At its length a trial always saves: it may pause there.


class Stop(Exception):
    """The trial is stopped. Raised by report(raise_=True); the function need not catch it."""


class Pause(Exception):
    """The trial pauses; it may go on later, from its checkpoint. Raised by report(raise_=True)."""


class NotFinite(Exception):
    """The function returned NaN or an infinity: the trial fails, with this sentence."""

    def __init__(self, value: Any, metric: str) -> None:
        super().__init__("the function returned {} as {!r}, which can't be compared; the trial has failed, and the search goes on".format(
            value, metric))


class FunctionTrial(Mapping[str, Any]):
    """A trial: its hyperparameters as a mapping, and what it reports.

        def train(trial):
            model = Net(trial["width"])
            start = trial.load(model)
            for epoch in trial.epochs(start):
                trial.report(epoch, val_loss=step(model, trial["lr"]), save=model.state_dict)

    Called outside a search, with FunctionTrial({"width": 16, "lr": 0.1}, length=3), the same function runs alone and
    prints what it reports.
    """

    def __init__(self, params: Optional[Mapping[str, Any]] = None, *, length: int = 1) -> None:
        self.params: Dict[str, Any] = now.params(params)  #: Nested as in the space.
        self.number: int = now.trial().trial_number  #: In its experiment, from 0.
        self.attempt: int = now.trial().attempt  #: From 1; grows each time the trial runs again.
        self.seed: int = now.seed()  #: The same in every attempt.
        self.state: Any = None  #: What the last checkpoint's `save` returned; None before load(), or on a fresh start.
        self.reports: int = 0  #: So far, in this attempt.
        self._directive: Directive = CONTINUE
        self._default_length = length
        self._step = 0
        self._saved_at = -1
        self._saved_time = time.monotonic()
        self._directory = pathlib.Path.cwd()  # The function may change it.
        self._user_attrs: Dict[str, Any] = {}

    # --- hyperparameters ---

    def __getitem__(self, name: str) -> Any:
        return self.params[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.params)

    def __len__(self) -> int:
        return len(self.params)

    def __repr__(self) -> str:
        return "<trial {}: {}>".format(self.number, self.params)

    # --- training ---

    @property
    def length(self) -> int:
        """How far to train in all, in the experiment's unit. It grows when the trial is promoted."""
        return now.length(self._default_length)

    @property
    def metric(self) -> str:
        """The name of the metric that decides; "value" outside a search."""
        return now.metric() or "value"

    @property
    def user_attrs(self) -> Dict[str, Any]:
        """A copy of what set_user_attr() was given, also in attempts before the checkpoint that load() restored."""
        return json.loads(json.dumps(self._user_attrs))  # type: ignore[no-any-return]

    def set_user_attr(self, name: str, value: Any) -> None:
        """Keeps a value with the trial: experiment.trials[3].user_attrs, a column of frame(), and the study of
        hpsearch.optuna.to_study() have it. It is in user_attrs.json of the trial's files.

        Scalars of NumPy become numbers. TypeError: the value is not JSON. ValueError: a number in it is not finite.
        """
        if not isinstance(name, str):
            raise TypeError("the name of a user attribute is {!r}; it must be a text".format(name))
        self._user_attrs[name] = plain(value, "the user attribute {!r}".format(name))
        self._store_user_attrs()

    def _store_user_attrs(self) -> None:
        if now.in_trial():
            part = self._directory / (USER_ATTRS + ".part")
            part.write_text(json.dumps(self._user_attrs, indent=1), encoding="utf-8")
            os.replace(str(part), str(self._directory / USER_ATTRS))

    @property
    def output_dir(self) -> pathlib.Path:
        """What lies here at the end is kept."""
        return now.output_dir()

    def load(self, into: Any = None) -> Optional[int]:
        """Restores the last checkpoint: returns the step it was saved at, or None on a fresh start.

        `into` is an object with load_state_dict(), as a model of PyTorch, or a function that takes the state. The state
        is what `save` of report() returned; it is `trial.state` afterwards. Tensors of it are on the CPU.

        TypeError: `into` is something else. OSError: the checkpoint cannot be read.
        """
        directory = now.latest_checkpoint()
        if directory is None or not (directory / _RECORD).is_file():
            return None
        record = json.loads((directory / _RECORD).read_text(encoding="utf-8"))
        self.state = _read_state(directory)
        if callable(getattr(into, "load_state_dict", None)):
            into.load_state_dict(self.state)
        elif callable(into):
            into(self.state)
        elif into is not None:
            raise TypeError("load() takes an object with load_state_dict(), or a function; not a {}".format(
                type(into).__name__))
        for name, value in (record.get("user_attrs") or {}).items():
            if name not in self._user_attrs:
                self.set_user_attr(name, value)
        self._step = self._saved_at = int(record["step"])
        if self._step >= self.length:  # It was interrupted between checkpoint and report, or its report got no answer.
            self._directive = now.report(self._step, record["metrics"])
        return self._step

    def epochs(self, start: Optional[int] = None) -> Iterator[int]:
        """The steps to train: from `start` + 1 (what load() returned; None: 1) up to the trial's length.

        Each one must be reported. It ends when the trial is paused, stopped or complete, and goes on when the trial is
        promoted.
        """
        step = start or 0
        self._step = max(self._step, step)
        while self._directive is CONTINUE and step < self.length:
            step += 1
            yield step
            if self._step < step:
                return  # Nothing decides about a step that is not reported.

    def report(self, step: int, *args: Mapping[str, Any], save: Optional[Callable[[], Any]] = None,
               raise_: bool = False, **metrics: Any) -> Directive:
        """Reports metrics after training `step` units in all, and returns what to do now.

        `save` returns the state to keep, as model.state_dict; it is called when a checkpoint is needed: at the length
        that is asked for, before a pause, and at least each minute. With `raise_`, Stop and Pause are raised when they
        are the answer; epochs() ends by itself. Errors as hpsearch.report(); TypeError also if the state cannot be stored, or
        cannot be read again, which the first checkpoint of a trial tries.
        """
        joined: Dict[str, Any] = {}
        for mapping in args:
            joined.update(mapping)
        joined.update(metrics)
        due = time.monotonic() - self._saved_time >= _BETWEEN_CHECKPOINTS
        if save is not None and (step >= self.length or due):
            self._save(step, joined, save)
        self._step = max(self._step, int(step))
        self.reports += 1
        self._directive = now.report(step, joined)
        if self._directive is PAUSE and save is not None and self._saved_at < step:
            self._save(step, joined, save)
        if raise_ and self._directive is not CONTINUE:
            raise Pause() if self._directive is PAUSE else Stop()
        return self._directive

    def log_line(self, text: Any) -> None:
        """A line for people, in the trial's log."""
        now.log_line(text)

    # --- inside ---

    def _save(self, step: int, metrics: Mapping[str, Any], save: Callable[[], Any]) -> None:
        directory = now.checkpoint_dir()
        _write_state(directory, save())
        if self._saved_at < 0 and self.attempt == 1:  # Else the first to notice would be a trial that was promoted.
            _check_state(directory)
        (directory / _RECORD).write_text(json.dumps({"step": int(step), "metrics": {
            name: metric_number(name, value) for name, value in metrics.items() if not isinstance(value, Mapping)},
            "user_attrs": self._user_attrs}), encoding="utf-8")
        now.checkpoint(directory, int(step))
        self._saved_at, self._saved_time = int(step), time.monotonic()


def _write_state(directory: pathlib.Path, state: Any) -> None:
    """As a file of PyTorch where it has tensors, which may lie on a GPU; else as a pickle."""
    for name in (_STATE, _TORCH_STATE):
        if (directory / name).exists():
            os.unlink(str(directory / name))
    torch = sys.modules.get("torch")
    with open(str(directory / _STATE), "wb") as file:
        if torch is None or not hasattr(torch, "save"):
            return pickle.dump(state, file, protocol=4)
        pickler = _NoTensors(file, protocol=4)
        pickler.kinds = tuple(kind for kind in (getattr(torch, "Tensor", None), getattr(torch, "UntypedStorage", None))
                              if isinstance(kind, type))
        try:
            return pickler.dump(state)
        except _HasTensors:
            pass
    os.unlink(str(directory / _STATE))
    torch.save(state, str(directory / _TORCH_STATE))


class _HasTensors(Exception):
    """A tensor was met."""


class _NoTensors(pickle.Pickler):
    """Pickles what has no tensors."""

    kinds: Tuple[type, ...] = ()

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, self.kinds):
            raise _HasTensors
        return NotImplemented


def _read_state(directory: pathlib.Path) -> Any:
    if (directory / _TORCH_STATE).is_file():
        import inspect

        import torch
        # The file is of this search's own trials, so it may have all that `save` returned: since PyTorch 2.6, load() refuses
        # anything but tensors and plain values unless asked to.
        whole = {"weights_only": False} if "weights_only" in inspect.signature(torch.load).parameters else {}
        return torch.load(str(directory / _TORCH_STATE), map_location="cpu", **whole)
    with open(str(directory / _STATE), "rb") as file:
        return pickle.load(file)


def _check_state(directory: pathlib.Path) -> None:
    """TypeError: what was saved cannot be read, so the trial could not go on from it."""
    try:
        _read_state(directory)
    except Exception as error:
        raise TypeError("what `save` returned was stored, but cannot be read again ({}: {}). Return something that pickle can "
                        "load, as the state_dict() of the model".format(type(error).__name__, error)) from error
