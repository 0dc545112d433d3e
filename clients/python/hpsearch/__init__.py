"""Hyperparameter searches from Python: inside a trial, and from outside.

Inside a trial, a program gets its hyperparameters and reports metrics:

    import hpsearch

    params = hpsearch.params({"lr": 0.1})
    ...
    if hpsearch.report(epoch, val_loss=loss) is not hpsearch.CONTINUE:
        break

From outside, a script or a notebook starts searches and reads their results:

    import hpsearch as hp

    result = hp.tune(lambda t: (t["x"] - 2) ** 2, {"x": hp.uniform(-10, 10)}, max_trials=50)
    print(result.best.params)

Outside a trial the calls of a program use local defaults: params() are the defaults, report() prints, and returns STOP
at length(default). Standard library only. What only notebooks and scripts need is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, List

from ._client.connection import Disconnected, Refused
from ._in_trial import (CONTINUE, PAUSE, STOP, checkpoint, checkpoint_dir, data, in_trial, invalid_hyperparameters,
                        latest_checkpoint, length, log_line, metric, mirror, output_dir, params, progress, report, report_training, seed,
                        should_stop, trial, unit)
from ._local.programs import __version__
from ._trial import Directive, InvalidHyperparameters, TrialInfo

if TYPE_CHECKING:
    from . import aio, optuna
    from ._checkpoint import Checkpoint
    from ._client.client import Client
    from ._client.description import asha, async_halving, experiment, grid, random, single
    from ._client.experiment import Experiment
    from ._local.local import Local, local
    from ._local.searches import LocalSearch, open, searches
    from ._problems import (AccessDenied, BadRequest, Conflict, ExperimentCanceled, ExperimentFailed,
                            IncompatibleDaemon, NotFound, Problem, ProblemItem, Unreachable, WrongState)
    from ._local.programs import programs, programs_version
    from ._functions.function_trial import FunctionTrial, Pause, Stop
    from ._functions.search_callbacks import SearchCallback, StopSearch, stop_after, stop_at, stop_on_plateau
    from ._functions.snapshot import Snapshot
    from ._functions.spaces import choice, const, int, loguniform, quniform, uniform
    from ._client.annotation import Annotation
    from ._client.files import TrialFile
    from ._client.trials import Explanation, TrialView
    from ._functions.tune import tune
    from .search import Search

# Where the names are that are imported when they are first used.
_LATER = {
    "aio": "", "optuna": "",
    "Annotation": "_client.annotation",
    "Checkpoint": "_checkpoint",
    "Client": "_client.client",
    "Experiment": "_client.experiment",
    "TrialFile": "_client.files",
    "Explanation": "_client.trials", "TrialView": "_client.trials",
    "Local": "_local.local", "local": "_local.local",
    "LocalSearch": "_local.searches", "open": "_local.searches", "searches": "_local.searches",
    "FunctionTrial": "_functions.function_trial", "Pause": "_functions.function_trial",
    "Stop": "_functions.function_trial",
    "Search": "search",
    "SearchCallback": "_functions.search_callbacks", "StopSearch": "_functions.search_callbacks",
    "stop_after": "_functions.search_callbacks", "stop_at": "_functions.search_callbacks",
    "stop_on_plateau": "_functions.search_callbacks",
    "Snapshot": "_functions.snapshot",
    "programs": "_local.programs", "programs_version": "_local.programs",
    "tune": "_functions.tune",
    "AccessDenied": "_problems", "BadRequest": "_problems", "Conflict": "_problems",
    "ExperimentCanceled": "_problems", "ExperimentFailed": "_problems", "IncompatibleDaemon": "_problems",
    "NotFound": "_problems", "Problem": "_problems", "ProblemItem": "_problems", "Unreachable": "_problems",
    "WrongState": "_problems",
    "asha": "_client.description", "async_halving": "_client.description", "experiment": "_client.description",
    "grid": "_client.description", "random": "_client.description", "single": "_client.description",
    "choice": "_functions.spaces", "const": "_functions.spaces", "int": "_functions.spaces",
    "loguniform": "_functions.spaces", "quniform": "_functions.spaces", "uniform": "_functions.spaces",
}

__all__ = [
    "__version__", "AccessDenied", "Annotation", "BadRequest", "CONTINUE", "Checkpoint", "Client", "Conflict", "Directive", "Disconnected",
    "Experiment", "ExperimentCanceled", "ExperimentFailed", "Explanation", "FunctionTrial", "IncompatibleDaemon",
    "InvalidHyperparameters", "Local", "LocalSearch", "NotFound", "PAUSE", "Pause", "Problem", "ProblemItem", "Refused", "STOP", "Search",
    "SearchCallback", "Snapshot", "Stop", "StopSearch", "TrialFile", "TrialInfo", "TrialView", "Unreachable", "WrongState", "aio", "asha",
    "async_halving", "checkpoint", "checkpoint_dir", "choice", "const", "data", "experiment", "grid", "in_trial", "int",
    "invalid_hyperparameters", "latest_checkpoint", "length", "local", "log_line", "loguniform", "metric", "mirror", "open", "optuna", "output_dir", "params",
    "programs", "programs_version", "progress", "quniform", "random", "report", "report_training", "searches", "seed",
    "should_stop", "single", "stop_after", "stop_at", "stop_on_plateau", "trial", "tune", "uniform", "unit",
]


def __getattr__(name: str) -> Any:
    if name == "log":
        raise AttributeError("hpsearch has no log: a range that is uniform in the logarithm is hpsearch.loguniform(low, high), "
                             "a metric is hpsearch.report(step, name=number), a line in the trial's log hpsearch.log_line(text)")
    if name not in _LATER:
        raise AttributeError("module 'hpsearch' has no attribute {!r}".format(name))
    module = importlib.import_module("." + (_LATER[name] or name), __name__)
    found = getattr(module, name) if _LATER[name] else module
    globals()[name] = found
    return found


def __dir__() -> List[str]:
    return sorted(set(globals()) | set(__all__))
