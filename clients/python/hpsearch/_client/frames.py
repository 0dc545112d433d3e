"""Tables of trials and of curves: for pandas or polars where they are installed, else as lists of dicts."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional

from .columns import Column, Columns, python_values


def frame_of(columns: Columns, polars: bool) -> Any:
    """A row for each trial: pandas.DataFrame, polars.DataFrame, or without pandas a list of dicts."""
    if polars:
        return _polars().DataFrame({column.name: _values_for_polars(column) for column in columns.columns})
    pandas = _pandas()
    if pandas is None:
        listed = [python_values(column) for column in columns.columns]
        names = [column.name for column in columns.columns]
        return [dict(zip(names, row)) for row in zip(*listed)]
    return pandas.DataFrame({column.name: _series(pandas, column) for column in columns.columns}, copy=False)


def table_of(rows: Mapping[str, List[Any]], polars: bool) -> Any:
    """The same of columns that are lists."""
    if polars:
        return _polars().DataFrame(dict(rows))
    pandas = _pandas()
    if pandas is None:
        return [dict(zip(rows, row)) for row in zip(*rows.values())]
    return pandas.DataFrame(dict(rows))


def _series(pandas: Any, column: Column) -> Any:
    if column.is_float:
        return column.values
    import numpy
    if column.words is not None:
        return _categories(pandas, column)
    missing = column.values == column.missing
    if not missing.any():
        return column.values
    return pandas.arrays.IntegerArray(numpy.where(missing, 0, column.values).astype(column.values.dtype), missing)


def _categories(pandas: Any, column: Column) -> Any:
    words: List[Any] = column.words or []
    try:
        unique = len({(type(word), word) for word in words}) == len(set(words)) == len(words)
    except TypeError:  # Lists and dicts are no categories.
        unique = False
    if not unique or None in words:
        return pandas.Series(python_values(column), dtype=object)
    codes = column.values.astype("int64")
    codes[codes == column.missing] = -1
    return pandas.Categorical.from_codes(codes, categories=words)


def _values_for_polars(column: Column) -> Any:
    if column.is_float:
        return column.values
    values = python_values(column)
    kinds = {type(value) for value in values if value is not None}
    return values if len(kinds) <= 1 else [None if value is None else str(value) for value in values]


def _pandas() -> Optional[Any]:
    try:
        import pandas
    except ImportError:
        return None
    return pandas


def _polars() -> Any:
    try:
        import polars
    except ImportError as error:
        raise ImportError("polars=True needs polars: pip install polars") from error
    return polars


def curve_rows(curves: List[Mapping[str, Any]]) -> Dict[str, List[Any]]:
    """Answers of the route `curves` as columns: trial, step, metric, value."""
    rows: Dict[str, List[Any]] = {"trial": [], "step": [], "metric": [], "value": []}
    for answer in curves:
        name, group = str(answer["metric"]), answer.get("group")
        if group and not name.startswith(group + "."):
            name = "{}.{}".format(group, name)
        for curve in answer["trials"]:
            points = [(int(step), value) for step, value in zip(curve["step"], curve["last"])]
            points += [(int(step), float(word)) for step, word in curve["nonfinite"]]
            points.sort(key=lambda point: point[0])
            rows["trial"] += [int(curve["trial"])] * len(points)
            rows["metric"] += [name] * len(points)
            rows["step"] += [step for step, _ in points]
            rows["value"] += [value for _, value in points]
    return rows
