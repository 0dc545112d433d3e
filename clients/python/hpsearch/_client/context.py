"""Context directories: what is packed of them, and how."""

from __future__ import annotations

import filecmp
import hashlib
import io
import os
import pathlib
import re
import shutil
import tarfile
from typing import Iterator, List, NamedTuple, Optional, Pattern, Tuple

from .._problems import BadRequest

# As `hpsearch submit` leaves it out.
LEFT_OUT = ("__pycache__/\n.git\n.venv\nvenv\nnode_modules\n.env\n.ssh\n*.pem\nid_rsa*\nid_ecdsa*\nid_ed25519*\n"
            ".hpsearch\n")
IGNORE_FILES = (".hpsearchignore", ".detignore")


class PackedContext(NamedTuple):
    """A context directory as bytes."""

    digest: str  #: SHA-256 of the archive, in hexadecimal.
    archive: bytes


class IgnoreRules:
    """Patterns as .gitignore has them: ! takes in again, / at the end means directories, the last that fits decides."""

    def __init__(self, text: str) -> None:
        self._rules: List[Tuple[Pattern[str], bool, bool]] = []
        for line in text.splitlines():
            pattern = line.rstrip()
            if not pattern or pattern.startswith("#"):
                continue
            takes_in = pattern.startswith("!")
            pattern = pattern[1:] if takes_in else pattern
            only_directories = pattern.endswith("/")
            pattern = pattern.rstrip("/")
            anchored = "/" in pattern
            expression = ("" if anchored else "(?:.*/)?") + _translated(pattern.lstrip("/"))
            self._rules.append((re.compile(expression, re.DOTALL), takes_in, only_directories))

    def ignores(self, path: str, is_directory: bool) -> bool:
        """Whether the entry is left out; `path` is relative, with / between names."""
        ignored = False
        for expression, takes_in, only_directories in self._rules:
            if (is_directory or not only_directories) and expression.fullmatch(path):
                ignored = not takes_in
        return ignored


def _translated(pattern: str) -> str:
    out, at = "", 0
    while at < len(pattern):
        if pattern.startswith("**/", at):
            out, at = out + "(?:.*/)?", at + 3
        elif pattern.startswith("**", at):
            out, at = out + ".*", at + 2
        elif pattern[at] == "*":
            out, at = out + "[^/]*", at + 1
        elif pattern[at] == "?":
            out, at = out + "[^/]", at + 1
        elif pattern[at] == "[" and "]" in pattern[at + 2:]:
            end = pattern.index("]", at + 2)
            inside = pattern[at + 1:end].replace("\\", "\\\\")
            negated = inside[:1] in "!^"
            out += "(?!/)[{}{}]".format("^" if negated else "", inside[1:] if negated else inside)
            at = end + 1
        else:
            if pattern[at] == "\\" and at + 1 < len(pattern):
                at += 1
            out, at = out + re.escape(pattern[at]), at + 1
    return out


def pack_context(directory: "os.PathLike[str] | str", limit_megabytes: int = 95) -> PackedContext:
    """Packs a directory as `hpsearch submit` does. Equal contents have equal digests.

    BadRequest: it is no directory, or its files are larger than the limit (of 10^6 bytes).
    """
    top = pathlib.Path(directory).absolute()
    if not top.is_dir():
        raise BadRequest("the context {} is no directory".format(top))
    entries = list(_entries(top))
    sizes = sorted(((os.lstat(str(path)).st_size, name) for name, path in entries
                    if path.is_file() and not path.is_symlink()), reverse=True)
    total = sum(size for size, _ in sizes)
    if total > limit_megabytes * 1_000_000:
        raise BadRequest("the context {} has {:.0f} MB, more than {} MB. Leave files out by a .hpsearchignore; the largest "
                         "are {}".format(top, total / 1e6, limit_megabytes, ", ".join(
                             "{} ({:.1f} MB)".format(name, size / 1e6) for size, name in sizes[:3])))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, path in entries:
            _add(archive, top, name, path)
    packed = buffer.getvalue()
    return PackedContext(hashlib.sha256(packed).hexdigest(), packed)


def _add(archive: tarfile.TarFile, top: pathlib.Path, name: str, path: pathlib.Path) -> None:
    member = tarfile.TarInfo(name)
    if path.is_symlink():
        member.type, member.linkname, member.mode = tarfile.SYMTYPE, _target_of(top, path), 0o777
        archive.addfile(member)
    elif path.is_dir():
        member.type, member.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(member)
    else:
        with open(str(path), "rb") as file:
            status = os.fstat(file.fileno())
            member.size, member.mode = status.st_size, 0o755 if status.st_mode & 0o100 else 0o644
            archive.addfile(member, file)


def _target_of(top: pathlib.Path, link: pathlib.Path) -> str:
    """Relative where it leads inside, absolute where it leads out: from a copy it leads to the same."""
    target = os.readlink(str(link))
    meant = os.path.normpath(os.path.join(str(link.parent), target))
    if meant != str(top) and not meant.startswith(str(top) + os.sep):
        return meant
    return os.path.relpath(meant, str(link.parent)) if os.path.isabs(target) else target


def _entries(top: pathlib.Path) -> Iterator[Tuple[str, pathlib.Path]]:
    """Names and paths in one order, directories before what is in them."""
    rules = IgnoreRules(LEFT_OUT + _own_rules(top))
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        below = []
        for path in sorted((top / prefix).iterdir()):
            name = prefix + path.name
            is_directory = path.is_dir() and not path.is_symlink()
            if rules.ignores(name, is_directory) or is_directory and _has_state(path):
                continue
            if not (is_directory or path.is_symlink() or path.is_file()):
                continue
            yield name, path
            if is_directory:
                below.append(name + "/")
        waiting += reversed(below)


def _own_rules(top: pathlib.Path) -> str:
    for name in IGNORE_FILES:
        file = top / name
        if file.is_file():
            return file.read_text(encoding="utf-8")
    return ""


def _has_state(directory: pathlib.Path) -> bool:
    """The state of a daemon, a worker or a run would put every trial into every trial."""
    def has(name: str) -> bool:
        return (directory / name).exists()
    return has("lock") and (has("worker.json") or has("events.db")) or has("run.json") and has("worker")


def copy_context(context: Optional[pathlib.Path], directory: pathlib.Path) -> None:
    """Makes the directory of the trials' context, with a copy of what `context` has."""
    if context is None:
        directory.mkdir(parents=True)
    else:
        shutil.copytree(str(context), str(directory), symlinks=True, ignore=shutil.ignore_patterns(*_NOT_COPIED))


def changed_files(context: pathlib.Path, copy: pathlib.Path) -> List[str]:
    """Files of a context that the copy, which copy_context() made, has with another content or not at all."""
    found: List[str] = []
    for place, directories, files in os.walk(str(context)):
        directories[:] = sorted(name for name in directories if name not in _NOT_COPIED)
        for name in sorted(files):
            path = pathlib.Path(place, name)
            inside = path.relative_to(context)
            if path.is_file() and not ((copy / inside).is_file() and filecmp.cmp(str(path), str(copy / inside), shallow=False)):
                found.append(str(inside))
    return found


_NOT_COPIED = (".git", "__pycache__", ".hpsearch", ".venv", "venv", "node_modules")
