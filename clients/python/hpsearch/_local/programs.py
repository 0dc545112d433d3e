"""Where the programs are, and which version they have."""

from __future__ import annotations

import importlib
import os
import pathlib
import shutil
import subprocess
from typing import List, Optional

__version__ = "0.1.0"

_NEEDED = ("hpsearch", "hpsearchd", "hpsearch-worker", "hpsearch-shim")


def programs() -> pathlib.Path:
    """The directory with hpsearch, hpsearchd, hpsearch-worker and hpsearch-shim.

    The first that has all of them: the package hpsearch_programs, the directory that HPSEARCH_BIN names, a build of
    the clone that this package lies in, the directory of `hpsearch` on PATH. FileNotFoundError if none has; also if
    HPSEARCH_BIN names a directory without them.
    """
    named = os.environ.get("HPSEARCH_BIN")
    for place in _installed() + ([pathlib.Path(named)] if named else _built() + _on_path()):
        if _has_all(place):
            return place
    if named:
        raise FileNotFoundError("HPSEARCH_BIN is {!r}; that directory must have {}".format(named, ", ".join(_NEEDED)))
    raise FileNotFoundError(
        "the programs of hpsearch were not found; install the package hpsearch (Linux x86-64), or set HPSEARCH_BIN to "
        "the directory that has {}".format(", ".join(_NEEDED)))


def programs_version() -> str:
    """The version of the programs, for example "0.1.0". FileNotFoundError as programs()."""
    said = subprocess.run([str(programs() / "hpsearch"), "version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, timeout=60).stdout
    return next((word for word in said.replace(",", " ").split() if word[:1].isdigit()), said.strip())


def _has_all(place: pathlib.Path) -> bool:
    return all(os.access(str(place / name), os.X_OK) for name in _NEEDED)


def _installed() -> List[pathlib.Path]:
    try:
        package = importlib.import_module("hpsearch_programs")
    except ImportError:
        return []
    file: Optional[str] = package.__file__
    return [pathlib.Path(file).parent, pathlib.Path(file).parent / "bin"] if file else []


def _built() -> List[pathlib.Path]:
    clone = pathlib.Path(__file__).resolve().parents[4]
    if not (clone / "CMakePresets.json").is_file():
        return []
    return [clone / "build" / preset / "bin" for preset in ("release", "dev")]


def _on_path() -> List[pathlib.Path]:
    found = shutil.which("hpsearch")
    return [pathlib.Path(found).resolve().parent, pathlib.Path(found).parent] if found else []
