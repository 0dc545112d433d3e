"""hpsearch.tune(): a function as a search."""

from __future__ import annotations

import importlib.util
import inspect
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
from .._problems import BadRequest
from .interruption import interruption
from .python_words import refusal_in_python
from .._local.run_options import run_options
from .._local.search_directory import SearchDirectory
from .foreign_arguments import check_names
from .search_callbacks import Callback, Callbacks
from .searcher_section import BAD_TRIALS, searcher_section, whole
from .tune_progress import follow_search
from .._values import plain
from ..run_function import LOADING

_LARGEST_SEED = 2 ** 31 - 1


def tune(function: Callable[..., Any], space: Optional[Mapping[str, Any]] = None, *, metric: str = "value", max_length: Length = 1,
         max_trials: Optional[int] = None, name: Optional[str] = None, smaller_is_better: bool = True,
         sampler: Optional[str] = None, searcher: Union[None, str, Mapping[str, Any]] = None,
         arguments: Optional[Mapping[str, Any]] = None,
         resources: Optional[Mapping[str, Any]] = None, context: "os.PathLike[str] | str | None" = None,
         on: Union[str, Client] = "local", resume: str = "auto", seed: Optional[int] = None,
         slots: Union[None, int, str] = None, gpu_free: Optional[int] = None,
         sbatch: Sequence[str] = (), queue: Optional[Mapping[str, Any]] = None, preload: Sequence[str] = (), callbacks: Sequence[Callback] = (), max_restarts: int = BAD_TRIALS["max_restarts"],
         pause_on_failures: Optional[int] = BAD_TRIALS["pause_on_failures"],
         wait: bool = True, progress: bool = True, ask: bool = True, **fields: Any) -> Experiment:
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
    sampler: how the hyperparameters of new trials are chosen. "model" learns from all results, "tpe" suits many categories and
        thousands of trials, "anneal" draws near good trials, "random" learns nothing. Without, "model"; where `searcher` is
        given, what that has, else "random".
    searcher: how long trials train: a name, or a section as hpsearch.asha() makes it. Without, trials that return numbers train
        to the end ("random"), and where `max_length` is above 1 bad ones stop early ("asha", with one bracket).
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
    slots: how many trials run at the same time on this machine, or in each job of Slurm, or which GPUs they get, as "0,1".
        Without, one for each GPU, or one for each core. On this machine all searches of one user share these slots: each slot
        belongs to one search at a time, and searches wait for the next free one in order of arrival, those without a running
        trial first. With `slots`, trials take exactly these at once and wait for no other search, which counts them as in use.
    gpu_free: without `slots`, on this machine: a GPU is left out while less of its memory is free, in percent from 0 to 100 (90 if
        missing), or while another program uses it. It is used again when it is free.
    sbatch: with on="slurm", arguments for sbatch, as ["-p", "gpu", "--gres=gpu:1"].
    queue: with on="slurm", options of `hpsearch run --on slurm`, as {"time_limit": "8h", "max_workers": 4}.
    preload: modules that take long to import, as ["torch"]. While a trial runs, its worker starts the interpreter of the next
        trial of its slot and imports them there, so that this trial starts without that wait.
    callbacks: called while tune() waits: functions of (experiment, trial), which are called when a trial has ended; SearchCallback
        objects; and stop_after("10m"), stop_at(0.1), stop_on_plateau(), which end the search. An exception of a callback comes out
        of tune(), and the search is paused.
    max_restarts: how often a trial whose function raised, or returned NaN, is tried again, at least 0. A trial whose worker or
        machine is lost runs again anyway.
    pause_on_failures: the search pauses itself, and tune() raises ExperimentFailed, if its first trials, this many, all failed in
        the same way. None: it never does.
    wait: whether to wait for the end.
    progress: whether to print lines about the search on standard error.
    ask: whether to ask on a terminal before a new search starts whose direction contradicts the metric's name, whose exponents
        look like values, or in which nothing varies. Scripts without a terminal and notebooks are never asked.
    fields: other fields of the experiment file.

    TypeError: the function cannot be called so, or cannot travel to a trial; a search with a name uses a value whose pickle
    is another one each time; a space has a list; an argument has its name of another package. ValueError: an argument is outside
    of its range, the named search is another one, or you answered that the search isn't meant. WrongState: another process waits
    for the named search. ExperimentFailed: the search failed, or paused itself; its `experiment` has the results so far.
    BadRequest: the daemon refuses the experiment; its text lists every mistake. KeyboardInterrupt: Ctrl-C; a script that doesn't
    catch it exits with 130. NotImplementedError: this machine is not Linux on x86-64. FileNotFoundError: the programs are not
    installed.
    """
    if LOADING in os.environ:
        raise RuntimeError("tune() was called while a trial imported the module of its function; put the call below: if "
                           '__name__ == "__main__":')
    if resume not in ("auto", "never", "require"):
        raise ValueError('resume is {!r}; it must be "auto", "never" or "require"'.format(resume))
    check_names(fields)
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
    if seed is not None and not 0 <= whole(seed, "seed") <= _LARGEST_SEED:
        raise ValueError("seed is {}; it must be from 0 to {}".format(seed, _LARGEST_SEED))
    if is_optuna:
        from ..optuna._space import file_space
        space = getattr(function, "space", {}) if space is None else file_space(space)
    assert space is not None
    modules = _modules(preload)
    if on != "inprocess":
        check_gpus(resources, on, slots)
    options = run_options(on, None if on == "inprocess" else slots, sbatch, queue, gpu_free)
    called = Callbacks(callbacks)
    if called and not wait:
        raise ValueError("callbacks need wait=True: they are called while tune() waits")
    section = searcher_section(searcher, sampler, metric, max_length, max_trials, smaller_is_better)
    config = _config(space, section, resources, dict(
        fields, max_restarts=whole(max_restarts, "max_restarts"),
        pause_on_failures=0 if pause_on_failures is None else whole(pause_on_failures, "pause_on_failures")))
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
    try:
        if isinstance(on, Client):
            experiment = search_at(on, config, written, extra, resume, name is not None, confirmation, called.ignore_ended)
        else:
            directory = SearchDirectory(title)
            experiment = directory.start(config, written, extra, resume, options, name is not None, confirmation)
            if not directory.is_new:
                called.ignore_ended(experiment, began)
            if not wait:
                directory.release()
    except KeyboardInterrupt:
        print("\nhpsearch: interrupted while the search was starting; the same call with name={!r} begins it, or goes on with it".format(title),
              file=sys.stderr, flush=True)
        raise interruption() from None
    except BadRequest as refusal:
        if not refusal.problems:
            raise
        raise refusal_in_python(refusal) from None
    if not wait:
        return experiment
    return follow_search(experiment, title if name else None, progress, confirmation.printed, called)


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


def _config(space: Mapping[str, Any], section: Mapping[str, Any], resources: Optional[Mapping[str, Any]],
            fields: Mapping[str, Any]) -> Dict[str, Any]:
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
