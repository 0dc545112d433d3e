"""The callback with the real library, where it is installed."""

import os
import shutil
import unittest

from callback_case import SEED, CallbackTest, fresh, real


class KerasTest(CallbackTest):
    def test_a_real_model_is_stopped_and_goes_on(self):
        os.environ.setdefault("KERAS_BACKEND", "jax")
        try:
            keras = real("keras")
        except unittest.SkipTest:
            raise
        except Exception as error:  # Keras is there without a backend.
            raise unittest.SkipTest("keras cannot be used here: {}".format(error))
        numpy = real("numpy")
        keras.utils.set_random_seed(SEED)
        rows = numpy.random.default_rng(SEED).normal(size=(64, 4))

        def train():
            callback = fresh("KerasCallback")()
            model = callback.load()
            if model is None:
                model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
                model.compile(optimizer="adam", loss="mse")
            model.fit(rows, rows.sum(axis=1), validation_data=(rows, rows.sum(axis=1)), batch_size=32, verbose=0,
                      epochs=callback.epochs, initial_epoch=callback.initial_epoch, callbacks=[callback])

        worker = self.decide("pause")
        train()
        self.assertEqual(self.handed_over(worker), [("report", 1), ("checkpoint", 2), ("report", 2)])
        shutil.copytree(self.folder / "checkpoint", self.folder / "saved")
        os.environ.update(HPSEARCH_LATEST_CHECKPOINT=str(self.folder / "saved"), HPSEARCH_LENGTH="4")
        self.forget_trial()
        worker.heard.clear()
        worker.answer = lambda message: {"directive": "stop" if message["step"] >= 4 else "continue", "length": 4}
        train()
        self.assertEqual(self.handed_over(worker), [("report", 3), ("checkpoint", 4), ("report", 4)])
        self.assertIn("val_loss", worker.said("report")[-1]["metrics"])


if __name__ == "__main__":
    unittest.main()
