"""The program hpsearch-mcp, also as `python3 -m hpsearch.mcp`."""

from __future__ import annotations

import sys
from typing import List, Optional

from .._client.client import Client
from .._problems import Problem
from .budget import Budget, Limits
from .calls import Calls, Rules
from .options import parse
from .tools import SKILL

_PATIENCE = 10.0  # Seconds that a call waits for a daemon that went away.


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs until its client or a signal ends it; the exit code."""
    given = parse(arguments)
    if given.print_skill:
        sys.stdout.write(SKILL.read_text(encoding="utf-8"))
        return 0
    try:
        import anyio
        from .over_http import listening, serve_http, token_of
        from .server import make_server, problems_of, serve_stdio
    except ImportError as error:
        print("hpsearch-mcp: the SDK of the Model Context Protocol is missing ({}); it needs Python 3.10 or newer: "
              "pip install 'mcp>=2.3,<3'".format(error), file=sys.stderr)
        return 2
    try:
        client = Client(given.server, token_file=given.token_file, state_dir=given.state_dir, retry_for=_PATIENCE)
        token = token_of(given.http_token_file) if given.http else ""
    except Problem as error:
        print("hpsearch-mcp: {}".format(error), file=sys.stderr)
        return 2
    budget = Budget(client, Limits(given.max_experiments, given.max_trials, given.max_slot_hours), given.workspace,
                    given.label) if given.allow else None
    server = make_server(Calls(client, Rules(tuple(given.allow), budget, given.project, given.context_root), problems_of))
    try:
        if given.http is None:
            anyio.run(serve_stdio, server)
            return 0
        host, port = given.http
        try:
            found = listening(host, port)
        except OSError as error:
            print("hpsearch-mcp: --http is {}:{}: {}; give another port, or 0 for any free one".format(
                host, port, error.strerror or error), file=sys.stderr)
            return 1
        with found:
            serve_http(server, found, host, token)
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
