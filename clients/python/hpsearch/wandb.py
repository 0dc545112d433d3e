"""Stands in for the package wandb in a program that logs to W&B: hyperparameters from the search, metrics to it.

    python3 -m hpsearch.wandb train.py --lr=0.1         # without a change: `import wandb` finds this module
    import hpsearch.wandb as wandb                      # or by one line of the program

A third way needs neither: `python3 -m hpsearch.wandb --path` prints a directory; where PYTHONPATH begins with it,
`import wandb` finds this module.

config has the trial's hyperparameters over those given to init(). A log() that has the search's metric is a report; what
is logged in between goes along with it. Its step is the `step` of the call, counted from 1, or else how many reports there
were. When the search has stopped the trial, the next such log() ends the program; what the program does after its last
log(), as saving its model, is done. Nothing is sent to W&B. Everything else that wandb has does nothing here, and is reported
once. Standard library only.
"""

from __future__ import annotations

import argparse
import atexit
import os
import pathlib
import sys
from typing import Any, Callable, Dict, Iterator, List, Mapping, NoReturn, Optional, Set, Tuple, Union

import hpsearch

_answer: Set[str] = set()


def _tell(text: str) -> None:
    if text not in _answer:
        _answer.add(text)
        print("hpsearch: " + text, file=sys.stderr, flush=True)


class _Nothing:
    """What wandb has besides: it can be called, entered, looked into, and does nothing."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *args: Any, **more: Any) -> "_Nothing":
        return self

    def __getattr__(self, name: str) -> "_Nothing":
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing(self._name + "." + name)

    def __enter__(self) -> "_Nothing":
        return self

    def __exit__(self, *exception: Any) -> None:
        return None

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __bool__(self) -> bool:
        return False


def _nothing(name: str) -> _Nothing:
    if name.startswith("__"):
        raise AttributeError("hpsearch.wandb has no {!r}".format(name))
    _tell("wandb.{} does nothing here: hpsearch.wandb stands in for wandb".format(name))
    return _Nothing(name)


def _members(given: Any) -> Dict[str, Any]:
    """A configuration as programs give it: a mapping, or the arguments of argparse."""
    if given is None:
        return {}
    if isinstance(given, argparse.Namespace):
        return dict(vars(given))
    if isinstance(given, Config):
        return given.as_dict()
    if isinstance(given, Mapping):
        return {str(name): value for name, value in given.items()}
    _tell("wandb.init(config={!r}) is not read: a mapping or argparse's arguments are".format(type(given).__name__))
    return {}


class Config:
    """Hyperparameters by attribute and by item. Those of the search stay what they are."""

    def __init__(self) -> None:
        object.__setattr__(self, "_values", {})
        object.__setattr__(self, "_searched", set(hpsearch.params()))
        self.update({})

    def update(self, given: Any, allow_val_change: Optional[bool] = None) -> None:
        values: Dict[str, Any] = object.__getattribute__(self, "_values")
        merged = hpsearch.params({**values, **_members(given)})
        values.clear()
        values.update(merged)

    def setdefaults(self, given: Any) -> Dict[str, Any]:
        self.update({**_members(given), **self.as_dict()})
        return self.as_dict()

    def as_dict(self) -> Dict[str, Any]:
        return dict(object.__getattribute__(self, "_values"))

    def __getattr__(self, name: str) -> Any:
        values: Dict[str, Any] = object.__getattribute__(self, "_values")
        if name not in values:
            raise AttributeError("wandb.config has no {!r}; it has {}".format(name, ", ".join(sorted(values)) or "nothing"))
        return values[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __getitem__(self, name: str) -> Any:
        return object.__getattribute__(self, "_values")[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __contains__(self, name: object) -> bool:
        return name in object.__getattribute__(self, "_values")

    def __iter__(self) -> Iterator[str]:
        return iter(self.as_dict())

    def __len__(self) -> int:
        return len(self.as_dict())

    def keys(self) -> List[str]:
        return list(self.as_dict())

    def values(self) -> List[Any]:
        return list(self.as_dict().values())

    def items(self) -> List[Tuple[str, Any]]:
        return list(self.as_dict().items())

    def get(self, name: str, default: Any = None) -> Any:
        return self.as_dict().get(name, default)

    def __repr__(self) -> str:
        return repr(self.as_dict())


class Summary(Dict[str, Any]):
    """The last value of everything that was logged; nothing reads it."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError("wandb.summary has no {!r}".format(name))
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def _numbers(prefix: str, logged: Mapping[str, Any]) -> Dict[str, float]:
    """Those that are single numbers; pictures, tables and texts are W&B's affair."""
    out: Dict[str, float] = {}
    for name, value in logged.items():
        if isinstance(value, Mapping):
            out.update(_numbers(prefix + str(name) + ".", value))
        elif value is not None and not isinstance(value, (str, bytes, _Nothing)):
            try:
                out[prefix + str(name)] = float(value)
            except (TypeError, ValueError):
                continue
    return out


