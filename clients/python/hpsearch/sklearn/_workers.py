"""Where fits run: in this process, in its threads, in joblib's processes, or wherever another joblib backend puts them."""

# pyright: reportAttributeAccessIssue=false
# Pyright also looks for a library in this directory, and takes this package or module for the one of its name.

from __future__ import annotations

import concurrent.futures
import os
import shutil
import tempfile
from typing import Any, Callable, Dict, List, Optional, Protocol, Tuple

import joblib
from joblib.parallel import get_active_backend

from ._joblib import cloudpickle, get_reusable_executor


class Result(Protocol):
    """What a fit will return."""

    def result(self) -> Any:
        """Waits for it."""


class Workers(Protocol):
    """Calls run(shared, *arguments) for each submit(*arguments); a context that ends with all calls ended."""

    apart: bool  # In other processes: models come and go as bytes.

    def submit(self, *arguments: Any) -> Result:
        """Hands over a call."""
        ...

    def __enter__(self) -> Any:
        """Begins."""

    def __exit__(self, kind: Any, /, *rest: Any) -> None:
        """Ends; after an exception, without the calls that didn't begin."""


Run = Callable[..., Any]


class _Later:
    """A call that runs when its result is asked for, with all that were submitted until then."""

    def __init__(self, waves: "_Waves", arguments: Tuple[Any, ...]) -> None:
        self.arguments = arguments
        self.value: Optional[Tuple[Any]] = None
        self._waves = waves

    def result(self) -> Any:
        if self.value is None:
            self._waves.run(self)
        assert self.value is not None
        return self.value[0]


class _Waves:
    """n_jobs=1: one call at a time, in this process. Otherwise by joblib.Parallel, all waiting calls at once: backends of
    clusters have no other door."""

    def __init__(self, run: Run, shared: Any, jobs: int) -> None:
        self.apart = jobs > 1
        self._run = run
        self._shared = shared
        self._jobs = jobs
        self._waiting: List[_Later] = []

    def submit(self, *arguments: Any) -> Result:
        later = _Later(self, arguments)
        self._waiting.append(later)
        return later

    def run(self, wanted: _Later) -> None:
        calls = [wanted] if self._jobs == 1 else list(self._waiting)
        if self._jobs == 1:
            values = [self._run(self._shared, *wanted.arguments)]
        else:
            values = joblib.Parallel(n_jobs=self._jobs)(joblib.delayed(self._run)(self._shared, *call.arguments) for call in calls)
        for call, value in zip(calls, values):
            call.value = (value,)
            self._waiting.remove(call)

    def __enter__(self) -> "_Waves":
        return self

    def __exit__(self, *_: Any) -> None:
        self._waiting.clear()


class _Threads:
    apart = False

    def __init__(self, run: Run, shared: Any, jobs: int) -> None:
        self._run = run
        self._shared = shared
        self._pool = concurrent.futures.ThreadPoolExecutor(jobs)
        self._out: List["concurrent.futures.Future[Any]"] = []

    def submit(self, *arguments: Any) -> Result:
        self._out.append(self._pool.submit(self._run, self._shared, *arguments))
        return self._out[-1]

    def __enter__(self) -> "_Threads":
        return self

    def __exit__(self, *_: Any) -> None:
        for each in self._out:
            each.cancel()
        self._pool.shutdown()


class _Processes:
    """joblib's own processes (loky). What all calls share goes through one file, whose arrays the processes map."""

    apart = True

    def __init__(self, run: Run, shared: Any, jobs: int) -> None:
        self._run = run
        self._folder = tempfile.mkdtemp(prefix="hpsearch-", dir=os.environ.get("JOBLIB_TEMP_FOLDER"))
        self._file = os.path.join(self._folder, "shared")
        arrays, rest = shared.divided()
        # Classes and functions of a notebook travel by cloudpickle only; arrays are mapped by joblib only.
        joblib.dump({"arrays": arrays, "rest": cloudpickle.dumps(rest)}, self._file)
        threads = str(max(joblib.cpu_count() // jobs, 1))
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
        environment = {name: os.environ.get(name, threads) for name in names}
        self._pool = get_reusable_executor(max_workers=jobs, timeout=300, env=environment)
        self._out: List[Any] = []

    def submit(self, *arguments: Any) -> Result:
        future: Result = self._pool.submit(_in_process, self._run, self._file, *arguments)
        self._out.append(future)
        return future

    def __enter__(self) -> "_Processes":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is not None and issubclass(kind, Exception):
            # Fits that run end by themselves; the processes serve the next search.
            for each in self._out:
                each.cancel()
        elif kind is not None:
            self._pool.shutdown(kill_workers=True)
        shutil.rmtree(self._folder, ignore_errors=True)


# What this process opened last; a search has one file.
_opened: Dict[str, Any] = {}


def _in_process(run: Run, file: str, *arguments: Any) -> Any:
    if file not in _opened:
        _opened.clear()
        parts = joblib.load(file, mmap_mode="r")
        _opened[file] = cloudpickle.loads(parts["rest"]).joined(parts["arrays"])
    return run(_opened[file], *arguments)


def workers(run: Run, shared: Any, n_jobs: Optional[int]) -> Workers:
    """The workers for n_jobs, as joblib counts it, and joblib's backend of now."""
    jobs = joblib.effective_n_jobs(n_jobs)
    backend = type(get_active_backend()[0]).__name__
    if jobs > 1 and backend == "LokyBackend":
        return _Processes(run, shared, jobs)
    if jobs > 1 and backend == "ThreadingBackend":
        return _Threads(run, shared, jobs)
    return _Waves(run, shared, jobs)
