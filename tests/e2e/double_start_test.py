"""Two daemons, or two agents, on one state directory: one of them serves, every other one is refused with one message.

E2E_ROUNDS rounds (8; `scripts/soak` runs 60) of several started at the same moment, with and without one that runs
already, also when that one stands still.
"""

import os
import signal
import sys
import unittest

import harness

ROUNDS = int(os.environ.get("E2E_ROUNDS", "8"))
AT_ONCE = 4


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
            return self.start("hpsearchd", "--state-dir", cluster.state, "--http", "127.0.0.1:0", "--workers",
                              "tcp://127.0.0.1:0", log=f"daemon-{name}.log")

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
            second = self.start("hpsearchd", "--state-dir", cluster.state, "--http", "127.0.0.1:0", "--workers",
                                "tcp://127.0.0.1:0", log=f"second-{number}.log")
            harness.wait_for(lambda: second.popen.poll() is not None, "the second daemon to be refused", second.said)
            self.judge_refused([second], 4, [str(cluster.state), "in use", str(cluster.daemon.popen.pid)])
            self.assertEqual(self.files_in(cluster.state), before)
        for verb in (["verify"], ["export"], ["salvage", "--to", self.folder / "x"], ["restore", "--to", self.folder / "x"],
                     ["backup", "--to", self.folder / "x.db"]):
            done = self.run_cli("store", verb[0], cluster.state, *verb[1:], expect=4)
            self.assertIn("in use", done.stderr)
            self.assertEqual(self.files_in(cluster.state), before)
        acknowledged += [cluster.submit(tree) for _ in range(25)]
        cluster.kill_daemon()
        cluster.start_daemon()
        cluster.wait_until_up()
        self.assertEqual([experiment["id"] for experiment in cluster.get("/api/v1/experiments?limit=100")["experiments"]],
                         acknowledged)
        print(f"{len(acknowledged)} acknowledged experiments are there after kill -9", file=sys.stderr)

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
