"""Programs that turn against what keeps them: they stop their shim, or take their own directory away. Their trials end, their
slots come back, and a neighbour on the same worker does not notice.
"""

import unittest

import harness
import kill_shim_test

GRACE = "1"
STOPS_ONCE = """
import os, signal, time
os.kill(os.getppid(), signal.SIGSTOP)
for step in range(1, 4):
    print('HPSEARCH {"step": %d, "loss": 0.5}' % step, flush=True)
"""
STOPS_FOR_EVER = """
import os, signal, sys
print("begun", file=sys.stderr, flush=True)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    os.kill(os.getppid(), signal.SIGSTOP)
"""
REMOVES_ITS_DIRECTORY = """
import os, shutil, signal, time
shutil.rmtree(os.path.dirname(os.path.dirname(os.getcwd())), ignore_errors=True)  # ATTEMPT/ml/usercode
os.kill(os.getppid(), signal.SIGKILL)
time.sleep(3600)
"""


class StoppedShim(harness.Case):
    def begin(self):
        """A neighbour trains beside whatever comes."""
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.worker = self.cluster.start_worker(2, "worker", "--grace", GRACE)
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 100000, "max_trials": 1},
                                  fake={"METRIC": "equal", "STEP_SECONDS": 0.2})
        self.neighbour = self.cluster.submit(tree)
        harness.wait_for(lambda: self.ledger.of("step"), "the neighbour to train")

    def submit(self, program, **more):
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 3, "max_trials": 1}, **more)
        tree["entrypoint"] = ["/usr/bin/python3", "-IS", "-c", program]
        return self.cluster.submit(tree)

    def held(self):
        (worker,) = self.cluster.get("/api/v1/workers")["workers"]
        return worker["slots_held"]

    def judge_neighbour(self):
        steps = len(self.ledger.of("step"))
        harness.wait_for(lambda: len(self.ledger.of("step")) > steps + 2, "the neighbour to train on")
        (trial,) = self.cluster.trials(self.neighbour)
        self.assertEqual((trial["state"], trial["attempts"], trial["restarts"]), ("RUNNING", 1, 0))
        events = self.cluster.get("/api/v1/events?limit=1000")["events"]
        self.assertEqual([event for event in events if event["type"] in ("slot_withdrawn", "worker_quarantined")], [])

    def test_a_shim_that_is_stopped_once_is_continued(self):
        self.begin()
        experiment = self.submit(STOPS_ONCE)
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", self.worker.said())
        (trial,) = self.cluster.trials(experiment)
        self.assertEqual((trial["state"], trial["attempts"], trial["reached"]), ("COMPLETED", 1, 3))
        self.assertIn("was stopped; it is continued", self.worker.said())
        self.judge_neighbour()

    def test_a_shim_that_is_stopped_for_ever_gives_its_slot_back(self):
        """Nobody asks it to end: the agent gives it up. Then a user asks for the end of the next attempt."""
        self.begin()
        experiment = self.submit(STOPS_FOR_EVER)
        harness.wait_for(lambda: self.cluster.trials(experiment) and self.cluster.trials(experiment)[0]["attempts"] == 2,
                         "the first attempt to be given up", self.worker.said)
        harness.wait_for(lambda: self.held() == 2, "the second attempt to begin", self.worker.said)
        self.run_cli("cancel", experiment, "--server", self.cluster.server)
        self.assertEqual(self.cluster.wait_until_over(experiment), "CANCELED")
        harness.wait_for(lambda: self.held() == 1, "its slot to be free", self.worker.said)
        harness.wait_for(lambda: len(kill_shim_test.shims(self.folder)) == 1, "its shim to be gone")
        self.judge_neighbour()

    def test_without_its_directory_and_shim_it_is_ended(self):
        self.begin()
        experiment = self.submit(REMOVES_ITS_DIRECTORY)
        harness.wait_for(lambda: self.cluster.trials(experiment) and self.cluster.trials(experiment)[0]["attempts"] >= 3,
                         "its attempts to end", self.worker.said)
        self.run_cli("cancel", experiment, "--server", self.cluster.server)
        self.assertEqual(self.cluster.wait_until_over(experiment), "CANCELED")
        harness.wait_for(lambda: self.held() == 1, "its slot to be free", self.worker.said)
        self.judge_neighbour()


if __name__ == "__main__":
    unittest.main()
