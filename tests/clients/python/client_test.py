"""The Python package as a program uses it: inside a trial, against a fake worker, and outside of one."""

import contextlib
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))

import hpsearch
from fake_worker import PACKAGE, TrialTest


def spoken(call, *arguments, **named):
    """What a call prints and answers."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        answer = call(*arguments, **named)
    return out.getvalue(), answer


class InATrialTest(TrialTest):
    def test_it_finds_its_parameters_and_itself(self):
        self.in_trial(PARAMS='{"lr": 0.5, "net": {"hidden": 8}}', DATA='{"url": "x"}')
        self.assertEqual(hpsearch.params({"lr": 0.1, "net": {"depth": 2, "hidden": 1}}),
                         {"lr": 0.5, "net": {"depth": 2, "hidden": 8}})
        me = hpsearch.trial()
        self.assertEqual((me.experiment_id, me.trial_id, me.trial_number, me.attempt, me.seed, me.slots),
                         (1, 12, 4, 2, 7, [0, 3]))
        self.assertTrue(hpsearch.in_trial())
        self.assertEqual((hpsearch.length(99), hpsearch.unit(), hpsearch.metric(), hpsearch.seed()),
                         (3, "epochs", "val_acc", 7))
        self.assertEqual(hpsearch.data(), {"url": "x"})

    def test_defaults_are_not_changed(self):
        self.in_trial(PARAMS='{"net": {"hidden": 8}}')
        defaults = {"net": {"hidden": 1}}
        hpsearch.params(defaults)["net"]["hidden"] = 5
        self.assertEqual(defaults, {"net": {"hidden": 1}})

    def test_parameters_come_from_the_file_too(self):
        self.in_trial(PARAMS="", PARAMS_FILE=self.folder / "p.json")
        (self.folder / "p.json").write_text('{"name": "Änn"}', encoding="utf-8")
        self.assertEqual(hpsearch.params(), {"name": "Änn"})

    def test_a_report_says_step_and_metrics_and_hears_the_directive(self):
        worker = self.in_trial(lambda message: {"directive": "pause", "length": 3})
        self.assertIs(hpsearch.report(2, {"val/acc": 1}, val={"loss": 0.25}), hpsearch.PAUSE)
        self.assertEqual(worker.heard, [{"type": "report", "step": 2,
                                         "metrics": {"val/acc": 1.0, "val": {"loss": 0.25}}}])
        self.assertTrue(hpsearch.should_stop())

    def test_the_length_grows_with_a_promotion(self):
        self.in_trial(lambda message: {"directive": "continue", "length": 9})
        self.assertIs(hpsearch.report(3, val_acc=1), hpsearch.CONTINUE)
        self.assertEqual(hpsearch.length(), 9)

    def test_training_metrics_go_apart(self):
        worker = self.in_trial()
        hpsearch.report_training(1, loss=2)
        self.assertEqual(worker.heard[0]["group"], "training")

    def test_scalars_of_libraries_and_non_finite_numbers_are_numbers(self):
        worker = self.in_trial()

        class Scalar:
            def __float__(self):
                return 0.5

        hpsearch.report(1, a=Scalar(), b=float("nan"), c=float("-inf"), d=True)
        metrics = worker.heard[0]["metrics"]
        self.assertEqual((metrics["a"], metrics["c"], metrics["d"]), (0.5, float("-inf"), 1.0))
        self.assertNotEqual(metrics["b"], metrics["b"])

    def test_what_is_no_number_or_step_is_named(self):
        self.in_trial()
        with self.assertRaisesRegex(TypeError, "metric 'net.acc' is 'high'"):
            hpsearch.report(1, net={"acc": "high"})
        with self.assertRaisesRegex(TypeError, "'acc' is a list"):
            hpsearch.report(1, acc=[1, 2])
        for step in (-1, 2.5, "3", None, float("nan")):
            with self.assertRaisesRegex(ValueError, "step is"):
                hpsearch.report(step, acc=1)
        with self.assertRaisesRegex(ValueError, "without metrics"):
            hpsearch.report(1)

    def test_what_the_worker_refuses_is_an_error(self):
        self.in_trial(lambda message: {"error": "a metric's name is too long"})
        with self.assertRaisesRegex(hpsearch.Refused, "name is too long"):
            hpsearch.report(1, acc=1)

    def test_below_the_length_it_does_not_wait_long(self):
        silent = threading.Event()
        self.addCleanup(silent.set)
        worker = self.in_trial(REPORT_TIMEOUT="0.05")
        late = []

        def answer(message):
            if not late:
                late.append(message)
                silent.wait(20)  # Until the next question is asked.
                return {"directive": "stop", "length": 3}
            return {"directive": "continue", "length": 3}

        worker.answer = answer
        self.assertIs(hpsearch.report(1, val_acc=1), hpsearch.CONTINUE)
        silent.set()
        # The late answer is that of the first question, and not taken for the second's.
        os.environ["HPSEARCH_REPORT_TIMEOUT"] = "10"
        hpsearch._in_trial._trial._patience = 10
        self.assertIs(hpsearch.report(2, val_acc=1), hpsearch.CONTINUE)

    def test_at_the_length_it_waits_for_the_decision(self):
        decided = threading.Event()
        self.in_trial(lambda message: decided.wait(20) and {"directive": "stop", "length": 3}, REPORT_TIMEOUT="0.01")
        threading.Timer(0.3, decided.set).start()
        self.assertIs(hpsearch.report(3, val_acc=1), hpsearch.STOP)

    def test_remarks_never_wait_and_their_answers_are_taken(self):
        worker = self.in_trial()
        for number in range(3000):
            hpsearch.log_line("line {}".format(number))
        hpsearch.progress(0.5)
        self.assertIs(hpsearch.report(1, val_acc=1), hpsearch.CONTINUE)
        self.assertEqual(len(worker.said("log")), 3000)
        self.assertEqual(worker.said("progress")[0]["fraction"], 0.5)

    def test_should_stop_asks_seldom(self):
        worker = self.in_trial()
        for _ in range(1000):
            self.assertFalse(hpsearch.should_stop())
        self.assertLess(len(worker.said("progress")), 100)

    def test_threads_do_not_mix_their_answers(self):
        self.in_trial(lambda message: {"directive": "continue", "length": message["step"] + 1}, LENGTH="1000")
        wrong = []

        def many(first):
            for step in range(first, first + 50):
                answer = hpsearch._in_trial._trial._connection.ask({"type": "report", "step": step, "metrics": {}}, 10)
                if answer["length"] != step + 1:
                    wrong.append(step)

        hpsearch.report(1, acc=1)
        threads = [threading.Thread(target=many, args=(first,)) for first in (0, 1000, 2000)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def waiting_at_the_length(self):
        """A worker that has not decided yet, and the thread that waits for it."""
        decided = threading.Event()

        def answer(message):
            if message["type"] == "report":
                decided.wait(20)
            return {"directive": "pause" if message["type"] == "progress" else "stop"}

        worker = self.in_trial(answer)
        waiter = threading.Thread(target=hpsearch.report, args=(3,), kwargs={"val_acc": 1})
        waiter.start()
        self.addCleanup(waiter.join)
        self.addCleanup(decided.set)
        while not worker.said("report"):
            time.sleep(0.001)
        return worker, decided, waiter

    def test_remarks_and_should_stop_do_not_wait_for_another_threads_decision(self):
        worker, decided, waiter = self.waiting_at_the_length()
        begun = time.monotonic()
        for number in range(100):
            hpsearch.log_line("line {}".format(number))
        self.assertLess(time.monotonic() - begun, 1)
        self.assertTrue(hpsearch.should_stop(), "what the worker said meanwhile")
        self.assertLess(time.monotonic() - begun, 2)
        self.assertEqual([message["text"] for message in worker.said("log")],
                         ["line {}".format(number) for number in range(100)])
        self.assertTrue(waiter.is_alive())
        self.assertEqual(len(worker.connections), 2)
        decided.set()
        waiter.join(20)
        hpsearch.log_line("the first one is free again")
        hpsearch.report(2, val_acc=1)
        self.assertEqual(len(worker.connections), 2)

    def test_a_report_below_the_length_does_not_wait_for_another_threads_decision(self):
        worker, _, waiter = self.waiting_at_the_length()
        hpsearch._in_trial._trial._patience = 0.05
        begun = time.monotonic()
        hpsearch.report_training(2, loss=1)
        self.assertLess(time.monotonic() - begun, 5)
        self.assertEqual([message["step"] for message in worker.said("report")], [3, 2])
        self.assertTrue(waiter.is_alive())

    def test_a_child_that_is_forked_while_another_thread_waits_can_speak(self):
        _, _, waiter = self.waiting_at_the_length()
        child = os.fork()
        if child == 0:
            signal.alarm(10)
            os._exit(0 if hpsearch.checkpoint() is hpsearch.STOP else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(waiter.is_alive())

    def test_a_forked_child_has_a_connection_of_its_own(self):
        worker = self.in_trial()
        hpsearch.report(1, acc=1)
        child = os.fork()
        if child == 0:
            os._exit(0 if hpsearch.report(2, acc=1) is hpsearch.CONTINUE else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        hpsearch.report(3, acc=1)
        self.assertEqual([message["step"] for message in worker.said("report")], [1, 2, 3])
        self.assertEqual(len(worker.connections), 2)

    def test_a_lost_worker_is_named(self):
        worker = self.in_trial()
        hpsearch.report(1, acc=1)
        worker.close()
        with self.assertRaisesRegex(hpsearch.Disconnected, "socket"):
            hpsearch.report(2, acc=1)
        hpsearch.log_line("nobody hears")

    def test_a_checkpoint_is_copied_to_where_the_worker_takes_it(self):
        worker = self.in_trial()
        target = self.folder / "checkpoint"
        (target / "old").mkdir()
        mine = self.folder / "mine"
        (mine / "deep").mkdir(parents=True)
        (mine / "deep" / "weights").write_bytes(b"1")
        hpsearch.checkpoint(mine, 2)
        self.assertEqual(sorted(str(path.relative_to(target)) for path in target.rglob("*")), ["deep", "deep/weights"])
        self.assertEqual(worker.heard, [{"type": "checkpoint", "step": 2}])
        (self.folder / "one.pt").write_bytes(b"2")
        hpsearch.checkpoint(str(self.folder / "one.pt"))
        self.assertEqual([path.name for path in target.iterdir()], ["one.pt"])
        hpsearch.checkpoint(hpsearch.checkpoint_dir(), 3)
        self.assertEqual([path.name for path in target.iterdir()], ["one.pt"])
        with self.assertRaises(FileNotFoundError):
            hpsearch.checkpoint(self.folder / "none", 3)

    def test_what_lies_in_the_checkpoint_directory_stays_as_it_is(self):
        worker = self.in_trial()
        target = self.folder / "checkpoint"
        self.lay_out_checkpoint(target)
        before = sorted(target.rglob("*"))
        os.chdir(target)
        paths = [target / "model.pt", target / "deep", target / "deep" / ".." / "deep" / "weights",
                 target / "deep" / "..", str(target / "deep") + "/", "model.pt", ".",
                 self.folder / "way" / "model.pt", self.folder / "one.pt", target / "out", str(target / "out") + "/"]
        for path in paths:
            with self.subTest(path):
                hpsearch.checkpoint(path, 2)
                self.assertEqual(sorted(target.rglob("*")), before)
                self.assertEqual((target / "model.pt").read_bytes(), b"1")
        self.assertEqual(worker.heard, [{"type": "checkpoint", "step": 2}] * len(paths))
        hpsearch.checkpoint(target / ".." / "mine", 2)  # Beside it, not in it.
        self.assertEqual([path.name for path in target.iterdir()], ["kept"])

    def test_nothing_is_removed_through_a_link_in_the_place_of_the_checkpoint_directory(self):
        worker = self.in_trial()
        own = self.link_to_own_tree()
        (self.folder / "one.pt").write_text("2")
        with self.assertRaisesRegex(RuntimeError, "was replaced by a symbolic link; nothing was removed or copied"):
            hpsearch.checkpoint(self.folder / "one.pt", 2)
        self.assertEqual([(path.name, path.read_text()) for path in own.iterdir()], [("weights", "mine")])
        self.assertEqual(worker.heard, [])

    def test_the_latest_checkpoint_is_where_to_start(self):
        self.in_trial(LATEST_CHECKPOINT="")
        self.assertIsNone(hpsearch.latest_checkpoint())
        os.environ["HPSEARCH_LATEST_CHECKPOINT"] = "/c/1/2/3-9"
        self.assertEqual(hpsearch.latest_checkpoint(), pathlib.Path("/c/1/2/3-9"))

    def test_invalid_hyperparameters_end_the_program_well(self):
        worker = self.in_trial()
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as ended:
            try:
                hpsearch.invalid_hyperparameters("too many layers")
            except Exception:  # What training loops like to catch.
                self.fail("it was caught")
        self.assertEqual(ended.exception.code, 0)
        self.assertEqual(worker.heard[0]["why"], "too many layers")

    def test_an_unknown_directive_stops(self):
        self.in_trial(lambda message: {"directive": "checkpoint_and_migrate"})
        self.assertIs(hpsearch.report(1, acc=1), hpsearch.STOP)


class AmongSeveralProcessesTest(TrialTest):
    def test_only_the_first_speaks(self):
        worker = self.in_trial()
        for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"):
            with self.subTest(name), unittest.mock.patch.dict(os.environ, {name: "1"}):
                self.forget_trial()
                self.assert_has_no_voice()
        self.assertEqual(worker.heard, [])
        os.environ["RANK"] = "0"
        self.forget_trial()
        hpsearch.report(1, loss=1)
        self.assertEqual(len(worker.said("report")), 1)

    def test_on_another_worker_there_is_no_socket(self):
        os.environ.update({"HPSEARCH_TRIAL_ID": "7", "HPSEARCH_LENGTH": "3", "RANK": "2"})
        self.assert_has_no_voice()

    def assert_has_no_voice(self):
        """It never ends by itself what the first may train on with, and prints nothing."""
        self.assertTrue(hpsearch.in_trial())
        self.assertEqual(hpsearch.length(), 3)
        self.assertEqual(spoken(hpsearch.report, 3, loss=1), ("", hpsearch.CONTINUE))
        self.assertEqual(spoken(hpsearch.checkpoint, None, 3), ("", hpsearch.CONTINUE))
        self.assertEqual(spoken(hpsearch.log_line, "hello")[0], "")
        self.assertFalse(hpsearch.should_stop())


class OutsideATrialTest(TrialTest):
    def test_the_same_script_runs_by_itself(self):
        self.assertFalse(hpsearch.in_trial())
        self.assertEqual(hpsearch.params({"lr": 0.1}), {"lr": 0.1})
        self.assertEqual(hpsearch.length(2), 2)
        printed, directive = spoken(hpsearch.report, 1, val_acc=0.5, net={"loss": 1})
        self.assertEqual(printed, "hpsearch: step 1: val_acc = 0.5, net.loss = 1\n")
        self.assertIs(directive, hpsearch.CONTINUE)
        printed, directive = spoken(hpsearch.report_training, 2, loss=1)
        self.assertEqual((printed, directive), ("hpsearch: step 2: training.loss = 1\n", hpsearch.CONTINUE))
        self.assertIs(spoken(hpsearch.report, 2, val_acc=0.5)[1], hpsearch.STOP)
        self.assertIsNone(hpsearch.latest_checkpoint())
        self.assertTrue(hpsearch.checkpoint_dir().is_dir())
        self.assertIn("checkpoint", spoken(hpsearch.checkpoint, hpsearch.checkpoint_dir(), 2)[0])
        self.assertEqual(spoken(hpsearch.log_line, "hello")[0], "hpsearch: hello\n")
        self.assertEqual(spoken(hpsearch.progress, 0.5)[0], "hpsearch: 50%\n")

    def test_without_a_length_it_goes_on(self):
        self.assertIs(spoken(hpsearch.report, 10**6, val_acc=0.5)[1], hpsearch.CONTINUE)
        self.assertFalse(hpsearch.should_stop())
        with self.assertRaisesRegex(LookupError, "length\\(default\\)"):
            hpsearch.length()

    def test_parameters_may_be_tried_by_hand(self):
        os.environ["HPSEARCH_PARAMS"] = '{"lr": 3}'
        self.assertEqual(hpsearch.params({"lr": 0.1}), {"lr": 3})

    def test_invalid_hyperparameters_are_a_failure(self):
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit) as ended:
            hpsearch.invalid_hyperparameters("too many layers")
        self.assertEqual(ended.exception.code, 1)
        self.assertIn("too many layers", said.getvalue())


class PackageTest(unittest.TestCase):
    def test_importing_it_imports_nothing_but_the_standard_library(self):
        program = ("import sys, sysconfig; before = set(sys.modules); import hpsearch, hpsearch.callbacks\n"
                   "new = [sys.modules[name] for name in set(sys.modules) - before if 'hpsearch' not in name]\n"
                   "files = [module.__file__ for module in new if getattr(module, '__file__', None)]\n"
                   "print([file for file in files if not file.startswith(sysconfig.get_paths()['stdlib'])\n"
                   "       or 'site-packages' in file or 'dist-packages' in file])")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                              env={"PYTHONPATH": str(PACKAGE)})
        self.assertEqual(done.stdout, "[]\n")

    def test_an_unknown_callback_is_named(self):
        import hpsearch.callbacks
        with self.assertRaisesRegex(AttributeError, "KerasCallback, LightGBMCallback"):
            hpsearch.callbacks.TorchCallback


@unittest.skipUnless(shutil.which("git"), "git is missing")
class GitStateTest(unittest.TestCase):
    def test_commit_branch_and_changes_are_those_of_the_directory(self):
        from hpsearch._client.git_state import git_state
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, {
                "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_DIR": "/no/such/checkout"}):
            place = pathlib.Path(folder)

            def git(*words):
                variables = {name: value for name, value in os.environ.items() if name != "GIT_DIR"}
                return subprocess.run(["git", "-C", folder, "-c", "user.name=Ann", "-c", "user.email=ann@localhost", *words],
                                      env=variables, check=True, stdout=subprocess.PIPE).stdout.decode().strip()

            git("init", "-q", "-b", "trunk")
            self.assertIsNone(git_state(place), "there is no commit yet")
            (place / "train.py").write_text("print(1)")
            git("add", ".")
            git("commit", "-q", "-m", "work")
            self.assertEqual(git_state(place), {"commit": git("rev-parse", "HEAD"), "branch": "trunk", "dirty": False})
            git("checkout", "-q", "--detach")
            (place / "notes.txt").write_text("new")
            self.assertEqual(git_state(place), {"commit": git("rev-parse", "HEAD"), "branch": "", "dirty": True})
            self.assertIsNone(git_state(place / "no" / "such"))


if __name__ == "__main__":
    unittest.main()
