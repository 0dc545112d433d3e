"""The module __main__ of a trial of hpsearch.tune(), and of the processes that the trial starts by multiprocessing.

Functions and classes of a script or a notebook are of the module __main__. Pickle stores their instances by that name, so
__main__ must have them wherever they are loaded: in a later attempt, which loads its checkpoint, and in a process that is
spawned, which gets its work by pickle. Such a process runs this file as its main module, as multiprocessing does with
scripts; it reads the function when a name of it is first asked for.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any, List

_DIRECTORY = "HPSEARCH_FUNCTION_DIRECTORY"


def take_main() -> ModuleType:
    """Puts an empty module into the place of this process's __main__, for the function that lies in the current directory."""
    from importlib.util import find_spec
    main = ModuleType("__main__")
    main.__spec__ = find_spec(__name__)  # What a spawned process runs.
    main.__file__ = __file__  # Libraries take a process without it for an interactive one.
    _replaced.append(sys.modules["__main__"])
    sys.modules["__main__"] = main
    os.environ[_DIRECTORY] = os.getcwd()
    return main


_replaced: List[ModuleType] = []  # Modules whose functions still run.


def _find_in_function(name: str) -> Any:
    """A name of the script or notebook, in a spawned process. AttributeError: the function doesn't use it."""
    main = sys.modules["__main__"]
    directory = os.environ.get(_DIRECTORY, "")
    if not name.startswith("__") and directory and vars(main).pop("__getattr__", None) is not None:
        import pathlib

        from hpsearch._functions.loaded_function import read_function
        from hpsearch.run_function import LOADING
        os.environ[LOADING] = "1"  # As in the trial itself.
        try:
            read_function(pathlib.Path(directory), main)
        finally:
            del os.environ[LOADING]
        if name in vars(main):
            return vars(main)[name]
    raise AttributeError("the function of this trial uses nothing of the name {!r}".format(name))


if __name__ == "__mp_main__":
    __getattr__ = _find_in_function
