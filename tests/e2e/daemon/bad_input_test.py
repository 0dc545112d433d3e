"""Whatever users and machines get wrong: one clear message that names the thing, and the right exit code."""

import json
import shutil
import signal
import subprocess
import unittest

import harness

ONE = {"name": "random", "max_length": 2, "max_trials": 1}


class BadExperiment(harness.Case):
    """Experiments whose program does not do what it should, by `hpsearch run`."""

    def run_bad(self, expect, fake=None, searcher=ONE, **more):
        tree = harness.experiment(self.ledger_path, searcher, fake=fake, max_restarts=0, **more)
        done = self.run_cli("run", self.write_experiment(tree), "--slots", 2, expect=expect)
        return done.stdout + done.stderr

    def test_more_slots_than_this_machine_has(self):
        said = self.run_bad(2, resources={"slots_per_trial": 100_000})
        self.assertIn("no worker has 100000 slots", said)
        tree = harness.experiment(self.ledger_path, ONE, resources={"slots_per_trial": 100_000})
        done = self.run_cli("run", self.write_experiment(tree), "--slots", "cpu", expect=2)
        self.assertIn("slots_per_trial is 100000, and no worker has more than", done.stderr)

    def test_program_that_dies_at_once(self):
        said = self.run_bad(7, fake={"MODE": "dies"})
        self.assertIn("fake_training: cannot go on", said)
        self.assertIn("3", said)

    def test_program_that_reports_nothing(self):
        said = self.run_bad(None, fake={"MODE": "silent"})
        self.assertIn("loss", said, "the message must name the metric that never came")

    def test_metric_that_is_always_nan_pauses_the_search_once(self):
        said = self.run_bad(7, fake={"MODE": "nan"}, searcher={"name": "adaptive_asha", "max_length": 9,
                                                              "max_trials": 12, "divisor": 3})
        self.assertIn("every loss that they reported was NaN", said)
        self.run_cli("run", self.folder / "experiment.yaml", "--slots", 2)
        self.assertEqual(len(self.ledger.final_lengths()), 12)

    def test_slots_that_the_worker_does_not_know(self):
        for slots in ("many", "0", "auto*0", ""):
            file = self.write_experiment(harness.experiment(self.ledger_path, ONE))
            done = self.run_cli("run", file, "--fresh", "--slots", slots, expect=2)
            self.assertIn(f'"{slots}"', done.stderr)
        self.assertFalse(self.ledger_path.exists(), "a training ran in slots that are none")


class BadSurroundings(harness.Case):
    def test_program_that_runs_past_its_length_is_ended(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        self.start("hpsearch-worker", "--daemon", cluster.workers, "--state-dir", self.folder / "worker", "--slots", 1,
                   "--grace", 1, log="worker.log")
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 2, "max_trials": 2},
                                  fake={"MODE": "runs_past", "STEP_SECONDS": 0.05})
        experiment = cluster.submit(tree)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual({line["why"] for line in self.ledger.of("end")}, {"terminated"})
        self.assertEqual(self.ledger.most_at_once(), 1)

    def test_context_directory_that_is_gone_when_the_trial_starts(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        context = self.folder / "context"
        context.mkdir()
        tree = harness.experiment(self.ledger_path, ONE, max_restarts=0)
        status, answer = cluster.call("POST", "/api/v1/experiments",
                                      {"config": tree, "name": "e2e", "context_directory": str(context)})
        self.assertEqual(status, 201, answer)
        shutil.rmtree(context)
        cluster.start_worker(1)
        self.assertEqual(cluster.wait_until_over(answer["experiment"]), "FAILED")
        self.assertIn(str(context), json.dumps(cluster.get(f"/api/v1/experiments/{answer['experiment']}/trials/0")))

    def test_state_directory_of_another_worker(self):
        cluster = harness.Cluster(self)
        first = cluster.start_worker(1)
        harness.wait_for(lambda: (self.folder / "worker" / "worker.json").exists(), "the first worker to be up")
        second = cluster.start_worker(1)
        self.assertEqual(second.popen.wait(harness.PATIENCE), 4)
        self.assertIn(str(self.folder / "worker"), second.said())
        self.assertIn(str(first.popen.pid), second.said())

    def test_state_directory_of_another_run(self):
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 400, "max_trials": 1},
                                  fake={"STEP_SECONDS": 0.05})
        file = self.write_experiment(tree)
        first = subprocess.Popen([str(harness.BIN / "hpsearch"), "run", str(file)], cwd=self.folder,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=harness.environment())
        self.addCleanup(first.wait)
        self.addCleanup(first.send_signal, signal.SIGINT)
        harness.wait_for(lambda: self.ledger.of("step"), "the first run to be under way")
        done = self.run_cli("run", file, expect=4)
        self.assertIn(".hpsearch/experiment", done.stderr)
        self.assertIn(str(first.pid), done.stderr)


if __name__ == "__main__":
    unittest.main()
