"""SIGSTOP of a daemon, of a worker's agent, of shims and of trainings: who stands still is not dead, and nobody else pays for it."""

import os
import signal
import time
import unittest

import harness
import kill_shim_test

FROZEN_SECONDS = 18  # Longer than the daemon's patience below, and than ZeroMQ's heartbeats.
LENGTH = 90


class Freeze(harness.Case):
    def begin(self, trials):
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon("--lost-after", "6")
        self.cluster.wait_until_up()
        self.worker = self.cluster.start_worker(2)
        searcher = {"name": "random", "max_length": LENGTH, "max_trials": trials, "max_concurrent_trials": trials}
        fake = {"METRIC": "equal", "STEP_SECONDS": 0.3}
        self.experiment = self.cluster.submit(harness.experiment(self.ledger_path, searcher, fake=fake))
        harness.wait_for(lambda: len(self.ledger.of("step")) >= 4, "the trainings to begin")

    def freeze(self, process):
        process.popen.send_signal(signal.SIGSTOP)
        time.sleep(FROZEN_SECONDS)
        process.popen.send_signal(signal.SIGCONT)

    def reports_of(self, trial):
        return [report["step"] for report in self.cluster.metrics(self.experiment, trial["trial"])]

    def test_frozen_daemon_loses_no_lease(self):
        """What it did not hear while it stood still says nothing about its workers."""
        self.begin(2)
        self.freeze(self.cluster.daemon)
        self.assertEqual(self.cluster.wait_until_over(self.experiment), "COMPLETED")
        for trial in self.cluster.trials(self.experiment):
            self.assertEqual((trial["state"], trial["attempts"]), ("COMPLETED", 1))
            self.assertEqual(self.reports_of(trial), list(range(1, LENGTH + 1)))
        self.assertEqual(len(self.ledger.of("start")), 2)
        self.assertEqual({line["why"] for line in self.ledger.of("end")}, {"stop"})

    def stand_still(self, pids):
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(FROZEN_SECONDS)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)

    def judge_undisturbed(self):
        self.assertEqual(self.cluster.wait_until_over(self.experiment), "COMPLETED")
        for trial in self.cluster.trials(self.experiment):
            self.assertEqual((trial["state"], trial["attempts"], trial["restarts"]), ("COMPLETED", 1, 0))
            self.assertEqual(self.reports_of(trial), list(range(1, LENGTH + 1)))
        self.assertEqual({line["why"] for line in self.ledger.of("end")}, {"stop"})

    def test_frozen_shims_cost_nothing_but_time(self):
        self.begin(2)
        frozen = kill_shim_test.shims(self.folder)
        self.assertEqual(len(frozen), 2)
        self.stand_still(frozen)
        self.judge_undisturbed()

    def test_frozen_trainings_cost_nothing_but_time(self):
        self.begin(2)
        self.stand_still([line["pid"] for line in self.ledger.of("start")])
        self.judge_undisturbed()

    def test_frozen_agent_is_fenced_when_its_trial_went_on_elsewhere(self):
        self.begin(1)
        self.cluster.start_worker(1, name="other")
        self.worker.popen.send_signal(signal.SIGSTOP)
        harness.wait_for(lambda: len(self.ledger.of("start")) == 2, "the trial to start on the other worker")
        self.worker.popen.send_signal(signal.SIGCONT)
        self.assertEqual(self.cluster.wait_until_over(self.experiment), "COMPLETED")
        (trial,) = self.cluster.trials(self.experiment)
        self.assertEqual((trial["state"], trial["attempts"], trial["restarts"]), ("COMPLETED", 2, 0))
        steps = self.reports_of(trial)
        self.assertEqual(steps[-LENGTH:], list(range(1, LENGTH + 1)), "the second attempt's reports")
        self.assertEqual(steps[:-LENGTH], list(range(1, len(steps) - LENGTH + 1)), "the first attempt's reports")
        self.assertEqual(harness.count(line["attempt"] for line in self.ledger.of("end")), {2: 1},
                         "the frozen worker's training was not ended")


if __name__ == "__main__":
    unittest.main()
