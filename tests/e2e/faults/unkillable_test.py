"""Programs of which something really survives SIGKILL: a file system of the test's own does not answer them, so they sleep in
the kernel until it does.

Needs root, /dev/fuse and a mount namespace. Takes a little more than the minute after which a worker gives up waiting.
"""

import ctypes
import os
import pathlib
import struct
import sys
import threading
import time
import unittest

import harness

GRACE = 2
# After SIGKILL a minute is waited; what is not reported long after that never is.
LONGEST = 110
# Who is stuck → the states of its threads after SIGKILL.
ASLEEP = {"itself": ["D"], "a thread of its child": ["Z", "D"]}
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS = 0x20000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
MNT_FORCE, MNT_DETACH = 1, 2

PROGRAM = """
import json, os, sys, threading, time
ledger = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
who, path = sys.argv[2], os.path.join(sys.argv[3], sys.argv[2])
def note(what):
    os.write(ledger, (json.dumps({"what": what, "who": who, "pid": os.getpid()}) + "\\n").encode())
if who == "itself":
    note("stuck")
    os.open(path, os.O_RDONLY)
elif os.fork() == 0:
    threading.Thread(target=lambda: os.open(path, os.O_RDONLY), daemon=True).start()
    note("stuck")
time.sleep(1000)
"""


def must(result, what):
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def setUpModule():
    """Mounts are made in a namespace of our own: whatever happens, they end with us."""
    try:
        if os.geteuid() != 0:
            raise OSError("root is needed")
        os.close(os.open("/dev/fuse", os.O_RDWR))
        must(LIBC.unshare(CLONE_NEWNS), "a mount namespace of its own")
        must(LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "mounts of its own")
    except OSError as error:
        raise unittest.SkipTest(f"no file system can be served here: {error}") from error


class Silence:
    """A file system that says of no name whether it is there, until it is told to."""

    GETATTR, LOOKUP, INIT, UNANSWERED = 3, 1, 26, (2, 36, 42)  # Of FUSE; nobody waits for FORGET, INTERRUPT, BATCH_FORGET.

    PARALLEL_DIROPS = 1 << 18  # Else the second who asks waits for the first one's answer.

    def __init__(self, point):
        self.point = os.fsencode(point)
        self.device = os.open("/dev/fuse", os.O_RDWR)
        self.asked = {}  # Name → the request about it.
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0"
        try:
            must(LIBC.mount(b"silence", self.point, b"fuse", 0, options.encode()), "mount")
        except OSError:
            os.close(self.device)
            raise
        self.server = threading.Thread(target=self.serve, daemon=True)
        self.server.start()

    def serve(self):
        while True:
            try:
                request = os.read(self.device, 1 << 17)
            except OSError:  # It is mounted no more.
                return
            _, what, number = struct.unpack_from("<IIQ", request)
            if what == self.INIT:
                _, minor, read_ahead = struct.unpack_from("<III", request, 40)
                self.answer(number, struct.pack("<IIIIHHIIHHI28x", 7, min(minor, 31), read_ahead, self.PARALLEL_DIROPS, 12, 9,
                                                4096, 1, 0, 0, 0))
            elif what == self.GETATTR:
                self.answer(number, struct.pack("<QII6Q10I", 1, 0, 0, 1, *[0] * 8, 0o40755, 2, 0, 0, 0, 4096, 0))
            elif what == self.LOOKUP:
                self.asked[os.fsdecode(request[40:].split(b"\0")[0])] = number
            elif what not in self.UNANSWERED:
                self.answer(number, error=38)  # ENOSYS

    def answer(self, number, body=b"", error=0):
        os.write(self.device, struct.pack("<IiQ", 16 + len(body), -error, number) + body)

    def let_go(self, name):
        self.answer(self.asked[name], error=2)  # ENOENT

    def end(self):
        """Whoever still waits gets an error."""
        if self.device is not None:
            must(LIBC.umount2(self.point, MNT_FORCE | MNT_DETACH), "umount")
            self.server.join()
            os.close(self.device)
            self.device = None


def threads_of(pid):
    """The state of each thread of a process, its first one's first; none when it is gone."""
    try:
        return [(pathlib.Path(f"/proc/{pid}/task/{thread}/stat").read_text().rpartition(") ")[2])[0]
                for thread in sorted(os.listdir(f"/proc/{pid}/task"), key=int)]
    except OSError:
        return []


