"""Searches of tune() without a name are removed some time after they ended or were paused: HPSEARCH_KEEP says when."""

from __future__ import annotations

import json
import os
import pathlib
import re
import secrets
import shutil
import sys
import time
from typing import AbstractSet, List, NamedTuple, Optional, Tuple

from .local import state_home
from .places import LAST_SUMMARY, Place, json_in, places_of_python

DEFAULT_KEEP = "14d,20GB"
_SECONDS = {"h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
_BYTES = {"MB": 1e6, "GB": 1e9, "TB": 1e12}
_NEW = 3600.0  # Seconds. A search that has just ended or paused is not removed to make room: its process may still read it.
_ENDED = ("COMPLETED", "CANCELED", "FAILED")
_REMOVED = ".removed-"  # The name of a directory that is being removed.


class Keep(NamedTuple):
    """How long searches without a name stay that have ended or are paused."""

    seconds: float  #: After their end or pause.
    bytes: float  #: The limit for the sum of all their sizes.


def keep_of(text: str) -> Optional[Keep]:
    """Reads HPSEARCH_KEEP: a time, a size, or both; "0" keeps nothing. None: "never", everything stays. ValueError: it is something
    else."""
    if text == "never":
        return None
    if text == "0":
        return Keep(0.0, float("inf"))
    seconds = size = float("inf")
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(h|d|w|MB|GB|TB)\s*", part)
        if not found:
            raise ValueError('HPSEARCH_KEEP is {!r}; it must be a time and a size, as "{}" (h, d, w; MB, GB, TB), one of them, "0" or '
                             '"never"'.format(text, DEFAULT_KEEP))
        if found[2] in _SECONDS:
            seconds = float(found[1]) * _SECONDS[found[2]]
        else:
            size = float(found[1]) * _BYTES[found[2]]
    return Keep(seconds, size)


class _Old(NamedTuple):
    """A search without a name that has ended or is paused, and that no process uses."""

    place: Place
    is_paused: bool
    since: float  #: Its end or pause, in seconds since the epoch.
    bytes: int


def remove_old_searches(opened: AbstractSet[pathlib.Path]) -> None:
    """Removes searches that tune() made without a name, that have ended or are paused, and that HPSEARCH_KEEP doesn't keep. Says so
    in one line. Those in `opened` stay. ValueError: HPSEARCH_KEEP is wrong."""
    text = os.environ.get("HPSEARCH_KEEP") or DEFAULT_KEEP
    keep = keep_of(text)
    if keep is None:
        return
    _remove_left_overs()
    present = time.time()
    unused = sorted((one for one in map(_unused, places_of_python(set())) if one is not None), key=lambda one: one.since)
    room = sum(one.bytes for one in unused)
    removed: List[_Old] = []
    for one in unused:  # The oldest first.
        is_old = present - one.since >= keep.seconds
        takes_room = room > keep.bytes and present - one.since >= _NEW
        if (is_old or takes_room) and one.place.whole not in opened and _removed(one.place):
            removed.append(one)
            room -= one.bytes
    if removed:
        print("hpsearch: removed {} without a name that {}, {} in all, the newest of {} (HPSEARCH_KEEP={}). Give a search a name to keep "
              "it; HPSEARCH_KEEP=never keeps all".format(
                  "a search" if len(removed) == 1 else "{} searches".format(len(removed)), _why(removed),
                  _size_text(sum(one.bytes for one in removed)), time.strftime("%Y-%m-%d", time.localtime(removed[-1].since)), text),
              file=sys.stderr, flush=True)


def kept_for() -> str:
    """How long HPSEARCH_KEEP keeps a search without a name that is paused now, as ", within 14 days (HPSEARCH_KEEP)". Empty: until
    there is no room for it, or for ever."""
    text = os.environ.get("HPSEARCH_KEEP") or DEFAULT_KEEP
    try:
        keep = keep_of(text)
    except ValueError:
        return ""
    if keep is None or keep.seconds == float("inf"):
        return ""
    hours = keep.seconds / 3600
    amount, unit = (hours, "hour") if hours < 48 else (hours / 24, "day")
    return ", within {:g} {}{} (HPSEARCH_KEEP)".format(round(amount, 1), unit, "" if amount == 1 else "s")


def remove_directory(path: pathlib.Path) -> None:
    """Removes a directory below which no link is followed. What is left of it when this is interrupted is removed later."""
    aside = path.with_name(_REMOVED + secrets.token_hex(8))
    os.rename(str(path), str(aside))
    shutil.rmtree(str(aside), onerror=_allow)


def _why(removed: List[_Old]) -> str:
    paused = sum(one.is_paused for one in removed)
    has, was = ("has", "was") if len(removed) == 1 else ("have", "were")
    if paused == 0:
        return has + " ended"
    return was + " paused" if paused == len(removed) else "have ended or were paused"


def _unused(place: Place) -> Optional[_Old]:
    if place.kind != "tune" or place.is_named or not _is_ours(place):
        return None
    last = place.last()
    if last is None:
        return None  # A process uses it, or its process was killed.
    is_paused = last.get("state") not in _ENDED
    try:  # The process that pauses a search writes what last() has when all its programs have ended, and nothing writes it later.
        since = os.stat(str(place.state / LAST_SUMMARY)).st_mtime if is_paused else float(last["ended_at"])
    except (OSError, KeyError, TypeError, ValueError):
        return None
    return _Old(place, is_paused, since, _bytes_of(place, since))


def _is_ours(place: Place) -> bool:
    """Whether it is a directory of this user with all that tune() makes."""
    for path in (place.whole, place.state):
        try:
            about = os.lstat(str(path))
        except OSError:
            return False
        if about.st_uid != os.geteuid() or path.is_symlink():
            return False
    return "parts" in json_in(place.whole / "search.json") and (place.whole / "experiment.json").is_file()


def _bytes_of(place: Place, since: float) -> int:
    """Of all its files, counted once: what has ended or is paused doesn't grow."""
    record = place.whole / "size.json"
    known = json_in(record)
    if known.get("since") == since and isinstance(known.get("bytes"), int):
        return int(known["bytes"])
    total = 0
    for directory, _, files in os.walk(str(place.whole)):
        for name in files:
            try:
                total += os.lstat(os.path.join(directory, name)).st_size
            except OSError:
                pass
    try:
        record.write_text(json.dumps({"since": since, "bytes": total}), encoding="utf-8")
    except OSError:
        pass
    return total


def _removed(place: Place) -> bool:
    """Whether it could be removed: no tune() begins it again just now."""
    import fcntl  # Not on Windows, where the rest of the package works.
    try:
        descriptor = os.open(str(place.whole / "tune.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if place.user() is not None:
            return False
        remove_directory(place.whole)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _remove_left_overs() -> None:
    home = state_home()
    try:
        names = [name for name in os.listdir(str(home)) if name.startswith(_REMOVED)]
    except OSError:
        return
    for name in names:
        shutil.rmtree(str(home / name), ignore_errors=True)


def _allow(function: "object", path: str, error: "Tuple[object, BaseException, object]") -> None:
    """A trial made a directory that its owner may not write."""
    if isinstance(error[1], PermissionError) and not os.path.islink(path):
        for one in (os.path.dirname(path), path):
            if not os.path.islink(one):
                os.chmod(one, 0o700)
        if os.path.isdir(path):
            shutil.rmtree(path, ignore_errors=True)
        elif os.path.exists(path):
            os.unlink(path)
    elif not isinstance(error[1], FileNotFoundError):
        raise error[1]


def _size_text(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return "{:.0f} {}".format(size, unit) if unit == "bytes" else "{:.1f} {}".format(size, unit)
