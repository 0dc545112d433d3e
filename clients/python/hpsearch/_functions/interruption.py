"""Ctrl-C while tune() waits."""

from __future__ import annotations

import sys
from typing import List

_STATUS = 130  # As shells report a program that SIGINT ended.


class _Interrupted(KeyboardInterrupt):
    """A KeyboardInterrupt whose sentence was printed already."""

    def _render_traceback_(self) -> List[str]:
        """For IPython, which would show the frames of this package."""
        return ["KeyboardInterrupt"]


_Interrupted.__name__ = "KeyboardInterrupt"  # Notebooks name the class.


class _ScriptInterrupted(SystemExit, _Interrupted):
    """The same for a script: as it is a SystemExit as well, the interpreter ends without a traceback if nothing catches it."""


def interruption() -> KeyboardInterrupt:
    """What tune() raises after it has printed how to go on. A prompt of Python would end with SystemExit, so it gets none."""
    return _Interrupted() if hasattr(sys, "ps1") or sys.flags.interactive else _ScriptInterrupted(_STATUS)
