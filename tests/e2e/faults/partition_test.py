"""The network between a daemon and a worker fails, in both directions or in one, in namespaces of its own.

Shorter than the daemon's patience, a partition costs nothing: trainings run on, each report arrives once. Longer, the
trials go to another worker, and the one that comes back ends what is no longer its own.
"""

import os
import subprocess
import time
import unittest

import harness

PARTITION_SECONDS = 21  # Longer than ZeroMQ's heartbeats take to notice.


def ip(*arguments, check=True):
    return subprocess.run(["ip", *arguments], check=check, capture_output=True, text=True)


class Namespace:
    """A network of its own for one worker, joined to ours by a pair of virtual interfaces."""

    def __init__(self, case):
        mark = f"{os.getpid() % 100000}"
        self.name, self.ours, self.theirs = f"hpsearch-{mark}", f"hpa{mark}", f"hpb{mark}"
        third = os.getpid() % 250 + 1
        self.our_address, self.their_address = f"10.213.{third}.1", f"10.213.{third}.2"
        made = ip("netns", "add", self.name, check=False)
        if made.returncode != 0:
            case.skipTest(f"needs network namespaces, which are refused here: {made.stderr.strip()}")
        case.addCleanup(ip, "netns", "delete", self.name, check=False)
        joined = ip("link", "add", self.ours, "type", "veth", "peer", "name", self.theirs, "netns", self.name, check=False)
        if joined.returncode != 0:
            case.skipTest(f"needs virtual interfaces, which are refused here: {joined.stderr.strip()}")
        case.addCleanup(ip, "link", "delete", self.ours, check=False)
        ip("address", "add", f"{self.our_address}/30", "dev", self.ours)
        ip("link", "set", self.ours, "up")
        self.inside("address", "add", f"{self.their_address}/30", "dev", self.theirs)
        self.inside("link", "set", self.theirs, "up")
        self.inside("link", "set", "lo", "up")

    def inside(self, *arguments, check=True):
        return ip("-n", self.name, *arguments, check=check)

    def cut(self, direction):
        """Packets vanish without a word: routes to nowhere, more exact than the interface's own."""
        if direction != "to the daemon":
            ip("route", "add", "blackhole", f"{self.their_address}/32")
        if direction != "to the worker":
            self.inside("route", "add", "blackhole", f"{self.our_address}/32")

    def heal(self):
        ip("route", "delete", "blackhole", f"{self.their_address}/32", check=False)
        self.inside("route", "delete", "blackhole", f"{self.our_address}/32", check=False)


class Partition(harness.Case):
    def setUp(self):
        super().setUp()
        self.namespace = Namespace(self)
        self.cluster = harness.Cluster(self)
        self.cluster.workers = f"tcp://{self.namespace.our_address}:{harness.free_port()}"

    def start_daemon(self, *more):
        self.cluster.start_daemon(*more)
        self.cluster.wait_until_up()

    def start_worker_inside(self, slots):
        path = str(harness.BIN / "hpsearch-worker")
        process = harness.Process.__new__(harness.Process)
        process.arguments, process.log = ["worker in a namespace"], self.folder / "inside.log"
        with open(process.log, "ab") as file:
            process.popen = subprocess.Popen(
                ["ip", "netns", "exec", self.namespace.name, path, "--daemon", self.cluster.workers, "--state-dir",
                 str(self.folder / "inside"), "--slots", str(slots), "--name", "inside"],
                stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=harness.environment())
        self.processes.append(process)
        return process

    def steps_done(self):
        return len(self.ledger.of("step"))

    def partition(self, direction, seconds):
        before = self.steps_done()
        self.namespace.cut(direction)
        time.sleep(seconds)
        self.assertGreater(self.steps_done(), before, f"nothing was trained while nothing got {direction}")
        self.namespace.heal()

    def check_reports(self, experiment, length):
        for trial in self.cluster.trials(experiment):
            steps = [report["step"] for report in self.cluster.metrics(experiment, trial["trial"])]
            self.assertEqual(sorted(set(steps)), list(range(1, length + 1)), f"reports of trial {trial['trial']}")
            yield trial, steps

    def test_short_partitions_cost_nothing(self):
        length = 240
        self.start_daemon()
        self.start_worker_inside(3)
        searcher = {"name": "random", "max_length": length, "max_trials": 3, "max_concurrent_trials": 3}
        experiment = self.cluster.submit(
            harness.experiment(self.ledger_path, searcher, fake={"METRIC": "equal", "STEP_SECONDS": 0.3}))
        harness.wait_for(lambda: self.steps_done() >= 6, "the trainings to begin")
        for direction in ("to the daemon", "to the worker", "either way"):
            self.partition(direction, PARTITION_SECONDS)
            time.sleep(1)
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        for trial, steps in self.check_reports(experiment, length):
            self.assertEqual(trial["attempts"], 1, "a partition cost an attempt")
            self.assertEqual(len(steps), length, "a report counted twice")
        self.assertEqual(len(self.ledger.of("start")), 3)
        self.assertEqual({line["why"] for line in self.ledger.of("end")}, {"stop"}, "a training was disturbed")

    def test_long_partition_moves_the_trials(self):
        length = 100
        self.start_daemon("--lost-after", "4")
        self.start_worker_inside(2)
        searcher = {"name": "random", "max_length": length, "max_trials": 2, "max_concurrent_trials": 2}
        experiment = self.cluster.submit(
            harness.experiment(self.ledger_path, searcher, fake={"METRIC": "equal", "STEP_SECONDS": 0.3}))
        harness.wait_for(lambda: self.steps_done() >= 4, "the trainings to begin")
        self.cluster.start_worker(2, name="outside")
        self.namespace.cut("either way")
        harness.wait_for(lambda: len(self.ledger.of("start")) == 4, "the trials to start on the other worker")
        self.namespace.heal()
        fenced = [line["pid"] for line in self.ledger.of("start") if line["attempt"] == 1]
        harness.wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in fenced),
                         "the worker that came back to end what is no longer its own")
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        for trial, steps in self.check_reports(experiment, length):
            self.assertEqual(trial["attempts"], 2)
            self.assertEqual(trial["state"], "COMPLETED")
            self.assertEqual(trial["restarts"], 0, "a lost worker was counted against the program")
            self.assertEqual(steps[-length:], list(range(1, length + 1)), "reports of the second attempt")
            self.assertEqual(steps[:-length], list(range(1, len(steps) - length + 1)), "reports of the first one")
        self.assertEqual(harness.count(line["why"] for line in self.ledger.of("end")), {"stop": 2})


if __name__ == "__main__":
    unittest.main()
