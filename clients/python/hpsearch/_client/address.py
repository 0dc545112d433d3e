"""Which daemon a client talks to, and the token that it shows there."""

from __future__ import annotations

import json
import os
import pathlib
import re
import stat
from typing import Any, Mapping, NamedTuple, Optional, Tuple

from .._problems import BadRequest, NotFound

DEFAULT_SOCKET = "/run/hpsearch/api.sock"
_MOST_TOKEN_BYTES = 4096


class Address(NamedTuple):
    """Where a daemon answers HTTP."""

    scheme: str  #: "unix", "http" or "https".
    host: str  #: The path of the socket for "unix".
    port: int = 0
    fingerprint: str = ""  #: SHA-256 of the only certificate that is accepted; "": what the system trusts.

    def __str__(self) -> str:
        if self.scheme == "unix":
            return "unix://" + self.host
        host = "[{}]".format(self.host) if ":" in self.host else self.host
        return "{}://{}:{}{}".format(self.scheme, host, self.port, "#" + self.fingerprint if self.fingerprint else "")


def parse_address(text: str) -> Address:
    """Reads unix:///PATH, https://HOST:PORT, https://HOST:PORT#SHA256, http://HOST:PORT or HOST:PORT.

    BadRequest: it is none of these.
    """
    if not isinstance(text, str):
        raise TypeError("the server is a {}; it must be a text, as \"https://HOST:PORT\"".format(type(text).__name__))
    if text.startswith("unix:///"):
        return Address("unix", text[len("unix://"):])
    found = re.match(r"(?:(https?)://)?(?:\[([0-9a-fA-F:.]+)\]|([^/:#\[\]]+)):(\d{1,5})/?(?:#([0-9a-f]{64}))?$", text)
    if not found or not 0 < int(found[4]) < 65536 or (found[5] and found[1] != "https"):
        raise BadRequest("the server is {!r}; it must be unix:///PATH, https://HOST:PORT, https://HOST:PORT#SHA256 "
                         "or HOST:PORT".format(text))
    return Address(found[1] or "http", found[2] or found[3], int(found[4]), found[5] or "")


def read_token(path: "os.PathLike[str] | str") -> str:
    """The token in a file. BadRequest: other users may read the file, or it does not hold one token."""
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(_MOST_TOKEN_BYTES + 1).decode("ascii", "replace").strip()
    except OSError as error:
        raise BadRequest("the token file {} cannot be read: {}".format(name, error.strerror)) from error
    if os.name == "posix" and stat.S_ISREG(mode) and mode & 0o077:
        raise BadRequest("the token file {0} may be read by other users; chmod 600 {0}".format(name))
    if not text or len(text) > _MOST_TOKEN_BYTES or len(text.split()) != 1:
        raise BadRequest("the token file {} does not hold one token".format(name))
    return text


def find_daemon(server: Optional[str], token_file: Optional["os.PathLike[str] | str"],
                state_dir: Optional["os.PathLike[str] | str"] = None) -> Tuple[Address, str]:
    """The daemon to talk to, and its token ("": none).

    The first of: `server` or `state_dir`, HPSEARCH_SERVER, the current context of `hpsearch context`, the daemon whose
    state directory is the usual one, the socket of the packaged service. The token is that of `token_file`, else that
    of HPSEARCH_TOKEN_FILE, else the context's.
    """
    if server is not None and state_dir is not None:
        raise BadRequest("server and state_dir name two daemons; give one of them")
    path = token_file or os.environ.get("HPSEARCH_TOKEN_FILE")
    token = read_token(path) if path else ""
    if state_dir is not None:
        return daemon_of(pathlib.Path(state_dir)), token
    named = server or os.environ.get("HPSEARCH_SERVER")
    if named:
        return parse_address(named), token
    context = _current_context()
    if context is not None:
        return parse_address(str(context.get("server") or "")), token or str(context.get("token") or "")
    own = running_daemon(_home_of_daemon())
    return own or Address("unix", DEFAULT_SOCKET), token


def daemon_of(state: pathlib.Path) -> Address:
    """The daemon of `hpsearchd --state-dir` or of `hpsearch run --state-dir`. NotFound: none runs there."""
    for directory in (state / "daemon", state):
        found = running_daemon(directory)
        if found is not None:
            return found
    raise NotFound("no daemon runs in the state directory {}".format(state))


def running_daemon(directory: pathlib.Path) -> Optional[Address]:
    """Where the daemon of this directory answers; None if none runs."""
    answer = daemon_file(directory)
    if not answer or not is_alive(int(answer.get("pid") or 0)):
        return None
    socket = str(answer.get("socket") or "")
    return parse_address(socket) if socket else None


def daemon_file(directory: pathlib.Path) -> Mapping[str, Any]:
    """What a daemon wrote into its state directory when it began to listen; empty if there is nothing to read."""
    try:
        answer = json.loads((directory / "daemon.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return answer if isinstance(answer, dict) else {}


def is_alive(process: int) -> bool:
    """Whether a process of this number runs."""
    if process <= 0 or os.name != "posix":  # Elsewhere no daemon runs, and os.kill() ends what it is asked about.
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _home_of_daemon() -> pathlib.Path:
    home = os.environ.get("HPSEARCH_STATE_HOME")
    if home:
        return pathlib.Path(home) / "hpsearchd"
    home = os.environ.get("XDG_STATE_HOME")
    base = pathlib.Path(home) / "hpsearch" if home and os.path.isabs(home) else pathlib.Path(".hpsearch")
    return (base / "hpsearchd").absolute()


def _current_context() -> Optional[Mapping[str, Any]]:
    home = os.environ.get("XDG_CONFIG_HOME")
    base = pathlib.Path(home) if home and os.path.isabs(home) else pathlib.Path(os.path.expanduser("~"), ".config")
    path = base / "hpsearch" / "contexts.json"
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except ValueError as error:
        raise BadRequest("{} cannot be read: {}".format(path, error)) from error
    current = saved.get("current")
    return next((one for one in saved.get("contexts", []) if current and one.get("name") == current), None)
