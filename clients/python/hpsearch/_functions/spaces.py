"""The distributions of a search space. Bounds are values, never exponents."""

from __future__ import annotations

import builtins
from typing import Any, Dict, Iterable, Optional, Union

from .._values import plain

Distribution = Dict[str, Any]
"""One hyperparameter, as the experiment file has it."""


def uniform(low: float, high: float, *, step: Optional[float] = None, count: Optional[builtins.int] = None,
            when: Optional[Dict[str, Any]] = None) -> Distribution:
    """A real number, uniform from `low` to below `high`; with `step` only low, low + step, ….

    `count` is the number of points of a grid. `when` is the condition under which trials have the hyperparameter, as
    {"optimizer": ["sgd"]}.

    TypeError: a bound is no number. ValueError: `high` is not above `low`, or a bound is not finite.
    """
    return _range("double", low, high, None, step, count, when)


def quniform(low: float, high: float, q: float, *, count: Optional[builtins.int] = None,
             when: Optional[Dict[str, Any]] = None) -> Distribution:
    """One of low, low + q, low + 2q, … up to `high`, each equally often. `q` is above 0. Errors as uniform()."""
    return _range("double", low, high, None, q, count, when)


def int(low: builtins.int, high: builtins.int, *, log: bool = False, step: Optional[builtins.int] = None,
        count: Optional[builtins.int] = None, when: Optional[Dict[str, Any]] = None) -> Distribution:
    """An integer from `low` to `high`, both included; with `log` uniform in the logarithm. Errors as uniform()."""
    return _range("int", low, high, "log" if log else None, step, count, when)


def loguniform(low: float, high: float, *, step: Optional[float] = None, count: Optional[builtins.int] = None,
               when: Optional[Dict[str, Any]] = None) -> Distribution:
    """A real number above 0, uniform in the logarithm. Bounds are values, not exponents: loguniform(1e-4, 1e-1).

    `step`, `count` and `when` as for uniform(). Errors as uniform(); ValueError also if `low` is not above 0.
    """
    return _range("double", low, high, "log", step, count, when)


def choice(*options: Any, ordered: Optional[bool] = None, when: Optional[Dict[str, Any]] = None) -> Distribution:
    """One of the options, each equally often: choice("sgd", "adam") or choice(["sgd", "adam"]).

    `ordered`: neighbours are alike, as for small, medium and large. ValueError: there is no option.
    """
    listed: Iterable[Any] = options
    if len(options) == 1 and not isinstance(options[0], (str, bytes, dict)) and hasattr(options[0], "__iter__"):
        listed = options[0]
    values = plain(list(listed), "choice")
    if not values:
        raise ValueError("choice() has no option; give at least one")
    return _with({"type": "categorical", "vals": values}, ordered=ordered, when=when)


def const(value: Any, *, when: Optional[Dict[str, Any]] = None) -> Distribution:
    """Always this value; also a dict with a member "type", or None. TypeError: JSON has no such value."""
    return _with({"type": "const", "val": plain(value, "const")}, when=when)


def _range(kind: str, low: Any, high: Any, scale: Optional[str], step: Any, count: Any,
           when: Optional[Dict[str, Any]]) -> Distribution:
    bounds = []
    for name, bound in (("low", low), ("high", high)):
        value = plain(bound, name)
        if isinstance(value, bool) or not isinstance(value, (builtins.int, float)):
            raise TypeError("{} is {!r}; it must be a number".format(name, bound))
        bounds.append(value)
    if not bounds[0] < bounds[1]:
        raise ValueError("high is {!r}; it must be above low, {!r}".format(bounds[1], bounds[0]))
    if scale == "log" and bounds[0] <= 0:
        raise ValueError("low is {!r}; a logarithmic range begins above 0. Bounds are values, not exponents".format(
            bounds[0]))
    return _with({"type": kind, "minval": bounds[0], "maxval": bounds[1]}, scale=scale, step=step, count=count,
                 when=when)


def _with(made: Distribution, **more: Union[None, bool, str, float, Dict[str, Any]]) -> Distribution:
    made.update({name: plain(value, name) for name, value in more.items() if value is not None})
    return made
