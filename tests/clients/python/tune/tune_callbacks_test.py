"""Callbacks of hpsearch.tune() and the display of its progress, with searches in this process."""

import contextlib
import io
import math
import os
import pathlib
import sys
import types
import unittest
import unittest.mock

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[4] / "clients" / "python"), str(pathlib.Path(__file__).resolve().parents[1])]
LIBRARY = pathlib.Path(os.environ["E2E_BIN_DIR"]).parent / "lib" / "libhpsearch.so.0"
if not LIBRARY.exists():
    print(f"there is no {LIBRARY}; the programs are not built\nOK (skipped=1)")
    sys.exit(0)
os.environ["HPSEARCH_LIBRARY"] = str(LIBRARY)

import hpsearch as hp
from hpsearch._functions import search_display
from hpsearch._functions.search_callbacks import Callbacks
from hpsearch._functions.search_display import SearchDisplay

VALUES = [5.0, 4.0, 4.5, 1.0, 2.0, 3.0, 0.5, math.nan, 0.25, 0.25]


def value(trial):
    return VALUES[trial.number] if trial.number < len(VALUES) else 9.0


def tune(function=value, **more):
    with contextlib.redirect_stderr(io.StringIO()):
        return hp.tune(function, {"x": hp.uniform(0, 1)}, on="inprocess", **dict({"seed": 1, "max_trials": 20}, **more))


class Calls(unittest.TestCase):
    def test_a_callback_sees_each_end_and_each_new_best(self):
        best, ended, plain = [], [], []

        class Seen(hp.SearchCallback):
            def on_best(self, experiment, trial):
                best.append((trial.number, trial.metric, experiment.best.number))

            def on_trial_end(self, experiment, trial):
                ended.append((trial.number, trial.state))
        tune(callbacks=[Seen(), lambda experiment, trial: plain.append(trial.number)])
        self.assertEqual(best, [(0, 5.0, 0), (1, 4.0, 1), (3, 1.0, 3), (6, 0.5, 6), (8, 0.25, 8)])
        self.assertEqual(ended, [(number, "FAILED" if number == 7 else "COMPLETED") for number in range(20)])
        self.assertEqual(plain, list(range(20)))

    def test_trials_that_wait_for_a_promotion_end_with_the_search(self):
        ended = []
        result = tune(lambda trial: [trial.report(step, value=trial["x"]) for step in trial.epochs()] and None, max_length=9,
                      searcher="asha", callbacks=[lambda experiment, trial: ended.append((trial.number, trial.state))])
        self.assertEqual(sorted(ended), [(trial.number, trial.state) for trial in result.trials])
        self.assertIn("STOPPED", dict(map(reversed, ended)))

    def test_an_exception_comes_out(self):
        def raising(experiment, trial):
            raise LookupError("of the callback")
        for slots in (1, 3):
            with self.assertRaisesRegex(LookupError, "of the callback"):
                tune(callbacks=[raising], slots=slots)

    def test_what_is_no_callback_is_refused(self):
        for wrong, text in (("stop", "must be a list"), (hp.stop_at(1), "must be a list"), ([3], "callbacks has 3")):
            with self.assertRaisesRegex(TypeError, text):
                Callbacks(wrong)
        with self.assertRaisesRegex(ValueError, "callbacks need wait=True"):
            hp.tune(value, {"x": hp.uniform(0, 1)}, callbacks=[hp.stop_at(1)], wait=False)


