"""Mirrors of a trial in trackers: the thread that carries reports, with trackers that block, fail and are slow."""

import contextlib
import io
import os
import pathlib
import struct
import sys
import threading
import time
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from fake_worker import PACKAGE, TrialTest

sys.path.insert(0, str(PACKAGE))

import hpsearch
import hpsearch.mirrors
from hpsearch.mirrors import _feed, _wandb_file
from hpsearch.mirrors._tracker import End, Identity, Point, Tracker

PATIENCE = 60
TRIAL = Identity("77-1-4", "digits", 4, 2, 7, {"lr": 0.5})
END = End("FINISHED", "ended at step 9", 9)


class FakeTracker(Tracker):
    """Keeps what it gets. `may_open` holds open(), `may_write` write(); `failures` are raised first, in order."""

    name = "fake"

    def __init__(self, failures=()):
        self.failures = list(failures)
        self.may_open = threading.Event()
        self.may_open.set()
        self.may_write = threading.Event()
        self.may_write.set()
        self.opened = []
        self.points = []
        self.is_writing = threading.Event()
        self.ended = None

    def open(self, trial):
        self.may_open.wait(PATIENCE)
        self.opened.append(trial)

    def write(self, points):
        self.is_writing.set()
        self.may_write.wait(PATIENCE)
        if self.failures:
            raise self.failures.pop(0)
        self.points.extend(points)

    def close(self, end):
        self.ended = end


def steps(points):
    return [point.step for point in points]


def point(step, **metrics):
    return Point(step, 1.5, metrics or {"loss": step / 2})


