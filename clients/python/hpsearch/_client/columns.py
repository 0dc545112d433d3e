"""Reads application/vnd.hpsearch.columns: all trials of an experiment as arrays."""

from __future__ import annotations

import array
import json
import math
import sys
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

MEDIA_TYPE = "application/vnd.hpsearch.columns"

_CODES = {"f64": "d", "i64": "q", "u32": "I", "u16": "H", "u8": "B"}
_NUMPY = {"f64": "<f8", "i64": "<i8", "u32": "<u4", "u16": "<u2", "u8": "u1"}
_BYTES = {"f64": 8, "i64": 8, "u32": 4, "u16": 2, "u8": 1}


class Column(NamedTuple):
    """A column of `rows` values."""

    name: str
    type: str  #: "f64", "i64", "u32", "u16" or "u8"; "f32" after in_32_bits().
    words: Optional[List[Any]]  #: What the numbers stand for, by their index; None if they are numbers.
    values: Any  #: numpy.ndarray of shape (rows,), or array.array. Missing: NaN, all bits set, or of i64 the least one.

    @property
    def missing(self) -> int:
        """The number that stands for a missing one; of floats it is NaN instead."""
        return -2**63 if self.type == "i64" else (1 << 8 * _BYTES[self.type]) - 1

    @property
    def is_float(self) -> bool:
        return self.type in ("f64", "f32")


class Columns(NamedTuple):
    """Columns of the same rows, at one moment."""

    lsn: int  #: The number of the last event in them.
    rows: int
    total: int  #: Trials of the experiment; more than `rows` if some were left out.
    columns: Sequence[Column]
    length: Optional[int] = None  #: At which `result` was measured, in the experiment's unit.


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
    return Columns(int(header["lsn"]), rows, int(header["total"]), columns, header.get("length"))


def in_32_bits(columns: Columns) -> Columns:
    """The same with 32-bit floats for metrics and real hyperparameters, which takes half the memory and rounds them. Times
    keep their 64 bits: 32 would be a minute or two off."""
    return columns._replace(columns=[
        column._replace(type="f32", values=_rounded(column.values)) if column.type == "f64" and not column.name.endswith("_at")
        else column for column in columns.columns])


def _rounded(values: Any) -> Any:
    if isinstance(values, array.array):
        return array.array("f", values)
    import numpy
    with numpy.errstate(over="ignore"):  # They become infinite.
        return values.astype("float32")


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


def with_user_attrs(columns: Columns, attrs: Mapping[int, Mapping[str, Any]], keep_number: bool) -> Columns:
    """The same with a column user_attrs.NAME for each name in `attrs`, which has them by trial. One of the columns is `trial`;
    without `keep_number` it is left out of the result."""
    numbers = next(column.values.tolist() for column in columns.columns if column.name == "trial")
    of_rows = [attrs.get(number, {}) for number in numbers]
    names = sorted({name for one in of_rows for name in one})
    kept = [column for column in columns.columns if keep_number or column.name != "trial"]
    return columns._replace(columns=kept + [_column_of("user_attrs." + name, [one.get(name) for one in of_rows]) for name in names])


def _column_of(name: str, values: Sequence[Any]) -> Column:
    """A column of JSON: numbers where all values are numbers, else what numbers stand for. None is a missing value."""
    present = [value for value in values if value is not None]
    if all(isinstance(value, int) and not isinstance(value, bool) and -2**63 < value < 2**63 for value in present):
        return Column(name, "i64", None, _array("i64", [-2**63 if value is None else value for value in values]))
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in present):
        return Column(name, "f64", None, _array("f64", [math.nan if value is None else float(value) for value in values]))
    words: List[Any] = []
    codes: Dict[str, int] = {}
    numbers = []
    for value in values:
        if value is None:
            numbers.append(2**32 - 1)
            continue
        code = codes.setdefault(json.dumps(value, sort_keys=True), len(words))
        if code == len(words):
            words.append(value)
        numbers.append(code)
    return Column(name, "u32", words, _array("u32", numbers))


def _array(kind: str, values: Sequence[Any]) -> Any:
    try:
        import numpy
    except ImportError:
        return array.array(_CODES[kind], values)
    return numpy.array(values, dtype=_NUMPY[kind])


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
