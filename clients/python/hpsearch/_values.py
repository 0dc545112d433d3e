"""Values of Python programs as the JSON of an experiment file."""

from __future__ import annotations

import enum
import math
import os
from typing import Any, Mapping


def plain(value: Any, path: str) -> Any:
    """`value` with nothing in it but what JSON has.

    Scalars of NumPy, PyTorch, TensorFlow and JAX become numbers, arrays lists, tuples lists, paths and enumerations
    their text or value. `path` names the value in errors. TypeError: there is no JSON for it. ValueError: a number is
    not finite.
    """
    if value is None or isinstance(value, (bool, str)) and not isinstance(value, enum.Enum):
        return value
    if isinstance(value, enum.Enum):
        return plain(value.value, path)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("{} is {}; it must be finite".format(path, value))
        return float(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {_name(name, path): plain(member, "{}.{}".format(path, name) if path else str(name))
                for name, member in value.items()}
    if isinstance(value, (list, tuple, range)):
        return [plain(member, "{}[{}]".format(path, at)) for at, member in enumerate(value)]
    if callable(getattr(value, "file_value", None)):
        return plain(value.file_value(), path)
    if callable(getattr(value, "tolist", None)):  # Arrays and scalars of NumPy, PyTorch and JAX.
        return plain(value.tolist(), path)
    if callable(getattr(value, "numpy", None)):  # TensorFlow.
        return plain(value.numpy(), path)
    raise TypeError("{} is a {}; it must be a number, text, boolean, None, list or dict".format(
        path, type(value).__name__))


def _name(name: Any, path: str) -> str:
    if isinstance(name, str):
        return name
    raise TypeError("{}has the name {!r}; names must be texts".format(path + " " if path else "", name))
