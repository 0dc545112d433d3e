"""Reads which steps an offline run of W&B has: a log of records in the format of LevelDB, after seven bytes."""

from __future__ import annotations

import importlib
import struct
from typing import Iterator, Set

_BLOCK = 32768
_START = 7  # ":W&B", a magic number and a version.
_HEADER = struct.Struct("<IHB")  # Checksum, length, kind.
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4


def steps_in(path: str) -> Set[int]:
    """Up to where the file is whole: one that was being written when its program was killed ends anywhere."""
    messages = importlib.import_module("wandb.proto.wandb_internal_pb2")
    with open(path, "rb") as file:
        content = file.read()
    steps: Set[int] = set()
    if not content.startswith(b":W&B"):
        return steps
    for text in _records(content):
        record = messages.Record()
        try:
            record.ParseFromString(text)
        except Exception:  # noqa: B902 - protobuf's own exception, of whichever protobuf there is.
            break
        if record.WhichOneof("record_type") == "history":
            steps.add(int(record.history.step.num))
    return steps


def _records(content: bytes) -> Iterator[bytes]:
    position = _START
    parts = b""
    while position + _HEADER.size <= len(content):
        left = _BLOCK - position % _BLOCK
        if left < _HEADER.size:
            position += left
            continue
        _, length, kind = _HEADER.unpack_from(content, position)
        position += _HEADER.size
        if kind not in (_FULL, _FIRST, _MIDDLE, _LAST) or position + length > len(content):
            return
        piece = content[position:position + length]
        position += length
        parts = piece if kind in (_FULL, _FIRST) else parts + piece
        if kind in (_FULL, _LAST):
            yield parts
