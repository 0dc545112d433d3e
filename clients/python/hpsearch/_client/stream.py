"""Streams of the daemon (server-sent events): read, and resumed where they broke off."""

from __future__ import annotations

import http.client
import json
import os
import time
from typing import Any, Iterator, List, NamedTuple, Optional

from .._problems import Problem, Unreachable, problem_of
from .transport import Query, Transport, connection_to, target_of

LONGEST_SILENCE = 45.0  # Seconds. The daemon writes a comment every 15.
_LARGEST_PIECE = 65536


class Message(NamedTuple):
    """One message of a stream."""

    id: str
    event: str
    data: str

    def json(self) -> Any:
        return json.loads(self.data)


class Parser:
    """Turns the bytes of a stream into messages. `last_id` is where it resumes; `pause` is in seconds."""

    def __init__(self, last_id: str = "") -> None:
        self.last_id = last_id
        self.pause = 1.0
        self._rest = b""
        self._event = ""
        self._data: List[str] = []
        self._has_data = False

    def restart(self) -> None:
        """Before the bytes of another connection: what was half received is dropped, and comes again."""
        self._rest, self._event, self._data, self._has_data = b"", "", [], False

    def feed(self, piece: bytes) -> List[Message]:
        """The messages that end in this piece."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        out = []
        for raw in lines:
            line = raw.rstrip(b"\r").decode("utf-8", "replace")
            if line:
                self._take(line)
                continue
            if self._has_data or self._event:
                out.append(Message(self.last_id, self._event, "\n".join(self._data)))
            self._event, self._data, self._has_data = "", [], False
        return out

    def _take(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "id":
            self.last_id = value
        elif name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
            self._has_data = True
        elif name == "retry" and value.isdigit():
            self.pause = int(value) / 1000


def follow(transport: Transport, path: str, query: Optional[Query] = None, last_id: str = "") -> Iterator[Message]:
    """The messages of a stream, for as long as they are read.

    A stream that breaks off, or whose daemon restarts, is resumed behind the last message; nothing comes twice. It ends
    when the daemon closes it after `event: end`, which is the last message then. Unreachable: the daemon is away for
    longer than the transport's `retry_for` seconds. Problem: it refuses the stream.
    """
    parser = Parser(last_id)
    away_since: Optional[float] = None
    process = os.getpid()
    while True:
        connection = connection_to(transport.address, max(transport.timeout, LONGEST_SILENCE))
        try:
            headers = dict(transport.headers(), Accept="text/event-stream")
            if parser.last_id:
                headers["Last-Event-ID"] = parser.last_id
            connection.request("GET", target_of(path, query), headers=headers)
            response = connection.getresponse()
            if response.status != 200:
                received = response.read()
                if response.status != 503:
                    raise problem_of(response.status, _json_or_none(received), str(transport.address))
            else:
                parser.restart()
                for piece in iter(lambda: response.read1(_LARGEST_PIECE), b""):
                    away_since = None
                    for message in parser.feed(piece):
                        if message.event != "bye":
                            yield message
                        if message.event == "end":
                            return
        except (http.client.HTTPException, OSError) as error:
            if isinstance(error, Problem):
                raise
            if away_since is not None and time.monotonic() - away_since > transport.retry_for:
                raise Unreachable("no daemon at {}: {}".format(transport.address, error)) from error
        finally:
            if process == os.getpid():
                connection.close()
        if away_since is None:
            away_since = time.monotonic()
        elif time.monotonic() - away_since > transport.retry_for:
            raise Unreachable("the daemon at {} ends each stream at once".format(transport.address))
        if not transport.reopen():
            time.sleep(parser.pause)


def _json_or_none(received: bytes) -> Any:
    try:
        return json.loads(received)
    except ValueError:
        return None
