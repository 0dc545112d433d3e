"""Two daemons, or two agents, on one state directory: one of them serves, every other one is refused with one message.

E2E_ROUNDS rounds (8; `scripts/soak` runs 60) of several started at the same moment, with and without one that runs
already, also when that one stands still. And one beside another that stands still in its start, before every
E2E_STOP_EVERY-th (7; `scripts/soak` every) call that locks or changes files.
"""

import os
import pathlib
import shutil
import signal
import sys
import unittest

import harness

ROUNDS = int(os.environ.get("E2E_ROUNDS", "8"))
AT_ONCE = 4
STOP_EVERY = int(os.environ.get("E2E_STOP_EVERY", "7"))
LIBRARY = harness.BIN / "libkill_at_call.so"


class DoubleStart(harness.Case):
    def start_several(self, start, round_number):
        """Those that still run when all others have ended, and those."""
        started = [start(f"{round_number}-{number}") for number in range(AT_ONCE)]
        harness.wait_for(lambda: sum(one.popen.poll() is None for one in started) <= 1, "all but one to be refused",
                         lambda: "\n".join(one.said() for one in started))
        return [one for one in started if one.popen.poll() is None], [one for one in started if one.popen.poll() is not None]

    def judge_refused(self, refused, status, words):
        for one in refused:
            self.assertEqual(one.popen.returncode, status, one.said())
            complaints = [line for line in one.said().splitlines() if " info " not in line]
            self.assertEqual(len(complaints), 1, one.said())
            for word in words:
                self.assertIn(word, complaints[0])

    def rounds(self, start, running, status, words):
        """Starts several beside one that runs; while that one stands still; and when it was killed."""
        refused = 0
        for number in range(ROUNDS):
            first = number % 3
            if first == 1:
                running.popen.send_signal(signal.SIGSTOP)
            elif first == 2:
                running.popen.kill()
                running.popen.wait()
            left, others = self.start_several(start, number)
            if first == 2:
                self.assertEqual(len(left), 1, "nobody serves")
                running = left[0]
            else:
                harness.wait_for(lambda: all(one.popen.poll() is not None for one in left), "the last one to be refused")
                others += left
            if first == 1:
                running.popen.send_signal(signal.SIGCONT)
            self.judge_refused(others, status, words)
            self.assertIsNone(running.popen.poll(), running.said())
            refused += len(others)
        return refused

    def test_one_daemon_serves_a_store(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()

        def start(name):
            return self.start("hpsearchd", "--state-dir", cluster.state, "--workers", "tcp://127.0.0.1:0",
                              log=f"daemon-{name}.log")

        refused = self.rounds(start, cluster.daemon, 4, [str(cluster.state), "in use"])
        print(f"{refused} daemons refused in {ROUNDS} rounds", file=sys.stderr)

    def files_in(self, directory):
        """Every file below it: which one it is, when it was changed, and its content."""
        return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns, path.is_file() and path.read_bytes())
                for path in directory.rglob("*")}

    def test_a_second_daemon_without_the_lock_file_changes_nothing(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 3, "max_trials": 4})
        acknowledged = [cluster.submit(tree) for _ in range(5)]
        (cluster.state / "lock").unlink()
        before = self.files_in(cluster.state)
        for number in range(2):
            second = self.start("hpsearchd", "--state-dir", cluster.state, "--workers", "tcp://127.0.0.1:0",
                                log=f"second-{number}.log")
            harness.wait_for(lambda: second.popen.poll() is not None, "the second daemon to be refused", second.said)
            self.judge_refused([second], 4, [str(cluster.state), "in use", str(cluster.daemon.popen.pid)])
            self.assertEqual(self.files_in(cluster.state), before)
        for verb in (["verify"], ["export"], ["salvage", "--to", self.folder / "x"], ["restore", "--to", self.folder / "x"],
                     ["backup", "--to", self.folder / "x.db", "--without-keys"]):
            done = self.run_cli("store", verb[0], cluster.state, *verb[1:], expect=4)
            self.assertIn("in use", done.stderr)
            self.assertEqual(self.files_in(cluster.state), before)
        acknowledged += [cluster.submit(tree) for _ in range(25)]
        cluster.kill_daemon()
        cluster.start_daemon()
        cluster.wait_until_up()
        self.assertEqual([experiment["id"] for experiment in cluster.experiments()],
                         acknowledged)
        print(f"{len(acknowledged)} acknowledged experiments are there after kill -9", file=sys.stderr)

    def start_stopped_at(self, state, number):
        """A daemon that stands still before the number-th call that locks or changes a file; None where it makes fewer until
        it serves."""
        order = self.folder / f"order-{number}"
        order.write_text(f"hpsearchd any {number} stop\n")
        first = self.start("hpsearchd", "--state-dir", state, "--workers", "tcp://127.0.0.1:0",
                           log=f"first-{number}.log", extra={"LD_PRELOAD": str(LIBRARY), "KILL_AT": str(order)})

        def is_stopped():
            return pathlib.Path(f"/proc/{first.popen.pid}/stat").read_text().rpartition(") ")[2][0] == "T"

        harness.wait_for(lambda: is_stopped() or (state / "daemon.json").exists() or first.popen.poll() is not None,
                         f"a stop at call {number}", first.said)
        # Later calls, of timers, are none of its start.
        if is_stopped() and not (state / "daemon.json").exists():
            return first
        first.end(signal.SIGKILL)
        return None

    def test_of_two_daemons_one_serves_wherever_the_other_one_stands_in_its_start(self):
        """A store with acknowledged experiments is opened by one daemon, which stops before each of its calls in turn that
        lock or change files, and by a second one meanwhile. One of them serves, and everything is there."""
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 3, "max_trials": 4})
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        acknowledged = [cluster.submit(tree) for _ in range(3)]
        cluster.kill_daemon()
        killed = self.folder / "killed"
        cluster.state.rename(killed)
        (killed / "daemon.json").unlink()  # It tells when the next one serves.
        served_first = served_second = number = 0
        while True:
            number += 1 if number < 3 else STOP_EVERY  # The first ones are those before it owns anything.
            state = self.folder / "state"
            shutil.rmtree(state, ignore_errors=True)
            shutil.copytree(killed, state, ignore=shutil.ignore_patterns("*.sock"))
            first = self.start_stopped_at(state, number)
            if first is None:
                break
            cluster.state = state
            cluster.start_daemon()
            second = cluster.daemon
            harness.wait_for(lambda: second.popen.poll() is not None or (state / "daemon.json").exists(),
                             "the second daemon to serve or to be refused", second.said)
            first.popen.send_signal(signal.SIGCONT)
            serves = cluster if second.popen.poll() is None else None
            if serves is None:
                self.assertEqual(second.popen.returncode, 4, f"call {number}: {second.said()}")
                harness.wait_for(lambda: (state / "daemon.json").exists() or self.assertIsNone(first.popen.poll(), first.said()),
                                 "the first daemon to serve", first.said)
                serves = cluster  # Its socket is where the other one's would be.
                served_first += 1
            else:
                served_second += 1
                harness.wait_for(lambda: first.popen.poll() is not None, "the first daemon to be refused", first.said)
                self.assertEqual(first.popen.returncode, 4, f"call {number}: {first.said()}")
            # Both were there, and the one that serves acknowledges what lasts.
            acknowledged_there = acknowledged + [serves.submit(tree)]
            for one in (first, second):
                one.popen.kill()
                one.popen.wait()
            cluster.start_daemon()
            cluster.wait_until_up()
            self.assertEqual([experiment["id"] for experiment in cluster.experiments()],
                             acknowledged_there, f"call {number}")
            cluster.kill_daemon()
        self.assertGreater(served_first, 0)
        self.assertGreater(served_second, 0)
        print(f"stopped before {served_first + served_second} of {number} calls of a start; the stopped one served "
              f"{served_first} times", file=sys.stderr)

    def test_one_agent_has_a_state_directory(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        running = cluster.start_worker(1)
        lock = self.folder / "worker" / "lock"
        harness.wait_for(lambda: lock.exists() and lock.read_text().strip() == str(running.popen.pid), "the agent to begin")

        def start(name):
            return self.start("hpsearch-worker", "--daemon", cluster.workers, "--state-dir", self.folder / "worker",
                              "--slots", 1, "--name", "worker", log=f"worker-{name}.log")

        refused = self.rounds(start, running, 4, [str(self.folder / "worker"), "in use"])
        print(f"{refused} agents refused in {ROUNDS} rounds", file=sys.stderr)
        # The agent may only now be in session: its rounds began with its lock.
        harness.wait_for(lambda: cluster.get("/api/v1/workers")["workers"], "the agent to be known")
        workers = cluster.get("/api/v1/workers")["workers"]
        self.assertEqual([worker["name"] for worker in workers], ["worker"])


if __name__ == "__main__":
    unittest.main()
