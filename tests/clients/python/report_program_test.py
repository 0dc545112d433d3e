"""hpsearch-report, against a fake worker and outside a trial: what it says, prints and exits with."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))

from fake_worker import TrialTest

PROGRAM = pathlib.Path(os.environ["E2E_BIN_DIR"], "hpsearch-report")


class ReportProgramTest(TrialTest):
    def say(self, *words):
        """(exit status, what it printed, what it complained)."""
        done = subprocess.run([str(PROGRAM), *map(str, words)], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def test_the_directive_is_printed_and_is_the_exit_status(self):
        for directive, status in (("continue", 0), ("pause", 10), ("stop", 11), ("something new", 11)):
            with self.subTest(directive):
                self.setUp()
                worker = self.in_trial(lambda message: {"directive": directive, "length": 3})
                self.assertEqual(self.say("--step", 2, "val_acc=0.91", "net.loss=1e-3"),
                                 (status, directive + "\n", ""))
                self.assertEqual(worker.heard, [{"type": "report", "step": 2, "group": "validation",
                                                 "metrics": {"val_acc": 0.91, "net.loss": 0.001}}])

    def test_groups_remarks_and_the_length(self):
        worker = self.in_trial(lambda message: {"directive": "continue", "length": 9})
        self.assertEqual(self.say("--group", "training", "--step", 1, "loss=+2")[0], 0)
        self.assertEqual(self.say("log", "two", "words")[0], 0)
        self.assertEqual(self.say("progress", "0.25")[0], 0)
        self.assertEqual(self.say("length"), (0, "9\n", ""))
        self.assertEqual(worker.heard, [{"type": "report", "step": 1, "group": "training", "metrics": {"loss": 2}},
                                        {"type": "log", "text": "two words"},
                                        {"type": "progress", "fraction": 0.25}, {"type": "progress"}])

    def test_a_checkpoint_is_copied_to_where_the_worker_takes_it(self):
        worker = self.in_trial()
        (self.folder / "checkpoint" / "old").mkdir()
        mine = self.folder / "mine"
        (mine / "deep").mkdir(parents=True)
        (mine / "deep" / "weights").write_text("1")
        self.assertEqual(self.say("checkpoint", mine, "--step", 2)[0], 0)
        target = self.folder / "checkpoint"
        self.assertEqual(sorted(str(path.relative_to(target)) for path in target.rglob("*")), ["deep", "deep/weights"])
        self.assertEqual(self.say("checkpoint", target)[0], 0)
        self.assertEqual(worker.heard, [{"type": "checkpoint", "step": 2}, {"type": "checkpoint"}])
        (self.folder / "one.pt").write_text("2")
        self.assertEqual(self.say("checkpoint", self.folder / "one.pt")[0], 0)
        self.assertEqual([path.name for path in target.iterdir()], ["one.pt"])
        status, _, complaint = self.say("checkpoint", self.folder / "none")
        self.assertEqual(status, 1)
        self.assertIn("none does not exist", complaint)

    def test_what_lies_in_the_checkpoint_directory_stays_as_it_is(self):
        worker = self.in_trial()
        target = self.folder / "checkpoint"
        self.lay_out_checkpoint(target)
        before = sorted(target.rglob("*"))
        os.chdir(target)
        paths = [target / "model.pt", target / "deep", target / "deep" / ".." / "deep" / "weights",
                 target / "deep" / "..", str(target / "deep") + "/", "model.pt", ".", "./",
                 self.folder / "way" / "model.pt", self.folder / "one.pt", target / "out", str(target / "out") + "/"]
        for path in paths:
            with self.subTest(path):
                self.assertEqual(self.say("checkpoint", path)[0], 0)
                self.assertEqual(sorted(target.rglob("*")), before)
                self.assertEqual((target / "model.pt").read_bytes(), b"1")
        self.assertEqual(worker.heard, [{"type": "checkpoint"}] * len(paths))
        self.assertEqual(self.say("checkpoint", target / ".." / "mine")[0], 0)  # Beside it, not in it.
        self.assertEqual([path.name for path in target.iterdir()], ["kept"])

    def test_nothing_is_removed_through_a_link_in_the_place_of_the_checkpoint_directory(self):
        worker = self.in_trial()
        own = self.link_to_own_tree()
        (self.folder / "one.pt").write_text("2")
        status, _, complaint = self.say("checkpoint", self.folder / "one.pt")
        self.assertEqual(status, 1)
        self.assertIn("was replaced by a symbolic link; nothing was removed or copied", complaint)
        self.assertEqual([(path.name, path.read_text()) for path in own.iterdir()], [("weights", "mine")])
        self.assertEqual(worker.heard, [])

    def test_invalid_hyperparameters(self):
        worker = self.in_trial(lambda message: {"directive": "stop", "length": 3})
        self.assertEqual(self.say("invalid", "too", "many")[:2], (11, "stop\n"))
        self.assertEqual(worker.heard, [{"type": "invalid_hyperparameters", "why": "too many"}])

    def test_what_the_worker_refuses_is_said(self):
        self.in_trial(lambda message: {"error": "group is wrong"})
        self.assertEqual(self.say("--step", 1, "a=1"), (1, "", "hpsearch-report: group is wrong\n"))

    def test_without_an_answer_below_the_length_it_goes_on(self):
        self.in_trial(lambda message: None, REPORT_TIMEOUT="0.05")
        status, printed, complaint = self.say("--step", 1, "a=1")
        self.assertEqual((status, printed), (0, "continue\n"))
        self.assertIn("no answer in time", complaint)

    def test_a_lost_worker_is_named(self):
        self.in_trial()
        os.environ["HPSEARCH_SOCKET"] = str(self.folder / "nowhere")
        status, _, complaint = self.say("--step", 1, "a=1")
        self.assertEqual(status, 1)
        self.assertIn("nowhere", complaint)

    def test_wrong_words_are_named(self):
        for words, complaint in ((["--step", 1, "acc"], '"acc" is not a metric'), (["--step", 1], "no metric given"),
                                 (["a=1"], "--step is missing"), (["--step", 1, "a=tensor(1)"], "is not a number"),
                                 (["--step", "x", "a=1"], "step"), (["progress", "7"], "7")):
            with self.subTest(words):
                status, printed, said = self.say(*words)
                self.assertEqual((status, printed), (2, ""))
                self.assertIn(complaint, said)

    def test_outside_a_trial_it_only_says_so(self):
        status, printed, said = self.say("--step", 1, "a=1")
        self.assertEqual((status, printed), (0, "continue\n"))
        self.assertIn("not in a trial", said)


if __name__ == "__main__":
    unittest.main()
