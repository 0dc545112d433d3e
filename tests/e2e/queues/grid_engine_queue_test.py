"""A queue of allocations on a real Grid Engine, by the programs of the backend gridengine."""

import sys
import time
import unittest

import grid_engine
import harness
import queue_case


@unittest.skipIf(grid_engine.missing(), f"no Grid Engine here: {', '.join(grid_engine.missing())} (scripts/setup schedulers)")
class GridEngineQueue(queue_case.QueueCase):
    backend = "gridengine"

    def start_scheduler(self):
        engine = grid_engine.GridEngine(self.folder / "gridengine")
        self.addCleanup(engine.stop)
        engine.start()
        return engine

    def test_a_search_gets_its_workers_and_leaves_nothing(self):
        said = self.add_queue()
        self.assertIn("gridengine lists jobs", said.stdout)
        experiment = self.submit()
        self.wait_for(experiment)
        self.judge_that_nothing_is_left()
        self.assertIn("idle", self.ends())
        self.assertEqual(self.restarts(experiment), 0)
        self.assertIn("qsub -terse", self.cli("alloc", "script", "gpu").stdout)
        self.cli("alloc", "remove", "gpu")
        self.until(lambda: not list(self.cluster.state.glob("alloc/*/*")), "its directories are removed")

    def test_a_job_that_is_deleted_gives_its_trials_back(self):
        self.add_queue()
        experiment = self.submit(trials=6, STEP_SECONDS=1)
        self.until(lambda: self.show()["joined"] > 0 and self.ledger.alive(), "trials run")
        for job in self.scheduler.unfinished():
            self.scheduler.ask("qdel", job)
        self.wait_for(experiment)
        self.assertEqual(self.restarts(experiment), 0)
        self.assertEqual(self.show()["state"], "active")
        self.judge_that_nothing_is_left()

    def test_a_killed_daemon_finds_its_jobs_again(self):
        self.add_queue()
        experiment = self.submit(trials=12, STEP_SECONDS=0.5)
        for _ in range(4):
            time.sleep(harness.PORTS.uniform(0, 2))
            self.cluster.kill_daemon()
            self.begin_daemon()
        self.wait_for(experiment)
        keys = [line.split(":")[1].strip() for line in self.scheduler.ask("qstat", "-s", "z", "-r").splitlines() if "Full jobname" in line]
        self.assertEqual(len(keys), len(set(keys)), "no allocation was submitted twice")
        self.judge_that_nothing_is_left()

    def test_a_queue_that_is_refused_pauses_with_the_reason(self):
        self.add_queue(arguments=("-q", "nowhere.q"))
        self.submit()
        self.until(lambda: self.show()["failures"] > 0, "the queue has failed")
        self.assertIn("nowhere.q", self.show()["last_failure"])
        self.cli("alloc", "remove", "gpu", "--now")

    def test_a_job_in_an_error_state_is_canceled(self):
        self.add_queue(arguments=("-wd", "/nowhere"))
        self.submit()
        self.until(lambda: self.show()["failures"] > 1, "the queue has failed")
        self.assertIn("gridengine will not start it: Eqw", self.show()["last_failure"])
        self.cli("alloc", "remove", "gpu", "--now")
        self.until(lambda: not self.scheduler.unfinished(), "all jobs to end")


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
