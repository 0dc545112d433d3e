"""Checkpoints of trials."""

from __future__ import annotations

import os
import pathlib
import shutil
import tarfile
import urllib.parse
from typing import IO, Any, Optional

from ._problems import NotFound
from ._client.transport import Transport


class Checkpoint:
    """A complete checkpoint of a trial."""

    def __init__(self, transport: Transport, experiment: int, trial: int, path: str, step: int, id: str = "") -> None:
        self._transport = transport
        self._trial = "/api/v1/experiments/{}/trials/{}".format(experiment, trial)
        self._id = id
        self.path: str = path  #: On the machine of its worker, or on storage that all share.
        self.step: int = step  #: How far it was trained, in the experiment's unit.

    @property
    def id(self) -> str:
        """Its name at the daemon."""
        if not self._id:
            answer = self._transport.get(self._trial + "/checkpoints")["checkpoints"]
            self._id = next((str(one["id"]) for one in answer if one["path"] == self.path), "")
        return self._id

    def download(self, to: "os.PathLike[str] | str") -> pathlib.Path:
        """Copies its files into the directory `to`, which is made, and returns that directory.

        From its path if this machine has it, else from the daemon. FileExistsError: `to` exists and is not empty.
        NotFound: the checkpoint was removed, or neither has it.
        """
        target = pathlib.Path(to)
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise FileExistsError("{} exists; give a new or an empty directory".format(target))
        source = pathlib.Path(self.path)
        if source.is_dir():
            if target.exists():
                target.rmdir()
            shutil.copytree(str(source), str(target), symlinks=True)
            return target
        if not self.id:
            raise NotFound("the checkpoint {} is neither on this machine nor in the daemon's list".format(self.path))
        name = self.id.rpartition("/")[2]  # The NAME of EXPERIMENT/TRIAL/NAME.
        path = "{}/checkpoints/{}/archive.tar".format(self._trial, urllib.parse.quote(name, safe=""))
        with self._transport.opened(path) as archive:
            target.mkdir(parents=True, exist_ok=True)
            unpack(archive, target, "checkpoint-" + self.id.replace("/", "-"))
        return target

    def __repr__(self) -> str:
        return "<checkpoint at step {}: {}>".format(self.step, self.path)


def unpack(archive: IO[bytes], target: pathlib.Path, top: str = "") -> None:
    """Puts files, directories and links of a tar archive below `target`, and nothing anywhere else. What lies in the
    directory `top` of the archive lies in `target` itself.

    ValueError: it has something else, or a name or a link that leads out.
    """
    with tarfile.open(fileobj=archive, mode="r|") as opened:
        for member in opened:
            parts = [part for part in member.name.rstrip("/").split("/") if part != "."]
            if top and parts[:1] == [top]:
                parts = parts[1:]
            if not parts and member.isdir():
                continue
            place = target.joinpath(*parts)
            above = [target.joinpath(*parts[:depth]) for depth in range(1, len(parts))]
            if ".." in parts or "" in parts or any(directory.is_symlink() for directory in above):
                raise ValueError("the archive has {!r}, a name that leads out of it".format(member.name))
            if member.isdir():
                place.mkdir(parents=True, exist_ok=True)
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            if member.issym():
                meant = os.path.normpath(os.path.join("/".join(parts[:-1]), member.linkname))
                if os.path.isabs(meant) or meant.split("/")[0] == "..":
                    raise ValueError("the archive has {!r}, a link that leads out of it".format(member.name))
                os.symlink(member.linkname, str(place))
                continue
            content: Optional[Any] = opened.extractfile(member) if member.isreg() else None
            if content is None:
                raise ValueError("the archive has {!r}, which is no file, directory or link".format(member.name))
            with content, open(str(place), "xb") as file:
                shutil.copyfileobj(content, file)
            os.chmod(str(place), 0o755 if member.mode & 0o100 else 0o644)
