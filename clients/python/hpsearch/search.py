"""The engine inside this process: a search without a daemon, files or threads.

    search = hpsearch.Search({"hyperparameters": {"x": {"type": "double", "minval": -10, "maxval": 10}},
                              "searcher": {"name": "adaptive_asha", "metric": "loss", "max_length": 27, "max_trials": 100}})
    while (work := search.ask()) is not None:
        for step in range(work.start + 1, work.length + 1):
            if search.report(work, step, train(work.params, step)) is not hpsearch.CONTINUE: break
    search.best.params

Decisions are those of the daemon for the same configuration and seed. It is the C library libhpsearch (hpsearch/search.h)
through ctypes; the wheel `hpsearch` and the build of a clone have it.
"""

from __future__ import annotations

import ctypes
import functools
import json
from typing import Any, Dict, List, Mapping, NoReturn, Optional, Union

from ._local.programs import LIBRARY, how_to_get_library, libraries
from ._trial import Directive

__all__ = ["Best", "Search", "SearchError", "Work"]

# json.loads would guess the encoding of bytes and skip blanks each time; the library's texts have none around them.
_read = json.JSONDecoder().raw_decode
_DIRECTIVES = {"continue": Directive.CONTINUE, "pause": Directive.PAUSE, "stop": Directive.STOP}


class SearchError(ValueError):
    """What the engine refused, in one sentence; `code` names the kind, `problems` each wrong field of a configuration
    ({"path", "what", "allowed"})."""

    def __init__(self, code: str, message: str, problems: List[Dict[str, Any]]) -> None:
        lines = [message, *(f"  {each['path']}: {each['what']}" + (f" (allowed: {each['allowed']})" if each.get("allowed") else "")
                            for each in problems)]
        super().__init__("\n".join(lines))
        self.code = code
        self.problems = problems


@functools.lru_cache(maxsize=256)  # A search has few lengths, and many reports.
def _decision(text: bytes) -> "tuple[Directive, int]":
    answer = json.loads(text)
    return _DIRECTIVES[answer["directive"]], answer["length"]


class Work:
    """A trial to train.

    trial: number, from 0. params: hyperparameters. start: units that it was trained already. length: units that it must
    have in all. seed: for its random numbers, 0 to 2^31 - 1, the same whenever the trial is given.
    """

    __slots__ = ("length", "params", "seed", "start", "trial")

    def __init__(self, text: Dict[str, Any]) -> None:
        self.trial: int = text["trial"]
        self.params: Dict[str, Any] = text["hparams"]
        self.start: int = text["from"]
        self.length: int = text["length"]
        self.seed: int = text["seed"]

    def __repr__(self) -> str:
        return f"Work(trial={self.trial}, params={self.params}, start={self.start}, length={self.length})"


class Best:
    """The best trial: `trial`, `params`, `metric`, and the `step` (units) at which it was measured."""

    __slots__ = ("metric", "params", "step", "trial")

    def __init__(self, text: Dict[str, Any]) -> None:
        self.trial: int = text["trial"]
        self.params: Dict[str, Any] = text["hparams"]
        self.metric: float = text["metric"]
        self.step: int = text["step"]

    def __repr__(self) -> str:
        return f"Best(trial={self.trial}, metric={self.metric}, step={self.step}, params={self.params})"


_library: Optional[ctypes.PyDLL] = None


def _load() -> ctypes.PyDLL:
    global _library
    if _library is None:
        tried = libraries()
        found = next((path for path in tried if path.exists()), None)
        try:
            # Calls take microseconds: they keep the interpreter's lock, which also makes callers take turns.
            library = ctypes.PyDLL(str(found or LIBRARY))
        except OSError as error:
            raise ImportError(
                f"{LIBRARY} isn't there; {how_to_get_library()}. HPSEARCH_LIBRARY names another one. "
                f"Tried: {', '.join(map(str, tried)) or 'nothing'}, the system's libraries ({error})") from None
        handle, number, text = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_char_p
        for name, result, arguments in (
                ("open", handle, [text, number]), ("load", handle, [text]), ("close", None, [handle]),
                ("error", text, [handle]), ("ask", text, [handle]), ("report", text, [handle, number, number, ctypes.c_double]),
                ("tell", text, [handle, number, text, text]), ("best", text, [handle]), ("state", text, [handle]),
                ("explain", text, [handle, number]), ("preview", text, [handle]), ("save", text, [handle])):
            function = getattr(library, f"hpsearch_{name}")
            function.restype = result
            function.argtypes = arguments
        _library = library
    return _library


