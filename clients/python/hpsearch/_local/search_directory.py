"""A search of this machine with a directory of its own: begun, continued, and read after its end.

The directory has search.json (what the search is), experiment.json, context/, arguments/, and search/, which is the state
directory of the `hpsearch run` that runs it. That process is in a session of its own: it outlives the one that started it.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pathlib
import secrets
import shutil
import subprocess
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Set

from .._client.address import Address, is_alive, parse_address, running_daemon
from .._functions.confirmation import Confirmation
from .._client.context import changed_files, copy_context
from .._client.experiment import Experiment
from .._functions.function_file import FunctionFile
from .guard import end_of, has_files_of_nodes
from .local import Guard, check_platform, checked_name, environment, make_private, process_with_lock, state_home
from .old_searches import remove_directory, remove_old_searches
from .places import LAST_SUMMARY, Place
from .search_record import LIMITS, differences, note_other_fields, other_fields, parts_of
from .._problems import BadRequest, ExperimentFailed, NotFound, Unreachable, WrongState, items_of
from .programs import programs
from .._functions.snapshot import Snapshot
from .._client.transport import Answer, Query, Transport

_PATIENCE = 90.0  # Seconds, for a daemon to answer.
_MOST_MISTAKES = 100  # Lines of a refusal.
_MOST_EXPERIMENTS = 500


class SearchDirectory:
    """The directory of a named search."""

    def __init__(self, name: str, context: Optional[pathlib.Path] = None) -> None:
        """`context` is the context directory; without, a copy in the directory is."""
        check_platform("hpsearch.tune(on=\"local\")")
        self.name = name
        self.path = state_home() / checked_name(name)
        self.context = context or self.path / "context"
        self.run_state = self.path / "search"
        self._descriptor = -1  # The descriptor of the lock.
        self.is_new = False  #: Whether start() began the search.

    @classmethod
    def of_place(cls, place: Place) -> "SearchDirectory":
        """Of a search that exists, to read or to remove it."""
        made = cls(place.whole.name)
        made.name, made.path, made.run_state, made.context = place.name, place.whole, place.state, place.whole / "context"
        return made

    def start(self, config: Dict[str, Any], written: FunctionFile, context: Optional[pathlib.Path], resume: str,
              words: List[str], named: bool, confirmation: Confirmation) -> Experiment:
        """Begins the search, or goes on with it, and returns its experiment when there is one. `words` are options of
        `hpsearch run`, and `named` is whether the caller gave its name.

        The name belongs to this process until release(). WrongState: to another process now. ValueError: it is another
        search. TypeError: a value has no form by which a later call with the name could know it.
        """
        where = programs()
        self._check_resume(resume)
        _opened.add(self.path)
        remove_old_searches(set(_opened))
        make_private(self.path)
        self._descriptor = self._lock()
        try:
            config = self._recorded(config, written, context, named, confirmation)
            runs_already = self._runner() is not None
            experiment = self._running(where, words)
            limits = {limit: config["searcher"][limit] for limit in LIMITS if limit in config["searcher"]}
            present = experiment.config["searcher"]
            if all(present.get(limit) == value for limit, value in limits.items()):
                return experiment
            if not experiment.now().ended:
                experiment.set(**limits)
            elif runs_already:  # It was about to end, and has not read the new limits.
                self.await_end()
                experiment = self._running(where, words)
            return experiment
        except BaseException as error:
            try:
                if not named and not (self.path / "search.json").exists():
                    shutil.rmtree(str(self.path), ignore_errors=True)  # It was not begun.
                elif isinstance(error, KeyboardInterrupt) and not named:
                    self.end_runner()  # Nothing returns to it.
            finally:
                self.release()
            raise

    def run_file(self, adapt: Callable[[Optional[Dict[str, Any]]], Dict[str, Any]], words: List[str], again: bool) -> Experiment:
        """Runs an experiment, or goes on with it. `adapt` gets the one that is stored, if there is one, and returns the one to run;
        `again` is whether one that has ended begins again. Else as start()."""
        where = programs()
        make_private(self.path)
        self._descriptor = self._lock()
        try:
            record = self.path / "experiment.json"
            known = json.loads(record.read_text(encoding="utf-8")) if record.exists() else None
            has_store = (self.run_state / "daemon" / "events.db").exists()
            anew = known is not None and has_store and again and self._experiment(SearchTransport(self)).now().ended
            _write(record, json.dumps(adapt(None if anew else known), indent=1))
            return self._running(where, (["--fresh"] if anew else []) + words)
        except BaseException:
            self.release()
            raise

    def experiments(self) -> List[Snapshot]:
        """All experiments: one, except of hpsearch.local(). NotFound: there is none yet."""
        found = [Snapshot(one) for one in SearchTransport(self).get("/api/v1/experiments", {"limit": _MOST_EXPERIMENTS})["experiments"]]
        if not found:
            raise NotFound("the search {!r} has no experiment yet".format(self.name))
        return found

    def opened(self, number: Optional[int] = None) -> Experiment:
        """Its experiment, running or ended. NotFound: there is none. ValueError: there are several, and no number is given."""
        _opened.add(self.path)
        known = {one.id: one for one in self.experiments()}
        if number is None and len(known) > 1:
            raise ValueError("the search {!r} has several experiments; give one of these numbers: {}".format(
                self.name, ", ".join("{} ({})".format(one.id, one.name) for one in known.values())))
        if number is not None and number not in known:
            raise NotFound("the search {!r} has no experiment {}; it has {}".format(self.name, number, ", ".join(map(str, known))))
        return LocalExperiment(SearchTransport(self), next(iter(known)) if number is None else number, self)

    def delete(self) -> None:
        """Removes the search and all that belongs to it. WrongState: it runs, or another process reads it or waits for it."""
        reader = _readers.pop(str(self.run_state), None)
        if reader is not None:
            reader.end()
        self._descriptor = self._lock()
        try:
            for process in (self._runner(), self._holder()):
                if process is not None:
                    raise WrongState("process {} uses the search {!r}; end it first, as by .cancel()".format(process or "?", self.name))
            remove_directory(self.path)
        finally:
            self.release()

    def release(self) -> None:
        """Others may use the name."""
        if self._descriptor >= 0:
            import fcntl
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)  # A forked process may have the descriptor too.
            os.close(self._descriptor)
        self._descriptor = -1

    # --- beginning ---

    def _check_resume(self, resume: str) -> None:
        exists = (self.path / "search.json").exists()
        if resume == "never" and exists:
            raise ValueError('the search {!r} exists, in {}; give another name, or resume="auto"'.format(self.name, self.path))
        if resume == "require" and not exists:
            raise ValueError("there is no search {!r} in {}".format(self.name, self.path.parent))

    def _lock(self) -> int:
        import fcntl  # Not on Windows, where the rest of the package works.
        descriptor = os.open(str(self.path / "tune.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise WrongState("process {} waits for the search {!r}; give another name, or end that process (the search goes on)".format(
                holder or "?", self.name)) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, "{}\n".format(os.getpid()).encode(), 0)
        return descriptor

    def _recorded(self, config: Dict[str, Any], written: FunctionFile, context: Optional[pathlib.Path],
                  named: bool, confirmation: Confirmation) -> Dict[str, Any]:
        """The experiment as it is stored, after comparing it with the one that was begun."""
        record = self.path / "search.json"
        parts = parts_of(config, written, named)
        if record.exists():
            known = json.loads(record.read_text(encoding="utf-8"))
            changed = differences(known["parts"], parts)
            if changed:
                raise ValueError("the search {!r} was begun with another {}; give it another name, or remove {}".format(
                    self.name, ", ".join(changed), self.path))
            self._note_changed_context(context)
            old: Dict[str, Any] = json.loads((self.path / "experiment.json").read_text(encoding="utf-8"))
            note_other_fields(self.name, other_fields(old), other_fields(config))
            for limit in LIMITS:
                if limit in config["searcher"]:
                    old["searcher"][limit] = config["searcher"][limit]
            config = old
        else:
            self.is_new = True
            config.setdefault("reproducibility", {"experiment_seed": secrets.randbelow(2 ** 31)})
            self._write_context(written, context)
        _write(self.path / "experiment.json", json.dumps(config, indent=1))
        if self.is_new:
            confirmation.confirm(self._validation())
        _write(record, json.dumps({"parts": parts, "named": named}, indent=1))
        return config

    def _note_changed_context(self, context: Optional[pathlib.Path]) -> None:
        """Programs write results beside their code, so other files are no other search."""
        changed = [] if context is None else changed_files(context, self.path / "context")
        if changed:
            print("hpsearch: the search {!r} goes on with the files that {} had when it was begun; by now {} differ: {}. To use these, "
                  "give the search another name".format(self.name, context, len(changed), ", ".join(changed[:3]) + (
                      ", …" if len(changed) > 3 else "")), file=sys.stderr, flush=True)

    def _write_context(self, written: FunctionFile, context: Optional[pathlib.Path]) -> None:
        place = self.path / "context"
        shutil.rmtree(str(place), ignore_errors=True)  # A killed start left it.
        copy_context(context, place)
        written.write(place, self.path / "arguments")

    def _validation(self) -> Dict[str, Any]:
        """The daemons that the user's settings name have no part in it. BadRequest: the experiment is refused."""
        own = {name: value for name, value in environment().items() if name != "HPSEARCH_SERVER"}
        own["XDG_CONFIG_HOME"] = str(self.path)
        done = subprocess.run([str(programs() / "hpsearch"), "validate", "--output", "json", str(self.path / "experiment.json")],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=own, cwd=str(self.path))
        try:
            validation: Dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            return {}  # `hpsearch run` reports what is wrong.
        error = validation.get("error")
        if error is not None:
            raise BadRequest(str(error.get("message")), problems=items_of(error.get("problems")))
        return validation

    def _running(self, where: pathlib.Path, words: List[str]) -> Experiment:
        """The experiment, with a process that runs it."""
        if self._runner() is None:
            self._end_reader()
            self._run(where, words)
        return self._experiment(SearchTransport(self))

    def _run(self, where: pathlib.Path, words: List[str]) -> None:
        command = [str(where / "hpsearch"), "run", str(self.path / "experiment.json"), str(self.context),
                 "--state-dir", str(self.run_state), "--context-limit", "1000000"]
        with open(str(self.path / "run.log"), "wb") as log:
            self.runner: Any = subprocess.Popen(command + words, stdin=subprocess.DEVNULL,
                                                stdout=log, stderr=log, env=environment(), start_new_session=True,
                                                cwd=str(self.path))

    def _experiment(self, transport: "SearchTransport") -> Experiment:
        deadline = time.monotonic() + _PATIENCE
        while True:
            found: List[Mapping[str, Any]] = transport.get("/api/v1/experiments")["experiments"]
            if found:
                return LocalExperiment(transport, int(found[0]["id"]), self)
            runner = getattr(self, "runner", None)
            if (runner is not None and runner.poll() is not None) or time.monotonic() > deadline:
                raise self._refusal()
            time.sleep(0.02)

    def _refusal(self) -> Exception:
        """Why `hpsearch run` did not begin."""
        log = self.path / "run.log"
        runner = getattr(self, "runner", None)
        wrong = runner is not None and runner.poll() == 2
        if wrong:
            if self.is_new:  # The next call with this name may correct the mistake.
                (self.path / "search.json").unlink()
            return BadRequest("the search {!r} was refused:\n{}".format(self.name, end_of(log, _MOST_MISTAKES)))
        return ExperimentFailed("the search {!r} did not begin; the end of its log:\n{}".format(self.name, end_of(log)))

    # --- who has it ---

    def is_running(self) -> bool:
        """Whether a process runs it: `hpsearch run`, or one that called hpsearch.local()."""
        if self._runner() is not None:
            return True
        return (self.run_state == self.path and not (self.path / "run.json").exists() and str(self.run_state) not in _readers
                and self._holder() is not None)

    def end_runner(self) -> None:
        """Ends `hpsearch run`, and waits for it; what it ran is paused."""
        process = self._runner()
        runner = getattr(self, "runner", None)
        if process:
            os.kill(process, 15)
        elif runner is not None and runner.poll() is None:  # It has not taken its lock yet.
            runner.terminate()
            runner.wait(_PATIENCE)
        self.await_end()

    def await_end(self) -> None:
        """Waits until `hpsearch run`, which ends with its search, has ended its daemon and its worker, and itself."""
        deadline = time.monotonic() + _PATIENCE
        while self._runner() is not None and time.monotonic() < deadline:
            time.sleep(0.01)

    def _runner(self) -> Optional[int]:
        """The process of `hpsearch run`, if it runs."""
        runner = getattr(self, "runner", None)
        if runner is not None:
            runner.poll()  # Else it stays a zombie.
        return process_with_lock(self.run_state / "run.lock")

    def _end_reader(self) -> None:
        """A daemon that only reads, of this or another process, makes room for the search."""
        process = self._holder()
        if not process:
            return
        guard = _readers.pop(str(self.run_state), None)
        if guard is not None:
            guard.end()
            return
        os.kill(process, 15)
        deadline = time.monotonic() + 20
        while is_alive(process) and time.monotonic() < deadline:
            time.sleep(0.02)

    def find_daemon(self) -> Address:
        """The daemon of the search; one that only reads, where the search has ended. Unreachable: there is none."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            running = self._runner() is not None
            found = running_daemon(self.run_state / "daemon")
            guard = _readers.get(str(self.run_state))
            if found is not None and (running or guard is not None and guard.is_alive()):
                return found
            if not running:
                runner = getattr(self, "runner", None)
                if runner is not None and runner.poll() is None:
                    pass  # It has not taken its lock yet.
                elif (self.run_state / "daemon" / "events.db").exists():
                    try:
                        reader = self._read()
                    except Unreachable:
                        if self._runner() is None and self._holder() is None:  # Else another process was faster.
                            raise
                    else:
                        if reader is not None:
                            return reader
                else:
                    raise self._refusal()
            if time.monotonic() > deadline:
                raise Unreachable("the daemon of the search {!r} does not answer; see {}".format(
                    self.name, self.path / "run.log"))
            time.sleep(0.01)

    def _holder(self) -> Optional[int]:
        """The process of a daemon that has the state of the search, if there is one; it may be starting or ending."""
        return process_with_lock(self.run_state / "daemon" / "lock")

    def _read(self) -> Optional[Address]:
        """Of a daemon that only reads. None: another one starts or ends just now."""
        key = str(self.run_state)
        guard = _readers.pop(key, None)
        if guard is not None:
            guard.end()
        if self._holder() is not None:
            return running_daemon(self.run_state / "daemon")  # A reader of another process.
        _readers[key] = Guard(self.run_state, worker=False)
        return parse_address(_readers[key].address)


class SearchTransport(Transport):
    """Requests to the daemon of a search. When it ended with the search, another one is started that only reads."""

    def __init__(self, directory: SearchDirectory) -> None:
        self._directory = directory
        super().__init__(directory.find_daemon(), "", 30.0, 60.0)
        if not has_files_of_nodes(directory.run_state):
            self.state = directory.run_state

    def ask(self, method: str, path: str, query: Optional[Query] = None, body: Any = None, key: Optional[str] = None,
            accept: Optional[str] = None) -> Answer:
        if method not in ("GET", "HEAD"):
            with contextlib.suppress(OSError):  # It is not there while the search runs.
                (self._directory.run_state / LAST_SUMMARY).unlink()
        return super().ask(method, path, query, body, key, accept)

    def reopen(self) -> bool:
        self.close()
        self.address = self._directory.find_daemon()
        return True


class LocalExperiment(Experiment):
    """An experiment of this machine, which can also be read after its end. `directory` has all its state."""

    def __init__(self, transport: SearchTransport, number: int, directory: SearchDirectory) -> None:
        super().__init__(transport, number)
        self.directory = directory.path
        self._search = directory

    def watch(self) -> Iterator[Snapshot]:
        """As Experiment.watch(). ExperimentFailed: the process that runs the search has ended before the search."""
        for change in super().watch():
            yield change
            if not change.ended and not self._search.is_running():
                raise ExperimentFailed("the process that ran experiment {} ({}) has ended; the same call of tune() goes on "
                                       "with it. The end of its log:\n{}".format(
                                           change.id, change.name, end_of(self.directory / "run.log")), experiment=self)
        self._search.await_end()

    def wait(self, timeout: Optional[float] = None) -> "Experiment":
        """As Experiment.wait(). When it returns, the processes that ran the search have ended too."""
        super().wait(timeout)
        self._search.await_end()
        return self

    def _how_to_go_on(self) -> str:
        return ("hpsearch.open({0!r}) has its results. When the cause is outside of the function and its arguments, the same call with "
                "name={0!r} goes on; with a changed function it is another search".format(self.directory.name))

    def release(self) -> None:
        """Lets another process call tune() with the same name."""
        self._search.release()

    def delete(self) -> None:
        """Removes the search and all that belongs to it, with checkpoints, logs and files. Nothing is asked. WrongState: it runs,
        or another process reads it."""
        self._transport.close()
        self._search.delete()

    def end_runner(self) -> None:
        """Ends the process that runs it. The same call of tune() goes on with it."""
        self._search.end_runner()


# Directories of searches that this process began or opened: its experiments read them.
_opened: Set[pathlib.Path] = set()

# Daemons that only read, by state directory; they end with this process.
_readers: Dict[str, Guard] = {}


@atexit.register
def _end_readers() -> None:
    for guard in list(_readers.values()):
        guard.end()


def _write(path: pathlib.Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(str(part), str(path))

