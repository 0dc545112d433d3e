"""The server as streamable HTTP: on a loopback address, and only for clients with its token."""

from __future__ import annotations

import hmac
import os
import secrets
import signal
import socket
import sys
from typing import Any, Optional

import uvicorn
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings

from .._client.address import read_token

PATH = "/mcp"
_SHUTDOWN = 3  # Seconds that answers may take once the server ends.


class OneToken:
    """Accepts one token. Its holder is all that the server knows about a client."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def verify_token(self, token: str) -> Optional[Any]:
        """The SDK's question whether a token is right."""
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return None
        return AccessToken(token=token, client_id="agent", scopes=[])


def token_of(path: str) -> str:
    """The token in a file, which is made if there is none. BadRequest: it is none, or others may read it."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError:
        return read_token(path)  # It exists, or it cannot be made, which reading says better.
    with open(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(32) + "\n")
    return read_token(path)


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens at this address. OSError: it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(128)  # Clients that connect as soon as they know the address wait for the server.
    except BaseException:
        found.close()
        raise
    return found


def serve_http(server: Any, found: socket.socket, host: str, token: str) -> None:
    """Serves at a socket of listening() until SIGINT or SIGTERM. Names the address on standard error."""
    address = "http://{}:{}".format("[{}]".format(host) if ":" in host else host, found.getsockname()[1])
    # The SDK refuses foreign Host and Origin headers on a loopback address, which pages of browsers would send.
    app = server.streamable_http_app(
        streamable_http_path=PATH, host=host, token_verifier=OneToken(token),
        auth=AuthSettings(issuer_url=address, resource_server_url=None, required_scopes=[]))
    program = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=_SHUTDOWN))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # uvicorn shuts down first, and then raises the signal again.
    print("hpsearch-mcp: listens at {}{}".format(address, PATH), file=sys.stderr, flush=True)
    program.run(sockets=[found])
