"""The client for asyncio. Streams are asyncio's own; every other call runs in a thread.

    async with hpsearch.aio.Client() as client:
        experiment = await client.submit("lr.yaml", context=".")
        async for change in experiment.watch():
            print(change.best)
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import ssl
import time
from typing import Any, AsyncIterator, Callable, Dict, List, Optional, Tuple, TypeVar

from ._client.client import Client as BlockingClient
from ._client.experiment import Experiment as BlockingExperiment
from ._client.file import Config
from ._problems import Problem, Unreachable, problem_of
from ._functions.snapshot import Snapshot
from ._client.stream import LONGEST_SILENCE, Message, Parser
from ._client.transport import Query, Transport, target_of
from ._client.trials import TrialView
from ._client.unix import reachable

__all__ = ["Client", "Experiment"]

_Result = TypeVar("_Result")
_Streams = Tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _in_thread(call: Callable[..., _Result], *arguments: Any, **named: Any) -> _Result:
    return await asyncio.get_running_loop().run_in_executor(None, functools.partial(call, *arguments, **named))


class Client:
    """As hpsearch.Client; takes the same arguments, raises the same exceptions."""

    def __init__(self, server: Optional[str] = None, **more: Any) -> None:
        self._client = BlockingClient(server, **more)

    async def submit(self, config: Config, *, context: "os.PathLike[str] | str | None" = None, **more: Any) -> "Experiment":
        """As hpsearch.Client.submit()."""
        return Experiment(await _in_thread(self._client.submit, config, context=context, **more))

    async def experiment(self, number: int) -> "Experiment":
        """As hpsearch.Client.experiment()."""
        return Experiment(await _in_thread(self._client.experiment, number))

    async def experiments(self, **filters: Any) -> List[Snapshot]:
        """As hpsearch.Client.experiments()."""
        return await _in_thread(self._client.experiments, **filters)

    async def status(self) -> Any:
        """As hpsearch.Client.status()."""
        return await _in_thread(self._client.status)

    async def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class Experiment:
    """As hpsearch.Experiment. `blocking` is that one, for what is not here."""

    def __init__(self, blocking: BlockingExperiment) -> None:
        self.blocking: BlockingExperiment = blocking  #: The experiment of the other client.
        self.id: int = blocking.id  #: Its number at the daemon, from 1.

    async def now(self) -> Snapshot:
        """All of it, at this moment."""
        return await _in_thread(self.blocking.now)

    async def watch(self) -> AsyncIterator[Snapshot]:
        """The experiment as it changes; ends when the experiment does."""
        topic = "experiment:{}".format(self.id)
        async for message in _follow(self.blocking._transport, "/api/v1/stream", {"topics": topic}):
            if message.event == topic:
                answer = message.json()
                change = Snapshot(answer["experiment"], int(answer["lsn"]))
                yield change
                if change.ended:
                    return

    async def wait(self) -> "Experiment":
        """As hpsearch.Experiment.wait(); for a timeout, asyncio.wait_for()."""
        async for change in self.watch():
            await _in_thread(self.blocking.raise_if_failed, change)
        return self

    async def best(self) -> TrialView:
        """The best trial."""
        return await _in_thread(lambda: self.blocking.best)

    async def frame(self, *arguments: Any, **named: Any) -> Any:
        """As hpsearch.Experiment.frame()."""
        return await _in_thread(self.blocking.frame, *arguments, **named)

    async def curves(self, *arguments: Any, **named: Any) -> Any:
        """As hpsearch.Experiment.curves()."""
        return await _in_thread(self.blocking.curves, *arguments, **named)

    async def pause(self) -> None:
        """Pauses it."""
        await _in_thread(self.blocking.pause)

    async def resume(self) -> None:
        """Resumes it."""
        await _in_thread(self.blocking.resume)

    async def cancel(self) -> None:
        """Cancels it."""
        await _in_thread(self.blocking.cancel)

    async def kill(self) -> None:
        """Ends it and its programs at once."""
        await _in_thread(self.blocking.kill)

    async def set(self, **limits: Any) -> Snapshot:
        """Changes limits."""
        return await _in_thread(self.blocking.set, **limits)


async def _follow(transport: Transport, path: str, query: Query) -> AsyncIterator[Message]:
    parser = Parser()
    away_since = time.monotonic()
    while True:
        writer: Optional[asyncio.StreamWriter] = None
        try:
            reader, opened = await asyncio.wait_for(_open(transport), transport.timeout)
            writer = opened
            status, chunked = await _begin(reader, opened, transport, target_of(path, query), parser.last_id)
            if status != 200:
                raise problem_of(status, _json_or_none(await reader.read(65536)), str(transport.address))
            parser.restart()
            while True:
                piece = await asyncio.wait_for(_piece(reader, chunked), LONGEST_SILENCE)
                if not piece:
                    break
                away_since = time.monotonic()
                for message in parser.feed(piece):
                    if message.event != "bye":
                        yield message
        except (OSError, EOFError, ValueError, asyncio.TimeoutError) as error:
            if isinstance(error, Problem) and error.status != 503:
                raise
            if time.monotonic() - away_since > transport.retry_for:
                raise Unreachable("no daemon at {}: {}".format(transport.address, error)) from error
        finally:
            if writer is not None:
                writer.close()
        await asyncio.sleep(parser.pause)


async def _open(transport: Transport) -> _Streams:
    address = transport.address
    if address.scheme == "unix":
        with reachable(address.host) as path:
            return await asyncio.open_unix_connection(path)
    context: Optional[ssl.SSLContext] = None
    if address.scheme == "https":
        context = ssl.create_default_context()
        if address.fingerprint:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
    reader, writer = await asyncio.open_connection(address.host, address.port, ssl=context)
    if address.fingerprint:
        import hashlib
        shown = hashlib.sha256(writer.get_extra_info("ssl_object").getpeercert(True)).hexdigest()
        if shown != address.fingerprint:
            writer.close()
            raise Unreachable("no trusted daemon at {}: the certificate has the fingerprint {}".format(address, shown))
    return reader, writer


async def _begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, transport: Transport, target: str,
                 last_id: str) -> Tuple[int, bool]:
    """Sends the request; returns the status, and whether the body comes in chunks."""
    headers: Dict[str, str] = dict(transport.headers(), Host="localhost", Accept="text/event-stream")
    if transport.address.scheme != "unix":
        headers["Host"] = "{}:{}".format(transport.address.host, transport.address.port)
    if last_id:
        headers["Last-Event-ID"] = last_id
    lines = ["GET {} HTTP/1.1".format(target)] + ["{}: {}".format(*header) for header in headers.items()]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("ascii"))
    await writer.drain()
    first = await reader.readline()
    if not first:
        raise ConnectionResetError("the daemon closed the connection")
    chunked = False
    while True:
        line = (await reader.readline()).strip().lower()
        if not line:
            return int(first.split()[1]), chunked
        chunked = chunked or line.replace(b" ", b"") == b"transfer-encoding:chunked"


async def _piece(reader: asyncio.StreamReader, chunked: bool) -> bytes:
    if not chunked:
        return await reader.read(65536)
    size = int((await reader.readline()).split(b";")[0].strip() or b"0", 16)
    piece = await reader.readexactly(size)
    await reader.readline()
    return piece


def _json_or_none(received: bytes) -> Any:
    try:
        return json.loads(received)
    except ValueError:
        return None
