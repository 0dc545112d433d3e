"""Core API scripts written for Determined run on the genuine 0.24 harness, unmodified, through single and adaptive_asha,
pauses, promotions, restarts and invalid hyperparameters. determined_pytorch_test.py does so with a PyTorchTrial.

Needs a Python with the package determined (scripts/setup determined makes one); without it the test is skipped.
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

import harness

PROGRAMS = harness.HERE / "determined_programs"


def find_python():
    """A Python that has the harness: HPSEARCH_DETERMINED_PYTHON, the one that setup makes, or the system's."""
    for python in (os.environ.get("HPSEARCH_DETERMINED_PYTHON"),
                   harness.ROOT / "build" / "determined" / "bin" / "python3", "/usr/bin/python3"):
        if python and pathlib.Path(python).exists():
            if not subprocess.run([str(python), "-c", "import determined.core"], capture_output=True).returncode:
                return pathlib.Path(python)
    return None


PYTHON = find_python()


class DeterminedCase(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.context = self.folder / "context"
        self.context.mkdir()
        for program in PROGRAMS.glob("*.py"):
            (self.context / program.name).write_text(program.read_text())

    def tree(self, entrypoint, searcher, hyperparameters, **more):
        variables = {"PATH": f"{PYTHON.parent}:{os.environ['PATH']}", "TEST_LEDGER": str(self.ledger_path)}
        variables.update(more.pop("variables", {}))
        return {"entrypoint": entrypoint, "hyperparameters": hyperparameters, "searcher": searcher,
                "environment": {"environment_variables": variables},
                "reproducibility": {"experiment_seed": 3}} | more

    def submit(self, tree):
        done = self.run_cli("submit", self.write_experiment(tree), self.context, "--server",
                            self.cluster.server, "--output", "json")
        return done["experiment"]

    def metrics(self, experiment, trial):
        return self.cluster.metrics(experiment, trial)

    def expect_over(self, experiment, state="COMPLETED"):
        over = self.cluster.wait_until_over(experiment)
        trials = self.cluster.trials(experiment)
        self.assertEqual(over, state, json.dumps(trials, indent=1)[:6000])
        return trials


class DeterminedHarness(DeterminedCase):
    def core_api(self, searcher, hyperparameters=None, **more):
        start = 3.0 if searcher["name"] == "single" else {"type": "double", "minval": 1, "maxval": 9}
        return self.tree("python3 core_api.py", {"metric": "loss"} | searcher, {"start": start} | (hyperparameters or {}),
                         **more)

    def test_core_api_script(self):
        self.cluster.start_worker(1)
        experiment = self.submit(self.core_api({"name": "single", "max_length": 6}))
        trial, = self.expect_over(experiment)
        self.assertEqual((trial["state"], trial["reached"], trial["attempts"]), ("COMPLETED", 6, 1), trial)
        reports = self.metrics(experiment, 0)
        last = {name: value for report in reports if report["step"] == 6
                for name, value in report["metrics"].items()}
        self.assertAlmostEqual(last["extra.twice"], 2 * last["loss"])
        self.assertAlmostEqual(last["training.loss"], last["loss"] + 1)
        self.assertEqual(sorted({report["step"] for report in reports}), list(range(1, 7)))
        self.assertEqual([line["why"] for line in self.ledger.of("end")], ["out of operations"])

    def test_crash_goes_on_from_the_checkpoint(self):
        self.cluster.start_worker(1)
        experiment = self.submit(self.core_api({"name": "single", "max_length": 5}, {"crash_at": 3}))
        trial, = self.expect_over(experiment)
        self.assertEqual((trial["reached"], trial["attempts"], trial["restarts"]), (5, 2, 1), trial)
        ledger = self.ledger
        self.assertEqual([line["step"] for line in ledger.of("step")], [1, 2, 3, 4, 5], "a step was trained twice")
        crashed, = (line["uuid"] for line in ledger.of("checkpoint") if line["run"] == 1)
        self.assertEqual([(line["steps"], line["checkpoint"]) for line in ledger.of("start")],
                         [(0, None), (3, crashed)])

    def test_pause_preempts_and_resume_goes_on(self):
        self.cluster.start_worker(1)
        experiment = self.submit(self.core_api({"name": "single", "max_length": 12},
                                               variables={"TEST_STEP_SECONDS": "0.3"}))
        harness.wait_for(lambda: len(self.ledger.of("step")) >= 2, "the script to train")
        self.run_cli("pause", experiment, "--server", self.cluster.server)
        harness.wait_for(lambda: self.ledger.of("end"), "the script to leave")
        self.assertEqual(self.ledger.of("end")[0]["why"], "preempted")
        self.assertLess(self.ledger.of("end")[0]["steps"], 12)
        self.run_cli("resume", experiment, "--server", self.cluster.server)
        trial, = self.expect_over(experiment)
        self.assertEqual((trial["reached"], trial["attempts"], trial["restarts"]), (12, 2, 0), trial)
        self.assertEqual([line["step"] for line in self.ledger.of("step")], list(range(1, 13)))

    def test_invalid_hyperparameters_end_the_trial_without_restart(self):
        self.cluster.start_worker(1)
        experiment = self.submit(self.core_api({"name": "single", "max_length": 5}, {"impossible": True}))
        trial, = self.expect_over(experiment)
        self.assertEqual((trial["state"], trial["attempts"], trial["restarts"]), ("STOPPED", 1, 0), trial)
        self.assertIn("InvalidHP", json.dumps(trial))

    def test_search_promotes_and_survives_its_agent(self):
        worker = self.cluster.start_worker(2)
        experiment = self.submit(self.core_api({"name": "adaptive_asha", "max_length": 9, "divisor": 3, "max_trials": 6,
                                                "max_rungs": 3, "max_concurrent_trials": 2},
                                               variables={"TEST_STEP_SECONDS": "0.2"}))
        harness.wait_for(lambda: self.ledger.of("operation"), "an operation to be completed")
        worker.popen.kill()  # Harnesses run on and what they say is kept.
        worker.popen.wait()
        self.cluster.start_worker(2)
        trials = self.expect_over(experiment)
        self.assertEqual(len(trials), 6)
        ledger = self.ledger
        self.assertEqual(max(harness.count((line["trial"], line["step"]) for line in ledger.of("step")).values()), 1,
                         "a step was trained twice")
        self.assertEqual(ledger.final_lengths(), {trial["id"]: trial["reached"] for trial in trials})
        self.assertGreater(max(trial["reached"] for trial in trials), min(trial["reached"] for trial in trials))
        self.assertEqual({line["why"] for line in ledger.of("end")} - {"preempted"}, {"out of operations"})
        self.assertEqual({trial["restarts"] for trial in trials}, {0})

    def test_bind_mounts(self):
        (self.folder / "data").mkdir()
        (self.folder / "data" / "inside").write_text("")
        self.cluster.start_worker(1)
        tree = self.core_api({"name": "single", "max_length": 2}, max_restarts=0, bind_mounts=[
            {"host_path": str(self.folder / "data"), "container_path": "/hpsearch-e2e/data", "read_only": True},
            {"host_path": str(self.folder / "data"), "container_path": "here"}])
        tree["entrypoint"] = ("test -f /hpsearch-e2e/data/inside && touch here/written && "
                              "! touch /hpsearch-e2e/data/refused && python3 core_api.py")
        trial, = self.expect_over(self.submit(tree))
        self.assertEqual(trial["reached"], 2, trial)
        self.assertEqual(sorted(path.name for path in (self.folder / "data").iterdir()), ["inside", "written"])

    def test_strangers_are_refused(self):
        self.cluster.start_worker(1)
        experiment = self.submit(self.core_api({"name": "single", "max_length": 30},
                                               variables={"TEST_STEP_SECONDS": "0.3"}))
        harness.wait_for(lambda: self.ledger.of("start"), "the script to start")
        environment = pathlib.Path(f"/proc/{self.ledger.of('start')[0]['pid']}/environ").read_bytes().split(b"\0")
        master = next(entry for entry in environment if entry.startswith(b"DET_MASTER=")).decode().split("=", 1)[1]
        for headers in ({}, {"Grpc-Metadata-x-allocation-token": "Bearer wrong"}, {"Authorization": "Bearer "}):
            request = urllib.request.Request(f"{master}/api/v1/trials/1", headers=headers)
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=30)
            self.assertEqual(refused.exception.code, 401)
        self.run_cli("kill", experiment, "--server", self.cluster.server)
        self.expect_over(experiment, "CANCELED")


if __name__ == "__main__":
    if PYTHON is None:
        sys.exit(harness.skipped("no Python here has the package determined (scripts/setup determined)"))
    unittest.main()
