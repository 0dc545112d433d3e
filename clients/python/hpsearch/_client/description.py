"""Experiments as values: what an experiment file says, made by functions."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Union

from .._functions.file_space import file_space
from .._values import plain

Length = Union[int, Mapping[str, int]]
"""A length of training: 27, or with a unit as {"epochs": 27}."""


def experiment(entrypoint: Union[str, Sequence[Any]], *, space: Mapping[str, Any], searcher: Mapping[str, Any],
               name: Optional[str] = None, **fields: Any) -> Dict[str, Any]:
    """The experiment file of a search, as a dict.

    `entrypoint` is a list of words, or a line for `sh -c`. `space` has distributions (hpsearch.uniform, loguniform, quniform,
    int, choice, const; frozen ones of scipy.stats, and those of Optuna), constants, and dicts of them. A list is refused: write
    choice([...]) or const([...]). `searcher` is one of asha, async_halving, random, grid, single, or the section of the file. `fields` are all other fields of the file: resources, environment, budget, ….

    The daemon checks the file, and reports all mistakes at once. TypeError, ValueError: a value cannot be written as
    JSON.
    """
    words = entrypoint if isinstance(entrypoint, str) else [
        word if isinstance(word, str) else plain(word, "entrypoint[{}]".format(at)) for at, word in enumerate(entrypoint)]
    out = {"entrypoint": words, "hyperparameters": file_space(space), "searcher": plain(searcher, "searcher")}
    if name is not None:
        out["name"] = name
    out.update({field: plain(value, field) for field, value in fields.items()})
    return out


def asha(*, metric: str, max_length: Length, max_trials: int, smaller_is_better: bool = True,
         **fields: Any) -> Dict[str, Any]:
    """The searcher `adaptive_asha`: trains many trials shortly, and the best of them longer.

    `max_length` is the longest training of a trial. `fields` are further fields of the file's section `searcher`:
    divisor, mode, max_rungs, stop_once, sampler, points_to_evaluate, ….
    """
    return _searcher("adaptive_asha", metric, max_length, smaller_is_better, dict(fields, max_trials=max_trials))


def async_halving(*, metric: str, max_length: Length, max_trials: int, num_rungs: int, smaller_is_better: bool = True,
                  **fields: Any) -> Dict[str, Any]:
    """The searcher `async_halving`: one bracket of `num_rungs` rungs (at least 1)."""
    return _searcher("async_halving", metric, max_length, smaller_is_better,
                     dict(fields, max_trials=max_trials, num_rungs=num_rungs))


def random(*, metric: str, max_length: Length, max_trials: int, smaller_is_better: bool = True,
           **fields: Any) -> Dict[str, Any]:
    """The searcher `random`: each trial trains to `max_length`. With sampler="model" or "tpe" it learns."""
    return _searcher("random", metric, max_length, smaller_is_better, dict(fields, max_trials=max_trials))


def grid(*, metric: str, max_length: Length, smaller_is_better: bool = True, **fields: Any) -> Dict[str, Any]:
    """The searcher `grid`: every combination. Ranges need a `count` or a `step`."""
    return _searcher("grid", metric, max_length, smaller_is_better, fields)


def single(*, metric: str, max_length: Length, smaller_is_better: bool = True, **fields: Any) -> Dict[str, Any]:
    """The searcher `single`: one trial."""
    return _searcher("single", metric, max_length, smaller_is_better, fields)


def _searcher(name: str, metric: str, max_length: Length, smaller_is_better: bool,
              fields: Mapping[str, Any]) -> Dict[str, Any]:
    out = {"name": name, "metric": metric, "max_length": max_length, "smaller_is_better": smaller_is_better}
    out.update(fields)
    return {field: plain(value, "searcher." + field) for field, value in out.items() if value is not None}
