"""The callback with the real library, where it is installed."""

import os
import pathlib
import shutil
import unittest

from callback_case import SEED, CallbackTest, fresh, real


class TransformersTest(CallbackTest):
    def setUp(self):
        super().setUp()
        self.torch, self.transformers = real("torch"), real("transformers")
        real("accelerate")

    def train(self, **how):
        torch = self.torch
        torch.manual_seed(SEED)

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(4, 1)

            def forward(self, x, labels):
                guess = self.linear(x)[:, 0]
                return {"loss": torch.nn.functional.mse_loss(guess, labels), "logits": guess}

        rows = torch.randn(10, 4)
        data = [{"x": row, "labels": row.sum()} for row in rows]
        callback = fresh("TransformersCallback")()
        asked = self.transformers.TrainingArguments
        how["eval_strategy" if hasattr(asked, "eval_strategy") else "evaluation_strategy"] = "epoch"  # Renamed in 4.46.
        how["use_cpu" if hasattr(asked, "use_cpu") else "no_cuda"] = True
        arguments = asked(output_dir=str(self.folder / "out"), num_train_epochs=9, per_device_train_batch_size=1,
                          report_to=[], save_strategy="no", logging_steps=2, disable_tqdm=True, optim="adamw_torch",
                          seed=SEED, **how)
        trainer = self.transformers.Trainer(Model(), arguments, train_dataset=data, eval_dataset=data, callbacks=[callback])
        trainer.remove_callback(self.transformers.PrinterCallback)
        trainer.train(resume_from_checkpoint=callback.resume_from_checkpoint)
        return trainer.state

    def test_a_real_training_is_paused_and_goes_on(self):
        worker = self.decide("pause")
        self.assertEqual(self.train().epoch, 2)
        self.assertEqual(self.handed_over(worker), [("report", 1), ("checkpoint", 2), ("report", 2)])
        shutil.copytree(self.folder / "checkpoint", self.folder / "saved")
        os.environ.update(HPSEARCH_LATEST_CHECKPOINT=str(self.folder / "saved"), HPSEARCH_LENGTH="4")
        self.forget_trial()
        worker.heard.clear()
        worker.answer = lambda message: {"directive": "stop" if message["step"] >= 4 and "group" not in message else "continue",
                                         "length": 4}
        self.assertEqual(self.train().epoch, 4)
        self.assertEqual(self.handed_over(worker), [("report", 3), ("checkpoint", 4), ("report", 4)])
        decided = [message for message in worker.said("report") if "group" not in message]
        self.assertIn("eval_loss", decided[-1]["metrics"])
        self.assertTrue(pathlib.Path(self.folder, "checkpoint", "checkpoint-40").is_dir())

    def test_an_epoch_is_over_though_accumulation_left_a_rest_of_it(self):
        worker = self.decide("stop")
        self.train(gradient_accumulation_steps=4)
        self.assertEqual(self.handed_over(worker), [("report", 1), ("checkpoint", 2), ("report", 2)])


if __name__ == "__main__":
    unittest.main()