class FeedTest(unittest.TestCase):
    def feed(self, tracker, **more):
        # However a test ends, no thread waits for ever.
        self.addCleanup(tracker.may_open.set)
        self.addCleanup(tracker.may_write.set)
        return _feed.Feed(tracker, TRIAL, first_pause=0.001, **more)

    def ended(self, feed, patience=PATIENCE):
        """The lines that the end logs."""
        log = io.StringIO()
        with contextlib.redirect_stderr(log):
            feed.end(END)
            feed.close(patience)
        return log.getvalue().splitlines()

    def test_reports_arrive_in_order_and_then_the_end(self):
        tracker = FakeTracker()
        feed = self.feed(tracker)
        for step in range(1, 2001):
            feed.put(point(step))
        self.assertEqual(self.ended(feed), [])
        self.assertEqual((tracker.opened, steps(tracker.points), tracker.ended), ([TRIAL], list(range(1, 2001)), END))
        self.assertEqual(tracker.points[3], point(4))

    def test_a_blocked_tracker_delays_no_other_and_the_log_says_what_was_dropped(self):
        tracker = FakeTracker()
        tracker.may_open.clear()
        feed = self.feed(tracker, most_waiting=10)
        for step in range(1, 31):
            feed.put(point(step))  # A put() that waited would not end: nothing lets the tracker go on.
        self.assertEqual(self.ended(feed, 0.01), ["hpsearch: mirror: fake: 30 reports were dropped, of steps 1 to 30: "
                                                  "it took reports too slowly"])
        self.assertEqual(tracker.points, [])

    def test_a_slow_tracker_gets_the_latest_reports(self):
        tracker = FakeTracker()
        tracker.may_write.clear()
        feed = self.feed(tracker, most_waiting=5)
        feed.put(point(1))
        self.assertTrue(tracker.is_writing.wait(PATIENCE))
        for step in range(2, 21):
            feed.put(point(step))
        tracker.may_write.set()
        lines = self.ended(feed)
        self.assertEqual(steps(tracker.points), [1, 16, 17, 18, 19, 20])
        self.assertEqual(lines, ["hpsearch: mirror: fake: 14 reports were dropped, of steps 2 to 15: "
                                 "it took reports too slowly"])
        self.assertEqual(tracker.ended, END)

    def test_after_a_failure_the_run_is_opened_again_and_nothing_is_lost_or_doubled(self):
        tracker = FakeTracker([ConnectionError("no\nroute"), SystemExit(3), MemoryError()])
        log = io.StringIO()
        with contextlib.redirect_stderr(log):
            feed = self.feed(tracker)
            for step in range(1, 101):
                feed.put(point(step))
            deadline = time.monotonic() + PATIENCE
            while not tracker.points and time.monotonic() < deadline:
                time.sleep(0.001)
            self.assertEqual(self.ended(feed), [])
        self.assertEqual(steps(tracker.points), list(range(1, 101)))
        self.assertEqual(len(tracker.opened), 4)
        self.assertEqual(log.getvalue(), "hpsearch: mirror: fake cannot be reached: ConnectionError: no route. Its "
                                         "reports wait; the trial goes on\n")

    def test_at_the_end_a_tracker_that_refuses_is_tried_twice_and_not_waited_for(self):
        tracker = FakeTracker([ConnectionError("refused")] * 1000)
        tracker.may_write.clear()
        feed = self.feed(tracker)
        feed.put(point(3))
        self.assertTrue(tracker.is_writing.wait(PATIENCE))
        log = io.StringIO()
        with contextlib.redirect_stderr(log):
            feed.end(END)
            tracker.may_write.set()
            feed.close(PATIENCE)
        self.assertEqual(len(tracker.failures), 998)
        self.assertIn("1 report was dropped, of step 3: ConnectionError: refused", log.getvalue())
        self.assertFalse(feed._thread.is_alive())

    def test_an_end_that_did_not_arrive_is_logged(self):
        tracker = FakeTracker()
        tracker.may_open.clear()
        self.assertEqual(self.ended(self.feed(tracker), 0.01),
                         ["hpsearch: mirror: fake: the end of the run was not recorded: it did not answer in 0.01 s"])

    def test_steps_of_a_metric_only_grow(self):
        tracker = FakeTracker()
        feed = self.feed(tracker)
        for one in (point(2, loss=1), point(2, loss=9), point(2, acc=3, loss=9), point(1, loss=9), point(3, loss=4)):
            feed.put(one)
        self.ended(feed)
        self.assertEqual([(one.step, one.metrics) for one in tracker.points],
                         [(2, {"loss": 1}), (2, {"acc": 3}), (3, {"loss": 4})])

    def test_reports_after_the_end_are_left_out(self):
        tracker = FakeTracker()
        feed = self.feed(tracker)
        self.ended(feed)
        feed.put(point(1))
        self.assertEqual(self.ended(feed), [])
        self.assertEqual(tracker.points, [])


