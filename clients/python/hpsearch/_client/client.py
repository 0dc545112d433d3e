"""The client of a daemon."""

from __future__ import annotations

import json
import logging
import os
import pathlib
import re
import uuid
from typing import Any, Dict, Iterator, List, Mapping, Optional

from .address import Address, find_daemon
from .context import PackedContext, pack_context
from .experiment import Experiment
from .file import Config, read_config
from .git_state import git_state
from .._problems import IncompatibleDaemon, NotFound, Unreachable, items_of
from .._local.programs import __version__
from .._functions.snapshot import Snapshot
from .stream import follow
from .transport import Transport

_log = logging.getLogger("hpsearch")
_PAGE = 500
_MOST_BODY = 1024 * 1024  # Bytes, of a daemon.


class Client:
    """Talks to one daemon: submits experiments, and reads and changes them.

    Without arguments it finds its daemon as the command line does: HPSEARCH_SERVER, the current context of `hpsearch
    context`, the daemon in the usual state directory, the socket of the packaged service. `server` names another one:
    unix:///PATH, https://HOST:PORT, https://HOST:PORT#SHA256-of-its-certificate, or HOST:PORT. `state_dir` is the state
    directory of a daemon of this machine. Tokens come from a file that only its owner may read, never from an argument.

    `timeout` is in seconds, for each wait of a request. A daemon that restarts is tried again for `retry_for` seconds;
    each change is made once, however often it is sent. Threads may share a client, and it works in forked processes.

    BadRequest: the address or the token file is wrong.
    """

    def __init__(self, server: Optional[str] = None, *, token_file: "os.PathLike[str] | str | None" = None,
                 state_dir: "os.PathLike[str] | str | None" = None, timeout: float = 30.0,
                 retry_for: float = 60.0) -> None:
        address, token = find_daemon(server, token_file, state_dir)
        self._transport = Transport(address, token, timeout, retry_for)
        self._met = False

    @property
    def address(self) -> Address:
        """Where the daemon answers; print it."""
        return self._transport.address

    def submit(self, config: Config, *, context: "os.PathLike[str] | str | None" = None, name: Optional[str] = None,
               seed: Optional[int] = None, key: Optional[str] = None, context_limit: int = 95) -> Experiment:
        """Creates an experiment.

        `config` is a path of an experiment file, its text, or a dict as hpsearch.experiment() makes it. Each trial gets
        a copy of the directory `context`; without it, of nothing. `context_limit` is in megabytes. `name` and `seed`
        override those of the file. The same `key` creates one experiment, however often it is submitted. The daemon also
        keeps the file as it is, without its secrets, and the commit that Git has checked out in `context`.

        BadRequest: the experiment has mistakes; `problems` lists all of them. TypeError, ValueError: a value of the dict
        cannot be written as JSON.
        """
        self._meet()
        read = read_config(self._transport, config)
        tree = dict(read.config, name=name) if name is not None else read.config
        body: Dict[str, Any] = {"config": tree, "name": name or read.stem}
        if seed is not None:
            body["seed"] = int(seed)
        if context is not None:
            directory = pathlib.Path(context).expanduser().resolve()
            body["context_directory"] = str(directory)
            git = git_state(directory)
            if git is not None:
                body["git"] = git
            if tree.get("source") != "in_place":
                body["context_digest"] = self._upload(pack_context(directory, context_limit))
        if read.written is not None and len(json.dumps(dict(body, file=read.written))) <= _MOST_BODY:
            body["file"] = read.written
        return self._create(body, key)

    def submit_packed(self, config: Mapping[str, Any], context: PackedContext, *, key: Optional[str] = None) -> Experiment:
        """As submit(), with a context that is packed already."""
        self._meet()
        tree = read_config(self._transport, config).config
        return self._create({"config": tree, "name": str(tree.get("name") or "experiment"),
                             "context_digest": self._upload(context)}, key)

    def experiment(self, number: int) -> Experiment:
        """The experiment of this number. NotFound: there is none."""
        self._meet()
        return Experiment(self._transport, int(number))

    def experiments(self, **filters: Any) -> List[Snapshot]:
        """The experiments, by number; see docs/http-api.md for filters: state, workspace, project, label, searcher,
        owner, q, sort."""
        self._meet()
        return list(self._list("/api/v1/experiments", filters))

    def validate(self, config: Config) -> List[str]:
        """All mistakes of an experiment, one line each; none if it is right. Nothing is created. OSError: the file cannot be
        read."""
        self._meet()
        text = config if isinstance(config, str) and "\n" in config else None
        if text is None and isinstance(config, (str, os.PathLike)):
            text = pathlib.Path(config).read_text(encoding="utf-8")
        body: Any = text if text is not None else {"config": read_config(self._transport, config).config}
        return [str(item) for item in items_of(self._validate(body)["problems"])]

    def preview(self, config: Config) -> Mapping[str, Any]:
        """What an experiment will cost: trials, lengths, rungs. Nothing is created. BadRequest: it has mistakes."""
        self._meet()
        fields: Mapping[str, Any] = self._transport.ask(
            "POST", "/api/v1/experiments/preview", body={"config": read_config(self._transport, config).config}).json()
        return fields

    def watch(self) -> Iterator[Snapshot]:
        """Experiments as they change, at most four times a second; first each one as it is."""
        self._meet()
        for message in follow(self._transport, "/api/v1/stream", {"topics": "experiments"}):
            fields = message.json()
            for one in fields.get("experiments", []):
                yield Snapshot(one, int(fields["lsn"]))

    def workers(self) -> List[Mapping[str, Any]]:
        """The workers, as {"id", "name", "slots", "slots_held", "connected", …}."""
        out: List[Mapping[str, Any]] = []
        after = None
        while True:
            page = self._transport.get("/api/v1/workers", {"after": after})
            out += page["workers"]
            after = page["next"]
            if after is None:
                return out

    def status(self) -> Mapping[str, Any]:
        """The state of the daemon: version, pid, uptime, storage, …."""
        fields: Mapping[str, Any] = self._transport.get("/api/v1/status")
        return fields

    def whoami(self) -> Mapping[str, str]:
        """Name and role of the caller, as the daemon sees it."""
        fields: Mapping[str, str] = self._transport.get("/api/v1/whoami")
        return fields

    def close(self) -> None:
        """Closes the connections. The client may be used again."""
        self._transport.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<hpsearch client of {}>".format(self.address)

    def _validation(self, config: Config) -> Mapping[str, Any]:
        self._meet()
        return self._validate({"config": read_config(self._transport, config).config})

    def _validate(self, body: Any) -> Mapping[str, Any]:
        fields: Mapping[str, Any] = self._transport.ask("POST", "/api/v1/experiments/validate", body=body).json()
        return fields

    def _create(self, body: Mapping[str, Any], key: Optional[str]) -> Experiment:
        # With one key the daemon knows a repetition, even much later.
        answer = self._transport.ask("POST", "/api/v1/experiments", body=body, key=key or uuid.uuid4().hex).json()
        if answer.get("note"):
            _log.warning("%s", answer["note"])
        return self.experiment(answer["experiment"])

    def _upload(self, packed: PackedContext) -> str:
        path = "/api/v1/contexts/" + packed.digest
        try:
            self._transport.ask("HEAD", path)
        except NotFound:
            self._transport.ask("PUT", path, body=packed.archive)
        return packed.digest

    def _list(self, path: str, filters: Mapping[str, Any]) -> Iterator[Snapshot]:
        after = None
        while True:
            page = self._transport.get(path, dict(filters, after=after, limit=_PAGE))
            for fields in page["experiments"]:
                yield Snapshot(fields)
            after = page["next"]
            if after is None:
                return

    def _meet(self) -> None:
        """Looks once whether the daemon and this package understand each other."""
        if self._met:
            return
        try:
            fields: Any = self._transport.get("/version")
        except NotFound:
            fields = None
        if not isinstance(fields, Mapping) or "version" not in fields:
            raise Unreachable("the server at {} is not hpsearchd; name another one with server= or HPSEARCH_SERVER".format(
                self.address))
        check_versions(__version__, fields)
        self._met = True


def check_versions(own: str, fields: Mapping[str, Any]) -> None:
    """IncompatibleDaemon: client and daemon do not understand each other. A daemon that is a little older is logged."""
    version = str(fields.get("version") or "")
    if "v1" not in fields.get("api", ["v1"]):
        raise IncompatibleDaemon("the daemon {} serves the API {}, and this package needs v1; use a package of its "
                                 "version".format(version, ", ".join(fields["api"])))
    if _parts(own) < _parts(str(fields.get("oldest_client") or "")):
        raise IncompatibleDaemon("the daemon {} serves clients from {}, and this package is {}; install the "
                                 "package of version {}".format(version, fields["oldest_client"], own, version))
    if _parts(own)[:1] != _parts(version)[:1]:
        raise IncompatibleDaemon("the daemon is {}, and this package is {}; their first numbers must be equal: "
                                 "install the package of version {}".format(version, own, version))
    if _parts(own)[:2] > _parts(version)[:2]:
        _log.warning("the daemon is %s, older than this package (%s); what only later daemons have fails", version, own)


def _parts(version: str) -> List[int]:
    return [int(part) for part in re.findall(r"\d+", version)[:3]]
