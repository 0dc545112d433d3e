"""What the trackers' options and packages have in common."""

from __future__ import annotations

import importlib
from typing import Any, Iterable, Mapping


def check_options(tracker: str, given: Mapping[str, Any], allowed: Iterable[str]) -> None:
    """TypeError: one is given that is not allowed."""
    known = sorted(allowed)
    for name in given:
        if name not in known:
            raise TypeError("the mirror {} has no option {!r}; it has {}".format(tracker, name, ", ".join(known)))


def package(module: str, distribution: str) -> Any:
    """The module. ImportError, which names the command that installs it, where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError("the mirror needs the package {0}, which cannot be imported ({1}); pip install {0}".format(
            distribution, error)) from error