class MirrorTest(TrialTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(setattr, sys, "excepthook", sys.excepthook)
        self.tracker = FakeTracker()
        self.addCleanup(self.tracker.may_open.set)
        self.options = []

        def make(name, options):
            self.options.append((name, options))
            return self.tracker

        patch = unittest.mock.patch.object(hpsearch.mirrors, "make_tracker", make)
        patch.start()
        self.addCleanup(patch.stop)

    def end(self):
        mirrors = hpsearch._in_trial._trial._mirrors
        mirrors.close()
        return self.tracker.ended

    def answered(self, *directives, length=9, **variables):
        """A mirrored trial of at most 9 steps, whose worker answers reports so, and asks for `length`."""
        left = list(directives)
        worker = self.in_trial(lambda message: {"directive": left.pop(0) if message["type"] == "report" else "stop",
                                                "length": length}, STORE="77", MAX_LENGTH="9", EXPERIMENT_NAME="digits",
                               **variables)
        hpsearch.mirror("fake", project="p")
        return worker

    def test_a_report_goes_to_the_worker_and_to_the_tracker(self):
        worker = self.answered("continue", "continue", PARAMS='{"net": {"hidden": 8}}')
        hpsearch.report_training(1, loss=2)
        hpsearch.report(1, {"val": {"loss": 3}})
        self.end()
        self.assertEqual(len(worker.said("report")), 2)
        self.assertEqual([(one.step, one.metrics) for one in self.tracker.points],
                         [(1, {"training.loss": 2.0}), (1, {"val.loss": 3.0})])
        self.assertEqual(self.tracker.opened, [Identity("77-1-4", "digits", 4, 2, 7, {"net": {"hidden": 8}})])
        self.assertEqual(self.options, [("fake", {"project": "p"})])

    def test_reports_go_on_while_the_tracker_does_not_answer(self):
        self.tracker.may_open.clear()
        worker = self.answered("continue", "continue")
        for step in (1, 2):
            hpsearch.report(step, val_acc=1)  # One that waited would not return: nothing lets the tracker go on.
        self.assertEqual(len(worker.said("report")), 2)
        self.assertEqual(self.tracker.points, [])

    def test_the_status_says_how_the_attempt_ended(self):
        for step, directive, status, reason in ((2, "pause", "PAUSED", "paused at step 2"),  # Below its length, 3.
                                                (3, "pause", "PRUNED", "stopped at step 3 of at most 9, unless it is promoted"),
                                                (3, "stop", "PRUNED", "stopped at step 3 of at most 9"),
                                                (9, "stop", "FINISHED", "ended at step 9"),
                                                (3, "continue", "FINISHED", "ended at step 3")):
            with self.subTest(directive=directive, step=step):
                worker = self.answered(directive, length=3 if directive == "pause" else 9)
                hpsearch.report(step, val_acc=1)
                self.assertEqual(self.end(), End(status, reason, step))
                worker.close()
                os.unlink(worker.address)

    def test_an_exception_is_the_reason_of_a_failure(self):
        shown = []
        sys.excepthook = lambda *error: shown.append(error)
        self.answered("continue")
        hpsearch.report(1, val_acc=1)
        sys.excepthook(ValueError, ValueError("bad"), None)
        self.assertEqual(self.end(), End("FAILED", "ValueError: bad", 1))
        self.assertEqual(len(shown), 1, "it is shown as without a mirror")

    def test_invalid_hyperparameters_are_a_status_of_their_own(self):
        self.answered()
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(hpsearch.InvalidHyperparameters):
            hpsearch.invalid_hyperparameters("too wide")
        self.assertEqual(self.end(), End("INVALID", "invalid hyperparameters: too wide", 0))

    def test_a_second_call_keeps_the_first_mirror(self):
        self.answered()
        hpsearch.mirror("fake")
        self.assertEqual(len(self.options), 1)

    def test_a_forked_child_does_not_end_the_run(self):
        self.answered()
        mirrors = hpsearch._in_trial._trial._mirrors
        child = os.fork()
        if child == 0:
            log = io.StringIO()
            with contextlib.redirect_stderr(log):
                mirrors.close()  # As at the end of its interpreter.
            os._exit(1 if hpsearch._in_trial._trial._mirrors is not None or log.getvalue() else 0)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertIsNone(self.tracker.ended)
        self.end()
        self.assertEqual(self.tracker.ended.status, "FINISHED")

    def test_only_the_process_that_reports_mirrors(self):
        os.environ["RANK"] = "1"
        self.answered()
        self.assertEqual(self.options, [])

    def test_outside_a_trial_nothing_is_mirrored(self):
        log = io.StringIO()
        with contextlib.redirect_stdout(log):
            hpsearch.mirror("fake")
        self.assertEqual(log.getvalue(), "hpsearch: nothing is mirrored to fake outside a trial\n")
        self.assertEqual(self.options, [])

    def test_the_experiment_file_names_mirrors_for_one_process(self):
        self.in_trial(MIRRORS="fake,other")
        hpsearch.params()
        self.assertEqual(self.options, [("fake", {}), ("other", {})])
        self.assertEqual(os.environ["HPSEARCH_MIRRORS"], "")
        self.end()


class TrackerChoiceTest(TrialTest):
    def setUp(self):
        super().setUp()
        self.addCleanup(setattr, sys, "excepthook", sys.excepthook)

    def test_what_cannot_be_mirrored_to_is_an_error_that_names_what_can(self):
        self.in_trial()
        with self.assertRaisesRegex(ValueError, "'comet' is no tracker .* it has mlflow, tensorboard, wandb"):
            hpsearch.mirror("comet")
        with self.assertRaisesRegex(TypeError, "no option 'uri'; it has experiment, run_name, tags, tracking_uri"):
            hpsearch.mirror("mlflow", uri="x")
        with unittest.mock.patch.dict(sys.modules, {"mlflow": None}):
            with self.assertRaisesRegex(ImportError, "needs the package mlflow, .* pip install mlflow"):
                hpsearch.mirror("mlflow", tracking_uri="sqlite:///x.db")

    def test_the_program_of_the_page_runs_by_itself(self):
        page = (PACKAGE.parents[1] / "docs" / "python" / "trackers.md").read_text(encoding="utf-8")
        program = page.split("```python\n")[1].split("```")[0]
        log = io.StringIO()
        with contextlib.redirect_stdout(log):
            exec(compile(program, "trackers.md", "exec"), {})
        self.assertIn("nothing is mirrored to mlflow outside a trial\n", log.getvalue())
        self.assertIn("step 3: val_loss = 0.333333\n", log.getvalue())

    def test_the_stand_in_is_no_tracker(self):
        self.in_trial()
        import hpsearch.wandb
        with unittest.mock.patch.dict(sys.modules, {"wandb": hpsearch.wandb}):
            with self.assertRaisesRegex(ValueError, "genuine package"):
                hpsearch.mirror("wandb")

    def test_a_mirror_of_the_file_that_cannot_be_used_fails_no_trial(self):
        worker = self.in_trial(MIRRORS="mlflow")
        log = io.StringIO()
        with unittest.mock.patch.dict(sys.modules, {"mlflow": None}), contextlib.redirect_stderr(log):
            hpsearch.report(1, val_acc=1)
        self.assertEqual(len(worker.said("report")), 1)
        self.assertRegex(log.getvalue(), r"^hpsearch: mirror: mlflow: .*pip install mlflow\. The trial goes on without .*\n$")


class WandbFileTest(unittest.TestCase):
    HEADER = b":W&B" + bytes(3)

    def file(self, *records):
        """As W&B writes them: pieces never cross a block of 32 KiB, counted from the file's first byte."""
        content = bytearray(self.HEADER)
        for record in records:
            is_first = True
            while True:
                left = 32768 - len(content) % 32768
                if left < 7:
                    content += bytes(left)
                    continue
                piece, record = record[:left - 7], record[left - 7:]
                kind = (1 if not record else 2) if is_first else (4 if not record else 3)
                content += struct.pack("<IHB", 0, len(piece), kind) + piece
                is_first = False
                if not record:
                    break
        return bytes(content)

    def test_records_are_joined_across_blocks(self):
        records = [b"a", b"b" * 32740, b"c" * 100_000, b"d" * 32768, b"e"]
        self.assertEqual(list(_wandb_file._records(self.file(*records))), records)

    def test_a_file_of_a_killed_program_is_read_up_to_its_last_whole_record(self):
        content = self.file(b"a" * 10, b"b" * 40_000, b"c" * 10)
        for length in range(0, len(content), 97):
            found = list(_wandb_file._records(content[:length]))
            self.assertEqual(found, [b"a" * 10, b"b" * 40_000, b"c" * 10][:len(found)])
        self.assertEqual(list(_wandb_file._records(content + bytes(500))), [b"a" * 10, b"b" * 40_000, b"c" * 10])


if __name__ == "__main__":
    unittest.main()