class Run:
    """What init() returns."""

    def __init__(self, name: Optional[str], project: Optional[str], directory: Optional[str]) -> None:
        trial = hpsearch.trial()
        self.id = "{}-{}".format(trial.experiment_id, trial.trial_number)
        self.name = name or "trial-{}".format(trial.trial_number)
        self.project = project or trial.experiment_name
        self.entity = ""
        self.url = ""
        self.resumed = False
        self.sweep_id = str(trial.experiment_id) if trial.in_trial else None
        self.dir = directory or os.getcwd()
        self.step = 0
        self.config = Config()
        self.summary = Summary()
        self._waiting: Dict[str, float] = {}
        self._seen: Set[str] = set()
        self._metric = hpsearch.metric()
        self._reported = False
        self._first = 1  # 0: the program counts its steps from 0.
        self._directive = hpsearch.CONTINUE

    def log(self, data: Mapping[str, Any], step: Optional[int] = None, commit: Optional[bool] = None,
            sync: Optional[bool] = None) -> None:
        numbers = _numbers("", data)
        self.summary.update(data)
        self._waiting.update(numbers)
        self._seen.update(numbers)
        decides = self._metric in self._waiting if self._metric else bool(self._waiting)
        if commit is False or not decides:
            return
        if self._directive is not hpsearch.CONTINUE:
            self._end()
        self._report(self._counted(step))

    def finish(self, exit_code: Optional[int] = None, quiet: Optional[bool] = None) -> None:
        """What was never reported with the search's metric is reported now: it shows which names there were."""
        if self._metric and not self._reported and self._seen and hpsearch.in_trial():
            _tell("wandb.log() got {}; the search's metric is {}".format(", ".join(sorted(self._seen)), self._metric))
            self._report(self.step + 1)

    def _counted(self, step: Optional[int]) -> int:
        if step is None:
            return self.step + 1
        if not self._reported:
            self._first = 0 if step == 0 else 1
        return int(step) + 1 - self._first

    def _report(self, step: int) -> None:
        if self._reported and step < self.step:
            _tell("wandb.log(step={}) is dropped: step {} was reported already".format(step, self.step))
            return
        numbers, self._waiting = self._waiting, {}
        self._reported = True
        self.step = step
        if numbers:
            self._directive = hpsearch.report(step, numbers)

    def _end(self) -> NoReturn:
        print("hpsearch: the search ended this trial at step {}".format(self.step), flush=True)
        raise SystemExit(0)

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.finish()

    def __getattr__(self, name: str) -> Any:
        return _nothing("run." + name) if not name.startswith("_") else object.__getattribute__(self, name)


#: None before init(), as in wandb.
run: Optional[Run] = None
config: Config = Config()
summary: Summary = Summary()


def init(project: Optional[str] = None, entity: Optional[str] = None, config: Any = None, name: Optional[str] = None,
         dir: Union[str, "os.PathLike[str]", None] = None, **more: Any) -> Run:
    """Starts the only run of the program; further calls give the same one."""
    global run, summary
    if run is None:
        run = Run(name, project, None if dir is None else os.fspath(dir))
        run.config = globals()["config"]
        summary = run.summary
        atexit.register(run.finish)
    run.config.update(config)
    return run


def log(data: Mapping[str, Any], step: Optional[int] = None, commit: Optional[bool] = None,
        sync: Optional[bool] = None) -> None:
    (run or init()).log(data, step, commit, sync)


def finish(exit_code: Optional[int] = None, quiet: Optional[bool] = None) -> None:
    if run is not None:
        run.finish()


def login(*args: Any, **more: Any) -> bool:
    return True


def sweep(*args: Any, **more: Any) -> str:
    """The search is the experiment file's (`hpsearch import` makes one of a sweep)."""
    _tell("wandb.sweep() does nothing here: the experiment file says what is searched")
    return str(hpsearch.trial().experiment_id)


def agent(sweep_id: str, function: Optional[Callable[[], Any]] = None, entity: Optional[str] = None,
          project: Optional[str] = None, count: Optional[int] = None) -> None:
    """A trial is one configuration: the function runs once."""
    if function is not None:
        function()


def __getattr__(name: str) -> Any:
    return _nothing(name)


def _main(arguments: List[str]) -> None:
    """Runs a program in which `import wandb` finds this module."""
    import hpsearch.wandb as module
    import runpy

    if arguments == ["--path"]:
        print(pathlib.Path(__file__).resolve().parent / "stand_in")
        return
    is_module = arguments[:1] == ["-m"]
    words = arguments[1:] if is_module else arguments
    if not words or (words[0].startswith("-") and not is_module):
        sys.exit("usage: python3 -m hpsearch.wandb SCRIPT [ARGUMENT]... | -m MODULE [ARGUMENT]... | --path")
    sys.modules["wandb"] = module
    sys.argv = words
    if is_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    else:
        if not os.path.exists(words[0]):
            sys.exit("hpsearch.wandb: there is no file {} in {}".format(words[0], os.getcwd()))
        sys.path[0] = str(pathlib.Path(words[0]).resolve().parent)
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    _main(sys.argv[1:])
