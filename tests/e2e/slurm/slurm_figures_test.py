"""What queues on a real Slurm cost, as figures for docs/benchmarks.md; they need minutes, so E2E_WALL_TIME=1 (scripts/soak)."""

import os
import sys
import time
import unittest

import harness
import slurm_queue_test

LONG = os.environ.get("E2E_WALL_TIME") == "1"
TRIALS = int(os.environ.get("E2E_BUSY_TRIALS", "160"))
PREEMPTIONS = int(os.environ.get("E2E_PREEMPTIONS", "20"))
TRIAL_SECONDS = 10
WORKERS, SLOTS = 4, 2


@unittest.skipUnless(LONG, "E2E_WALL_TIME=1: minutes")
class SlurmFigures(slurm_queue_test.QueueCase):
    def submit_many(self, trials, epochs, **fake):
        return self.cluster.submit(harness.experiment(
            self.ledger_path, {"name": "random", "max_trials": trials, "max_length": {"epochs": epochs},
                               "max_concurrent_trials": WORKERS * SLOTS}, fake=fake))

    def until_long(self, done, what):
        harness.wait_for(done, what, lambda: f"{self.ask('queues')}\n{self.cluster.daemon.said()}", patience=900)

    def test_slots_are_busy_between_the_first_and_the_last_trial(self):
        self.add_queue(workers=WORKERS)
        began = time.monotonic()
        experiment = self.submit_many(TRIALS, 1, STEP_SECONDS=TRIAL_SECONDS)
        self.until_long(lambda: self.ask(f"experiments/{experiment}")["state"] == "COMPLETED", "the search to end")
        starts, ends = self.ledger.of("start"), self.ledger.of("end")
        first, last = min(line["at"] for line in starts), max(line["at"] for line in ends)
        busy = (sum(line["at"] for line in ends) - sum(line["at"] for line in starts)) / ((last - first) * WORKERS * SLOTS)
        print(f"busy: {TRIALS} trials of {TRIAL_SECONDS} s on {WORKERS} workers of {SLOTS} slots, {100 * busy:.1f} % of the slots' time; "
              f"first trial {first - began:.1f} s after the submission", file=sys.stderr)
        self.assertEqual(len(starts), TRIALS)
        self.judge_that_nothing_is_left()

    def test_preemptions_lose_nothing_that_was_saved(self):
        self.add_queue()
        experiment = self.submit_many(8, 10 * PREEMPTIONS, STEP_SECONDS=1, CHECKPOINT_EVERY=1)
        for number in range(PREEMPTIONS):
            steps = len(self.ledger.of("step"))
            self.until_long(lambda at_least=steps + 4: len(self.ledger.of("step")) >= at_least, f"trainings after preemption {number}")
            self.slurm.ask("sbatch", "--partition=urgent", "--nodes=3", "--exclusive", "--time=5", "--output=/dev/null", "--wait",
                           "--wrap=sleep 1", check=True)
        preempted = self.ends()
        self.until_long(lambda: self.ask(f"experiments/{experiment}")["state"] == "COMPLETED", "the search to end")
        steps = self.ledger.of("step")
        again = len(steps) - len({(line["trial"], line["step"]) for line in steps})
        print(f"preemptions: {PREEMPTIONS} jobs took all nodes, {len(preempted)} allocations ended; {again} of {len(steps)} steps were "
              f"trained twice; {self.restarts(experiment)} restarts", file=sys.stderr)
        self.assertEqual(self.restarts(experiment), 0)
        self.assertEqual(set(self.ledger.final_lengths().values()), {10 * PREEMPTIONS})
        self.judge_that_nothing_is_left()


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
