"""Starts a daemon and a worker, as `hpsearch run` does, and ends them with the process that started this one.

    python -m hpsearch._local.guard STATE_DIRECTORY [--slots SLOTS | --gpu-free PERCENT] [--no-worker]

Prints the daemon's address when it answers. Ends worker and daemon when standard input is closed, which also happens when
the other process is killed, or by SIGTERM. What ends unexpectedly is started again, a few times.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import selectors
import signal
import subprocess
import sys
import time
from typing import Any, List, Optional

from .._client.address import daemon_file
from .programs import programs

_MOST_DEATHS = 5  # This many …
_DEATH_WINDOW = 120.0  # … within these seconds, and it gives up.
_PATIENCE_WITH_WORKER = 45.0  # Seconds. Its programs have 30 to end.
_PATIENCE_WITH_DAEMON = 20.0


class _Program:
    def __init__(self, words: List[str], log: pathlib.Path) -> None:
        self.words = words
        self.log = log
        self.deaths: List[float] = []
        self.start()

    def start(self) -> None:
        with open(str(self.log), "ab") as log:
            self.popen = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                          start_new_session=True)

    def revive(self) -> None:
        """SystemExit: it ends again and again."""
        status = self.popen.poll()
        if status is None:
            return
        now = time.monotonic()
        self.deaths = [at for at in self.deaths if now - at < _DEATH_WINDOW] + [now]
        if status in (2, 4, 74) or len(self.deaths) > _MOST_DEATHS:
            raise SystemExit("{} ended with status {}; the end of its log {}:\n{}".format(
                pathlib.Path(self.words[0]).name, status, self.log, end_of(self.log)))
        time.sleep(0.1 * 2 ** (len(self.deaths) - 1))
        self.start()

    def end(self, patience: float) -> None:
        if self.popen.poll() is None:
            self.popen.terminate()
            try:
                self.popen.wait(patience)
            except subprocess.TimeoutExpired:
                self.popen.kill()
                self.popen.wait()


def end_of(log: pathlib.Path, lines: int = 8) -> str:
    """The last lines of a log."""
    try:
        return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
    except OSError:
        return ""


def daemon_words(state: pathlib.Path) -> List[str]:
    """The command of the private daemon of a state directory: Unix sockets only, so that no other user gets in."""
    words = [str(programs() / "hpsearchd"), "--no-config", "--state-dir", str(state / "daemon"), "--context-limit", "1000000"]
    return words if has_files_of_nodes(state) else words + ["--no-kept-files"]


def worker_words(state: pathlib.Path, daemon: str, slots: Optional[str], gpu_free: Optional[str]) -> List[str]:
    """The command of the private worker. Without `slots` it shares those of the machine with other searches."""
    who = "searches of {} (process {})".format(state.name, os.getppid())
    return [str(programs() / "hpsearch-worker"), "--no-config", "--daemon", daemon, "--state-dir", str(state / "worker"),
            "--share-slots", who] + (["--slots", slots] if slots else []) + (["--gpu-free", gpu_free] if gpu_free else [])


def has_files_of_nodes(state: pathlib.Path) -> bool:
    """Whether jobs of Slurm ran trials of `hpsearch run`, whose files only the daemon has."""
    try:
        return bool(json.loads((state / "run.json").read_text(encoding="utf-8")).get("workers"))
    except (OSError, ValueError):
        return False


def main(arguments: List[str]) -> int:
    parser = argparse.ArgumentParser(prog="hpsearch._local.guard")
    parser.add_argument("state", type=pathlib.Path)
    parser.add_argument("--slots")
    parser.add_argument("--gpu-free")
    parser.add_argument("--no-worker", action="store_true")
    asked = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _stop)
    daemon = _Program(daemon_words(asked.state), asked.state / "daemon.log")
    worker: Optional[_Program] = None
    try:
        answer = _await_daemon(asked.state, daemon)
        if not asked.no_worker:
            worker = _Program(worker_words(asked.state, str(answer["workers"]), asked.slots, asked.gpu_free), asked.state / "worker.log")
        print(answer["socket"], flush=True)
        with selectors.DefaultSelector() as selector:
            selector.register(sys.stdin, selectors.EVENT_READ)
            while not selector.select(0.5) or sys.stdin.buffer.read1(4096):  # type: ignore[union-attr]
                daemon.revive()
                if worker is not None:
                    worker.revive()
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if worker is not None:
            worker.end(_PATIENCE_WITH_WORKER)
        daemon.end(_PATIENCE_WITH_DAEMON)
    return 0


def _await_daemon(state: pathlib.Path, daemon: _Program) -> Any:
    while True:
        answer = daemon_file(state / "daemon")
        if answer.get("pid") == daemon.popen.pid:
            return answer
        daemon.revive()
        time.sleep(0.005)


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
