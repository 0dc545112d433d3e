"""What goes wrong outside a trial, as exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Type

if TYPE_CHECKING:
    from ._client.experiment import Experiment


class ProblemItem(NamedTuple):
    """One mistake in what was sent."""

    path: str  #: The field's path, as "searcher.max_trials"; "" if there is none.
    what: str  #: What is wrong, as "is 0".
    allowed: str  #: What is allowed; "" if unknown.
    line: Optional[int]  #: In the text of the file; None if it was not a text.

    def __str__(self) -> str:
        where = "line {}: ".format(self.line) if self.line else ""
        said = where + " ".join(part for part in (self.path, self.what) if part)
        return "{}; allowed: {}".format(said, self.allowed) if self.allowed else said


class Problem(Exception):
    """The daemon refused a request, or it could not be sent. Its subclasses say which kind of problem it is."""

    def __init__(self, detail: str, *, status: int = 0, type: str = "", instance: str = "",
                 problems: Optional[List[ProblemItem]] = None) -> None:
        super().__init__(detail)
        self.detail = detail  #: One sentence.
        self.status = status  #: The HTTP status; 0 if no answer came.
        self.type = type  #: As "https://hpsearch.invalid/problems/bad_request".
        self.instance = instance  #: The request's id, as in the daemon's log.
        self.problems: List[ProblemItem] = problems or []  #: Every mistake in what was sent.

    def __str__(self) -> str:
        return "\n".join([self.detail] + ["  " + str(item) for item in self.problems])

    def __reduce__(self) -> Any:
        return _again, (type(self), self.detail, self.status, self.type, self.instance, self.problems)


def _again(kind: Type[Problem], detail: str, status: int, type: str, instance: str,
           problems: List[ProblemItem]) -> Problem:
    return kind(detail, status=status, type=type, instance=instance, problems=problems)


class BadRequest(Problem, ValueError):
    """What was sent is wrong; `problems` lists every mistake."""


class NotFound(Problem, LookupError):
    """There is no such experiment, trial, worker or file."""


class WrongState(Problem):
    """It is in a state that does not allow this."""


class Conflict(Problem):
    """The key of this request was used for another one."""


class AccessDenied(Problem, PermissionError):
    """The token is missing or wrong, or its role does not allow this."""


class Unreachable(Problem, ConnectionError):
    """No daemon answers at the address, or it cannot answer now."""


class IncompatibleDaemon(Problem):
    """The daemon's version and this package's do not understand each other."""


class ExperimentFailed(Exception):
    """An experiment ended without a result, or paused itself."""

    def __init__(self, message: str, *, experiment: "Optional[Experiment]" = None, reason: str = "",
                 notes: Optional[List[str]] = None) -> None:
        super().__init__(message)
        self.experiment = experiment  #: The experiment, with the results that it has. None: it has not begun, or in a copy.
        self.reason = reason  #: Why; "" if unknown.
        self.notes: List[str] = notes or []  #: What it noted, and tune() has not printed.

    def __str__(self) -> str:
        return "\n".join([str(self.args[0])] + ["  note: " + note for note in self.notes])

    def __reduce__(self) -> Any:
        return _again_failed, (type(self), self.args[0], self.reason, self.notes)  # An experiment has a connection.


def _again_failed(kind: "Type[ExperimentFailed]", message: str, reason: str, notes: List[str]) -> "ExperimentFailed":
    return kind(message, reason=reason, notes=notes)


class ExperimentCanceled(ExperimentFailed):
    """An experiment was canceled."""


_BY_TYPE: Dict[str, Type[Problem]] = {
    "bad_request": BadRequest, "not_found": NotFound, "wrong_state": WrongState, "conflict": Conflict,
    "version_mismatch": IncompatibleDaemon,
}
_BY_STATUS: Dict[int, Type[Problem]] = {400: BadRequest, 401: AccessDenied, 403: AccessDenied, 404: NotFound,
                                        409: WrongState, 412: WrongState, 413: BadRequest, 415: BadRequest,
                                        422: Conflict, 503: Unreachable}


def items_of(listed: Any) -> List[ProblemItem]:
    """The mistakes in an answer of the daemon."""
    out = []
    for item in listed if isinstance(listed, list) else []:
        path = item.get("path") or item.get("parameter") or ""
        out.append(ProblemItem(str(path), str(item.get("detail") or item.get("what") or ""),
                               str(item.get("allowed") or ""), item.get("line")))
    return out


def problem_of(status: int, answer: Any, address: str) -> Problem:
    """The exception for an answer that is a failure."""
    fields: Mapping[str, Any] = answer if isinstance(answer, Mapping) else {}
    kind = str(fields.get("type") or "")
    of_status = _BY_STATUS.get(status, Problem)
    found = of_status if status in (401, 403) else _BY_TYPE.get(kind.rpartition("/")[2], of_status)
    detail = str(fields.get("detail") or "{} answered with status {}".format(address, status))
    if status == 401:
        detail += "; give the token with token_file=, HPSEARCH_TOKEN_FILE or hpsearch context add"
    return found(detail, status=status, type=kind, instance=str(fields.get("instance") or ""),
                 problems=items_of(fields.get("errors")))
