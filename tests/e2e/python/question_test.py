"""Questions on a terminal (a pty): before a useless search of `hpsearch run` and hpsearch.tune(), and before `hpsearch kill`."""

import textwrap
import unittest

import harness
import python_package
from terminal import Terminal

QUESTION = "Is this meant? Start the search? [y/N] "
NOTE = 'is true, and the search minimises "val_acc"'
NOTE_OF_TUNE = 'smaller_is_better: is True, and the search minimises "val_acc"'


class QuestionTest(harness.Case):
    def setUp(self):
        super().setUp()
        (self.folder / "train.py").write_text("""print('HPSEARCH {"step": 1, "val_acc": 9.26}')\n""")
        self.write_experiment({
            "entrypoint": ["/usr/bin/python3", "train.py"], "hyperparameters": {"lr": {"type": "double", "minval": 0.1, "maxval": 0.9}},
            "searcher": {"name": "random", "metric": "val_acc", "max_length": {"epochs": 1}, "max_trials": 2}})
        self.script = self.folder / "tuned.py"
        self.script.write_text(textwrap.dedent("""
            import sys
            import hpsearch as hp

            more = {"ask": False} if "no-ask" in sys.argv else {}
            try:
                hp.tune(lambda t: t["lr"], {"lr": hp.uniform(0.1, 0.9)}, metric="val_acc", max_trials=2, name="asked", slots=1, **more)
            except ValueError as error:
                sys.exit("REFUSED " + str(error))
            """))

    def run_search(self, *options):
        return Terminal(self, "run", "experiment.yaml", "--slots", "1", *options)

    def tune(self, *options):
        return Terminal(self, self.script, *options, program=python_package.PYTHON, environment=python_package.variables(self.folder))

    def answer(self, terminal, key, expect):
        terminal.wait_for_text(QUESTION)
        terminal.press(key)
        self.assertEqual(terminal.end(), expect, terminal.text())
        return " ".join(terminal.text().split())  # The terminal's width divides lines.

    def test_run(self):
        said = self.answer(self.run_search(), b"\n", 2)
        self.assertEqual(said.count(NOTE), 1)
        self.assertIn("not started: change experiment.yaml", said)
        self.assertIn("interrupted before the search started", self.answer(self.run_search(), b"\x03", 130))
        said = self.answer(self.run_search(), b"y\n", 0)
        self.assertIn("val_acc 9.26, trial ", said)
        self.assertIn("(the lowest of a metric that by its name is better when larger", said)
        self.assertEqual(said.count(NOTE), 2, "the summary repeats it")
        again = self.run_search()  # Nobody is asked again.
        self.assertEqual(again.end(), 0, again.text())
        self.assertNotIn(QUESTION, again.text())

    def test_run_is_answered_beforehand(self):
        terminal = self.run_search("--yes")
        self.assertEqual(terminal.end(), 0, terminal.text())
        self.assertNotIn(QUESTION, terminal.text())

    def test_run_in_the_background_is_not_asked(self):
        terminal = Terminal(self, "-mc", f"{harness.BIN / 'hpsearch'} run experiment.yaml --slots 1 & wait $!", program="/bin/bash")
        self.assertEqual(terminal.end(), 0, terminal.text())
        self.assertNotIn(QUESTION, terminal.text())

    def test_kill_asks_before_it_ends_an_experiment(self):
        (self.folder / "train.py").write_text("import time\ntime.sleep(600)\n")
        running = self.run_search("--yes")
        running.wait_for_text("1 running")
        state = self.folder / ".hpsearch" / "experiment"
        for verb, key, expect in (("kill", b"\n", 2), ("cancel", b"n\n", 2), ("kill", b"y\n", 0)):
            command = Terminal(self, verb, "--state-dir", state)
            command.wait_for_text("It can't go on afterwards; hpsearch pause keeps it. [y/N] ")
            self.assertIn("End experiment 1, ", command.text())
            command.press(key)
            self.assertEqual(command.end(), expect, command.text())
            self.assertIn("nothing was ended" if expect else "experiment 1 is ", command.text())
        self.assertEqual(running.end(), 7, running.text())
        again = Terminal(self, "kill", "--yes", "--state-dir", state)
        self.assertNotIn("[y/N]", again.text() if again.end() is not None else "")

    def test_tune(self):
        said = self.answer(self.tune(), b"n\n", 1)
        self.assertEqual(said.count(NOTE_OF_TUNE), 2, "note and exception")
        self.assertIn("REFUSED not started: smaller_is_better: is True", said)
        said = self.answer(self.tune(), b"y\n", 0)
        self.assertEqual(said.count(NOTE_OF_TUNE), 1, "it is printed once")
        again = self.tune()
        self.assertEqual(again.end(), 0, again.text())
        self.assertNotIn(QUESTION, again.text())

    def test_tune_is_answered_beforehand(self):
        terminal = self.tune("no-ask")
        self.assertEqual(terminal.end(), 0, terminal.text())
        self.assertNotIn(QUESTION, terminal.text())

    def test_tune_at_a_daemon(self):
        self.script.write_text(textwrap.dedent("""
            import hpsearch as hp

            def train(t):
                return t["lr"]

            if __name__ == "__main__":
                with hp.local("cluster", slots=1) as client:
                    hp.tune(train, {"lr": hp.uniform(0.1, 0.9)}, metric="val_acc", max_trials=2, name="asked", on=client)
            """))
        said = self.answer(self.tune(), b"y\n", 0)
        self.assertEqual(said.count(NOTE_OF_TUNE), 1, said)
        again = self.tune()
        self.assertEqual(again.end(), 0, again.text())
        self.assertNotIn(QUESTION, again.text())

    def test_nobody_is_asked_without_a_terminal(self):
        self.run_cli("run", "experiment.yaml", "--slots", 1)
        process = self.start(python_package.PYTHON, self.script, log="tuned.log", extra=python_package.variables(self.folder))
        self.assertEqual(process.popen.wait(harness.PATIENCE), 0, process.said())
        self.assertNotIn(QUESTION, process.said())
        self.assertIn(NOTE_OF_TUNE, process.said())


if __name__ == "__main__":
    unittest.main()
