"""hpsearch.wandb in the place of wandb: programs as people write them for W&B, in a trial and by hand."""

import importlib
import json
import os
import pathlib
import subprocess
import sys
import textwrap
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from fake_worker import PACKAGE, TrialTest

sys.path.insert(0, str(PACKAGE))

TRAIN = """
    import argparse
    import wandb

    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()

    run = wandb.init(project="mnist", config=args, tags=["a"])
    config = wandb.config
    wandb.watch(object(), log="all")
    for epoch in range(config.epochs):
        for batch in range(5):
            wandb.log({"train_loss": 1.0 / (1 + batch), "epoch": epoch})
        wandb.log({"val_acc": config.lr + epoch / 100, "picture": wandb.Image(None), "nested": {"f1": 0.5}})
    print("saved the model")
    wandb.finish()
"""


class StandIn(TrialTest):
    def fresh(self):
        sys.modules.pop("hpsearch.wandb", None)
        return importlib.import_module("hpsearch.wandb")

    def run_program(self, *command, **more):
        program = self.folder / "train.py"
        program.write_text(textwrap.dedent(TRAIN))
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE), **more}
        return subprocess.run([sys.executable, "-B", *command], cwd=self.folder, env=environment, text=True,
                              capture_output=True, timeout=60)

    def reports(self, worker):
        return [(message["step"], message["metrics"]["val_acc"]) for message in worker.said("report")]

    def test_an_unchanged_program_is_searched(self):
        worker = self.in_trial(LENGTH="9")
        done = self.run_program("-m", "hpsearch.wandb", "train.py", "--lr=0.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.reports(worker), [(1, 0.5), (2, 0.51), (3, 0.52), (4, 0.53)])
        self.assertEqual(worker.said("report")[0]["metrics"],
                         {"train_loss": 0.2, "epoch": 0.0, "val_acc": 0.5, "nested.f1": 0.5})
        self.assertIn("saved the model", done.stdout)
        self.assertIn("wandb.watch does nothing here", done.stderr)

    def test_pythonpath_does_the_same(self):
        worker = self.in_trial(LENGTH="9")
        place = self.run_program("-m", "hpsearch.wandb", "--path").stdout.strip()
        done = self.run_program("train.py", PYTHONPATH=place + os.pathsep + str(PACKAGE))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.reports(worker)), 4)

    def test_a_stop_ends_the_program_at_its_next_report(self):
        worker = self.in_trial(lambda message: {"directive": "stop" if message["step"] >= 2 else "continue", "length": 2},
                               LENGTH="2")
        done = self.run_program("-m", "hpsearch.wandb", "train.py")
        self.assertEqual((done.returncode, len(self.reports(worker))), (0, 2), done.stderr)
        self.assertNotIn("saved the model", done.stdout)

    def test_what_follows_the_last_report_is_done(self):
        self.in_trial(lambda message: {"directive": "stop" if message["step"] >= 4 else "continue", "length": 4}, LENGTH="4")
        self.assertIn("saved the model", self.run_program("-m", "hpsearch.wandb", "train.py").stdout)

    def test_by_hand_it_prints(self):
        done = self.run_program("-m", "hpsearch.wandb", "train.py", "--epochs", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("saved the model", done.stdout)
        self.assertIn("hpsearch: step 1: ", done.stdout)

    def test_the_search_has_the_last_word_in_the_configuration(self):
        self.in_trial(PARAMS=json.dumps({"lr": 0.5, "net": {"width": 8}}))
        wandb = self.fresh()
        wandb.init(config={"lr": 0.1, "batch": 32, "net": {"depth": 2}})
        self.assertEqual(dict(wandb.config), {"lr": 0.5, "batch": 32, "net": {"depth": 2, "width": 8}})
        wandb.config.lr = 0.7
        wandb.config.update({"batch": 64, "lr": 0.9})
        self.assertEqual((wandb.config["lr"], wandb.config.batch, wandb.config.get("x", 3)), (0.5, 64, 3))
        with self.assertRaisesRegex(AttributeError, "wandb.config has no 'momentum'; it has batch, lr, net"):
            wandb.config.momentum

    def test_steps_of_the_program_count_from_1(self):
        for first, steps in ((0, [1, 2, 3]), (1, [1, 2, 3]), (10, [10, 11, 12])):
            with self.subTest(first=first):
                worker = self.in_trial(LENGTH="99")
                wandb = self.fresh()
                for step in range(first, first + 3):
                    wandb.log({"val_acc": 0.5}, step=step)
                self.assertEqual([message["step"] for message in worker.said("report")], steps)
                worker.close()
                pathlib.Path(worker.address).unlink()

    def test_parts_of_a_step_are_one_report(self):
        worker = self.in_trial(LENGTH="9")
        wandb = self.fresh()
        wandb.log({"val_acc": 0.5}, commit=False)
        wandb.log({"val_loss": 0.25})
        self.assertEqual([message["metrics"] for message in worker.said("report")], [{"val_acc": 0.5, "val_loss": 0.25}])

    def test_without_the_searchs_metric_the_names_that_there_were_are_reported(self):
        worker = self.in_trial(METRIC="valid_acc")
        wandb = self.fresh()
        with wandb.init() as run:
            run.log({"val_acc": 0.5, "loss": 1})
        self.assertEqual([message["metrics"] for message in worker.said("report")], [{"val_acc": 0.5, "loss": 1.0}])

    def test_a_sweep_in_the_program_is_one_trial(self):
        worker = self.in_trial()
        wandb = self.fresh()
        wandb.agent(wandb.sweep({"parameters": {}}), function=lambda: wandb.log({"val_acc": wandb.config.lr}), count=30)
        self.assertEqual(self.reports(worker), [(1, 0.5)])

    def test_usage(self):
        done = self.run_program("-m", "hpsearch.wandb")
        self.assertEqual(done.returncode, 1)
        self.assertIn("usage: python3 -m hpsearch.wandb SCRIPT", done.stderr)


if __name__ == "__main__":
    unittest.main()
