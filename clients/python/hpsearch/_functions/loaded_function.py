"""A function read from the directory that it was written into, in the process of a trial."""

from __future__ import annotations

import importlib
import io
import json
import pathlib
import pickle
import sys
import types
from typing import Any, Callable, Dict, List, Mapping, Optional

from .function_call import FunctionCall
from .large_parts import Stored, StoredFiles, from_record

RECORD = "function.json"


class LoadedFunction(FunctionCall):
    """A function that was read from a directory."""

    def __init__(self, directory: pathlib.Path, main: types.ModuleType) -> None:
        """`main` is the module __main__ of this process; it gets what the function uses of its script or notebook."""
        record = _read_record(directory)
        function = read_function(directory, main)
        stored = from_record(record["arguments"], directory / "arguments.pickle")
        arguments: Dict[str, Any] = _Unpickler(stored, _files_of(directory, record), main).load()
        super().__init__(function, record["passes"], record["positional"], arguments, record.get("optuna_space"),
                         record.get("smaller_is_better", True))


def read_function(directory: pathlib.Path, main: types.ModuleType) -> Callable[..., Any]:
    """The function. Its module `main` gets the functions and classes of its script or notebook."""
    record = _read_record(directory)
    if record["kind"] == "pickle":
        stored = from_record(record["function"], directory / "function.pickle")
        made: Callable[..., Any] = _Unpickler(stored, _files_of(directory, record), main).load()
        return made
    if record["kind"] == "module":
        found: Any = importlib.import_module(record["module"])
        for part in record["name"].split("."):
            found = getattr(found, part)
        return found  # type: ignore[no-any-return]
    return _run_source(directory, record, main)


def _read_record(directory: pathlib.Path) -> Dict[str, Any]:
    """Python finds what the caller of tune() could import."""
    record: Dict[str, Any] = json.loads((directory / RECORD).read_text(encoding="utf-8"))
    sys.path[:0] = [str(directory)] if str(directory) not in sys.path else []
    sys.path += [path for path in record["paths"] if path not in sys.path]
    return record


def _files_of(directory: pathlib.Path, record: Mapping[str, Any]) -> StoredFiles:
    shared = record["arguments_directory"]
    return StoredFiles([directory / "arguments"] + ([pathlib.Path(shared)] if shared else []))


def _run_source(directory: pathlib.Path, record: Mapping[str, Any], main: types.ModuleType) -> Callable[..., Any]:
    import __future__
    import ast
    file = directory / "function_source.py"
    main.__file__ = str(file)  # Where inspect looks for the source of a class.
    values: Dict[str, Any] = pickle.loads((directory / "function_values.pickle").read_bytes())
    files = _files_of(directory, record)
    waiting = {name: Stored(*stored) for name, stored in values.items()}

    def read(stored: Stored) -> Any:
        return _Unpickler(stored, files, main).load()

    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        _take_values(main, waiting, read)  # Defaults of parameters may need them.
        flags = __future__.annotations.compiler_flag if record["postponed"] else 0
        exec(compile(ast.Module(body=[node], type_ignores=[]), str(file), "exec", flags, True), vars(main))
    _take_values(main, waiting, read)
    for stored in waiting.values():
        read(stored)  # Says what is missing.
    made: Callable[..., Any] = getattr(main, record["name"])
    return made


def _take_values(main: types.ModuleType, waiting: Dict[str, Stored], read: Callable[[Stored], Any]) -> None:
    """Those whose classes are defined by now."""
    for name, stored in list(waiting.items()):
        try:
            setattr(main, name, read(stored))
        except AttributeError:
            continue
        del waiting[name]


class _Unpickler(pickle.Unpickler):
    """Finds classes of the script or notebook in `main`, and puts those there that cloudpickle makes again."""

    def __init__(self, stored: Stored, files: StoredFiles, main: types.ModuleType) -> None:
        super().__init__(io.BytesIO(files.content_of(stored)), buffers=files.buffers_of(stored))
        self._files = files
        self._main = main
        self._made: List[Any] = []

    def load(self) -> Any:
        loaded = super().load()
        for one in self._made:  # Now they have all their attributes.
            name = one.__qualname__
            if one.__module__ == "__main__" and name.isidentifier() and not hasattr(self._main, name):
                setattr(self._main, name, one)
        return loaded

    def persistent_load(self, identity: Any) -> Any:
        return self._files.part(identity)

    def find_class(self, module: str, name: str) -> Any:
        if module == "__main__":
            found: Any = self._main
            for part in name.split("."):
                found = getattr(found, part)
            return found
        found = super().find_class(module, name)
        makes = module.startswith("cloudpickle") and name in ("_make_function", "_make_skeleton_class", "_make_skeleton_enum")
        return self._noting(found) if makes else found

    def _noting(self, make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*parts: Any) -> Any:
            one = make(*parts)
            self._made.append(one)
            return one
        return made
