"""Ctrl-C pauses a search and says how to go on; the same command then finishes it, and no work is done twice."""

import os
import pathlib
import signal
import subprocess
import unittest

import harness

SEARCHER = {"name": "adaptive_asha", "max_length": 16, "max_trials": 24, "divisor": 4}


class Interrupt(harness.Case):
    def start_run(self, file, *more, log="run.log"):
        """As a shell does: the command in a process group of its own, which Ctrl-C reaches as a whole."""
        with open(self.folder / log, "wb") as output:
            process = subprocess.Popen([str(harness.BIN / "hpsearch"), "run", str(file), "--slots", "2", *more],
                                       stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                       cwd=self.folder, env=harness.environment(), process_group=0)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def test_second_run_goes_on_where_ctrl_c_paused(self):
        tree = harness.experiment(self.ledger_path, SEARCHER, fake={"METRIC": "equal", "STEP_SECONDS": 0.05})
        file = self.write_experiment(tree)
        run = self.start_run(file)
        harness.wait_for(lambda: len(self.ledger.of("step")) > 20, "the search to be in full swing")
        # The terminal's Ctrl-C goes to the whole foreground group; the daemon and the worker must not care.
        os.killpg(run.pid, signal.SIGINT)
        self.assertEqual(run.wait(harness.PATIENCE), 130, (self.folder / "run.log").read_text())
        said = (self.folder / "run.log").read_text()
        self.assertIn("hpsearch run", said)

        before = self.ledger
        self.assertEqual(len(before.of("end")), len(before.of("start")), "a training outlived the run")
        self.assertLessEqual({line["why"] for line in before.of("end")}, {"pause", "stop"})
        self.assertLess(len(before.final_lengths()), 24, "the search was over before it was interrupted")

        self.run_cli("run", file, "--slots", 2)
        after = self.ledger
        self.assertEqual(after.lines[:len(before.lines)], before.lines)
        self.assertEqual(set(harness.count((line["trial"], line["step"]) for line in after.of("step")).values()), {1},
                         "a step was trained twice")
        preview = self.run_cli("preview", file, "--output", "json")
        self.assertEqual({str(length): count for length, count in harness.count(after.final_lengths().values()).items()},
                         preview["final_counts"])

    def test_a_changed_limit_of_an_interrupted_search_is_taken_over(self):
        searcher = {"name": "random", "max_length": 8, "max_trials": 3, "max_concurrent_trials": 1}
        tree = harness.experiment(self.ledger_path, searcher, fake={"STEP_SECONDS": 0.05})
        file = self.write_experiment(tree)
        run = self.start_run(file)
        harness.wait_for(lambda: len(self.ledger.of("step")) > 2, "the search to train")
        os.killpg(run.pid, signal.SIGINT)
        self.assertEqual(run.wait(harness.PATIENCE), 130, (self.folder / "run.log").read_text())
        tree["searcher"]["max_trials"] = 5
        self.write_experiment(tree)
        again = self.run_cli("run", file, "--slots", 2)
        self.assertIn("changed: searcher.max_trials: 3 -> 5", again.stdout + again.stderr)
        self.assertEqual(len(self.ledger.final_lengths()), 5)
        self.assertIn("already ended", self.run_cli("run", file, "--slots", 2).stderr)
        before = self.ledger.lines
        tree["searcher"]["max_trials"] = 8
        self.write_experiment(tree)
        grown = self.run_cli("run", file, "--slots", 2)
        self.assertIn("changed: searcher.max_trials: 5 -> 8", grown.stdout + grown.stderr)
        self.assertEqual(self.ledger.lines[:len(before)], before)
        self.assertEqual(self.ledger.final_lengths(), {trial: 8 for trial in range(8)})
        tree["searcher"]["max_trials"] = 7
        self.write_experiment(tree)
        self.assertIn("raise searcher.max_trials, which is 8", self.run_cli("run", file, "--slots", 2, expect=4).stderr)
        tree["searcher"]["max_trials"] = 8
        tree["searcher"]["max_length"] = 9
        self.write_experiment(tree)
        refused = self.run_cli("run", file, "--slots", 2, expect=4).stderr
        self.assertIn("searcher.max_length: 8 -> 9", refused)
        self.assertIn("--fresh", refused)
        self.assertRegex(refused, r"points_to_evaluate: \[\{.*\}\]")

    def daemon_arguments(self, run):
        """The arguments of the daemon that this run has started."""
        for child in pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split():
            arguments = pathlib.Path(f"/proc/{child}/cmdline").read_text().split("\0")
            if os.path.basename(arguments[0]) == "hpsearchd":
                return arguments
        raise AssertionError("the run has no daemon")

    def test_permission_for_a_network_file_system_holds_until_the_search_ends(self):
        tree = harness.experiment(self.ledger_path, SEARCHER, fake={"STEP_SECONDS": 0.05})
        file = self.write_experiment(tree)
        for number, more in enumerate([["--allow-network-filesystem"], []]):
            run = self.start_run(file, *more, log=f"run-{number}.log")
            steps = len(self.ledger.of("step"))
            harness.wait_for(lambda: len(self.ledger.of("step")) > steps, "the search to train")
            self.assertIn("--allow-network-filesystem", self.daemon_arguments(run))
            os.killpg(run.pid, signal.SIGINT)
            self.assertEqual(run.wait(harness.PATIENCE), 130, (self.folder / f"run-{number}.log").read_text())

    def test_killed_run_leaves_nothing_running_that_a_second_run_cannot_take_over(self):
        tree = harness.experiment(self.ledger_path, SEARCHER, fake={"METRIC": "equal", "STEP_SECONDS": 0.05})
        file = self.write_experiment(tree)
        run = self.start_run(file)
        harness.wait_for(lambda: len(self.ledger.of("step")) > 20, "the search to be in full swing")
        run.send_signal(signal.SIGKILL)
        run.wait()
        self.run_cli("run", file, "--slots", 2)
        trials = self.run_cli("trials", "--state-dir", self.folder / ".hpsearch" / "experiment", "--output", "json")
        self.assertEqual({trial["trial"]: trial["reached"] for trial in trials["trials"]}, self.ledger.final_lengths())
        preview = self.run_cli("preview", file, "--output", "json")
        self.assertEqual({str(length): count
                          for length, count in harness.count(self.ledger.final_lengths().values()).items()},
                         preview["final_counts"])


if __name__ == "__main__":
    unittest.main()
