"""One program's conversation with its attempt: lines of JSON over a Unix socket, answered in order."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from typing import Any, Dict, Iterator, Optional

_MOMENT = 0.02  # Seconds; much longer than another thread needs to say something that it waits for no answer to.


class Disconnected(ConnectionError):
    """The worker has closed its side of the socket; reports don't reach the search any more."""


class Refused(ValueError):
    """The worker refused a message; the text names the mistake."""


class Connection:
    """Any thread may ask; a forked child gets a connection of its own with its first question.

    An answer that came too late for its question is dropped when it comes: answers are counted, never guessed.
    Answers come in order, so who may not wait as long as another thread does speaks on a connection beside this one.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._socket: Optional[socket.socket] = None
        self._beside: Optional[Connection] = None
        self.renew()

    def renew(self) -> None:
        """For a forked child: the threads that held this are not there."""
        self._lock = threading.Lock()
        self._beside_lock = threading.Lock()
        self._waits_for_ever = False
        self._forget()
        if self._beside is not None:
            self._beside.renew()

    def ask(self, message: Dict[str, Any], timeout: Optional[float]) -> Optional[Dict[str, Any]]:
        """The answer, or None when none came within `timeout` seconds (None: as long as it takes)."""
        line = json.dumps(message).encode() + b"\n"
        with self._free(timeout) as connection:
            answer = connection._answer_to(line, timeout)
        return None if answer is None else _taken(answer)

    def ask_at_once(self, message: Dict[str, Any], timeout: float) -> Optional[Dict[str, Any]]:
        """The same, and does not wait for what other threads have asked."""
        line = json.dumps(message).encode() + b"\n"
        with self._free(_MOMENT) as connection:
            answer = connection._answer_to(line, timeout)
        return None if answer is None else _taken(answer)

    def close(self) -> None:
        """The next question opens another one."""
        with self._lock:
            self._forget()
        if self._beside is not None:
            self._beside.close()

    def tell(self, message: Dict[str, Any]) -> None:
        """Says it and does not wait."""
        with self._free(_MOMENT) as connection:
            connection._say(json.dumps(message).encode() + b"\n")
            connection._drop_answers()

    @contextlib.contextmanager
    def _free(self, patience: Optional[float]) -> Iterator[Connection]:
        """This connection, held; or one beside it if it is not free within `patience` seconds (None: it will be)."""
        connection = self
        while not connection._hold(patience):
            with connection._beside_lock:
                if connection._beside is None:
                    connection._beside = Connection(self._address)
            connection = connection._beside
        try:
            yield connection
        finally:
            connection._lock.release()

    def _hold(self, patience: Optional[float]) -> bool:
        if patience is None:
            return self._lock.acquire()
        return not self._waits_for_ever and self._lock.acquire(timeout=patience)

    def _answer_to(self, line: bytes, timeout: Optional[float]) -> Optional[bytes]:
        deadline = None if timeout is None else time.monotonic() + timeout
        self._waits_for_ever = timeout is None
        try:
            self._say(line)
            answer: Optional[bytes] = None
            while self._unanswered > 0:
                answer = self._next_line(deadline)
                if answer is None:
                    return None
                self._unanswered -= 1
            return answer
        finally:
            self._waits_for_ever = False

    def _forget(self) -> None:
        if self._socket is not None:
            self._socket.close()  # In a child this leaves the parent's as it is.
        self._socket = None
        self._owner = -1
        self._received = b""
        self._unanswered = 0  # Questions, the present one included, whose answers have not come.

    def _drop_answers(self) -> None:
        """Takes what has come: the worker doesn't wait for a program that does not read its answers."""
        while self._unanswered > 0 and self._next_line(time.monotonic()) is not None:
            self._unanswered -= 1

    def _say(self, line: bytes) -> None:
        if self._owner != os.getpid():
            self._connect()
        assert self._socket is not None
        try:
            self._socket.settimeout(None)
            self._socket.sendall(line)
        except OSError as error:
            raise self._disconnected(error) from error
        self._unanswered += 1

    def _connect(self) -> None:
        self._forget()
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(self._address)
        except OSError as error:
            raise self._disconnected(error) from error
        self._owner = os.getpid()

    def _next_line(self, deadline: Optional[float]) -> Optional[bytes]:
        assert self._socket is not None
        while b"\n" not in self._received:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            self._socket.settimeout(left)
            try:
                piece = self._socket.recv(65536)
            except (socket.timeout, BlockingIOError):
                return None
            except OSError as error:
                raise self._disconnected(error) from error
            if not piece:
                raise self._disconnected("it was closed")
            self._received += piece
        line, self._received = self._received.split(b"\n", 1)
        return line

    def _disconnected(self, why: object) -> Disconnected:
        self._owner = -1  # The next question tries again.
        return Disconnected("the worker does not listen on {}: {}".format(self._address, why))


def _taken(answer: bytes) -> Dict[str, Any]:
    heard: Dict[str, Any] = json.loads(answer)
    if "error" in heard:
        raise Refused(heard["error"])
    return heard
