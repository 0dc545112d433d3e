"""Addresses of Unix sockets."""

from __future__ import annotations

import contextlib
import os
from typing import Iterator

#: Bytes; the kernel takes no longer address.
_LONGEST = 107


@contextlib.contextmanager
def reachable(path: str) -> Iterator[str]:
    """An address of the socket at `path`, while the block runs: `path`, or one through its directory if that is too long."""
    if len(os.fsencode(path)) <= _LONGEST or not os.path.isdir("/proc/self/fd"):
        yield path
        return
    folder, name = os.path.split(path)
    directory = os.open(folder or ".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield "/proc/self/fd/{}/{}".format(directory, name)
    finally:
        os.close(directory)
