"""Files that trials left in their working directories, and the user attributes in one of them."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import tarfile
from typing import Any, Dict, Iterable, List, Optional

from .._problems import NotFound
from .._trial import USER_ATTRS
from .transport import Transport

_PIECE = 1 << 20


class TrialFile:
    """A file that a trial left in its working directory."""

    def __init__(self, name: str, size: int, path: Optional[pathlib.Path], transport: Transport, target: str) -> None:
        self.name = name  #: Its path in the working directory, with /.
        self.bytes = size  #: Its size.
        self.path = path  #: Where it lies on this machine; None if only the daemon has it.
        self._transport = transport
        self._target = target

    def read_bytes(self) -> bytes:
        """Its content. NotFound, OSError: it was removed."""
        if self.path is not None:
            return self.path.read_bytes()
        return self._transport.ask("GET", self._target).body

    def read_text(self) -> str:
        """Its content as UTF-8."""
        return self.read_bytes().decode("utf-8")

    def download(self, to: "os.PathLike[str] | str") -> pathlib.Path:
        """Copies it to `to`, or into that directory if it is one, and returns the path of the copy.

        FileExistsError: there is a file of this name already. NotFound, OSError: it was removed.
        """
        target = pathlib.Path(to)
        if target.is_dir():
            target = target / pathlib.PurePosixPath(self.name).name
        with open(str(target), "xb") as file:
            try:
                if self.path is not None:
                    with open(str(self.path), "rb") as source:
                        shutil.copyfileobj(source, file, _PIECE)
                else:
                    with self._transport.opened(self._target) as answer:
                        shutil.copyfileobj(answer, file, _PIECE)
            except BaseException:
                os.unlink(str(target))
                raise
        return target

    def __repr__(self) -> str:
        return "<file {!r}: {} bytes>".format(self.name, self.bytes)


def files_of(transport: Transport, experiment: int, trial: int) -> List[TrialFile]:
    """The files of a trial, by name. NotFound: the daemon keeps none."""
    here = _directory(transport, experiment, trial)
    if here is not None:
        return [TrialFile(path.relative_to(here).as_posix(), path.stat().st_size, path, transport, "") for path in _below(here)]
    base = "/api/v1/experiments/{}/trials/{}/files".format(experiment, trial)
    return [TrialFile(str(one["path"]), int(one["bytes"]), None, transport,
                      "{}/{}?worker={}".format(base, one["digest"], int(one["worker"])))
            for one in transport.get(base)["files"] if not one.get("link")]


def save_files(transport: Transport, experiment: int, trial: int, attempt: int, to: "os.PathLike[str] | str") -> pathlib.Path:
    """Saves the files of a trial as a tar archive. `attempt`: whose files they are, if they are on this machine.

    FileExistsError: there is a file of this name. NotFound: the trial has no files, or the daemon keeps none.
    """
    target = pathlib.Path(to)
    here = _directory(transport, experiment, trial)
    found = [] if here is None else _below(here)
    if here is not None and not found:
        raise NotFound("trial {} left no file".format(trial))
    with open(str(target), "xb") as file:
        try:
            if here is None:
                with transport.opened("/api/v1/experiments/{}/trials/{}/files.tar".format(experiment, trial)) as answer:
                    shutil.copyfileobj(answer, file, _PIECE)
            else:
                with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
                    for path in found:
                        name = "attempt-{}/{}".format(attempt, path.relative_to(here).as_posix())
                        archive.add(str(path), name, recursive=False, filter=_without_owner)
        except BaseException:
            os.unlink(str(target))
            raise
    return target


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def user_attrs_of(transport: Transport, experiment: int, trials: Optional[Iterable[int]] = None) -> Dict[int, Dict[str, Any]]:
    """User attributes by trial, of those that have some. Without `trials`, of all that have files."""
    out: Dict[int, Dict[str, Any]] = {}
    for trial in trials if trials is not None else _with_files(transport, experiment):
        here = _directory(transport, experiment, trial)
        try:
            if here is not None:
                text = (here / USER_ATTRS).read_text(encoding="utf-8")
            else:
                text = next(one.read_text() for one in files_of(transport, experiment, trial) if one.name == USER_ATTRS)
            read = json.loads(text)
        except (StopIteration, OSError, NotFound, ValueError):
            continue
        if isinstance(read, dict):
            out[trial] = read
    return out


def _with_files(transport: Transport, experiment: int) -> List[int]:
    if transport.state is not None:
        return sorted(int(path.parent.name) for path in transport.state.glob(_pattern(transport.state, experiment, "*"))
                      if path.parent.name.isdigit())
    try:
        listed = transport.get("/api/v1/experiments/{}/files".format(experiment))["trials"]
    except NotFound:
        return []  # The daemon keeps no files.
    return sorted({int(one["trial"]) for one in listed})


def _directory(transport: Transport, experiment: int, trial: int) -> Optional[pathlib.Path]:
    """The trial's files on this machine; None: they are at the daemon."""
    if transport.state is None:
        return None
    found = sorted(transport.state.glob(_pattern(transport.state, experiment, str(trial))))
    return found[-1] if found else transport.state / "trials" / str(trial) / "files"


def _pattern(state: pathlib.Path, experiment: int, trial: str) -> str:
    """Below the state directory of `hpsearch run`, or of the worker of hpsearch.local()."""
    if (state / "run.json").exists():
        return "trials/{}/files".format(trial)
    return "worker/trials/*/{}/{}/files".format(experiment, trial)


def _below(directory: pathlib.Path) -> List[pathlib.Path]:
    """Its regular files at any depth. Links are left out: they may lead anywhere."""
    found = [pathlib.Path(above) / name for above, _, names in os.walk(str(directory)) for name in names]
    return sorted(path for path in found if path.is_file() and not path.is_symlink())
