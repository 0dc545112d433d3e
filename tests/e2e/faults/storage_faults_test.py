"""The daemon's disk under fire: killed at its storage calls, failing disks, double starts.

What a daemon acknowledged is written down here, outside of it, and compared with what its store holds in the next
life: requests by the test, reports and decisions by a scripted worker that lives through all of it. A search for each
searcher goes on over all lives, and must have decided what it decides when nothing disturbs it. strace makes the
faults, at the n-th call of a thread, so that every call of a life gets its turn.
"""

import collections
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

import harness
import scripted_worker

KILLS = int(os.environ.get("E2E_INJECTED_KILLS", "300"))
CALLS = ("pwrite64", "fdatasync", "fsync", "rename", "ftruncate", "unlink")
REQUESTS_PER_LIFE = 3
REPORTS_PER_LIFE = 60  # Then a fault that was not reached is waited for no longer.
# Nobody offers such slots: it is stored, and waits.
TINY = {"entrypoint": "true", "hyperparameters": {"x": 1}, "resources": {"labels": {"nobody": "has it"}},
        "searcher": {"name": "single", "metric": "loss", "max_length": {"batches": 10}}}
HALVING = {"max_length": 16, "max_trials": 16, "divisor": 4, "num_rungs": 3}
ADAPTIVE = {"name": "adaptive_asha", "max_length": 16, "max_trials": 16, "divisor": 4, "max_rungs": 3}
SEARCHERS = {
    "single": {"name": "single", "max_length": 64},
    "grid": {"name": "grid", "max_length": 4},
    "random": {"name": "random", "max_length": 4, "max_trials": 16},
    "halving by promotion": {"name": "async_halving"} | HALVING,
    "halving by stopping": {"name": "async_halving", "stop_once": True} | HALVING,
    "adaptive, conservative": {"mode": "conservative"} | ADAPTIVE,
    "adaptive, standard": {"mode": "standard"} | ADAPTIVE,
    "adaptive, aggressive": {"mode": "aggressive"} | ADAPTIVE,
    "adaptive by stopping": {"mode": "standard", "stop_once": True} | ADAPTIVE,
}


def search(name):
    """One trial of it runs at a time: what it decides then follows from its seed alone."""
    searcher = {"metric": "loss"} | SEARCHERS[name]
    if name != "single":
        searcher["max_concurrent_trials"] = 1
    space = {"x": {"type": "double", "minval": 0, "maxval": 1} | ({"count": 16} if name == "grid" else {})}
    return {"entrypoint": "true", "hyperparameters": {"x": 0.1} if name == "single" else space, "searcher": searcher,
            "reproducibility": {"experiment_seed": 7}}


def strace_works():
    try:
        return subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode == 0
    except OSError:
        return False


