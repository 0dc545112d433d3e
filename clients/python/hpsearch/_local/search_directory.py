"""A search of this machine with a directory of its own: begun, continued, and read after its end.

The directory has search.json (what the search is), experiment.json, context/, arguments/, and search/, which is the state
directory of the `hpsearch run` that runs it. That process is in a session of its own: it outlives the one that started it.
"""

from __future__ import annotations

import atexit
import json
import os
import pathlib
import secrets
import shutil
import subprocess
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional

from .._client.address import Address, is_alive, parse_address, running_daemon
from .._functions.confirmation import Confirmation
from .._client.context import changed_files, copy_context
from .._client.experiment import Experiment
from .._functions.function_file import FunctionFile
from .guard import end_of
from .local import Guard, check_platform, checked_name, environment, make_private, process_with_lock, state_home
from .._problems import BadRequest, ExperimentFailed, Unreachable, WrongState
from .programs import programs
from .._functions.snapshot import Snapshot
from .._functions.stable_digest import NoStableForm
from .._client.transport import Transport

_PATIENCE = 90.0  # Seconds, for a daemon to answer.
_MOST_MISTAKES = 100  # Lines of a refusal.
# What may change while a search goes on.
_LIMITS = ("max_trials", "max_concurrent_trials")
# Fields of the experiment that name or begin it, or are refused where they differ.
_COMPARED = ("name", "entrypoint", "hyperparameters", "searcher")
_ARGUMENTS = {"reproducibility": "seed"}  # Arguments of tune() that have another name.


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
        self._is_new = False

    def start(self, config: Dict[str, Any], written: FunctionFile, context: Optional[pathlib.Path], resume: str,
              words: List[str], named: bool, confirmation: Confirmation) -> Experiment:
        """Begins the search, or goes on with it, and returns its experiment when there is one. `words` are options of
        `hpsearch run`, and `named` is whether the caller gave its name.

        The name belongs to this process until release(). WrongState: to another process now. ValueError: it is another
        search. TypeError: a value has no form by which a later call with the name could know it.
        """
        where = programs()
        self._check_resume(resume)
        make_private(self.path)
        self._descriptor = self._lock()
        try:
            config = self._recorded(config, written, context, named, confirmation)
            runs_already = self._runner() is not None
            experiment = self._running(where, words)
            limits = {limit: config["searcher"][limit] for limit in _LIMITS if limit in config["searcher"]}
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
        parts = {"space": config["hyperparameters"], "searcher": {
            field: value for field, value in config["searcher"].items() if field not in _LIMITS}}
        parts.update(self._digests(written, named))
        if record.exists():
            known = json.loads(record.read_text(encoding="utf-8"))
            changed = _differences(known["parts"], json.loads(json.dumps(parts)))
            if changed:
                raise ValueError("the search {!r} was begun with another {}; give it another name, or remove {}".format(
                    self.name, ", ".join(changed), self.path))
            self._note_changed_context(context)
            old: Dict[str, Any] = json.loads((self.path / "experiment.json").read_text(encoding="utf-8"))
            self._note_other_fields(old, config)
            for limit in _LIMITS:
                if limit in config["searcher"]:
                    old["searcher"][limit] = config["searcher"][limit]
            config = old
        else:
            self._is_new = True
            config.setdefault("reproducibility", {"experiment_seed": secrets.randbelow(2 ** 31)})
            self._write_context(written, context)
        _write(self.path / "experiment.json", json.dumps(config, indent=1))
        if self._is_new:
            confirmation.confirm(self._validation())
        _write(record, json.dumps({"parts": parts}, indent=1))
        return config

    def _digests(self, written: FunctionFile, named: bool) -> Dict[str, Any]:
        try:
            return written.digests()
        except NoStableForm as error:
            if named:
                raise TypeError("{}. A later call with the name {!r} could not tell whether the data are the same; call tune() "
                                "without a name, or change that value".format(error, self.name)) from error
            return {"function": secrets.token_hex()}  # It can't be called again.

    def _note_other_fields(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        """What else the call says is not asked for again."""
        before, now = ({field: value for field, value in _without_paths(config).items() if field not in _COMPARED}
                       for config in (old, new))
        if "reproducibility" not in now:
            before.pop("reproducibility", None)  # Drawn at random.
        changed = sorted(_ARGUMENTS.get(field, field) for field in set(before) | set(now) if before.get(field) != now.get(field))
        if changed:
            print("hpsearch: the search {!r} goes on with the {} that it was begun with. To change this, give the search another name"
                  .format(self.name, ", ".join(changed)), file=sys.stderr, flush=True)

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
        """The daemons that the user's settings name have no part in it. `hpsearch run` reports what is wrong."""
        own = {name: value for name, value in environment().items() if name != "HPSEARCH_SERVER"}
        own["XDG_CONFIG_HOME"] = str(self.path)
        done = subprocess.run([str(programs() / "hpsearch"), "validate", "--output", "json", str(self.path / "experiment.json")],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=own, cwd=str(self.path))
        validation: Dict[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {}
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
            if self._is_new:  # The next call with this name may correct the mistake.
                (self.path / "search.json").unlink()
            return BadRequest("the search {!r} was refused:\n{}".format(self.name, end_of(log, _MOST_MISTAKES)))
        return ExperimentFailed("the search {!r} did not begin; the end of its log:\n{}".format(self.name, end_of(log)))

    # --- who has it ---

    def is_running(self) -> bool:
        """Whether `hpsearch run` runs."""
        return self._runner() is not None

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
                                           change.id, change.name, end_of(self.directory / "run.log")), experiment=change.id)
        self._search.await_end()

    def wait(self, timeout: Optional[float] = None) -> "Experiment":
        """As Experiment.wait(). When it returns, the processes that ran the search have ended too."""
        super().wait(timeout)
        self._search.await_end()
        return self

    def release(self) -> None:
        """Lets another process call tune() with the same name."""
        self._search.release()

    def end_runner(self) -> None:
        """Ends the process that runs it. The same call of tune() goes on with it."""
        self._search.end_runner()


# Daemons that only read, by state directory; they end with this process.
_readers: Dict[str, Guard] = {}


@atexit.register
def _end_readers() -> None:
    for guard in list(_readers.values()):
        guard.end()


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> List[str]:
    out = []
    for part in ("function", "value", "argument", "space", "searcher"):
        was, has = before.get(part), now.get(part)
        if was == has:
            continue
        names = sorted(name for name in set(was) | set(has) if was.get(name) != has.get(name)
                       ) if isinstance(was, dict) and isinstance(has, dict) else []
        out.append("{} ({})".format(part, ", ".join(names)) if names else part)
    return out


def _without_paths(config: Mapping[str, Any]) -> Dict[str, Any]:
    """An experiment without the place of this package, which may move."""
    out: Dict[str, Any] = json.loads(json.dumps(config))
    environment_section = out.get("environment") or {}
    variables = environment_section.get("environment_variables")
    if isinstance(variables, dict):
        variables.pop("PYTHONPATH", None)
        if not variables:
            del environment_section["environment_variables"]
    if not environment_section:
        out.pop("environment", None)
    return out


def _write(path: pathlib.Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(str(part), str(path))

