"""A daemon and a worker of this process's own."""

from __future__ import annotations

import atexit
import os
import pathlib
import platform
import subprocess
import sys
import weakref
from typing import Any, Optional, Union

from .._client.client import Client
from .guard import end_of
from .._problems import Unreachable

_PATIENCE = 70.0  # Seconds, for worker and daemon to end.


def local(name: str = "local", *, slots: Union[None, int, str] = None) -> "Local":
    """Starts a private daemon and a worker on this machine, and returns their client.

    Their state is in `name` below the state directory ($HPSEARCH_STATE_HOME, else $XDG_STATE_HOME/hpsearch, else
    ~/.local/state/hpsearch): the same name goes on with the same experiments. They end with this process, with close(),
    or at the end of a `with`; running trials then save checkpoints, and go on the next time. `slots` is how many trials
    run at the same time; without it one for each GPU, or one for each core.

    NotImplementedError: this is not Linux on x86-64. FileNotFoundError: the programs are not installed. Unreachable: the
    daemon did not start, as when another process uses the same name.
    """
    check_platform("hpsearch.local()")
    return Local(state_home() / checked_name(name), slots)


class Local(Client):
    """The client of a private daemon."""

    def __init__(self, state: pathlib.Path, slots: Union[None, int, str]) -> None:
        self._guard = Guard(state, slots)
        super().__init__(self._guard.address)
        self._transport.state = state
        atexit.register(self.close)

    def close(self) -> None:
        """Ends the worker and the daemon."""
        super().close()
        self._guard.end()
        atexit.unregister(self.close)


class Guard:
    """The process that runs a daemon and perhaps a worker, for as long as this process lives."""

    def __init__(self, state: pathlib.Path, slots: Union[None, int, str] = None, *, worker: bool = True) -> None:
        """Unreachable: the daemon did not start."""
        make_private(state)
        words = [sys.executable, "-m", "hpsearch._local.guard", str(state)] + slots_option(slots)
        log = state / "guard.log"
        self._owner = os.getpid()
        with open(str(log), "wb") as errors:
            popen: Any = subprocess.Popen(words + ([] if worker else ["--no-worker"]), stdin=subprocess.PIPE,
                                                stdout=subprocess.PIPE, stderr=errors, env=environment(),
                                                start_new_session=True, cwd=str(state))
        self._popen = popen
        _guards.add(self)
        self.address = popen.stdout.readline().decode().strip()
        if not self.address:
            self._popen.wait()
            raise Unreachable("the daemon of {} did not start:\n{}".format(state, end_of(log)))

    def is_alive(self) -> bool:
        return self._popen.poll() is None

    def end(self) -> None:
        """Ends the worker and the daemon, and waits for them. Only in the process that started them."""
        if os.getpid() != self._owner or self._popen.stdin.closed:
            return
        self._popen.stdin.close()
        try:
            self._popen.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        self._popen.stdout.close()

    def leave_to_parent(self) -> None:
        """In a forked process: its copy of the pipe would keep daemon and worker running after the end of its parent."""
        self._popen.stdin.close()
        self._popen.stdout.close()


_guards: "weakref.WeakSet[Guard]" = weakref.WeakSet()  # The guards of this process.


def _leave_guards_to_parent() -> None:
    for guard in list(_guards):
        guard.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_guards_to_parent)


def slots_option(slots: Union[None, int, str]) -> "list[str]":
    """The option of hpsearch-worker. ValueError: it is no number of slots."""
    if slots is None:
        return []
    if isinstance(slots, int) and slots < 1 or isinstance(slots, bool) or not str(slots):
        raise ValueError("slots is {!r}; it must be a number of at least 1, \"auto\", \"cpu\", or GPUs as \"0,1\"".format(slots))
    return ["--slots", str(slots)]


def environment() -> "dict[str, str]":
    """This process's, in which Python finds this package."""
    out = dict(os.environ)
    here = str(pathlib.Path(__file__).resolve().parents[2])
    paths = [path for path in out.get("PYTHONPATH", "").split(os.pathsep) if path]
    if here not in paths:
        out["PYTHONPATH"] = os.pathsep.join([here] + paths)
    return out


def check_platform(what: str) -> None:
    """NotImplementedError: the programs do not run here."""
    machine = platform.machine()
    if sys.platform != "linux" or machine.lower() not in ("x86_64", "amd64"):
        raise NotImplementedError(
            '{} needs Linux x86-64; this is {} {}. Connect to a daemon elsewhere: hpsearch.Client("https://HOST:PORT", '
            'token_file=…)'.format(what, platform.system() or sys.platform, machine))


def state_home() -> pathlib.Path:
    """The directory below which searches of this user keep their state. ValueError: HPSEARCH_STATE_HOME is relative."""
    own = os.environ.get("HPSEARCH_STATE_HOME")
    if own:
        if not os.path.isabs(own):
            raise ValueError("HPSEARCH_STATE_HOME is {!r}; it must be an absolute path".format(own))
        return pathlib.Path(own)
    base = os.environ.get("XDG_STATE_HOME")
    return (pathlib.Path(base) if base and os.path.isabs(base) else pathlib.Path.home() / ".local" / "state") / "hpsearch"


def checked_name(name: str) -> str:
    """ValueError: it cannot be the name of a directory."""
    if not name or name in (".", "..") or "/" in name or "\0" in name or len(name.encode()) > 200:
        raise ValueError("the name is {!r}; it must be one that a directory can have, without /".format(name))
    return name


def make_private(directory: pathlib.Path) -> None:
    """Makes a directory that only this user may enter. OSError, with what to set: it cannot be made."""
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        directory.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise type(error)(error.errno, "{}; searches keep their state there. Set XDG_STATE_HOME to a directory that may be "
                          "written".format(error.strerror), str(directory)) from error


def process_with_lock(file: pathlib.Path) -> Optional[int]:
    """The process that holds a lock file of hpsearch; 0 if its number is unknown, None if no process holds it."""
    import fcntl
    import struct
    try:
        descriptor = os.open(str(file), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind = struct.unpack("hhqqi4x", fcntl.fcntl(descriptor, 36, asked))[0]  # F_OFD_GETLK of Linux.
        if kind == fcntl.F_UNLCK:
            return None
        said = os.pread(descriptor, 32, 0).strip()
        return int(said) if said.isdigit() else 0
    finally:
        os.close(descriptor)