class Traced:
    """One life of a daemon with a fault in it."""

    def __init__(self, case, number, fault, *options):
        self.log = case.folder / f"life-{number}.log"
        self.traced = bool(fault)
        call = fault.split(":")[0]
        command = [*(["strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                      f"inject={fault}"] if fault else []),
                   str(harness.BIN / "hpsearchd"), "--state-dir", str(case.folder / "state"), "--workers",
                   f"tcp://127.0.0.1:{case.workers_port}", "--workers-open", *options]
        with open(self.log, "wb") as file:
            self.popen = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                                          env=harness.environment())
        self.cluster = harness.Cluster(case)
        self.cluster.state = case.folder / "state"

    def comes_up(self):
        """Whether it serves; otherwise it has ended."""
        harness.wait_for(lambda: self.popen.poll() is not None or self.cluster.try_call("GET", "/healthz") is not None,
                         "the daemon to serve or to end", self.said)
        return self.popen.poll() is None

    def submit(self, key, config):
        """The experiment that was acknowledged; None when it was refused, or nobody answered and the daemon ends."""
        try:
            status, answer = self.cluster.call("POST", "/api/v1/experiments", {"config": config, "name": key},
                                               {"Idempotency-Key": key})
        except (OSError, harness.http.client.HTTPException, json.JSONDecodeError):
            self.popen.wait(harness.PATIENCE)
            return None
        return answer["experiment"] if status == 201 else None

    def stored(self):
        """Name → ids, of all experiments and of those that are over; None when it has ended."""
        answer = self.cluster.try_call("GET", "/api/v1/experiments")
        if answer is None:
            return None
        names, over = collections.defaultdict(list), set()
        for experiment in answer["experiments"]:
            names[experiment["name"]].append(experiment["id"])
            if experiment["state"] == "COMPLETED":
                over.add(experiment["name"])
        return names, over

    def end(self, how=signal.SIGKILL):
        """The exit status; strace hands on how its child ended."""
        if self.popen.poll() is None:
            children = pathlib.Path(f"/proc/{self.popen.pid}/task/{self.popen.pid}/children").read_text().split()
            # Where strace has no child any more, its fault has ended it, and strace is about to say how.
            is_over = self.traced and how != signal.SIGKILL
            for child in children or ([] if is_over else [self.popen.pid]):
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
        self.workers_port = harness.free_port()
        self.lives = 0
        self.begin_store()
        self.addCleanup(lambda: self.worker.end())

    def begin_store(self):
        shutil.rmtree(self.folder / "state", ignore_errors=True)
        self.ledger_path.unlink(missing_ok=True)
        self.worker = scripted_worker.ScriptedWorker(self.workers_port, len(SEARCHERS), self.ledger_path)
        self.worker.start()
        self.acknowledged = {}  # Key → experiment.
        self.over = False

    def live(self, fault, *options, reports=REPORTS_PER_LIFE):
        """One life: what was acknowledged before is there, once; then requests, reports and decisions until the fault,
        so many reports or the end of all searches. Returns how it ended before it was asked to, or None when the fault
        did not end it."""
        self.lives += 1
        enough = self.worker.acknowledged + reports
        life = Traced(self, self.lives, fault, *options)
        try:
            if life.comes_up():
                stored = life.stored()
                if stored is not None:
                    self.compare(stored[0], fault)
                requests = {f"life {self.lives} request {request}": TINY for request in range(REQUESTS_PER_LIFE)}
                for key, config in (requests | {name: search(name) for name in SEARCHERS}).items():
                    if key in self.acknowledged:
                        continue
                    experiment = life.submit(key, config)
                    if experiment is None:
                        break
                    self.acknowledged[key] = experiment
                harness.wait_for(lambda: life.popen.poll() is not None or self.worker.acknowledged >= enough or
                                 self.are_over(life), "all searches to end",
                                 lambda: f"{fault}: {self.worker.problem}\n{life.said()}")
            status = life.end(signal.SIGTERM)  # A clean end has calls of its own.
        finally:
            life.end()
        self.assertIsNone(self.worker.problem, fault)
        self.last_words = life.said()
        return status or None

    def are_over(self, life):
        if self.worker.attempts and self.worker.problem is None:
            return False  # Asking costs a traced daemon many calls.
        stored = life.stored()
        self.over = self.over or stored is not None and stored[1].issuperset(SEARCHERS)
        return self.over or self.worker.problem is not None

    def compare(self, names, fault):
        for key, experiment in self.acknowledged.items():
            self.assertEqual(names.get(key), [experiment], f"acknowledged, then lost or doubled ({fault}): {key}")

    def end_store(self):
        """All searches go on to their end, undisturbed; then the accounts of test and worker are compared with the
        store. Returns what was decided in each search, and the number of acknowledged reports."""
        self.assertIsNone(self.live("", reports=math.inf), self.last_words)
        self.worker.end()
        self.run_cli("store", "verify", self.folder / "state")
        account = scripted_worker.Account(self.ledger_path,
                                          self.run_cli("store", "export", self.folder / "state", expect=None).stdout)
        reports = account.compare(self)
        self.assertGreater(reports, 0)
        decisions = account.decisions()
        return {name: decisions[self.acknowledged[name]] for name in SEARCHERS}, reports

    def undisturbed(self):
        """What each search decides when nothing fails."""
        decisions = {name: [decision | {"experiment": 0} for decision in of] for name, of in self.end_store()[0].items()}
        self.begin_store()
        return decisions

    def check_at_last(self, undisturbed):
        """The number of acknowledged requests and reports."""
        decisions, reports = self.end_store()
        for name, expected in undisturbed.items():
            self.assertEqual([decision | {"experiment": 0} for decision in decisions[name]], expected,
                             f"{name}: other decisions than undisturbed")
        return len(self.acknowledged), reports

    def test_killed_at_each_storage_call_nothing_acknowledged_is_lost(self):
        undisturbed = self.undisturbed()
        killed = collections.Counter()
        when = collections.Counter({call: 0 for call in CALLS})
        reached = dict.fromkeys(CALLS, True)
        requests = reports = stores = 0
        while killed.total() < KILLS:
            # Each call's first occurrence, then its second …; a call that came to its last begins again.
            for call in CALLS:
                when[call] = when[call] + 1 if reached[call] else 1
                status = self.live(f"{call}:signal=KILL:when={when[call]}")
                self.assertIn(status, (None, -signal.SIGKILL, 128 + signal.SIGKILL), self.last_words)
                reached[call] = status is not None
                killed[call] += reached[call]
                if self.over or killed.total() >= KILLS:
                    counted = self.check_at_last(undisturbed)
                    requests, reports, stores = requests + counted[0], reports + counted[1], stores + 1
                    self.begin_store()
                    if killed.total() >= KILLS:
                        break
        print(f"killed at {dict(killed)} in {self.lives} lives of {stores} stores; {requests} requests and {reports} "
              f"reports acknowledged; {len(undisturbed)} searchers decided as undisturbed", file=sys.stderr)
        for call in ("pwrite64", "fdatasync", "fsync", "rename"):
            self.assertGreater(killed[call], KILLS // 30, f"{call} was hardly reached")

    def test_a_disk_that_fails_ends_the_daemon_and_loses_nothing_acknowledged(self):
        undisturbed = self.undisturbed()
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
        self.check_at_last(undisturbed)

    def test_a_full_disk_is_waited_out_at_any_write(self):
        undisturbed = self.undisturbed()
        self.live("")
        waited = 0
        for when in (1, 2, 5, 8, 11, 14, 17, 20):
            status = self.live(f"pwrite64:error=ENOSPC:when={when}..{when + 3}")
            # A start, too, writes: it says what is wrong and ends before it has promised anything.
            self.assertIn(status, (None, 74), self.last_words)
            if status == 74:
                self.live("", reports=1)  # Its clean end leaves the next start less to write.
            elif "the daemon resumes automatically" in self.last_words:
                waited += 1
                self.assertIn("database or disk is full", self.last_words)
        self.assertGreater(waited, 2, "the fault was hardly reached")
        self.check_at_last(undisturbed)


class DoubleStart(harness.Case):
    def test_of_many_daemons_started_at_once_exactly_one_serves(self):
        for round_number in range(12):
            count = 2 + round_number % 7
            state = self.folder / f"state-{round_number}"
            daemons = [self.start("hpsearchd", "--state-dir", state, "--workers", "tcp://127.0.0.1:0",
                                  log=f"round-{round_number}-{i}.log") for i in range(count)]
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
