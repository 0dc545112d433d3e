"""The searcher and the sampler of a search whose trials call a function, and what such a search does with bad trials."""

from __future__ import annotations

import operator
from typing import Any, Dict, Mapping, Optional, Union

from .._client.description import Length

SAMPLERS = ("model", "tpe", "anneal", "random")

# A function that raises is the result of its configuration: another configuration tells more than another try. What happens to
# the machine is retried however this is set.
BAD_TRIALS: Mapping[str, Any] = {"max_restarts": 0, "pause_on_failures": 8}

# Where the caller names no searcher. The first measured best on six functions (docs/benchmarks.md, Defaults of tune), the second on the
# learning curves of docs/searchers/choosing.md.
_OF_NUMBERS: Mapping[str, Any] = {"name": "random", "sampler": "model"}
_OVER_EPOCHS: Mapping[str, Any] = {"name": "adaptive_asha", "mode": "aggressive", "divisor": 3, "max_rungs": 4, "sampler": "model"}

# Names that other packages have for ways to choose configurations, and their names here.
_SAMPLERS_ELSEWHERE: Mapping[str, str] = {
    "tpe": "tpe", "hyperopt": "tpe", "optuna": "tpe", "parzen": "tpe", "bohb": "tpe",
    "model": "model", "bayesian": "model", "bayes": "model", "bayesopt": "model", "bo": "model", "gp": "model", "gaussian": "model",
    "skopt": "model", "botorch": "model", "ax": "model", "smac": "model", "hebo": "model",
    "anneal": "anneal", "annealing": "anneal", "qmc": "random", "sobol": "random", "halton": "random",
}
_SEARCHERS_ELSEWHERE: Mapping[str, str] = {
    "hyperband": "asha", "halving": "asha", "successivehalving": "asha", "median": "asha", "medianstopping": "asha", "pbt": "asha",
    "randomized": "random", "random": "random", "grid": "grid",
}
_SUFFIXES = ("search", "sampler", "process", "optimization", "pruner", "scheduler")
_WITHOUT_SAMPLER = ("grid", "single")


def searcher_section(searcher: Union[None, str, Mapping[str, Any]], sampler: Optional[str], metric: str, max_length: Length,
                     max_trials: Optional[int], smaller_is_better: bool) -> Dict[str, Any]:
    """The section `searcher` of the experiment file, from the arguments of tune().

    TypeError: a length is no whole number. ValueError: there is no such sampler, a searcher has none, or its name is that of a
    sampler.
    """
    if isinstance(max_length, Mapping):
        max_length = {unit: whole(length, "max_length." + str(unit)) for unit, length in max_length.items()}
    else:
        max_length = whole(max_length, "max_length")
    if sampler is not None:
        _check_sampler(sampler)
    if searcher is None:
        full = max(max_length.values(), default=1) if isinstance(max_length, Mapping) else max_length
        section: Dict[str, Any] = dict(_OVER_EPOCHS if full > 1 else _OF_NUMBERS)
    elif isinstance(searcher, str):
        _check_searcher(searcher)
        section = {"name": {"asha": "adaptive_asha"}.get(searcher, searcher)}
    else:
        section = dict(searcher)
    if sampler is not None:
        if section.get("name") in _WITHOUT_SAMPLER:
            raise ValueError("sampler is {!r}; the searcher {!r} takes none, because it chooses its configurations itself".format(
                sampler, section["name"]))
        given = section.get("sampler", sampler) if searcher is not None else sampler
        if given != sampler:
            raise ValueError("sampler is {!r}, and the sampler of `searcher` is {!r}; give one of them".format(sampler, given))
        section["sampler"] = sampler
    section.setdefault("metric", metric)
    section.setdefault("max_length", {"epochs": max_length} if isinstance(max_length, int) else max_length)
    section.setdefault("smaller_is_better", smaller_is_better)
    if section["name"] not in _WITHOUT_SAMPLER:
        section.setdefault("max_trials", 100 if max_trials is None else max_trials)
    return section


def whole(value: Any, name: str) -> int:
    """A whole number; also one of NumPy. TypeError: it is none."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError("{} is {!r}; it must be a whole number".format(name, value)) from None


def _check_sampler(sampler: Any) -> None:
    if not isinstance(sampler, str):
        raise TypeError("sampler is {!r}; it must be {}".format(sampler, _listed()))
    if sampler not in SAMPLERS:
        known = _SAMPLERS_ELSEWHERE.get(_stem(sampler))
        raise ValueError("sampler is {!r}; it must be {}{}".format(
            sampler, _listed(), ": write sampler={}".format(_quoted(known)) if known else ""))


def _check_searcher(searcher: str) -> None:
    """ValueError: the name is that of a sampler, or another package's for a searcher."""
    stem = _stem(searcher)
    if searcher in ("random", "grid", "single", "asha", "adaptive_asha", "async_halving"):
        return
    if stem in _SAMPLERS_ELSEWHERE:
        both = 'searcher="asha", ' if stem == "bohb" else ""
        raise ValueError("searcher is {!r}; a searcher decides how long trials train, and a sampler chooses their hyperparameters: "
                         "write {}sampler={}".format(searcher, both, _quoted(_SAMPLERS_ELSEWHERE[stem])))
    if stem in _SEARCHERS_ELSEWHERE:
        raise ValueError("searcher is {!r}; write searcher={}".format(searcher, _quoted(_SEARCHERS_ELSEWHERE[stem])))


def _stem(name: str) -> str:
    """TPESampler, tpe_search and tpe are alike."""
    stem = "".join(letter for letter in name.lower() if letter.isalnum())
    for suffix in _SUFFIXES:
        if stem.endswith(suffix) and stem != suffix:
            stem = stem[:-len(suffix)]
    return stem


def _listed() -> str:
    return ", ".join(map(_quoted, SAMPLERS[:-1])) + " or " + _quoted(SAMPLERS[-1])


def _quoted(word: str) -> str:
    return '"{}"'.format(word)
