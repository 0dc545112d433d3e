"""Nodes of a real Slurm: allocations of several, and one that fails. E2E_WALL_TIME=1 (scripts/soak): minutes."""

import os
import sys
import unittest

import slurm_queue_test


@unittest.skipUnless(os.environ.get("E2E_WALL_TIME") == "1", "E2E_WALL_TIME=1: minutes")
class SlurmNodes(slurm_queue_test.QueueCase):
    def test_an_allocation_of_two_nodes_has_a_worker_on_each(self):
        self.add_queue("--workers-per-alloc", "2")
        experiment = self.submit(trials=12)
        self.until(lambda: self.show()["joined"] == 2, "both workers to join")
        names = {worker["name"] for worker in self.ask("workers")["workers"]}
        self.assertEqual(names, {"gpu-1-0", "gpu-1-1"})
        self.wait_for(experiment)
        self.assertEqual(len(self.show()["allocations"]), 1)
        self.judge_that_nothing_is_left()

    def test_a_job_is_not_put_back_into_the_queue(self):
        self.add_queue()
        experiment = self.submit(trials=6, STEP_SECONDS=1)
        self.until(lambda: self.ledger.of("step"), "a training to get on")
        for job in self.slurm.unfinished():
            self.slurm.ask("scontrol", "requeue", job)
        self.wait_for(experiment)
        self.assertEqual(len(self.ledger.of("start")), 6, "the job ran on, and each trial started once")
        self.assertEqual(self.restarts(experiment), 0)
        self.assertEqual(self.show()["failures"], 0)
        self.judge_that_nothing_is_left()

    def test_a_failed_node_loses_no_trial_and_trains_nothing_beside_its_successor(self):
        self.add_queue()
        experiment = self.submit(trials=8, epochs=20, STEP_SECONDS=1, CHECKPOINT_EVERY=1)
        self.until(lambda: self.show()["joined"] == 2, "both workers to join")
        nodes = self.slurm.ask("squeue", "-h", "-o", "%N").split()
        failed = self.slurm.processes[int(nodes[0][1:])]  # After slurmctld come n1, n2, n3.
        failed.kill()
        failed.wait()
        self.until(lambda: "node_failed" in self.ends() or self.ask(f"experiments/{experiment}")["state"] == "COMPLETED", "the end is known")
        self.wait_for(experiment)
        self.assertEqual(self.show()["state"], "active")
        self.assertEqual(self.show()["failures"], 0)
        steps = [(line["trial"], line["step"]) for line in self.ledger.of("step")]
        self.assertLessEqual(len(steps) - len(set(steps)), 4, "at most the step of each trial that ran there")
        self.slurm.begin("slurmd", "-D", "-N", nodes[0], "-f", self.slurm.root / "slurm.conf")
        self.judge_that_nothing_is_left()


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