class Unkillable(harness.Case):
    def setUp(self):
        super().setUp()
        point = self.folder / "mount"
        point.mkdir()
        try:
            self.silence = Silence(point)
        except OSError as error:
            self.skipTest(f"no file system can be served here: {error}")
        self.addCleanup(self.silence.end)  # Before the worker is ended, which would wait for it.

    def quarantined(self):
        (worker,) = self.cluster.get("/api/v1/workers")["workers"]
        self.assertEqual(len(worker["leaked_processes"]), worker["slots_quarantined"], worker)
        return sorted(remains["experiment"] for remains in worker["leaked_processes"])

    def begin(self, who):
        program = self.folder / "program.py"
        program.write_text(PROGRAM)
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 1, "max_trials": 1}, max_restarts=0)
        tree["entrypoint"] = ["/usr/bin/python3", "-IS", str(program), str(self.ledger_path), who, str(self.folder / "mount")]
        experiment = self.cluster.submit(tree)
        harness.wait_for(lambda: who in self.silence.asked and
                         [line for line in self.ledger.of("stuck") if line["who"] == who], f"{who} to be stuck")
        return experiment

    def test_its_end_is_reported_and_its_slot_is_back_when_it_is_gone(self):
        self.outlive("process table", harness.without_cgroups(self))

    def test_in_a_cgroup_too(self):
        launcher, _ = harness.in_a_cgroup(self)
        self.addCleanup(self.silence.end)  # Before what this has added, too.
        self.outlive("cgroup", launcher)

    def outlive(self, kills_by, launcher):
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.cluster.start_worker(2, "worker", "--grace", GRACE, launcher=launcher)
        self.cluster.wait_until_kills_by(kills_by)
        experiments = {who: self.begin(who) for who in ASLEEP}
        pids = {line["who"]: line["pid"] for line in self.ledger.of("stuck")}
        searcher = {"name": "random", "max_length": 20, "max_trials": 2, "max_concurrent_trials": 2}
        healthy = harness.experiment(self.ledger_path, searcher, fake={"STEP_SECONDS": 0.1})
        waiting = self.cluster.submit(healthy)  # For a slot.
        asked = time.monotonic()
        for verb, experiment in zip(("cancel", "kill"), experiments.values()):
            self.run_cli(verb, experiment, "--server", self.cluster.server)

        states = lambda: {who: threads_of(pid) for who, pid in pids.items()}
        harness.wait_for(lambda: states() == ASLEEP, "both to sleep in the kernel", lambda: str(states()), patience=20)
        ended = {}
        while len(ended) < len(experiments) and time.monotonic() < asked + LONGEST:
            time.sleep(0.1)
            for who, experiment in experiments.items():
                if who not in ended and self.cluster.state_of(experiment) == "CANCELED":
                    ended[who] = time.monotonic() - asked
                    print(f"{who}: reported after {ended[who]:.1f} s", file=sys.stderr)
        self.assertEqual(states(), ASLEEP, "this kernel ends what this test takes for unkillable")
        for who, experiment in experiments.items():
            with self.subTest(survives=who):
                self.assertIn(who, ended, f"its end was not reported within {LONGEST} s")
                self.assertGreaterEqual(ended[who], 55)
                shown = self.run_cli("show", experiment, "--trial", 0, "--server", self.cluster.server, "--output", "json")
                self.assertIn("survives SIGKILL", shown["attempts_made"][0]["message"])
        with self.subTest("slots"):
            self.assertEqual(self.quarantined(), sorted(experiments.values()))
            shown = self.run_cli("workers", "--server", self.cluster.server).stdout
            self.assertIn("survive SIGKILL", shown)
            self.assertEqual(self.ledger.of("start"), [], "a slot was used in which something lives")

        left = sorted(experiments.values())
        for who, experiment in experiments.items():
            self.silence.let_go(who)
            left.remove(experiment)
            with self.subTest(gone=who):
                harness.wait_for(lambda: not threads_of(pids[who]), f"{who} to end")
                harness.wait_for(lambda: self.quarantined() == left, f"the slot of {who} to be back", patience=30)
        self.assertEqual(self.cluster.wait_until_over(waiting), "COMPLETED")
        self.assertEqual(self.cluster.wait_until_over(self.cluster.submit(healthy)), "COMPLETED")
        self.assertEqual(self.ledger.most_at_once(), 2, "not each slot was used again")


if __name__ == "__main__":
    unittest.main()
