"""The callbacks of libraries that boost, with the real ones where they are installed. One of them: … LightGBMTest."""

import os
import shutil
import unittest

from callback_case import SEED, CallbackTest, fresh, real


class Boosting:
    def setUp(self):
        super().setUp()
        self.library = real(self.library_name)
        numpy = real("numpy")
        rows = numpy.random.default_rng(SEED).normal(size=(200, 4))
        self.data = self.make_data(rows, rows @ [1, 2, 3, 4])

    def test_a_real_booster_is_stopped_and_goes_on(self):
        worker = self.decide("pause", "stop")
        self.assertEqual(self.rounds(self.train()), 2)
        self.assertEqual(self.handed_over(worker), [("report", 1), ("checkpoint", 2), ("report", 2)])
        shutil.copytree(self.folder / "checkpoint", self.folder / "saved")
        os.environ.update(HPSEARCH_LATEST_CHECKPOINT=str(self.folder / "saved"), HPSEARCH_LENGTH="4")
        self.forget_trial()
        worker.heard.clear()
        worker.answer = lambda message: {"directive": "stop" if message["step"] >= 4 else "continue", "length": 4}
        self.assertEqual(self.rounds(self.train()), 4)
        self.assertEqual(self.handed_over(worker), [("report", 3), ("checkpoint", 4), ("report", 4)])
        self.assertIn(self.metric, worker.said("report")[-1]["metrics"])


class LightGBMTest(Boosting, CallbackTest):
    library_name, metric = "lightgbm", "valid.l2"

    def make_data(self, rows, labels):
        return self.library.Dataset(rows, label=labels, free_raw_data=False)

    def train(self):
        callback = fresh("LightGBMCallback")()
        return self.library.train(
            {"objective": "l2", "metric": "l2", "num_leaves": 4, "verbose": -1, "num_threads": 1}, self.data,
            num_boost_round=callback.rounds, valid_sets=[self.data, self.data], valid_names=["train", "valid"],
            init_model=callback.init_model, callbacks=[callback])

    def rounds(self, booster):
        return booster.current_iteration()


class XGBoostTest(Boosting, CallbackTest):
    library_name, metric = "xgboost", "valid.rmse"

    def make_data(self, rows, labels):
        return self.library.DMatrix(rows, label=labels)

    def train(self):
        callback = fresh("XGBoostCallback")()
        return self.library.train({"max_depth": 2, "nthread": 1}, self.data, num_boost_round=callback.rounds,
                                  evals=[(self.data, "train"), (self.data, "valid")], verbose_eval=False,
                                  xgb_model=callback.xgb_model, callbacks=[callback])

    def rounds(self, booster):
        return booster.num_boosted_rounds()


if __name__ == "__main__":
    unittest.main()
