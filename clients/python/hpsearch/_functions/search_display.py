"""What tune() prints of a search while it runs: a bar where somebody watches and tqdm is installed, else lines."""

from __future__ import annotations

import sys
import time
from typing import Any, Optional

_BETWEEN_LINES = 2.0  # Seconds.


class SearchDisplay:
    """On standard error. `shows` False prints nothing; `has_card` is whether a notebook shows the search already."""

    def __init__(self, shows: bool, total: Optional[int], metric: str, has_card: bool = False) -> None:
        """`total` is the number of trials; None if it isn't known."""
        self.is_shown = shows and not has_card
        self._metric = metric
        self._shows = shows
        self._line_at = 0.0
        self._best: Optional[float] = None
        tqdm = _tqdm() if self.is_shown and is_watched() else None
        self._bar: Any = None if tqdm is None else tqdm(total=total, unit="trial", file=sys.stderr, dynamic_ncols=True)

    def draw(self, ended: int, best: Optional[float], line: str, is_last: bool = False) -> None:
        """So many trials have ended. `line` is printed where there is no bar: if `best` is new and the last line is not of just now,
        or if it is the last one."""
        if self._bar is not None:
            if best is not None and best != self._best:
                self._bar.set_postfix_str("best {} {:.6g}".format(self._metric, best), refresh=False)
            self._bar.n = ended
            self._bar.refresh()
            if is_last:
                self.close()
                self._print(line)
        elif self.is_shown and (is_last or best is not None and best != self._best and time.monotonic() - self._line_at > _BETWEEN_LINES):
            self._print(line)
            self._line_at = time.monotonic()
        else:
            return
        self._best = best

    def note(self, text: str) -> None:
        """A line beside the bar."""
        if self._shows:
            self._print(text)

    def close(self) -> None:
        """Before anything else is printed."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _print(self, text: str) -> None:
        if self._bar is not None:
            self._bar.write("hpsearch: " + text, file=sys.stderr)
        else:
            print("hpsearch: " + text, file=sys.stderr, flush=True)


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    return "ipykernel" in sys.modules


def is_watched() -> bool:
    """Whether a bar can be drawn: on a terminal, or below a cell."""
    try:
        return in_notebook() or sys.stderr.isatty()
    except (AttributeError, ValueError):  # There is no such stream, or it is closed.
        return False


def _tqdm() -> Any:
    """The class; None without the package."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm
