"""Reads application/vnd.hpsearch.columns: all trials of an experiment as arrays."""

from __future__ import annotations

import array
import json
import math
import sys
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence

MEDIA_TYPE = "application/vnd.hpsearch.columns"

_CODES = {"f32": "f", "f64": "d", "u32": "I", "u16": "H", "u8": "B"}
_NUMPY = {"f32": "<f4", "f64": "<f8", "u32": "<u4", "u16": "<u2", "u8": "u1"}
_BYTES = {"f32": 4, "f64": 8, "u32": 4, "u16": 2, "u8": 1}
_EXACT = {"f32": 2.0**24, "f64": 2.0**53}  # Whole numbers up to there are themselves.


class Column(NamedTuple):
    """A column of `rows` values."""

    name: str
    type: str  #: "f32", "f64", "u32", "u16" or "u8"; "i64" of integers that the daemon sent as floats.
    words: Optional[List[Any]]  #: What the numbers stand for, by their index; None if they are numbers.
    values: Any  #: numpy.ndarray of shape (rows,), or array.array. Missing: NaN, all bits set, or of i64 the least one.

    @property
    def missing(self) -> int:
        """The number that stands for a missing one; of floats it is NaN instead."""
        return -2**63 if self.type == "i64" else (1 << 8 * _BYTES[self.type]) - 1

    @property
    def is_float(self) -> bool:
        return self.type in ("f32", "f64")


class Columns(NamedTuple):
    """Columns of the same rows, at one moment."""

    lsn: int  #: The number of the last event in them.
    rows: int
    total: int  #: Trials of the experiment; more than `rows` if some were left out.
    columns: Sequence[Column]


def read_columns(body: bytes) -> Columns:
    """The columns in an answer. Columns of one chunk are views of `body`, without a copy, if NumPy is installed.

    ValueError: it is cut off, or is something else.
    """
    end = body.find(b"\n") + 1
    header: Mapping[str, Any] = json.loads(body[:end]) if end else {}
    if not isinstance(header, dict) or end % 8 != 0 or "fields" not in header:
        raise ValueError("the answer is not {}".format(MEDIA_TYPE))
    rows, chunk = int(header["rows"]), int(header["chunk_rows"])
    fields = list(header["fields"])
    parts: List[List[memoryview]] = [[] for _ in fields]
    whole, at = memoryview(body), end
    for first in range(0, rows, chunk):
        count = min(chunk, rows - first)
        for number, field in enumerate(fields):
            size = count * _BYTES[field["type"]]
            if at + size > len(body):
                raise ValueError("the answer ends after {} of {} rows".format(first, rows))
            parts[number].append(whole[at:at + size])
            at += (size + 7) // 8 * 8
    columns = [Column(str(field["name"]), str(field["type"]), field.get("words"), _joined(field["type"], of_field))
               for field, of_field in zip(fields, parts)]
    return Columns(int(header["lsn"]), rows, int(header["total"]), columns)


def with_integers(columns: Columns, config: Mapping[str, Any]) -> Columns:
    """The same, with integers for hyperparameters that are integers in the configuration `config`. Where 32 bits may have
    rounded them, they stay floats."""
    whole = {"hparams." + name for name in _integers(config.get("hyperparameters") or {}, "")}
    return columns._replace(columns=[_as_integers(column) if column.name in whole and column.is_float else column
                                     for column in columns.columns])


def _integers(space: Mapping[str, Any], group: str) -> List[str]:
    found: List[str] = []
    for name, inside in space.items():
        if isinstance(inside, dict):
            kind = inside.get("type")
            if isinstance(kind, str):
                found += [group + name] if kind == "int" else []
            else:
                found += _integers(inside, group + name + ".")
    return found


def _as_integers(column: Column) -> Column:
    missing = -2**63
    if not isinstance(column.values, array.array):
        import numpy
        absent = numpy.isnan(column.values)
        numbers = numpy.where(absent, 0, column.values)
        if (numpy.abs(numbers) > _EXACT[column.type]).any():
            return column
        return column._replace(type="i64", values=numpy.where(absent, missing, numbers.astype("int64")))
    values = python_values(column)
    if any(abs(value) > _EXACT[column.type] for value in values if value is not None):
        return column
    return column._replace(type="i64", values=array.array("q", [missing if value is None else int(value) for value in values]))


def python_values(column: Column) -> List[Any]:
    """Its values as Python has them; None for missing ones."""
    values = column.values.tolist()
    if column.is_float:
        return [None if math.isnan(value) else value for value in values]
    missing = column.missing
    if column.words is not None:
        words = column.words
        return [None if value == missing else words[value] for value in values]
    return [None if value == missing else value for value in values]


def _joined(kind: str, parts: List[memoryview]) -> Any:
    try:
        import numpy
    except ImportError:
        values = array.array(_CODES[kind])
        for part in parts:
            values.frombytes(part)
        if sys.byteorder == "big":
            values.byteswap()
        return values
    pieces = [numpy.frombuffer(part, dtype=_NUMPY[kind]) for part in parts]
    if len(pieces) == 1:
        return pieces[0]
    return numpy.concatenate(pieces) if pieces else numpy.empty(0, dtype=_NUMPY[kind])
