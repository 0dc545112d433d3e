"""Arguments of other packages that tune() has under another name."""

from __future__ import annotations

from typing import Any, Iterable, Mapping

_TRIALS = "max_trials={}"
_DIRECTION = "smaller_is_better=True, or False where larger values of the metric are better"
_TIME = 'budget={{"max_time": {}}}'
_SLOTS = "slots={}"
_LENGTH = "max_length={}"
_SPACE = "space, the second argument"
_SEARCHER = 'searcher="asha", "random" or "grid" for how long trials train, and sampler="model" or "tpe" for how they are chosen'

# Maps names of other packages to arguments of tune(). {} stands for the given value if it needs no change.
_WORDS: Mapping[str, str] = {
    "n_trials": _TRIALS, "num_trials": _TRIALS, "num_samples": _TRIALS, "max_evals": _TRIALS, "n_iter": _TRIALS, "n_calls": _TRIALS,
    "num_iterations": _TRIALS, "trials": _TRIALS,
    "direction": _DIRECTION, "directions": _DIRECTION, "mode": _DIRECTION, "goal": _DIRECTION, "minimize": _DIRECTION,
    "maximize": _DIRECTION, "greater_is_better": _DIRECTION,
    "timeout": _TIME, "time_budget_s": _TIME, "max_time": _TIME, "time_limit": _TIME, "max_duration": _TIME,
    "target": 'budget={{"target": {}}}',
    "n_jobs": _SLOTS, "num_workers": _SLOTS, "n_workers": _SLOTS, "max_workers": _SLOTS, "parallelism": _SLOTS,
    "max_concurrent": _SLOTS, "max_concurrent_trials": _SLOTS, "parallel_trials": _SLOTS,
    "epochs": _LENGTH, "max_epochs": _LENGTH, "n_epochs": _LENGTH, "num_epochs": _LENGTH, "max_t": _LENGTH, "max_resource": _LENGTH,
    "param_space": _SPACE, "search_space": _SPACE, "search_spaces": _SPACE, "config": _SPACE, "params": _SPACE, "param_distributions": _SPACE,
    "hyperparameters": _SPACE,
    "study_name": "name={}", "experiment_name": "name={}", "run_name": "name={}",
    "load_if_exists": 'resume="auto", the default, or "never"',
    "random_state": "seed={}", "random_seed": "seed={}", "experiment_seed": "seed={}",
    "resources_per_trial": 'resources={{"gpus": 1}}', "gpus": 'resources={{"gpus": {}}}', "gpus_per_trial": 'resources={{"gpus": {}}}',
    "algo": _SEARCHER, "algorithm": _SEARCHER, "search_alg": _SEARCHER, "scheduler": _SEARCHER, "pruner": _SEARCHER, "strategy": _SEARCHER,
    "metric_name": "metric={}", "verbose": "progress=True or False", "show_progress_bar": "progress=True or False",
    "args": "arguments={{...}}, a dict of names and values", "kwargs": "arguments={}", "max_failures": "max_restarts={}",
    "catch": "nothing: a trial whose function raises has failed, and the search goes on (pause_on_failures)",
    "storage": "name=..., with which a search is kept and goes on",
}


def check_names(fields: Mapping[str, Any], own: Iterable[str] = ()) -> None:
    """TypeError: an argument has another package's name. `own` are fields that the caller accepts all the same."""
    for name, value in fields.items():
        if name in _WORDS and name not in own:
            raise TypeError("tune() has no argument {!r}; write {}".format(name, _WORDS[name].format(_short(value))))


def _short(value: Any) -> str:
    return repr(value) if isinstance(value, (bool, int, float, str)) and len(repr(value)) <= 40 else "..."
