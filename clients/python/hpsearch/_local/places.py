"""Where searches of this machine lie: those of `hpsearch run` in the current directory, and all that Python started.

`hpsearch list` looks in the same places (apps/cli/client/search_places.cpp, io/files/state_home.cpp).
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import pathlib
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

from .._problems import NotFound
from .local import process_with_lock, state_home

LAST_SUMMARY = "last.json"  # In a state directory: `hpsearch run` writes it at its end, and who changes the search removes it.
_HASH_DIGITS = 12


class Place(NamedTuple):
    """The directory of a search."""

    name: str  #: As `hpsearch list` shows it.
    whole: pathlib.Path  #: All that belongs to it.
    state: pathlib.Path  #: The state directory of `hpsearch run` or of hpsearch.local(): `whole`, or a directory in it.
    kind: str  #: "run", "tune" or "local".

    @property
    def is_named(self) -> bool:
        """Whether its name was given. Without, tune() made one up."""
        return self.kind != "tune" or json_in(self.whole / "search.json").get("named", True) is not False

    def user(self) -> Optional[int]:
        """The process that uses it now, 0 if its number is unknown; None if no process does."""
        for lock in (self.state / "run.lock", self.state / "daemon" / "lock"):
            holder = process_with_lock(lock)
            if holder is not None:
                return holder
        return None

    def last(self) -> Optional[Mapping[str, Any]]:
        """The experiment as it was when its last run ended; None while a process uses it, and if it may have changed since."""
        if self.user() is not None:
            return None
        return json_in(self.state / LAST_SUMMARY) or None


def places() -> List[Place]:
    """All searches, those of the current directory first."""
    here = places_of_run()
    return here + places_of_python({one.name for one in here})


def places_of_run() -> List[Place]:
    """Searches of `hpsearch run` in the current directory, by name."""
    base = os.environ.get("HPSEARCH_STATE_HOME") or ""
    xdg = os.environ.get("XDG_STATE_HOME") or ""
    here = os.getcwd()
    suffix = "-" + hashlib.sha256(os.fsencode(here)).hexdigest()[:_HASH_DIGITS]
    if base:
        home = pathlib.Path(base)
    elif os.path.isabs(xdg):
        home = pathlib.Path(xdg) / "hpsearch"
    else:
        home, suffix = pathlib.Path(here) / ".hpsearch", ""
    found = [Place(path.name.replace(suffix, "") if suffix else path.name, path, path, "run") for path in _directories(home)
             if suffix in path.name and json_in(path / "run.json")]
    return sorted(found)


def places_of_python(taken: "set[str]") -> List[Place]:
    """Searches that Python started, by name. Those whose name is among `taken` have their directory as their name."""
    found = []
    for path in _directories(state_home()):
        name = str(path) if path.name in taken else path.name
        if json_in(path / "search" / "run.json"):
            found.append(Place(name, path, path / "search", "tune"))
        elif not (path / "run.json").exists() and (path / "daemon" / "events.db").exists():
            found.append(Place(name, path, path, "local"))
    return sorted(found)


def place_named(name: str) -> Place:
    """NotFound: there is no search of this name."""
    known = places()
    for place in known:
        if name == place.name or name == str(place.whole):
            return place
    near = difflib.get_close_matches(name, [place.name for place in known], 1)
    raise NotFound("there is no search {!r} on this machine{}".format(
        name, "; did you mean {!r}?".format(near[0]) if near else "; hpsearch.searches() lists them"))


def json_in(path: pathlib.Path) -> Dict[str, Any]:
    """The object in a file; empty if there is none that can be read."""
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _directories(home: pathlib.Path) -> List[pathlib.Path]:
    """Without links: what they lead to is not ours to remove."""
    try:
        return [pathlib.Path(entry.path) for entry in os.scandir(str(home)) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