class Conditions(unittest.TestCase):
    def ends_after(self, *callbacks, **more):
        result = tune(callbacks=list(callbacks), **more)
        self.assertEqual(result.state, "COMPLETED")
        return len(result.trials), result.now().reason

    def test_a_target(self):
        self.assertEqual(self.ends_after(hp.stop_at(1.0)), (4, "trial 3 has 1, which is 1 or better"))
        self.assertEqual(self.ends_after(hp.stop_at(4.5), smaller_is_better=False)[0], 1)
        self.assertEqual(self.ends_after(hp.stop_at(0.0)), (20, ""))

    def test_a_plateau(self):
        self.assertEqual(self.ends_after(hp.stop_on_plateau(2)), (6, "the best metric has not become better in 2 trials"))
        self.assertEqual(self.ends_after(hp.stop_on_plateau(3))[0], 12)
        self.assertEqual(self.ends_after(hp.stop_on_plateau(3, min_delta=0.6))[0], 7)
        self.assertEqual(self.ends_after(hp.stop_on_plateau(3), smaller_is_better=False)[0], 4)
        for wrong in ({"trials": 0}, {"min_delta": -1}):
            with self.assertRaisesRegex(ValueError, "must be at least"):
                hp.stop_on_plateau(**wrong)

    def test_a_time(self):
        clock = iter(range(1000))
        with unittest.mock.patch("hpsearch._functions.search_callbacks.time.monotonic", lambda: float(next(clock))):
            count, reason = self.ends_after(hp.stop_after("5s"))
        self.assertTrue(0 < count < 20, count)
        self.assertEqual(reason, "5 s are over")
        self.assertEqual([hp.stop_after(time).time_limit for time in ("90s", "1.5m", "2h", "1d", 7)], [90, 90, 7200, 86400, 7])
        for wrong in ("soon", "5 weeks", 0, "-1s", math.nan):
            with self.assertRaisesRegex(ValueError, "time is"):
                hp.stop_after(wrong)

    def test_a_callback_of_a_user(self):
        def stop(experiment, trial):
            if trial.number == 2:
                raise hp.StopSearch("enough")
        self.assertEqual(self.ends_after(stop), (3, "enough"))


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Display(unittest.TestCase):
    def draw(self, stream, **more):
        with contextlib.redirect_stderr(stream), unittest.mock.patch.dict(sys.modules):
            sys.modules.pop("ipykernel", None)
            display = SearchDisplay(True, 10, "loss", **more)
            for ended, best in ((1, 5.0), (2, 5.0), (3, 4.0)):
                display.draw(ended, best, "{} ended".format(ended))
            display.note("note: careful")
            display.draw(10, 4.0, "all ended", is_last=True)
            display.close()
        return stream.getvalue()

    def test_lines_where_there_is_no_terminal(self):
        self.assertEqual(self.draw(io.StringIO()), "hpsearch: 1 ended\nhpsearch: note: careful\nhpsearch: all ended\n")
        self.assertEqual(self.draw(Terminal(), has_card=True), "hpsearch: note: careful\n")

    def test_a_bar_on_a_terminal(self):
        drawn = []

        class Bar:
            n = 0

            def __init__(self, total, unit, file, dynamic_ncols):
                drawn.append((total, unit))

            def set_postfix_str(self, text, refresh):
                self.text = text

            def refresh(self):
                drawn.append((self.n, self.text))

            def write(self, text, file):
                drawn.append(text)

            def close(self):
                drawn.append("closed")
        with unittest.mock.patch.dict(sys.modules, {"tqdm": types.SimpleNamespace(tqdm=Bar)}):
            self.assertEqual(self.draw(Terminal()), "hpsearch: all ended\n")
            self.assertEqual(drawn, [(10, "trial"), (1, "best loss 5"), (2, "best loss 5"), (3, "best loss 4"), "hpsearch: note: careful",
                                     (10, "best loss 4"), "closed"])
            self.assertIn("hpsearch: 1 ended", self.draw(io.StringIO()))

    def test_a_terminal_without_tqdm_has_lines(self):
        with unittest.mock.patch.dict(sys.modules, {"tqdm": None}):
            self.assertIn("hpsearch: 1 ended\n", self.draw(Terminal()))

    def test_nothing_if_that_is_asked_for(self):
        for stream in (io.StringIO(), Terminal()):
            with contextlib.redirect_stderr(stream):
                hp.tune(lambda x: x, {"x": hp.uniform(0, 1)}, on="inprocess", max_trials=3, progress=False)
            self.assertEqual(stream.getvalue(), "")

    def test_the_genuine_bar(self):
        if search_display._tqdm() is None:
            return  # The test above has a stand-in.
        text = self.draw(Terminal())
        self.assertIn("best loss 4", text)
        self.assertIn("10/10", text)


if __name__ == "__main__":
    unittest.main()
