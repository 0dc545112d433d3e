"""The time of allocations on a real Slurm: what trials save before it is over, and what follows from warnings. With
E2E_WALL_TIME=1 (scripts/soak) also what needs minutes, because Slurm counts limits in minutes."""

import os
import sys
import time
import unittest

import harness
import slurm_queue_test

LONG = os.environ.get("E2E_WALL_TIME") == "1"


class SlurmWallTime(slurm_queue_test.QueueCase):
    def worker(self):
        return next((worker for worker in self.ask("workers")["workers"] if worker["present"]), None)

    def minutes_left(self):
        return (self.worker()["ends_at"] - time.time()) / 60

    def lost_steps(self):
        """Steps that were trained and trained again, and all steps."""
        steps = self.ledger.of("step")
        return len(steps) - len({(line["trial"], line["step"]) for line in steps}), len(steps)

    def test_a_warning_ends_trainings_with_a_checkpoint(self):
        self.add_queue()
        experiment = self.submit(trials=1, epochs=40, STEP_SECONDS=0.5)
        self.until(lambda: len(self.ledger.of("step")) > 2, "a training to get on")
        self.assertIn("ends in", self.cli("workers").stdout)
        self.assertAlmostEqual(self.minutes_left(), 30, delta=2)
        for job in self.slurm.unfinished():
            self.slurm.ask("scancel", "--signal=USR1", job, check=True)
        self.until(lambda: self.ends(), "the allocation to end")
        self.assertEqual(self.ends()[0], "preempted", "nobody said when: the job ended early")
        ended = self.ledger.of("end")
        self.assertEqual(ended[0]["why"], "pause", ended)
        self.wait_for(experiment)
        lost, _ = self.lost_steps()
        self.assertEqual(lost, 0, "it went on from the checkpoint that it saved when it was asked")
        self.assertEqual(self.restarts(experiment), 0)
        self.judge_that_nothing_is_left()

    @unittest.skipUnless(LONG, "E2E_WALL_TIME=1: minutes")
    def test_a_limit_of_two_minutes_costs_little_work(self):
        self.add_queue("--give-back", "10s", limit="2m")
        experiment = self.submit(trials=12, epochs=50, STEP_SECONDS=1, CHECKPOINT_EVERY=5)
        self.until_long(lambda: self.ask(f"experiments/{experiment}")["state"] == "COMPLETED", "the search to end")
        lost, all_steps = self.lost_steps()
        print(f"wall time: {lost} of {all_steps} steps were trained twice ({100 * lost / all_steps:.1f} %); "
              f"{self.restarts(experiment)} restarts; ends {self.ends()}", file=sys.stderr)
        self.assertLessEqual(lost, 0.06 * all_steps)
        self.assertEqual(self.restarts(experiment), 0)
        self.assertIn("time_limit", self.ends())
        self.assertEqual(set(self.ends()) - {"time_limit", "idle", "canceled"}, set(), self.show())
        self.judge_that_nothing_is_left()

    @unittest.skipUnless(LONG, "E2E_WALL_TIME=1: minutes")
    def test_an_extended_job_trains_on(self):
        self.add_queue("--give-back", "10s", limit="2m", workers=1)
        experiment = self.submit(trials=1, epochs=150, STEP_SECONDS=1, CHECKPOINT_EVERY=5)
        self.until(lambda: len(self.ledger.of("step")) > 2, "a training to get on")
        self.assertLess(self.minutes_left(), 2.1)
        for job in self.slurm.unfinished():
            self.slurm.ask("scontrol", "update", f"JobId={job}", "TimeLimit=10", check=True)
        self.until_long(lambda: self.minutes_left() > 5, "the worker to see the new end")
        self.until_long(lambda: self.ask(f"experiments/{experiment}")["state"] == "COMPLETED", "the search to end")
        self.assertEqual(len(self.ledger.of("start")), 1, "one attempt")
        self.judge_that_nothing_is_left()

    def until_long(self, done, what):
        harness.wait_for(done, what, lambda: f"{self.ask('queues')}\n{self.cluster.daemon.said()}", patience=900)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
