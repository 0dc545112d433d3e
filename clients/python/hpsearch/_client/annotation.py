"""What users write about experiments and trials: a note, labels, a star."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

from .transport import Transport


class Annotation:
    """What users wrote about an experiment or a trial."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self.note: str = str(answer.get("note") or "")  #: Any text; "" if there is none.
        self.labels: Tuple[str, ...] = tuple(answer.get("labels") or ())  #: Its labels.
        self.starred: bool = bool(answer.get("starred"))  #: Whether it has a star.

    def __repr__(self) -> str:
        return "Annotation(note={!r}, labels={!r}, starred={!r})".format(self.note, self.labels, self.starred)


def annotate(transport: Transport, path: str, note: Optional[str], labels: Optional[Sequence[str]],
             starred: Optional[bool]) -> Annotation:
    """Changes what is not None. BadRequest: the note or a label is too long."""
    if isinstance(labels, str):
        raise TypeError("labels is {!r}; it must be a list of texts".format(labels))
    given = (("note", note), ("labels", None if labels is None else list(labels)), ("starred", starred))
    body: Dict[str, Any] = {name: value for name, value in given if value is not None}
    return Annotation(transport.ask("PATCH", path + "/annotation", body=body).json())
