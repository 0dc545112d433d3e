"""The callback with the real library, where it is installed."""

import os
import shutil
import unittest
import warnings

from callback_case import SEED, CallbackTest, fresh, real


class LightningTest(CallbackTest):
    def train(self):
        torch, lightning = real("torch"), real("lightning")

        class Line(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(4, 1)

            def loss(self, batch):
                return torch.nn.functional.mse_loss(self.linear(batch[0])[:, 0], batch[1])

            def training_step(self, batch, index):
                loss = self.loss(batch)
                self.log("train_loss", loss)
                return loss

            def validation_step(self, batch, index):
                self.log("val_loss", self.loss(batch))

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)

        lightning.seed_everything(SEED, verbose=False)
        rows = torch.randn(32, 4)
        data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(rows, rows.sum(dim=1)), batch_size=16)
        callback = fresh("LightningCallback")()
        trainer = lightning.Trainer(max_epochs=-1, callbacks=[callback], accelerator="cpu", logger=False, enable_checkpointing=False,
                                    enable_progress_bar=False, enable_model_summary=False, default_root_dir=str(self.folder),
                                    log_every_n_steps=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trainer.fit(Line(), data, data, ckpt_path=callback.ckpt_path)
        return trainer

    def test_a_real_module_is_stopped_and_goes_on(self):
        worker = self.decide("pause")
        self.assertEqual(self.train().global_step, 4)
        self.assertEqual(self.handed_over(worker), [("report", 1), ("checkpoint", 2), ("report", 2)])
        first = worker.said("report")[-1]["metrics"]["val_loss"]
        shutil.copytree(self.folder / "checkpoint", self.folder / "saved")
        os.environ.update(HPSEARCH_LATEST_CHECKPOINT=str(self.folder / "saved"), HPSEARCH_LENGTH="4")
        self.forget_trial()
        worker.heard.clear()
        worker.answer = lambda message: {"directive": "stop" if message["step"] >= 4 and "group" not in message else "continue",
                                         "length": 4}
        trainer = self.train()
        self.assertEqual((trainer.current_epoch, trainer.global_step), (4, 8))
        self.assertEqual(self.handed_over(worker), [("report", 3), ("checkpoint", 4), ("report", 4)])
        decided = [message for message in worker.said("report") if "group" not in message]
        self.assertLess(decided[-1]["metrics"]["val_loss"], first)
        self.assertIn("train_loss", [message for message in worker.said("report") if "group" in message][-1]["metrics"])


if __name__ == "__main__":
    unittest.main()
