"""The notes of a search before it starts, and the question whether a useless search is meant."""

from __future__ import annotations

import os
import sys
from typing import Any, Mapping, Set

from .._problems import items_of
from .python_words import note_in_python


class Confirmation:
    """Prints notes if `progress` is set, and asks on a terminal if `ask` is set."""

    def __init__(self, ask: bool, progress: bool) -> None:
        self.printed: Set[str] = set()
        self._ask = ask
        self._progress = progress

    def confirm(self, validation: Mapping[str, Any]) -> None:
        """ValueError: somebody at the terminal answered that the search isn't meant."""
        doubts = [str(text) for text in validation.get("to_confirm") or []]
        asks = bool(doubts) and self._ask and _can_ask()
        for note in _notes(validation) if self._progress else doubts if asks else []:
            print("hpsearch: note: " + note_in_python(note), file=sys.stderr, flush=True)
            self.printed.add(note)
        if asks and not _is_yes():
            raise ValueError("not started: {}. Change the arguments of tune(), or start the search with ask=False".format(
                "; ".join(map(note_in_python, doubts))))


def _notes(validation: Mapping[str, Any]) -> "list[str]":
    """As the experiment itself has them (Snapshot.notes)."""
    return ["{}: {}{}".format(note.path, note.what, " ({})".format(note.allowed) if note.allowed else "")
            for note in items_of(validation.get("notes"))]


def _can_ask() -> bool:
    """Whether somebody at a terminal would see the question."""
    try:
        if "ipykernel" in sys.modules or not (sys.stdin.isatty() and sys.stderr.isatty()):
            return False
        terminal = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):  # A stream is None, closed, or no file.
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()  # A process in the background is stopped when it reads.
    except OSError:  # The terminal of another session.
        return True


def _is_yes() -> bool:
    print("hpsearch: Is this meant? Start the search? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
