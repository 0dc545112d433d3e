"""Requests and answers: HTTP over TCP, TLS and Unix sockets, with the standard library alone."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import socket
import ssl
import threading
import time
import urllib.parse
import uuid
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union

from .address import Address
from .._problems import Problem, Unreachable, problem_of
from .unix import reachable

_FIRST_PAUSE = 0.05  # Seconds before the first repetition; twice as long before each further one …
_LONGEST_PAUSE = 2.0  # … up to this.
_MOST_IDLE = 4  # Connections that wait for the next request.
_AWAY = (http.client.HTTPException, OSError)

Query = Mapping[str, Union[None, bool, int, float, str]]


class Answer(NamedTuple):
    """An answer that is no failure."""

    status: int
    headers: Mapping[str, str]  #: Names in lower case.
    body: bytes

    def json(self) -> Any:
        """Unreachable: it is not JSON, so no hpsearchd sent it."""
        try:
            return json.loads(self.body) if self.body else None
        except ValueError as error:
            raise Unreachable("the server is not hpsearchd: its answer is not JSON, but {!r}; name another one with server= or "
                              "HPSEARCH_SERVER".format(self.body[:60].decode("utf-8", "replace"))) from error


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        if not hasattr(socket, "AF_UNIX"):
            raise OSError("this system has no Unix sockets")
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        with reachable(self._path) as address:
            self.sock.connect(address)


class _PinnedConnection(http.client.HTTPSConnection):
    """Accepts the certificate of one fingerprint, and no other, whoever signed it."""

    def __init__(self, address: Address, timeout: float) -> None:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        super().__init__(address.host, address.port, timeout=timeout, context=context)
        self._fingerprint = address.fingerprint

    def connect(self) -> None:
        super().connect()
        assert isinstance(self.sock, ssl.SSLSocket)
        shown = hashlib.sha256(self.sock.getpeercert(binary_form=True) or b"").hexdigest()
        if not hmac.compare_digest(shown, self._fingerprint):
            self.close()
            raise ssl.SSLError("the certificate has the fingerprint {}, not {}".format(shown, self._fingerprint))


def connection_to(address: Address, timeout: float) -> http.client.HTTPConnection:
    """A connection that opens with its first request. `timeout` is in seconds, for each wait."""
    if address.scheme == "unix":
        return _UnixConnection(address.host, timeout)
    if address.scheme == "http":
        return http.client.HTTPConnection(address.host, address.port, timeout=timeout)
    if address.fingerprint:
        return _PinnedConnection(address, timeout)
    return http.client.HTTPSConnection(address.host, address.port, timeout=timeout)


def target_of(path: str, query: Optional[Query] = None) -> str:
    """The path with those query parameters that are not None. Booleans are written 1 and 0."""
    given = {name: str(int(value)) if isinstance(value, bool) else str(value)
             for name, value in (query or {}).items() if value is not None}
    return path + ("?" + urllib.parse.urlencode(given) if given else "")


class Transport:
    """Sends requests to one daemon, from any thread and also after a fork.

    A daemon that answered before and is away now is tried again for `retry_for` seconds; so is one that answers 503.
    This is safe because every change has an Idempotency-Key: the daemon carries it out once.
    """

    def __init__(self, address: Address, token: str, timeout: float, retry_for: float) -> None:
        self.address = address
        self.timeout = timeout
        self.retry_for = retry_for
        self.state: Optional[pathlib.Path] = None  #: The state directory of a search whose worker is on this machine.
        self._token = token
        self._answered = False
        self._lock = threading.Lock()
        self._idle: List[http.client.HTTPConnection] = []
        self._owner = os.getpid()

    def headers(self) -> Dict[str, str]:
        return {"Authorization": "Bearer " + self._token} if self._token else {}

    def ask(self, method: str, path: str, query: Optional[Query] = None, body: Any = None,
            key: Optional[str] = None, accept: Optional[str] = None) -> Answer:
        """The answer to a request. `body` is sent as JSON, bytes as an archive. A change without `key` gets a new one.

        Problem: the daemon refused it. Unreachable: no answer came.
        """
        headers = self.headers()
        content: Optional[bytes] = None
        if isinstance(body, bytes):
            content, headers["Content-Type"] = body, "application/x-tar"
        elif isinstance(body, str):
            content, headers["Content-Type"] = body.encode(), "application/yaml"
        elif body is not None:
            content, headers["Content-Type"] = json.dumps(body, allow_nan=False).encode(), "application/json"
        if accept:
            headers["Accept"] = accept
        if method not in ("GET", "HEAD"):
            headers["Idempotency-Key"] = key or uuid.uuid4().hex
        return self._repeat(method, target_of(path, query), content, headers)

    def get(self, path: str, query: Optional[Query] = None) -> Any:
        """The JSON at a path."""
        return self.ask("GET", path, query).json()

    def reopen(self) -> bool:
        """Looks for the daemon again after it went away; whether there may be another one now."""
        return False

    @contextlib.contextmanager
    def opened(self, path: str) -> Iterator[http.client.HTTPResponse]:
        """What lies at a path, read piece by piece. Problem: the daemon refuses it. Unreachable: it was cut off."""
        connection = connection_to(self.address, self.timeout)
        try:
            connection.request("GET", path, headers=self.headers())
            response = connection.getresponse()
            if response.status != 200:
                raise self._problem(response.status, response.read())
            yield response
            response.read()
            if response.length:
                raise Unreachable("{} was cut off, {} bytes before its end".format(path, response.length))
        except http.client.HTTPException as error:
            raise self._away(error) from error
        finally:
            connection.close()

    def close(self) -> None:
        """Closes idle connections; the next request opens another one."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        for connection in getattr(self, "_idle", []):
            connection.close()

    def _repeat(self, method: str, target: str, content: Optional[bytes], headers: Dict[str, str]) -> Answer:
        deadline = time.monotonic() + self.retry_for
        pause = _FIRST_PAUSE
        attempts = 0
        while True:
            attempts += 1
            try:
                status, fields, received = self._once(method, target, content, headers)
            except ssl.SSLError as error:
                raise Unreachable("no trusted daemon at {}: {}".format(self.address, error)) from error
            except _AWAY as error:
                if not self.reopen() and not self._answered or time.monotonic() + pause > deadline:
                    raise self._away(error) from error
            else:
                self._answered = True
                if 200 <= status < 300:
                    return Answer(status, fields, received)
                problem = self._problem(status, received)
                # 409: the first of our own repetitions is not answered yet.
                unanswered = status == 409 and attempts > 1 and "Idempotency-Key is not answered" in problem.detail
                if (status != 503 and not unanswered) or time.monotonic() + pause > deadline:
                    raise problem
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _once(self, method: str, target: str, content: Optional[bytes],
              headers: Dict[str, str]) -> Tuple[int, Mapping[str, str], bytes]:
        connection, used = self._take()
        try:
            try:
                connection.request(method, target, content, headers)
                response = connection.getresponse()
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                if not used:
                    raise
                connection.close()  # It was idle for too long, and opens again.
                connection.request(method, target, content, headers)
                response = connection.getresponse()
            received = response.read()
        except BaseException:
            connection.close()
            raise
        self._put_back(connection)
        return response.status, {name.lower(): value for name, value in response.getheaders()}, received

    def _take(self) -> Tuple[http.client.HTTPConnection, bool]:
        with self._lock:
            if self._owner != os.getpid():  # A forked child: these connections are its parent's.
                for connection in self._idle:
                    connection.close()
                self._idle, self._owner = [], os.getpid()
            if self._idle:
                return self._idle.pop(), True
        return connection_to(self.address, self.timeout), False

    def _put_back(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if self._owner == os.getpid() and len(self._idle) < _MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _problem(self, status: int, received: bytes) -> Problem:
        try:
            fields = json.loads(received) if received else {}
        except ValueError:
            fields = {}
        return problem_of(status, fields, str(self.address))

    def _away(self, error: Exception) -> Unreachable:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return Unreachable("no daemon at {}: {}; start hpsearchd there, or name another daemon with server= or "
                           "HPSEARCH_SERVER".format(self.address, why))
