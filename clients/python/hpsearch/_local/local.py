"""A daemon and a worker of this process's own."""

from __future__ import annotations

import atexit
import os
import pathlib
import platform
import subprocess
import sys
import weakref
from typing import Any, List, Optional, Sequence, Union

from .._client.client import Client
from .guard import end_of
from .._problems import Unreachable

_PATIENCE = 70.0  # Seconds, for worker and daemon to end.


def local(name: str = "local", *, slots: Union[None, int, str] = None, gpu_free: Optional[int] = None) -> "Local":
    """Starts a private daemon and a worker on this machine, and returns their client.

    Their state is in `name` below the state directory ($HPSEARCH_STATE_HOME, else $XDG_STATE_HOME/hpsearch, else
    ~/.local/state/hpsearch): the same name goes on with the same experiments. They end with this process, with close(),
    or at the end of a `with`; running trials then save checkpoints, and go on the next time.

    slots: how many trials run at the same time, or which GPUs they get, as "0,1". Without, one for each GPU, or one for each
        core: all searches of one user on one machine share these slots, and wait for them in order of arrival. With `slots`,
        trials wait for no other search.
    gpu_free: without `slots`, a GPU is left out while less of its memory is free, in percent from 0 to 100 (90 if missing), or
        while another program uses it.

    ValueError, TypeError: an argument is out of its range. NotImplementedError: this is not Linux on x86-64. FileNotFoundError:
    the programs are not installed. Unreachable: the daemon did not start, as when another process uses the same name.
    """
    check_platform("hpsearch.local()")
    return Local(state_home() / checked_name(name), slots, gpu_free)


class Local(Client):
    """The client of a private daemon."""

    def __init__(self, state: pathlib.Path, slots: Union[None, int, str], gpu_free: Optional[int] = None) -> None:
        self._guard = Guard(state, worker_options(slots, gpu_free))
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

    def __init__(self, state: pathlib.Path, options: Sequence[str] = (), *, worker: bool = True) -> None:
        """`options` are worker_options(). Unreachable: the daemon did not start."""
        make_private(state)
        words = [sys.executable, "-m", "hpsearch._local.guard", str(state)] + list(options)
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


def worker_options(slots: Union[None, int, str], gpu_free: Optional[int]) -> List[str]:
    """Options that `hpsearch run` has too. ValueError, TypeError: an argument is out of its range, or both are given."""
    if gpu_free is not None:
        if isinstance(gpu_free, bool) or not isinstance(gpu_free, int):
            raise TypeError("gpu_free is {!r}; it must be a whole number from 0 to 100, in percent".format(gpu_free))
        if not 0 <= gpu_free <= 100:
            raise ValueError("gpu_free is {}; it must be from 0 to 100, in percent".format(gpu_free))
        if slots is not None:
            raise ValueError("gpu_free is {}, and slots is {!r}; give one of them: chosen slots are used whatever else uses their "
                             "GPUs".format(gpu_free, slots))
        return ["--gpu-free", str(gpu_free)]
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
