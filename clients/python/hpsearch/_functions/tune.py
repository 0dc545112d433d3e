"""hpsearch.tune(): a function as a search."""

from __future__ import annotations

import importlib.util
import inspect
import operator
import os
import pathlib
import sys
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from .._client import description as _description
from .._client.client import Client
from .client_search import search_at
from .confirmation import Confirmation
from .._client.description import Length
from .._client.experiment import Experiment
from .._inprocess.run import check_in_process, run_in_process
from .function_call import Objective
from .function_file import FunctionFile
from .._local.gpus import check_gpus
from .._local.local import environment
from .._local.run_options import run_options
from .._local.search_directory import SearchDirectory
from .search_callbacks import Callback, Callbacks
from .tune_progress import follow_search
from .._values import plain
from ..run_function import LOADING

_LARGEST_SEED = 2 ** 31 - 1


def tune(function: Callable[..., Any], space: Optional[Mapping[str, Any]] = None, *, metric: str = "value", max_length: Length = 1,
         max_trials: Optional[int] = None, name: Optional[str] = None, smaller_is_better: bool = True,
         searcher: Union[None, str, Mapping[str, Any]] = None, arguments: Optional[Mapping[str, Any]] = None,
         resources: Optional[Mapping[str, Any]] = None, context: "os.PathLike[str] | str | None" = None,
         on: Union[str, Client] = "local", resume: str = "auto", seed: Optional[int] = None,
         slots: Union[None, int, str] = None, sbatch: Sequence[str] = (), queue: Optional[Mapping[str, Any]] = None,
         preload: Sequence[str] = (), callbacks: Sequence[Callback] = (), wait: bool = True, progress: bool = True, ask: bool = True,
         **fields: Any) -> Experiment:
    """Searches for the hyperparameters with which a function gives the best metric.

    Returns the experiment, when it has completed and the processes that ran it have ended; with wait=False at once.

    function: each trial, a process of its own, calls it. A parameter named `trial`, or the only one that is not in `space`,
        gets a FunctionTrial; others get the hyperparameters and `arguments` of their names. It reports with trial.report(),
        or returns a number, or a dict of numbers.
    space: distributions (hpsearch.uniform, loguniform, quniform, int, choice, const; frozen uniform, loguniform and randint of
        scipy.stats; those of Optuna), constants, and dicts of them. A list is refused: choice([...]) searches among its
        values, const([...]) gives each trial all of them. It may be missing where `function` is hpsearch.optuna.objective(), which has one.
    metric: the name of the metric that decides.
    max_length: the longest training of a trial, in epochs, or in another unit as {"steps": 500}; at least 1.
    max_trials: at least 1; 100 if missing. Grids have as many as they have points.
    name: a search with a name goes on where it stopped when tune() is called again, and also while this process is interrupted.
        Without, each call is a new search, and Ctrl-C pauses it: it says the name with which the same call goes on.
    smaller_is_better: whether the best value of `metric` is the smallest one.
    searcher: a name, or a section as hpsearch.asha() makes it. Without, adaptive_asha where `max_length` is above 1, else
        random.
    arguments: values for other parameters of `function`. Large ones are stored once, and what has buffers of more
        than 1 MiB, as arrays and tables, is mapped in trials, which may change their own copy in place. A search with a name
        refuses a call whose values differ from those it was begun with, also values that the function takes from around it.
    resources: of each trial, as {"gpus": 1}, or the section of the experiment file. ValueError: no machine that the search may
        use has enough GPUs.
    context: a directory; each trial gets a copy of it.
    on: "local" starts a private daemon and a worker, which go on when this process is killed. "slurm" starts the private
        daemon here, on a login node, and its workers in jobs of Slurm, for as long as the search lives. With a Client the search
        runs on its workers. Workers on other machines need this Python at the same path. "inprocess" calls the function in this
        process, with `slots` in so many threads (1 if missing): for functions of milliseconds. Nothing is stored then.
    resume: "auto", "never" (the name must be new) or "require" (it must exist).
    seed: of all random draws, from 0 to 2^31 - 1; drawn at random if missing.
    slots: how many trials run at the same time on this machine, or in each job of Slurm; one for each GPU if missing, or one
        for each core.
    sbatch: with on="slurm", arguments for sbatch, as ["-p", "gpu", "--gres=gpu:1"].
    queue: with on="slurm", options of `hpsearch run --on slurm`, as {"time_limit": "8h", "max_workers": 4}.
    preload: modules that take long to import, as ["torch"]. While a trial runs, its worker starts the interpreter of the next
        trial of its slot and imports them there, so that this trial starts without that wait.
    callbacks: called while tune() waits: functions of (experiment, trial), which are called when a trial has ended; SearchCallback
        objects; and stop_after("10m"), stop_at(0.1), stop_on_plateau(), which end the search. An exception of a callback comes out
        of tune(), and the search is paused.
    wait: whether to wait for the end.
    progress: whether to print lines about the search on standard error.
    ask: whether to ask on a terminal before a new search starts whose direction contradicts the metric's name, whose exponents
        look like values, or in which nothing varies. Scripts without a terminal and notebooks are never asked.
    fields: other fields of the experiment file.

    TypeError: the function cannot be called so, or cannot travel to a trial; a search with a name uses a value whose pickle
    is another one each time; a space has a list. ValueError: an argument is outside of its range,
    the named search is another one, or you answered that the search isn't meant. WrongState: another process waits for the named search. ExperimentFailed: the search
    failed. BadRequest: the daemon refuses the experiment; its text lists every mistake. NotImplementedError: this machine is
    not Linux on x86-64. FileNotFoundError: the programs are not installed.
    """
    if LOADING in os.environ:
        raise RuntimeError("tune() was called while a trial imported the module of its function; put the call below: if "
                           '__name__ == "__main__":')
    if resume not in ("auto", "never", "require"):
        raise ValueError('resume is {!r}; it must be "auto", "never" or "require"'.format(resume))
    _check_place(on)
    is_optuna = type(function).__module__ == "hpsearch.optuna._objective"
    if not is_optuna and not callable(function):
        raise TypeError("function is {!r}; it must be a function, or another object that can be called".format(function))
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise TypeError("{} is a generator or a coroutine; it must be a function that returns numbers, or reports them".format(
            _word(function)))
    if arguments is not None and not isinstance(arguments, Mapping):
        raise TypeError("arguments is {!r}; it must be a dict of names and values".format(arguments))
    if space is None and not is_optuna or space is not None and not isinstance(space, Mapping):
        raise TypeError("space is {!r}; it must be a dict, as {{\"lr\": hpsearch.loguniform(1e-4, 1e-1)}}".format(space))
    if seed is not None and not 0 <= _whole(seed, "seed") <= _LARGEST_SEED:
        raise ValueError("seed is {}; it must be from 0 to {}".format(seed, _LARGEST_SEED))
    if is_optuna:
        from ..optuna._space import file_space
        space = getattr(function, "space", {}) if space is None else file_space(space)
    assert space is not None
    modules = _modules(preload)
    if on != "inprocess":
        check_gpus(resources, on, slots)
    options = run_options(on, None if on == "inprocess" else slots, sbatch, queue)
    called = Callbacks(callbacks)
    if called and not wait:
        raise ValueError("callbacks need wait=True: they are called while tune() waits")
    config = _config(space, metric, max_length, max_trials, smaller_is_better, searcher, resources, fields)
    is_minimized = bool(config["searcher"]["smaller_is_better"])
    if is_optuna and searcher is None and config["searcher"]["name"] == "adaptive_asha":
        config["searcher"]["stop_once"] = True  # Objectives of Optuna have no checkpoints to go on from.
    if modules:
        config["environment"]["preload"] = modules
    title = name or "{}-{}-{}".format(_word(function), time.strftime("%Y%m%d-%H%M%S"), os.urandom(2).hex())
    config["name"] = title
    if seed is not None:
        config["reproducibility"] = {"experiment_seed": int(seed)}
    if on == "inprocess":
        check_in_process(name=name, context=context, resources=resources, preload=preload, resume=resume, wait=wait)
        return run_in_process(Objective(function, list(space), arguments or {}).in_this_process(is_minimized), config, slots, called, progress)
    written = FunctionFile(function, list(space), arguments or {}, is_minimized)
    confirmation = Confirmation(ask, progress)
    began = time.time()
    extra = None if context is None else pathlib.Path(context).expanduser().resolve()
    if isinstance(on, Client):
        experiment = search_at(on, config, written, extra, resume, name is not None, confirmation)
    else:
        directory = SearchDirectory(title)
        experiment = directory.start(config, written, extra, resume, options, name is not None, confirmation)
        if not wait:
            directory.release()
    if not wait:
        return experiment
    return follow_search(experiment, title if name else None, progress, confirmation.printed, called, _began_since(experiment, began))


