"""The programs of hpsearch, as files of this package: hpsearch, hpsearchd, hpsearch-worker and those that they start.

`directory()` is where they lie; each console script of the package replaces itself by the program of its name, which takes
some 30 ms more than the program's own path.
"""

import functools
import os
import pathlib
import sys

__all__ = ["directory"]


def directory() -> pathlib.Path:
    """The directory of the programs; they must stay together, since some start others from beside them."""
    return pathlib.Path(__file__).resolve().parent / "bin"


def _become(name: str) -> "None":
    path = str(directory() / name)
    try:
        os.execv(path, [path, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{name}: {path} does not start: {error.strerror}. It needs Linux on x86-64 with glibc 2.34 or newer")


hpsearch = functools.partial(_become, "hpsearch")
hpsearchd = functools.partial(_become, "hpsearchd")
worker = functools.partial(_become, "hpsearch-worker")
report = functools.partial(_become, "hpsearch-report")
ranks = functools.partial(_become, "hpsearch-ranks")
determined = functools.partial(_become, "hpsearch-determined")