class Search:
    """A search in this process.

    config: an experiment as the experiment file describes it; name and entrypoint may be missing. slots: how many pieces of
    work can be out at once. Raises SearchError for a wrong configuration, with every problem; ImportError without the
    library.

    Threads: callers take turns. Cost: O(log trials) a call (some 10 microseconds for ask and report together); state,
    explain and save O(trials).
    """

    def __init__(self, config: Mapping[str, Any], slots: int = 1) -> None:
        if slots < 1:
            raise ValueError(f"slots is {slots}; it must be at least 1")
        self._begin(_load().hpsearch_open(json.dumps(config).encode(), slots))

    @classmethod
    def load(cls, saved: Union[str, bytes]) -> "Search":
        """The search that save() wrote. Work that was out then is given again. Raises SearchError if it is not one."""
        search = cls.__new__(cls)
        search._begin(_load().hpsearch_load(saved.encode() if isinstance(saved, str) else saved))
        return search

    def _begin(self, handle: Optional[int]) -> None:
        self._library = _load()
        self._handle = handle
        if handle is None:
            raise MemoryError
        if self._library.hpsearch_error(handle) is not None:
            try:
                self._fail()
            finally:
                self.close()

    def _fail(self) -> NoReturn:
        error = json.loads(self._library.hpsearch_error(self._handle))["error"]
        raise SearchError(error["code"], error["message"], error.get("problems", []))

    def _value(self, text: Optional[bytes]) -> Any:
        if text is None:
            self._fail()
        return _read(str(text, "utf-8"))[0]

    def _open(self) -> int:
        if self._handle is None:
            raise ValueError("this search is closed")
        return self._handle

    def ask(self) -> Optional[Work]:
        """The next piece of work; None while all slots are out, and when the search is over (`finished`)."""
        text = self._value(self._library.hpsearch_ask(self._open()))
        return None if text is None else Work(text)

    def report(self, work: Union[Work, int], step: int, metric: float) -> Directive:
        """What the trial should do after it measured `metric` (NaN: it diverged) at `step` units in all: CONTINUE to
        `work.length`, which grows where a promoted trial goes on in place; PAUSE or STOP, which end this piece of work."""
        number = work if isinstance(work, int) else work.trial
        text = self._library.hpsearch_report(self._open(), number, step, metric)
        if text is None:
            self._fail()
        directive, length = _decision(text)
        if not isinstance(work, int):
            work.length = length
        return directive

    def tell(self, work: Union[Work, int], state: str, why: str = "") -> None:
        """A piece of work ends without its metric. state: "failed" (given again while max_restarts are left),
        "invalid_hyperparameters" (another configuration is drawn), "canceled" or "stopped"."""
        number = work if isinstance(work, int) else work.trial
        self._value(self._library.hpsearch_tell(self._open(), number, state.encode(), why.encode()))

    @property
    def best(self) -> Optional[Best]:
        """The best trial so far, or None."""
        text = self._value(self._library.hpsearch_best(self._open()))
        return None if text is None else Best(text)

    @property
    def finished(self) -> bool:
        """Whether the search is over."""
        return bool(self.state()["finished"])

    def state(self) -> Dict[str, Any]:
        """The search in figures: state, finished, progress (0 to 1), trials by state, best metric."""
        value: Dict[str, Any] = self._value(self._library.hpsearch_state(self._open()))
        return value

    def explain(self, trial: int) -> Dict[str, Any]:
        """Why a trial is where it is: `now` and `next` in words, `reason` with its figures."""
        value: Dict[str, Any] = self._value(self._library.hpsearch_explain(self._open(), trial))
        return value

    def preview(self) -> Dict[str, Any]:
        """What the search will cost: trials, brackets, lengths."""
        value: Dict[str, Any] = self._value(self._library.hpsearch_preview(self._open()))
        return value

    def save(self) -> str:
        """The search as text, one event on each line, for load()."""
        text = self._library.hpsearch_save(self._open())
        if text is None:
            self._fail()
        return str(text, "utf-8")

    def close(self) -> None:
        """Frees the search; it can't be used afterwards."""
        handle, self._handle = self._handle, None
        if handle is not None:
            self._library.hpsearch_close(handle)

    def __enter__(self) -> "Search":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()
