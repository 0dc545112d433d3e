"""Tables for pandas and pictures by matplotlib, with the real libraries; skipped, and said so, where there are none."""

import math
import pathlib
import random
import sys
import time
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))

from hpsearch._client import frames as _frames
from hpsearch._client.columns import in_32_bits, python_values, read_columns, with_user_attrs
from hpsearch._client.plots import Plots
from hpsearch._functions.snapshot import Snapshot
import values_test
from values_test import encoded


class Frames(unittest.TestCase):
    FIELDS = values_test.Columns.FIELDS

    def test_a_frame_with_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("no pandas here")
        read = read_columns(encoded(self.FIELDS, [[1, 2**32 - 1], [1, 255], [math.nan, 0.5], [3, 0], [0.25, 1]], 8))
        frame = _frames.frame_of(read, False)
        self.assertEqual([str(kind) for kind in frame.dtypes], ["UInt32", "category", "float64", "object", "float64"])
        self.assertEqual(frame["state"].tolist()[0], "COMPLETED")
        self.assertTrue(frame["trial"].isna().tolist()[1] and frame["state"].isna().tolist()[1])
        self.assertIsInstance(frame, pandas.DataFrame)

    def test_hyperparameters_that_are_integers_are_exact(self):
        seeds = [2**53 + 1, -2**63, -2**53 - 1]
        fields = [{"name": "hparams.seed", "type": "i64"}, {"name": "hparams.width", "type": "i64"}, {"name": "hparams.lr", "type": "f64"}]
        read = read_columns(encoded(fields, [seeds, [1, 2, 3], [0.1, math.nan, 1 / 3]], 2))
        self.assertEqual([python_values(column) for column in read.columns],
                         [[2**53 + 1, None, -2**53 - 1], [1, 2, 3], [0.1, None, 1 / 3]])
        with unittest.mock.patch.dict(sys.modules, {"numpy": None}):
            without = read_columns(encoded(fields, [seeds, [1, 2, 3], [0.1, math.nan, 1 / 3]], 2))
        self.assertEqual([python_values(column) for column in without.columns], [python_values(column) for column in read.columns])
        try:
            import pandas  # noqa: F401
        except ImportError:
            return
        frame = _frames.frame_of(read, False)
        self.assertEqual([str(kind) for kind in frame.dtypes], ["Int64", "int64", "float64"])
        self.assertEqual(frame["hparams.seed"].tolist()[::2], seeds[::2])

    def test_user_attributes_are_columns(self):
        fields = [{"name": "trial", "type": "u32"}, {"name": "metric", "type": "f64"}]
        attrs = {3: {"n": 7, "score": 1, "tags": ["a"], "ok": True}, 5: {"score": 0.5, "tags": {"b": 1}, "ok": False}, 9: {"n": 1}}
        for module in ({"numpy": None}, {}):
            with unittest.mock.patch.dict(sys.modules, module):
                read = read_columns(encoded(fields, [[3, 4, 5], [0.1, 0.2, 0.3]], 8))
                joined = with_user_attrs(read, attrs, True)
                without = with_user_attrs(read, attrs, False)
            self.assertEqual({column.name: python_values(column) for column in joined.columns}, {
                "trial": [3, 4, 5], "metric": [0.1, 0.2, 0.3], "user_attrs.n": [7, None, None], "user_attrs.score": [1.0, None, 0.5],
                "user_attrs.tags": [["a"], None, {"b": 1}], "user_attrs.ok": [True, None, False]})
            self.assertEqual([column.name for column in without.columns][0], "metric")
            self.assertEqual([column.type for column in joined.columns[2:]], ["i64", "u32", "f64", "u32"])
        try:
            import pandas  # noqa: F401
        except ImportError:
            return
        frame = _frames.frame_of(joined, False)
        self.assertEqual(frame["user_attrs.tags"].tolist(), [["a"], None, {"b": 1}])
        self.assertEqual(frame["user_attrs.score"].sum(), 1.5)

    def test_reals_can_have_32_bits(self):  # They always had.
        fields = [{"name": "hparams.seed", "type": "i64"}, {"name": "hparams.lr", "type": "f64"}, {"name": "ended_at", "type": "f64"}]
        read = read_columns(encoded(fields, [[2**53 + 1, 1, 2], [0.1, math.nan, 1e300], [1.7e9 + 0.25, 1, 2]], 8))
        with unittest.mock.patch.dict(sys.modules, {"numpy": None}):
            without = read_columns(encoded(fields, [[2**53 + 1, 1, 2], [0.1, math.nan, 1e300], [1.7e9 + 0.25, 1, 2]], 8))
        rounded = [0.10000000149011612, None, math.inf]
        for columns in (in_32_bits(read), in_32_bits(without)):
            self.assertEqual([python_values(column) for column in columns.columns], [[2**53 + 1, 1, 2], rounded, [1.7e9 + 0.25, 1, 2]])
        try:
            import pandas  # noqa: F401
        except ImportError:
            return
        self.assertEqual([str(kind) for kind in _frames.frame_of(in_32_bits(read), False).dtypes], ["int64", "float32", "float64"])

    def test_a_hundred_thousand_trials(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no pandas here")
        rows = 100_000
        rng = random.Random(3)
        fields = [{"name": "trial", "type": "u32"}] + [{"name": "hparams.p%d" % at, "type": "f64"} for at in range(11)]
        body = encoded(fields, [range(rows)] + [[rng.random() for _ in range(rows)]] * 11, 16384)
        began = time.monotonic()
        frame = _frames.frame_of(read_columns(body), False)
        print("10^5 trials, 12 columns: {:.3f} s".format(time.monotonic() - began), file=sys.stderr)
        self.assertEqual(frame.shape, (rows, 12))
        self.assertEqual(frame["trial"].iloc[-1], rows - 1)


class Pictures(unittest.TestCase):
    def setUp(self):
        try:
            import matplotlib
        except ImportError:
            self.skipTest("no matplotlib here")
        matplotlib.use("Agg")

    def experiment(self):
        """As the daemon tells one of two trials."""
        class Transport:
            def ask(self, *_, **__):
                fields = [{"name": "trial", "type": "u32"}, {"name": "metric", "type": "f64"},
                          {"name": "hparams.k", "type": "u16", "words": ["a", "b"]}, {"name": "hparams.lr", "type": "f64"},
                          {"name": "result", "type": "f64"}]
                body = encoded(fields, [[0, 1, 2], [0.5, 0.25, 0.01], [0, 1, 1], [1e-4, 0.1, 1e-3], [0.5, 0.25, math.nan]], 8,
                               length=9)
                return type("Answer", (), {"body": body})

        class Experiment:
            _transport, _path = Transport(), ""
            config = {"hyperparameters": {"k": {"type": "categorical", "vals": ["b", "c", "a"]},
                                          "lr": {"type": "log", "base": 10, "minval": -5, "maxval": 0}}}

            def now(self):
                return Snapshot({"id": 1, "state": "ACTIVE", "unit": "epochs", "smaller_is_better": True})

            def history(self):
                return {"metric": "loss", "started_at": 100, "end": {"trials": 3, "time": 130, "slot_seconds": 9}, "points": [
                    {"trial": 0, "metric": 0.5, "trials": 1, "time": 110, "slot_seconds": 3},
                    {"trial": 1, "metric": 0.25, "trials": 2, "time": 120, "slot_seconds": 6}]}

            def curves_raw(self, *_):
                return [{"metric": "loss", "group": "", "unit": "epochs", "rungs": [{"length": 1}], "trials": [
                    {"trial": 0, "step": [1, 2], "last": [1, 0.5], "nonfinite": []}]}]

            def importance(self):
                return {"hyperparameters": [{"name": "lr", "share": 0.75}, {"name": "k", "share": 0.25}], "reason": ""}

            def rungs(self):
                return {"metric": "loss", "brackets": [{"rungs": [
                    {"length": 1, "cut_off": 0.4, "results": [{"metric": 0.25, "state": "promoted"},
                                                              {"metric": 0.5, "state": "stopped"}]},
                    {"length": 3, "cut_off": None, "results": []}]}]}

        return Experiment()

    def test_each_draws_what_it_read(self):
        plots = Plots(self.experiment())
        self.assertEqual(plots.history().get_ylabel(), "best loss")
        self.assertEqual(list(plots.history(x="time").lines[0].get_xdata()), [10, 20])
        self.assertEqual(list(plots.curves().lines[0].get_ydata()), [1, 0.5])
        parallel = plots.parallel()
        self.assertEqual([mark.get_text() for mark in parallel.get_xticklabels()], ["k", "lr", "metric at 9 epochs"])
        # Trial 2 did not get to 9 epochs: its metric of a shorter training is not drawn. Scales are the experiment's.
        lines = [line.get_ydata() for line in parallel.lines if len(line.get_xdata()) == 3]
        self.assertEqual([[round(place, 3) for place in line] for line in lines], [[1, 0.2, 1], [0, 0.8, 0]])
        self.assertEqual([bar.get_width() for bar in plots.importance().patches], [0.25, 0.75])
        ax = plots.rungs()
        self.assertEqual([mark.get_text() for mark in ax.get_xticklabels()], ["1", "3"])
        self.assertIs(plots.rungs(ax=ax), ax)
        with self.assertRaisesRegex(ValueError, "slot_seconds"):
            plots.history(x="hours")


if __name__ == "__main__":
    unittest.main()
