"""Pickles whose large parts lie in files of their own, once each: buffers of arrays, tables and tensors, bytes, whole pickles.

A file is named after the digest of its content, so many pickles and many searches share it. Readers map buffers privately: what
a trial changes in place is its own, and memory is needed for the pages that it changes.
"""

from __future__ import annotations

import functools
import hashlib
import io
import mmap
import os
import pathlib
import pickle
import sys
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional

LARGE = 1 << 20  # Bytes. Larger parts lie in files of their own.


class Stored(NamedTuple):
    """A pickle: its bytes, or the name of the file with them; and the files of its buffers, in the order of the pickle."""

    content: bytes
    file: Optional[str]
    buffers: List[str]


class LargeParts:
    """Parts on their way into files. They belong to the pickled values until write()."""

    def __init__(self) -> None:
        self._parts: Dict[str, Any] = {}

    def pickled(self, value: Any, pickler: Any = pickle.Pickler) -> Stored:
        """`pickler` is a class of picklers. Raises what pickling raises."""
        out = io.BytesIO()
        buffers: List[str] = []

        def is_small(buffer: pickle.PickleBuffer) -> bool:
            raw = buffer.raw()
            if raw.nbytes <= LARGE:
                return True
            buffers.append(self._add(raw))
            return False

        made = _class_with_parts(pickler)(out, protocol=5, buffer_callback=is_small)
        made.add = self._add
        made.dump(value)
        content = out.getvalue()
        if len(content) <= LARGE:
            return Stored(content, None, buffers)
        return Stored(b"", self._add(content), buffers)

    def write(self, directory: pathlib.Path) -> None:
        """Writes the files that are not there yet."""
        for name, content in self._parts.items():
            directory.mkdir(parents=True, exist_ok=True)
            if not (directory / name).exists():
                part = directory / "{}.part{}".format(name, os.getpid())
                part.write_bytes(content)
                os.replace(str(part), str(directory / name))

    def _add(self, content: Any) -> str:
        name = hashlib.sha256(content).hexdigest() + ".bin"
        self._parts[name] = content
        return name


@functools.lru_cache(maxsize=None)
def _class_with_parts(pickler: Any) -> Any:
    # Classes are cycles of references: one for each pickle would keep its buffers until they are collected as garbage, and Python
    # crashes where it collects a memoryview that has views.
    return type("Pickler", (_WithParts, pickler), {})


class _WithParts:
    """What a pickler does with values that have large parts. Mixed into a pickler of Python or of cloudpickle."""

    add: Callable[[Any], str]

    def persistent_id(self, value: Any) -> Any:
        if type(value) in (bytes, bytearray) and len(value) > LARGE:
            return type(value).__name__, self.add(value)
        return None

    def reducer_override(self, value: Any) -> Any:
        parts = reduced(value)
        inherited = getattr(super(), "reducer_override", None)
        return inherited(value) if parts is NotImplemented and inherited is not None else parts


def reduced(value: Any) -> Any:
    """How pickle takes apart a value with large buffers; NotImplemented for others."""
    kind = type(value)
    if kind is memoryview:
        whole = value if value.contiguous else memoryview(value.tobytes()).cast("B").cast(value.format, value.shape)
        return _view, (pickle.PickleBuffer(whole), value.format, value.shape)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and kind in (numpy.ndarray, numpy.memmap) and value.nbytes > LARGE and not value.dtype.hasobject:
        return _as_buffer(numpy, value).__reduce_ex__(5)
    if torch is not None and _is_plain_tensor(torch, value):
        flat = value.detach().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8).numpy()
        return _tensor, (pickle.PickleBuffer(flat), str(value.dtype)[len("torch."):], tuple(value.shape), value.requires_grad)
    return NotImplemented


def _as_buffer(numpy: Any, value: Any) -> Any:
    """As an array that pickle hands out as one buffer: parts of arrays have gaps, and a mapped file is not pickled so."""
    plain = value.view(numpy.ndarray)
    return plain if plain.flags.c_contiguous or plain.flags.f_contiguous else numpy.ascontiguousarray(plain)


def _is_plain_tensor(torch: Any, value: Any) -> bool:
    return (type(value) is getattr(torch, "Tensor", None) and value.device.type == "cpu" and value.layout is torch.strided
            and value.is_leaf and value.numel() * value.element_size() > LARGE and not vars(value))


def _view(buffer: Any, format: Any, shape: Any) -> Any:
    return memoryview(buffer).cast("B").cast(format, shape)


def _tensor(buffer: Any, kind: str, shape: Any, requires_grad: bool) -> Any:
    import torch
    return torch.frombuffer(buffer, dtype=getattr(torch, kind)).reshape(shape).requires_grad_(requires_grad)


class StoredFiles:
    """The files that LargeParts wrote, in one of several directories."""

    def __init__(self, directories: List[pathlib.Path]) -> None:
        self._directories = directories

    def content_of(self, stored: Stored) -> bytes:
        """The bytes of a pickle."""
        return stored.content if stored.file is None else self._place(stored.file).read_bytes()

    def buffers_of(self, stored: Stored) -> List[Any]:
        """Mapped: changes are this process's own."""
        return [self._mapped(name) for name in stored.buffers]

    def part(self, identity: Any) -> Any:
        """A value that persistent_id() took out of a pickle."""
        kind, name = identity
        content = self._place(name).read_bytes()
        return bytearray(content) if kind == "bytearray" else content

    def _place(self, name: str) -> pathlib.Path:
        places = [directory / name for directory in self._directories]
        return next((place for place in places if place.exists()), places[0])

    def _mapped(self, name: str) -> Any:
        with open(str(self._place(name)), "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)


def as_record(stored: Stored) -> Dict[str, Any]:
    """Without its bytes, which lie in a file of the same name."""
    return {"file": stored.file, "buffers": stored.buffers}


def from_record(record: Mapping[str, Any], place: pathlib.Path) -> Stored:
    """`place` has the bytes of a small pickle."""
    return Stored(b"" if record["file"] else place.read_bytes(), record["file"], list(record["buffers"]))
