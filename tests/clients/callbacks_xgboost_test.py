"""The callback with the real library, where it is installed."""

import os
import shutil
import unittest

from callback_case import SEED, CallbackTest, fresh, real


class XGBoostTest(CallbackTest):
    def setUp(self):
        super().setUp()
        self.xgboost = real("xgboost")
        numpy = real("numpy")
        chance = numpy.random.default_rng(SEED)
        rows = chance.normal(size=(200, 4))
        self.data = self.xgboost.DMatrix(rows, label=rows @ [1, 2, 3, 4])

    def train(self):
        callback = fresh("XGBoostCallback")()
        return self.xgboost.train({"max_depth": 2, "nthread": 1}, self.data, num_boost_round=callback.rounds,
                                  evals=[(self.data, "train"), (self.data, "valid")], verbose_eval=False,
                                  xgb_model=callback.xgb_model, callbacks=[callback])

    def test_a_real_booster_is_stopped_and_goes_on(self):
        worker = self.decide("pause", "stop")
        self.assertEqual(self.train().num_boosted_rounds(), 2)
        self.assertEqual(self.handed_over(worker), [("report", 1), ("checkpoint", 2), ("report", 2)])
        shutil.copytree(self.folder / "checkpoint", self.folder / "saved")
        os.environ.update(HPSEARCH_LATEST_CHECKPOINT=str(self.folder / "saved"), HPSEARCH_LENGTH="4")
        self.forget_trial()
        worker.heard.clear()
        worker.answer = lambda message: {"directive": "stop" if message["step"] >= 4 else "continue", "length": 4}
        self.assertEqual(self.train().num_boosted_rounds(), 4)
        self.assertEqual(self.handed_over(worker), [("report", 3), ("checkpoint", 4), ("report", 4)])
        self.assertIn("valid.rmse", worker.said("report")[-1]["metrics"])


if __name__ == "__main__":
    unittest.main()
