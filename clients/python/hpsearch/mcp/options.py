"""The arguments of hpsearch-mcp."""

from __future__ import annotations

import argparse
import math
import pathlib
import re
from typing import List, Optional, Tuple

from .._local.programs import __version__
from .tools import ALLOWANCES

LOOPBACK = ("127.0.0.1", "::1", "localhost")
_BUDGETS = ("max_experiments", "max_trials", "max_slot_hours")
_EPILOG = """\
Without --allow, agents only read. An experiment counts for the three limits if it has the label in the workspace, also after its end
and after a restart of hpsearch-mcp. Start with another --label for another budget. docs/agents.md describes the tools.

Exit codes: 0 ended by its client or a signal, 1 the address is in use, 2 wrong arguments or no SDK."""


def whole(text: str) -> int:
    """A number of at least 1."""
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < 1:
        raise argparse.ArgumentTypeError("it is {!r}; it must be a whole number of at least 1".format(text))
    return int(text)


def hours(text: str) -> float:
    """A number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError("it is {!r}; it must be a number above 0".format(text))
    return number


def place(text: str) -> Tuple[str, int]:
    """HOST:PORT of this machine."""
    found = re.fullmatch(r"\[?([^\[\]]+?)\]?:(\d{1,5})", text)
    if not found or int(found[2]) > 65535:
        raise argparse.ArgumentTypeError("it is {!r}; it must be HOST:PORT".format(text))
    if found[1] not in LOOPBACK:
        raise argparse.ArgumentTypeError("the host is {!r}; it must be 127.0.0.1, ::1 or localhost, because tokens would be readable "
                                         "on a network. Agents of other machines use a tunnel (ssh -L)".format(found[1]))
    return found[1], int(found[2])


def directory(text: str) -> pathlib.Path:
    """A directory that exists, without links in its path."""
    found = pathlib.Path(text).expanduser().resolve()
    if not found.is_dir():
        raise argparse.ArgumentTypeError("{!r} is no directory".format(text))
    return found


def parser() -> argparse.ArgumentParser:
    """Knows all arguments."""
    made = argparse.ArgumentParser(prog="hpsearch-mcp", description="Gives coding agents the tools of an hpsearch daemon, by the Model "
                                   "Context Protocol: over standard input and output, or over HTTP.", epilog=_EPILOG,
                                   formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    made.add_argument("--version", action="version", version="hpsearch-mcp " + __version__)
    made.add_argument("--print-skill", action="store_true", help="print the skill file for agents, and exit")
    daemon = made.add_argument_group("the daemon", "Without these, the daemon that the command line uses, too.")
    daemon.add_argument("--server", metavar="ADDRESS", help="unix:///PATH, https://HOST:PORT, https://HOST:PORT#SHA256 or HOST:PORT")
    daemon.add_argument("--token-file", metavar="FILE", help="file with the token for the daemon, which only its owner may read")
    daemon.add_argument("--state-dir", metavar="DIR", help="the daemon, or the search of hpsearch run, with this state directory")
    allowed = made.add_argument_group("what agents may do")
    allowed.add_argument("--allow", action="append", choices=ALLOWANCES, default=[], help="submit: create experiments; change: change "
                         "limits of these, pause, resume and cancel them. May be given twice. Needs the next three")
    allowed.add_argument("--max-experiments", type=whole, metavar="N", help="most experiments")
    allowed.add_argument("--max-trials", type=whole, metavar="N", help="most trials of all these experiments")
    allowed.add_argument("--max-slot-hours", type=hours, metavar="H", help="most slots x hours of all these experiments")
    allowed.add_argument("--workspace", metavar="NAME", default="default", help="workspace of the experiments (default: default)")
    allowed.add_argument("--project", metavar="NAME", default="default", help="their project, if they name none (default: default)")
    allowed.add_argument("--label", metavar="TEXT", default="agent", help="label of the experiments (default: agent)")
    allowed.add_argument("--context-root", type=directory, metavar="DIR", help="directory in which the programs of the experiments lie; "
                         "without it, experiments have no context")
    http = made.add_argument_group("HTTP instead of standard input and output")
    http.add_argument("--http", type=place, metavar="HOST:PORT", help="listen there; HOST is 127.0.0.1, ::1 or localhost, and PORT 0 any "
                      "free port")
    http.add_argument("--http-token-file", metavar="FILE", help="file with the token that clients show; it is made if it isn't there. "
                      "Needed with --http")
    return made


def parse(arguments: Optional[List[str]]) -> argparse.Namespace:
    """Reads the arguments. SystemExit: one is wrong; the message is on standard error."""
    made = parser()
    given = made.parse_args(arguments)
    missing = ["--" + name.replace("_", "-") for name in _BUDGETS if getattr(given, name) is None]
    if given.allow and missing:
        made.error("--allow {} needs {}".format(given.allow[0], ", ".join(missing)))
    if not given.label.strip() or "," in given.label:
        made.error("--label is {!r}; it must be a text without commas".format(given.label))
    if given.server and given.state_dir:
        made.error("--server and --state-dir name two daemons; give one of them")
    if bool(given.http) != bool(given.http_token_file):
        made.error("--http and --http-token-file need each other")
    return given
