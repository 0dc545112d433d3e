"""The callback with the real library, where it is installed."""

import os
import shutil
import unittest

from callback_case import SEED, CallbackTest, fresh, real


class LightGBMTest(CallbackTest):
    def setUp(self):
        super().setUp()
        self.lightgbm = real("lightgbm")
        numpy = real("numpy")
        chance = numpy.random.default_rng(SEED)
        rows = chance.normal(size=(200, 4))
        self.data = self.lightgbm.Dataset(rows, label=rows @ [1, 2, 3, 4], free_raw_data=False)

    def train(self):
        callback = fresh("LightGBMCallback")()
        return self.lightgbm.train(
            {"objective": "l2", "metric": "l2", "num_leaves": 4, "verbose": -1, "num_threads": 1}, self.data,
            num_boost_round=callback.rounds, valid_sets=[self.data, self.data], valid_names=["train", "valid"],
            init_model=callback.init_model, callbacks=[callback])

    def test_a_real_booster_is_stopped_and_goes_on(self):
        worker = self.decide("pause", "stop")
        self.assertEqual(self.train().current_iteration(), 2)
        self.assertEqual(self.handed_over(worker), [("report", 1), ("checkpoint", 2), ("report", 2)])
        shutil.copytree(self.folder / "checkpoint", self.folder / "saved")
        os.environ.update(HPSEARCH_LATEST_CHECKPOINT=str(self.folder / "saved"), HPSEARCH_LENGTH="4")
        self.forget_trial()
        worker.heard.clear()
        worker.answer = lambda message: {"directive": "stop" if message["step"] >= 4 else "continue", "length": 4}
        self.assertEqual(self.train().current_iteration(), 4)
        self.assertEqual(self.handed_over(worker), [("report", 3), ("checkpoint", 4), ("report", 4)])
        self.assertIn("valid.l2", worker.said("report")[-1]["metrics"])


if __name__ == "__main__":
    unittest.main()