def _began_since(experiment: Experiment, moment: float) -> bool:
    """Whether this call began the search. The clocks of daemons on other machines differ a little."""
    return float(experiment.now().raw.get("created_at") or 0.0) >= moment - 2.0


def _modules(preload: Any) -> List[str]:
    """Of `preload`. TypeError: it is no list of names. ValueError: this Python finds no such module."""
    if isinstance(preload, str) or not isinstance(preload, Sequence) or not all(isinstance(name, str) for name in preload):
        raise TypeError('preload is {!r}; it must be a list of modules, as ["torch"]'.format(preload))
    for name in preload:
        try:
            found = importlib.util.find_spec(name) is not None
        except (ImportError, ValueError):  # The import of its parent failed.
            found = False
        if not found:
            raise ValueError("preload has {!r}; this Python finds no such module".format(name))
    return list(preload)


def _check_place(on: Any) -> None:
    """ValueError, TypeError: a search cannot run there."""
    if isinstance(on, Client) or on in ("local", "slurm", "inprocess"):
        return
    if not isinstance(on, str):
        raise TypeError("on is a {}; it must be \"local\", \"inprocess\", \"slurm\" or a hpsearch.Client".format(type(on).__name__))
    if on.startswith("slurm"):
        raise ValueError('on is {!r}; it must be "slurm", with arguments as sbatch=["-p", "gpu"]'.format(on))
    raise ValueError('on is {0!r}; it must be "local", "inprocess", "slurm" or a client: on=hpsearch.Client({0!r})'.format(on))


