"""A queue of allocations on a real Ray, by the programs of the backend ray."""

import json
import os
import pathlib
import subprocess
import sys
import unittest
import urllib.request

import harness
import queue_case

# scripts/setup schedulers makes it.
RAY = pathlib.Path(os.environ.get("HPSEARCH_RAY", pathlib.Path(__file__).resolve().parents[3] / "build" / "python-ray" / "bin"))


class Ray:
    """One node, started by start(), ended by stop(). `environment` is for those who talk to it."""

    def __init__(self, root):
        self.root = root
        self.port, self.dashboard = harness.free_port(), harness.free_port()
        self.environment = {"PATH": f"{RAY}:{os.environ['PATH']}", "RAY_ADDRESS": f"http://127.0.0.1:{self.dashboard}",
                            "RAY_USAGE_STATS_ENABLED": "0", "RAY_DISABLE_IMPORT_WARNING": "1"}
        self.process = None

    def start(self):
        variables = harness.environment() | self.environment
        variables.pop("RAY_ADDRESS")
        with open(self.root / "ray.log", "ab") as log:
            self.process = subprocess.Popen(
                [RAY / "ray", "start", "--head", "--block", f"--port={self.port}", f"--dashboard-port={self.dashboard}", "--num-cpus=4",
                 f"--temp-dir={self.root / 'ray'}", "--object-store-memory=100000000", "--dashboard-agent-listen-port=0",
                 "--min-worker-port=0", "--max-worker-port=0", f"--ray-client-server-port={harness.free_port()}",
                 "--disable-usage-stats"],
                env=variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        harness.wait_for(lambda: self.process.poll() is not None or self.jobs() is not None, "Ray to be up", lambda: (self.root / "ray.log").read_text()[-3000:])

        if self.process.poll() is not None:
            raise AssertionError("Ray has ended:\n" + (self.root / "ray.log").read_text()[-3000:])

    def jobs(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.dashboard}/api/jobs/", timeout=10) as answer:
                return json.load(answer)
        except OSError:
            return None

    def unfinished(self):
        return [job["submission_id"] for job in self.jobs() if job["submission_id"] and job["status"] in ("PENDING", "RUNNING")]

    def ask(self, *command):
        return subprocess.run([RAY / "ray", *command], env=harness.environment() | self.environment, capture_output=True, text=True,
                              timeout=120, check=True).stdout

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@unittest.skipUnless((RAY / "ray").exists(), f"no Ray in {RAY} (scripts/setup schedulers)")
class RayQueue(queue_case.QueueCase):
    backend = "ray"

    def start_scheduler(self):
        ray = Ray(self.folder)
        self.addCleanup(ray.stop)
        ray.start()
        return ray

    def test_a_search_gets_its_workers_and_leaves_nothing(self):
        self.add_queue(arguments=("--entrypoint-num-cpus", "2"))
        experiment = self.submit(trials=12)
        self.wait_for(experiment)
        self.judge_that_nothing_is_left()
        self.assertIn("idle", self.ends())
        self.assertEqual(self.restarts(experiment), 0)

    def test_a_job_that_is_stopped_gives_its_trials_back(self):
        self.add_queue(arguments=("--entrypoint-num-cpus", "2"))
        experiment = self.submit(trials=6, STEP_SECONDS=1)
        self.until(lambda: self.show()["joined"] > 0 and self.ledger.alive(), "trials run")
        for job in self.scheduler.unfinished():
            self.scheduler.ask("job", "stop", "--no-wait", job)
        self.wait_for(experiment)
        self.assertEqual(self.restarts(experiment), 0)
        self.assertEqual(self.show()["state"], "active")
        self.judge_that_nothing_is_left()


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
