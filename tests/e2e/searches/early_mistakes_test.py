"""The commonest mistakes of a first hour: each costs three launches at most, ends the command, and is told in words."""

import os
import pathlib
import re
import textwrap
import unittest

import harness

SOURCE = pathlib.Path(__file__).resolve().parents[3]
RANDOM = {"name": "random", "metric": "loss", "max_length": {"epochs": 3}, "max_trials": 20}


class EarlyMistakes(harness.Case):
    """Programs as people write them, by `hpsearch run`."""

    def search(self, program, expect=7, searcher=RANDOM, name="train.py", entrypoint=None, **more):
        """What the command printed, and how often the program was started."""
        launches = self.folder / "launches"
        folder = self.folder / "project"
        folder.mkdir()
        counted = f"open({str(launches)!r}, 'a').write('x')\n"
        (folder / name).write_text(counted + textwrap.dedent(program))
        tree = {"entrypoint": entrypoint or ["/usr/bin/python3", "-u", name],
                "hyperparameters": {"lr": {"type": "double", "minval": 0.1, "maxval": 0.9}},
                "environment": {"environment_variables": {"PYTHONPATH": str(SOURCE / "clients/python")}},
                "searcher": searcher} | more
        path = self.write_experiment(tree, "project/experiment.yaml")
        done = self.run_cli("run", path, "--slots", 8, expect=expect)
        started = launches.stat().st_size if launches.exists() else 0
        return done.stdout + done.stderr, started

    def test_missing_module(self):
        said, launches = self.search("import modul_that_is_not_there\n")
        self.assertLessEqual(launches, 3)
        first = said.index("ModuleNotFoundError: No module named 'modul_that_is_not_there'")
        self.assertLess(first, said.index("paused itself"), "the first failure is shown when it happens")
        self.assertRegex(said, r"paused itself: its first 3 trials failed in the same way: exit status 1: ModuleNotFound")
        self.assertRegex(said, r"the whole log: hpsearch logs --stderr --state-dir \S+ \d+")
        self.assertRegex(said, r"what to do: .*--fresh, or, if the program need not change, continue this one: \S*hpsearch run ")

    def test_paused_search_goes_on_with_what_was_missing(self):
        missing = self.folder / "data.csv"
        said, launches = self.search(f"""
            open({str(missing)!r})
            for epoch in range(1, 4):
                print('HPSEARCH {{"step": %d, "loss": 0.5}}' % epoch)
            """)
        self.assertLessEqual(launches, 3)
        self.assertIn("FileNotFoundError", said)
        missing.write_text("1,2\n")
        done = self.run_cli("run", self.folder / "project/experiment.yaml", "--slots", 2)
        self.assertIn("20 completed", done.stdout)

    def test_missing_program(self):
        said, launches = self.search("", entrypoint=["./no-such-program", "train.py"], expect=2)
        self.assertEqual(launches, 0)
        self.assertIn("entrypoint: starts ./no-such-program, which isn't in the context directory", said)

    def test_mistyped_metric(self):
        said, launches = self.search("""
            import time
            import hpsearch
            epoch = 0
            go = hpsearch.CONTINUE
            while go is hpsearch.CONTINUE:
                epoch += 1
                time.sleep(0.02)
                go = hpsearch.report(epoch, val_loss=1 / epoch)
            """, searcher=RANDOM | {"metric": "validation_loss"})
        self.assertLessEqual(launches, 3)
        hint = 'reported "val_loss"; the search\'s metric is "validation_loss" (did you mean "val_loss"?)'
        self.assertRegex(said, r"note: trial \d+: at 1 epoch it " + re.escape(hint))
        self.assertRegex(said, r"failed: .*beyond its length of 3 epochs, it had " + re.escape(hint))
        self.assertIn("paused itself", said)

    def test_program_that_prints_no_metric(self):
        said, launches = self.search("print('epoch 1: loss 0.5')\n")
        self.assertLessEqual(launches, 3)
        self.assertIn("reported no metric; the search's metric is \"loss\"", said)
        self.assertIn("metrics: {loss: 'epoch {step}: loss {number}'}", said)

    def test_step_that_stands_still(self):
        said, launches = self.search("""
            import hpsearch
            while hpsearch.report(1, loss=0.5) is hpsearch.CONTINUE:
                pass
            """)
        self.assertLessEqual(launches, 3)
        self.assertIn("the step has to grow", said)

    def test_reports_by_a_logger(self):
        said, launches = self.search("""
            import logging
            logging.basicConfig(level=logging.INFO)
            for epoch in range(1, 4):
                logging.info('HPSEARCH {"step": %d, "loss": 0.5}', epoch)
            """)
        self.assertLessEqual(launches, 3)
        self.assertRegex(said, r'the line "INFO:root:HPSEARCH .*looks like a report, but it was printed to standard error')

    def test_nothing_but_failures_is_no_success(self):
        self.search("raise SystemExit('no data')\n", searcher=RANDOM | {"max_trials": 2}, max_restarts=0)
        said = self.run_cli("run", self.folder / "project/experiment.yaml", "--slots", 2, expect=7).stdout
        self.assertIn("FAILED", said)


class Waiting(harness.Case):
    """A search for which nothing can run says so wherever people look."""

    def test_run_submit_wait_and_list_say_what_is_missing(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(2)
        harness.wait_for(lambda: cluster.get("/api/v1/workers")["workers"], "the worker to join")
        tree = harness.experiment(self.ledger_path, RANDOM, resources={"slots_per_trial": 8})
        path = self.write_experiment(tree)
        why = "a trial needs 8 slots, and no worker has more than 2"
        server = ("--server", cluster.server)
        self.assertIn(why, self.run_cli("submit", path, *server).stderr)
        for verb in ("validate", "preview"):
            self.assertIn("slots_per_trial: is 8, but no worker has more than 2 slots",
                          self.run_cli(verb, path, *server).stderr)
        self.assertIn("experiment 1 waits: " + why, self.run_cli("list", *server).stdout)
        done = self.run_cli("wait", "1", "--timeout", 4, *server, expect=1)
        self.assertIn(why, done.stderr)

    def test_run_says_that_no_worker_has_the_label(self):
        tree = harness.experiment(self.ledger_path, RANDOM, resources={"labels": {"gpu": "h100"}})
        run = self.start(str(harness.BIN / "hpsearch"), "run", str(self.write_experiment(tree)), "--slots", "2",
                         "--state-dir", str(self.folder / "search"), log="run.log")
        harness.wait_for(lambda: "with label gpu=h100 is connected" in run.said(), "the reason to be told", run.said)
        run.end()


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    unittest.main()
