"""Where the programs and the library are, and which version the programs have."""

from __future__ import annotations

import importlib
import os
import pathlib
import shutil
import subprocess
from typing import List, Optional

__version__ = "0.2.0"

LIBRARY = "libhpsearch.so.0"

_NEEDED = ("hpsearch", "hpsearchd", "hpsearch-worker", "hpsearch-shim")
# The name isn't on an index: an advice of `pip install NAME` would install what anybody uploads under it.
_INSTALL = "install the wheels that scripts/wheel builds (docs/python/python.md, Install; Linux x86-64)"


def programs() -> pathlib.Path:
    """The directory with hpsearch, hpsearchd, hpsearch-worker and hpsearch-shim.

    The first that has all of them: the package hpsearch_programs, the directory that HPSEARCH_BIN names, a build of
    the clone that this package lies in, the directory of `hpsearch` on PATH. FileNotFoundError if none has; also if
    HPSEARCH_BIN names a directory without them.
    """
    for place in _places():
        if _has_all(place):
            return place
    named = os.environ.get("HPSEARCH_BIN")
    if named:
        raise FileNotFoundError("HPSEARCH_BIN is {!r}; that directory must have {}".format(named, ", ".join(_NEEDED)))
    raise FileNotFoundError("the programs of hpsearch were not found; {}, or set HPSEARCH_BIN to the directory that has {}".format(
        _how_to_get("hpsearch hpsearch-worker hpsearchd"), ", ".join(_NEEDED)))


def libraries() -> List[pathlib.Path]:
    """Files that may be libhpsearch.so.0, in the order in which they are tried: the one that HPSEARCH_LIBRARY names, then
    `lib` beside each directory of programs()."""
    named = os.environ.get("HPSEARCH_LIBRARY")
    return ([pathlib.Path(named)] if named else []) + [place.parent / "lib" / LIBRARY for place in _places()]


def how_to_get_library() -> str:
    """The advice for a machine without the library."""
    return _how_to_get("hpsearch_c")


def programs_version() -> str:
    """The version of the programs, for example "0.1.0". FileNotFoundError as programs()."""
    said = subprocess.run([str(programs() / "hpsearch"), "version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, timeout=60).stdout
    return next((word for word in said.replace(",", " ").split() if word[:1].isdigit()), said.strip())


def _places() -> List[pathlib.Path]:
    """Directories that may have the programs, in the order in which they are tried."""
    named = os.environ.get("HPSEARCH_BIN")
    return _installed() + ([pathlib.Path(named)] if named else _built() + _on_path())


def _how_to_get(targets: str) -> str:
    named = os.environ.get("HPSEARCH_BIN")
    if named:
        return "HPSEARCH_BIN is {!r}, so no other build is tried".format(named)
    clone = _clone()
    if clone is None:
        return _INSTALL
    configured = next((preset for preset in _PRESETS if (clone / "build" / preset / "build.ninja").is_file()), None)
    command = "cmake --build build/{} --target {}".format(configured or _PRESETS[0], targets)
    return "in {}, run: {}".format(clone, command if configured else "scripts/setup build && cmake --preset {} && {}".format(
        _PRESETS[0], command))


def _has_all(place: pathlib.Path) -> bool:
    return all(os.access(str(place / name), os.X_OK) for name in _NEEDED)


def _installed() -> List[pathlib.Path]:
    try:
        package = importlib.import_module("hpsearch_programs")
    except ImportError:
        return []
    file: Optional[str] = package.__file__
    return [pathlib.Path(file).parent, pathlib.Path(file).parent / "bin"] if file else []


_PRESETS = ("release", "dev")  # Builds of a clone.


def _clone() -> Optional[pathlib.Path]:
    """The clone that this package lies in."""
    above = pathlib.Path(__file__).resolve().parents
    return above[4] if len(above) > 4 and (above[4] / "CMakePresets.json").is_file() else None


def _built() -> List[pathlib.Path]:
    clone = _clone()
    return [] if clone is None else [clone / "build" / preset / "bin" for preset in _PRESETS]


def _on_path() -> List[pathlib.Path]:
    found = shutil.which("hpsearch")
    return [pathlib.Path(found).resolve().parent, pathlib.Path(found).parent] if found else []
