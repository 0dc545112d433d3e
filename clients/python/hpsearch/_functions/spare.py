"""A trial's interpreter that is started before its trial: it imports packages, and waits (docs/adr/0014)."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Dict, List, NoReturn

_SPARE = "HPSEARCH_SPARE"


def is_spare() -> bool:
    """Whether this process waits for its trial."""
    return _SPARE in os.environ


def become_trial() -> None:
    """Imports the packages and waits; when it returns, this process is that of a trial."""
    before = os.getcwd()
    # Not what lies in the current directory, which is not the trial's.
    sys.path[:] = [path for path in sys.path if path not in ("", before)]
    for name in os.environ["HPSEARCH_PRELOAD"].split(","):
        importlib.import_module(name)
    os.write(0, b"ready\n")
    given = _read_to_end(0)
    if not given:
        os._exit(0)  # There is no trial for it.
    os.write(0, b"begun\n")  # The shim gives the trial to another process if it doesn't read this soon.
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    directory, *variables = given[:-1].split(b"\0")
    os.chdir(directory)
    environment = {name: value for name, _, value in (variable.partition(b"=") for variable in variables)}
    if _is_shadowed():
        _start_anew(environment)
    os.environ.clear()
    os.environb.update(environment)
    sys.path.insert(0, os.getcwd())
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None:
        processes.ORIGINAL_DIR = os.getcwd()  # type: ignore[attr-defined]  # Where processes that it spawns begin.


def _read_to_end(descriptor: int) -> bytes:
    pieces: List[bytes] = []
    while True:
        piece = os.read(descriptor, 1 << 16)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)


def _is_shadowed() -> bool:
    """Whether the trial's directory has a module that was imported from elsewhere."""
    return any(name.split(".")[0] in sys.modules for name in os.listdir(os.curdir) if name != "__pycache__")


def _start_anew(environment: Dict[bytes, bytes]) -> NoReturn:
    os.execve(sys.executable, [sys.executable, "-m", "hpsearch.run_function"], environment)