def _whole(value: Any, name: str) -> int:
    """A whole number; also one of NumPy. TypeError: it is none."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError("{} is {!r}; it must be a whole number".format(name, value)) from None


def _config(space: Mapping[str, Any], metric: str, max_length: Length, max_trials: Optional[int],
            smaller_is_better: bool, searcher: Union[None, str, Mapping[str, Any]],
            resources: Optional[Mapping[str, Any]], fields: Mapping[str, Any]) -> Dict[str, Any]:
    if isinstance(max_length, Mapping):
        max_length = {unit: _whole(length, "max_length." + str(unit)) for unit, length in max_length.items()}
    else:
        max_length = _whole(max_length, "max_length")
    if searcher is None or isinstance(searcher, str):
        full = max(max_length.values(), default=1) if isinstance(max_length, Mapping) else max_length
        named = searcher or ("adaptive_asha" if full > 1 else "random")
        section: Dict[str, Any] = {"name": {"asha": "adaptive_asha"}.get(named, named)}
    else:
        section = dict(searcher)
    section.setdefault("metric", metric)
    section.setdefault("max_length", {"epochs": max_length} if isinstance(max_length, int) else max_length)
    section.setdefault("smaller_is_better", smaller_is_better)
    if section["name"] not in ("grid", "single"):
        section.setdefault("max_trials", 100 if max_trials is None else max_trials)
    config = _description.experiment([sys.executable, "-m", "hpsearch.run_function"], space=space, searcher=section, **fields)
    if resources:
        wanted = dict(resources)
        for word in ("gpus", "slots"):
            if word in wanted:
                wanted["slots_per_trial"] = wanted.pop(word)
        config["resources"] = dict(config.get("resources") or {}, **plain(wanted, "resources"))
    variables = config.setdefault("environment", {}).setdefault("environment_variables", {})
    if isinstance(variables, dict) and not _is_installed():
        variables.setdefault("PYTHONPATH", environment()["PYTHONPATH"])
    return config


def _is_installed() -> bool:
    """Whether a plain start of this Python finds this package."""
    here = pathlib.Path(__file__).resolve().parents[2]
    return here.name in ("site-packages", "dist-packages")


def _word(function: Any) -> str:
    name = str(getattr(function, "__name__", "search"))
    return name if name.isidentifier() else "search"
