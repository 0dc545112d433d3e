"""A trial of four processes on two workers with two slots each: they find each other, lose a node, and finish.

The program is its own rendezvous: rank 0 listens at MASTER_ADDR and MASTER_PORT, the others connect, and each step is
taken by all of them together or by none. gang_torch_test.py does the same with torch.distributed (gloo).
"""

import os
import pathlib
import signal
import unittest

import harness

PROGRAM = harness.HERE / "programs" / "gang_training.py"


def kill_with_ancestors(pid):
    """The shim, what it started, and the process, in this order: none is left to see the next one's end."""
    chain = []
    for _ in range(3):
        try:
            parent = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[1])
            command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            break
        if b"hpsearch" not in command and PROGRAM.name.encode() not in command:
            break
        chain.insert(0, pid)
        pid = parent
    for each in chain:
        try:
            os.kill(each, signal.SIGKILL)
        except ProcessLookupError:
            pass


class GangCase(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.gate = self.folder / "gate"
        self.gate.mkdir()

    def worker(self, name):
        return self.cluster.start_worker(2, name)

    def submit(self, means, python="/usr/bin/python3"):
        return self.cluster.submit({
            "entrypoint": [python, str(PROGRAM), means],
            "launch": {"kind": "pytorch", "rank": "process"},
            "resources": {"slots_per_trial": 4},
            "hyperparameters": {"x": 0.5},
            "max_restarts": 0,
            "searcher": {"name": "single", "metric": "loss", "max_length": {"batches": 6}},
            "environment": {"environment_variables": {"GANG_LEDGER": str(self.ledger_path), "GANG_GATE": str(self.gate)}},
        })

    def lines(self, what, attempt):
        return [line for line in self.ledger.of(what) if line["attempt"] == attempt]

    def wait_for_lines(self, what, attempt, number):
        harness.wait_for(lambda: len(self.lines(what, attempt)) >= number, f"{number} × {what} of attempt {attempt}",
                         lambda: self.ledger_path.read_text() if self.ledger_path.exists() else "nothing")

    def lose_a_node_and_finish(self, means, python="/usr/bin/python3"):
        first, second = self.worker("first"), self.worker("second")
        experiment = self.submit(means, python)
        # In the third step three ranks wait for the last one: they will fail of its end, as trainings do, and are heard
        # long before its node is known to be lost. That costs the trial nothing: it may not be restarted once.
        self.wait_for_lines("meets", 1, 4)
        starts = self.lines("start", 1)
        self.assertEqual(sorted((line["rank"], line["local_rank"], line["node"]) for line in starts),
                         [(0, 0, 0), (1, 1, 0), (2, 0, 1), (3, 1, 1)])
        self.assertEqual({line["world"] for line in starts}, {4})
        # The node of ranks 2 and 3 is lost: agent, shims and programs at once.
        there = [line for line in starts if line["node"] == 1]
        name, = {line["worker"] for line in there}
        lost = second if name == "second" else first
        lost.popen.kill()
        lost.popen.wait()
        for line in there:
            kill_with_ancestors(line["pid"])
        harness.wait_for(lambda: not any(harness.start_time(line["pid"]) == line["began"] for line in starts),
                         "the other ranks to fail")
        # Nothing was said of the node's end; only that it starts again without the attempt tells the daemon.
        self.worker(name)
        self.wait_for_lines("start", 2, 4)
        for entry in starts:
            self.assertNotEqual(harness.start_time(entry["pid"]), entry["began"], f"rank {entry['rank']} survives")
        (self.gate / "open").write_text("")
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        resumed = {line["from"] for line in self.lines("start", 2)}
        self.assertEqual(resumed, {2}, "it goes on from its checkpoint")
        trial, = self.cluster.trials(experiment)
        self.assertEqual((trial["restarts"], trial["attempts"], trial["reached"]), (0, 2, 6))
        self.assert_logs_by_rank(experiment)
        # Only rank 0 was given a socket.
        self.assertEqual({line["rank"] for line in starts if line["socket"]}, {0})
        for entry in self.ledger.of("start"):
            self.assertNotEqual(harness.start_time(entry["pid"]), entry["began"], f"rank {entry['rank']} survives")

    def assert_logs_by_rank(self, experiment):
        for rank in range(4):
            said = self.run_cli("logs", experiment, "0", "--rank", rank, "--server", self.cluster.server).stdout
            self.assertEqual(said, f"rank {rank} of 4\n")
        beyond = self.run_cli("logs", experiment, "0", "--rank", "4", "--server", self.cluster.server, expect=None)
        self.assertIn("attempt 2 has ranks 0 to 3, no rank 4", beyond.stderr)
        shown = self.run_cli("show", experiment, "--trial", "0", "--server", self.cluster.server, "--output", "json")
        self.assertEqual([sorted(attempt["workers"]) for attempt in shown["attempts_made"]], [["first", "second"]] * 2)
        self.assertEqual(shown["attempts_made"][0]["cause"], "lost")


class Gang(GangCase):
    def test_four_processes_lose_a_node_and_finish_from_their_checkpoint(self):
        self.lose_a_node_and_finish("sockets")

    def test_half_the_slots_start_nothing(self):
        self.worker("first")
        experiment = self.submit("sockets")
        harness.wait_for(lambda: "no worker has more than 2" in (self.cluster.get(f"/api/v1/experiments/{experiment}")["waits_for"] or ""),
                         "the experiment to say what it waits for")
        self.assertEqual(self.ledger.of("start"), [])
        self.worker("second")
        (self.gate / "open").write_text("")
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual(len(self.lines("start", 1)), 4)


if __name__ == "__main__":
    unittest.main(verbosity=2)
