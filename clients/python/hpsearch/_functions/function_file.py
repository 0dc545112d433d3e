"""A function written into a directory, the context of its trials; _loaded_function reads it there."""

from __future__ import annotations

import json
import os
import pathlib
import pickle
import sys
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from .function_call import Objective, name_of
from .function_source import FunctionSource, Untransferable, classes_of, source_of
from .large_parts import LargeParts, Stored, as_record
from .loaded_function import RECORD
from .stable_digest import FunctionDigest, value_digest


class FunctionFile:
    """How a function travels: as the name of a module, as a pickle by cloudpickle, or as source."""

    def __init__(self, function: Any, space: Sequence[str], arguments: Mapping[str, Any], smaller_is_better: bool = True) -> None:
        """TypeError: it cannot be called with these hyperparameters and arguments, or it cannot travel."""
        objective = Objective(function, space, arguments)
        self.passes = objective.passes
        self._positional = objective.positional
        self._optuna_space = objective.optuna_space
        self._smaller_is_better = smaller_is_better
        self._function: Any = objective.function
        self._arguments = objective.arguments
        self._source: Optional[FunctionSource] = None
        self._pickle: Optional[Stored] = None
        self._large = LargeParts()
        self.kind: str = self._kind()
        self._pickled_arguments: Stored = self._pickle_arguments()

    def digests(self) -> Dict[str, Any]:
        """What the function does (spelling and comments don't count), and the contents of the values that it uses and of its
        arguments. NoStableForm: two calls with the same value would look like two with different ones."""
        found = FunctionDigest(self._function)
        return {"function": found.code, "value": found.values, "argument": {
            name: value_digest(value, "the argument " + name) for name, value in sorted(self._arguments.items())}}

    def write(self, directory: pathlib.Path, shared: Optional[pathlib.Path] = None) -> None:
        """Writes it into `directory`, and large parts of its values, once each, into `shared`, else below `directory`."""
        record: Dict[str, Any] = {"kind": self.kind, "passes": self.passes, "positional": self._positional,
                                  "paths": _search_paths(), "arguments_directory": str(shared or ""),
                                  "arguments": as_record(self._pickled_arguments)}
        if self._optuna_space is not None:
            record.update(optuna_space=self._optuna_space, smaller_is_better=self._smaller_is_better)
        if self.kind == "module":
            record.update(module=self._function.__module__, name=self._function.__qualname__)
        elif self.kind == "pickle":
            assert self._pickle is not None
            record["function"] = as_record(self._pickle)
            (directory / "function.pickle").write_bytes(self._pickle.content)
        else:
            assert self._source is not None
            record.update(name=self._source.name, postponed=self._source.postponed)
            (directory / "function_source.py").write_text(self._source.text(), encoding="utf-8")
            (directory / "function_values.pickle").write_bytes(pickle.dumps(
                {name: tuple(self._large.pickled(value)) for name, value in self._source.values.items()}, protocol=5))
        self._large.write(shared or directory / "arguments")
        (directory / "arguments.pickle").write_bytes(self._pickled_arguments.content)
        (directory / RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")

    def _kind(self) -> str:
        if _is_importable(self._function):
            return "module"
        cloudpickle = _cloudpickle()
        if cloudpickle is None:
            try:
                self._source = source_of(self._function, self._arguments)
            except Untransferable as error:
                raise TypeError("{} cannot travel to a trial: {}. Install cloudpickle, or put the function into a module that "
                                "can be imported, and what it needs into arguments=".format(
                                    name_of(self._function), error)) from None
            return "source"
        try:
            self._pickle = self._large.pickled(self._function, cloudpickle.CloudPickler)
        except Exception as error:
            raise TypeError("{} cannot travel to a trial: {}. Make in the function what cannot be pickled".format(
                name_of(self._function), error)) from error
        return "pickle"

    def _pickle_arguments(self) -> Stored:
        arguments = dict(self._arguments)
        cloudpickle = _cloudpickle()
        try:
            if cloudpickle is not None:
                return self._large.pickled(arguments, cloudpickle.CloudPickler)
            own = [] if self.kind == "source" else classes_of(arguments, "__main__")
            if own:
                raise TypeError("{} is of the script or the notebook; put it into a module, or install cloudpickle".format(
                    own[0].__qualname__))
            return self._large.pickled(arguments)
        except Exception as error:
            raise TypeError("an argument cannot be pickled: {}".format(error)) from error


def _is_importable(function: Callable[..., Any]) -> bool:
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if not module or module == "__main__" or "<" in name:
        return False
    found: Any = sys.modules.get(module)
    file = getattr(found, "__file__", None)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is function and file is not None


def _search_paths() -> List[str]:
    """Where this process finds modules: also what is beside a script, and in the current directory."""
    paths = [os.path.abspath(path) if path else os.getcwd() for path in sys.path]
    return [path for path in dict.fromkeys(paths) if os.path.exists(path)]


def _cloudpickle() -> Any:
    """The module; None without it."""
    try:
        import cloudpickle
    except ImportError:
        return None
    return cloudpickle
