"""The daemon's disk under fire: killed at its storage calls, failing disks, double starts.

What a daemon acknowledged is written down here, outside of it, and compared with what its store holds in the next
life. strace makes the faults, at the n-th call of a thread, so that every call of a life gets its turn.
"""

import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

import harness

KILLS = int(os.environ.get("E2E_INJECTED_KILLS", "300"))
CALLS = ("pwrite64", "fdatasync", "fsync", "rename", "ftruncate", "unlink")
REQUESTS_PER_LIFE = 8
LIVES_PER_STORE = 30  # What is compared in each life grows with its store.
TINY = {"entrypoint": "true", "hyperparameters": {"x": 1},
        "searcher": {"name": "single", "metric": "loss", "max_length": {"batches": 10}}}


def strace_works():
    try:
        return subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode == 0
    except OSError:
        return False


class Traced:
    """One life of a daemon with a fault in it."""

    def __init__(self, case, number, fault, *options):
        self.log = case.folder / f"life-{number}.log"
        self.port = harness.free_port()
        call = fault.split(":")[0]
        command = [*(["strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                      f"inject={fault}"] if fault else []),
                   str(harness.BIN / "hpsearchd"), "--state-dir", str(case.folder / "state"), "--http",
                   f"127.0.0.1:{self.port}", "--workers", "tcp://127.0.0.1:0", *options]
        with open(self.log, "wb") as file:
            self.popen = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                                          env=harness.environment())
        self.cluster = harness.Cluster(case)
        self.cluster.http = f"127.0.0.1:{self.port}"

    def comes_up(self):
        """Whether it serves; otherwise it has ended."""
        harness.wait_for(lambda: self.popen.poll() is not None or self.cluster.try_call("GET", "/healthz") is not None,
                         "the daemon to serve or to end", self.said)
        return self.popen.poll() is None

    def submit(self, key):
        """The experiment that was acknowledged; None when it was refused, or nobody answered and the daemon ends."""
        try:
            status, answer = self.cluster.call("POST", "/api/v1/experiments", {"config": TINY, "name": key},
                                               {"Idempotency-Key": key})
        except (OSError, harness.http.client.HTTPException, json.JSONDecodeError):
            self.popen.wait(harness.PATIENCE)
            return None
        return answer["experiment"] if status == 201 else None

    def stored(self):
        """Name → ids; None when it has ended."""
        answer = self.cluster.try_call("GET", "/api/v1/experiments")
        if answer is None:
            return None
        names = collections.defaultdict(list)
        for experiment in answer["experiments"]:
            names[experiment["name"]].append(experiment["id"])
        return names

    def end(self, how=signal.SIGKILL):
        """The exit status; strace hands on how its child ended."""
        if self.popen.poll() is None:
            children = pathlib.Path(f"/proc/{self.popen.pid}/task/{self.popen.pid}/children").read_text().split()
            for child in children or [self.popen.pid]:
                try:
                    os.kill(int(child), how)
                except ProcessLookupError:
                    pass  # Its fault was faster.
        return self.popen.wait(60)

    def said(self):
        return self.log.read_text(errors="replace")[-3000:]


@unittest.skipUnless(strace_works(), "strace may not trace here: no faults can be injected")
class StorageFaults(harness.Case):
    def setUp(self):
        super().setUp()
        self.acknowledged = {}  # Key → experiment.
        self.lives = 0

    def live(self, fault, *options):
        """One life: what was acknowledged before is there, once; then requests until the fault. Returns how it ended
        before it was asked to, or None when the fault did not end it."""
        self.lives += 1
        life = Traced(self, self.lives, fault, *options)
        try:
            if life.comes_up():
                names = life.stored()
                if names is not None:
                    self.compare(names, fault)
                for request in range(REQUESTS_PER_LIFE):
                    key = f"life {self.lives} request {request}"
                    experiment = life.submit(key)
                    if experiment is None:
                        break
                    self.acknowledged[key] = experiment
            status = life.end(signal.SIGTERM)  # A clean end has calls of its own.
        finally:
            life.end()
        self.last_words = life.said()
        return status or None

    def compare(self, names, fault):
        for key, experiment in self.acknowledged.items():
            self.assertEqual(names.get(key), [experiment], f"acknowledged, then lost or doubled ({fault}): {key}")

    def check_at_last(self):
        life = Traced(self, "last", "")
        self.assertTrue(life.comes_up(), life.said())
        self.compare(life.stored(), "the end")
        self.assertEqual(life.end(), -signal.SIGKILL)

    def begin_another_store(self):
        self.check_at_last()
        self.acknowledged.clear()
        shutil.rmtree(self.folder / "state")

    def test_killed_at_each_storage_call_nothing_acknowledged_is_lost(self):
        killed = collections.Counter()
        when = collections.Counter({call: 0 for call in CALLS})
        reached = dict.fromkeys(CALLS, True)
        acknowledged = 0
        while killed.total() < KILLS:
            # Each call's first occurrence, then its second …; a call that came to its last begins again.
            for call in CALLS:
                when[call] = when[call] + 1 if reached[call] else 1
                status = self.live(f"{call}:signal=KILL:when={when[call]}", "--snapshot-every", "25")
                self.assertIn(status, (None, -signal.SIGKILL, 128 + signal.SIGKILL), self.last_words)
                reached[call] = status is not None
                killed[call] += reached[call]
                if self.lives % LIVES_PER_STORE == 0:
                    acknowledged += len(self.acknowledged)
                    self.begin_another_store()
        print(f"killed at {dict(killed)} in {self.lives} lives; {acknowledged} acknowledged", file=sys.stderr)
        for call in ("pwrite64", "fdatasync", "fsync", "rename"):
            self.assertGreater(killed[call], 10, f"{call} was hardly reached")
        self.check_at_last()

    def test_a_disk_that_fails_ends_the_daemon_and_loses_nothing_acknowledged(self):
        self.live("")
        failed = collections.Counter()
        for call in ("fdatasync", "pwrite64"):
            for when in ("1", "2", "3", "5", "8", "3+", "6+"):
                status = self.live(f"{call}:error=EIO:when={when}")
                if status is None:
                    continue
                failed[call] += 1
                self.assertEqual(status, 74, f"{call} failing at {when}:\n{self.last_words}")
                self.assertIn("Input/output error", self.last_words)
                self.assertIn("events.db", self.last_words)
        self.assertGreater(failed["fdatasync"], 4)
        self.assertGreater(failed["pwrite64"], 4)
        self.check_at_last()

    def test_a_full_disk_is_waited_out_at_any_write(self):
        self.live("")
        waited = 0
        for when in (1, 2, 5, 8, 11, 14, 17, 20):
            status = self.live(f"pwrite64:error=ENOSPC:when={when}..{when + 3}")
            # A start, too, writes: it says what is wrong and ends before it has promised anything.
            self.assertIn(status, (None, 74), self.last_words)
            if status is None and "everything goes on by itself" in self.last_words:
                waited += 1
                self.assertIn("database or disk is full", self.last_words)
        self.assertGreater(waited, 2, "the fault was hardly reached")
        self.check_at_last()


class DoubleStart(harness.Case):
    def test_of_many_daemons_started_at_once_exactly_one_serves(self):
        for round_number in range(12):
            count = 2 + round_number % 7
            state = self.folder / f"state-{round_number}"
            daemons = [self.start("hpsearchd", "--state-dir", state, "--http", "127.0.0.1:0", "--workers",
                                  "tcp://127.0.0.1:0", log=f"round-{round_number}-{i}.log") for i in range(count)]
            harness.wait_for(lambda: sum(daemon.popen.poll() is None for daemon in daemons) <= 1 and
                             (state / "daemon.json").exists(), "all but one to end",
                             lambda: "\n".join(daemon.said() for daemon in daemons))
            serving = [daemon for daemon in daemons if daemon.popen.poll() is None]
            self.assertEqual(len(serving), 1, "\n".join(daemon.said() for daemon in daemons))
            for daemon in daemons:
                if daemon is not serving[0]:
                    self.assertEqual(daemon.popen.returncode, 4, daemon.said())
                    self.assertIn(f"process {serving[0].popen.pid}", daemon.said())
            self.assertEqual(json.loads((state / "daemon.json").read_text())["pid"], serving[0].popen.pid)
            serving[0].end(signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
