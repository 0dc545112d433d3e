"""The digits training as a program among programs: what it says over the socket, and that it resumes exactly.

It is an example that people copy, and a search is only as right as the program's side of the conversation.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[3] / "examples" / "digits" / "train.py"


class Conversation:
    """A worker's end of the reporting socket: keeps what was said, answers as told."""

    def __init__(self, folder, answer):
        self.said = []
        self.path = str(folder / "report.sock")
        self._answer = answer
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        connection, _ = self._listener.accept()
        with connection, connection.makefile("rw") as stream:
            for line in stream:
                message = json.loads(line)
                self.said.append(message)
                stream.write(json.dumps(self._answer(message)) + "\n")
                stream.flush()

    def close(self):
        self._listener.close()


class DigitsProgram(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.runs = 0

    def train(self, answer, length, latest_checkpoint="", hparams=None):
        """Runs the program once; returns what it said and the directory of its checkpoint."""
        self.runs += 1
        folder = self.folder / str(self.runs)
        checkpoint = folder / "checkpoint"
        checkpoint.mkdir(parents=True)
        conversation = Conversation(folder, answer)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HPSEARCH_")}
        environment |= {
            "HPSEARCH_SOCKET": conversation.path,
            "HPSEARCH_PARAMS": json.dumps({"hidden": 16, "learning_rate": 0.1} | (hparams or {})),
            "HPSEARCH_TRIAL_SEED": "7",
            "HPSEARCH_LENGTH": str(length),
            "HPSEARCH_CHECKPOINT_DIR": str(checkpoint),
            "HPSEARCH_LATEST_CHECKPOINT": str(latest_checkpoint),
            "OMP_NUM_THREADS": "1",
        }
        done = subprocess.run([sys.executable, PROGRAM], env=environment, capture_output=True, text=True, timeout=120)
        conversation.close()
        self.assertEqual(done.returncode, 0, done.stderr)
        return conversation.said, checkpoint

    def test_reports_every_epoch_and_checkpoints_before_its_last_report(self):
        said, checkpoint = self.train(lambda message: {"directive": "stop" if message["step"] == 2 else "continue"}, 2)
        self.assertEqual([(message["type"], message["step"]) for message in said],
                         [("report", 1), ("checkpoint", 2), ("report", 2)])
        self.assertTrue((checkpoint / "network.npz").is_file())
        for message in said:
            if message["type"] == "report":
                self.assertGreater(message["metrics"]["val_accuracy"], 0.1)
                self.assertLessEqual(message["metrics"]["val_accuracy"], 1.0)

    def test_trains_on_in_place_when_told_a_longer_length(self):
        def answer(message):
            if message["type"] == "report" and message["step"] == 1:
                return {"directive": "continue", "length": 3}
            return {"directive": "stop" if message["step"] == 3 else "continue"}

        said, _ = self.train(answer, 1)
        self.assertEqual([message["step"] for message in said if message["type"] == "report"], [1, 2, 3])

    def test_a_pause_in_mid_length_leaves_a_checkpoint(self):
        def answer(message):
            return {"directive": "pause" if message["type"] == "report" and message["step"] == 2 else "continue"}

        said, checkpoint = self.train(answer, 9)
        self.assertEqual([(message["type"], message["step"]) for message in said],
                         [("report", 1), ("report", 2), ("checkpoint", 2)])
        self.assertTrue((checkpoint / "network.npz").is_file())

    def test_resumed_training_measures_what_uninterrupted_training_measures(self):
        go_on = lambda message: {"directive": "continue"}
        whole, _ = self.train(go_on, 4)
        _, checkpoint = self.train(go_on, 2)
        rest, _ = self.train(go_on, 4, latest_checkpoint=checkpoint)
        reports = lambda said: {m["step"]: m["metrics"]["val_accuracy"] for m in said if m["type"] == "report"}
        self.assertEqual(reports(rest), {step: value for step, value in reports(whole).items() if step > 2})

    def test_few_images_and_what_is_left_out_of_them_resume_exactly_too(self):
        go_on = lambda message: {"directive": "continue"}
        hparams = {"few_images": 100, "dropout": 0.2, "weight_decay": 0.001, "init_scale": 0.3, "batch_size": 16}
        whole, _ = self.train(go_on, 4, hparams=hparams)
        _, checkpoint = self.train(go_on, 2, hparams=hparams)
        rest, _ = self.train(go_on, 4, latest_checkpoint=checkpoint, hparams=hparams)
        losses = lambda said: {m["step"]: m["metrics"]["val_loss"] for m in said if m["type"] == "report"}
        self.assertEqual(losses(rest), {step: value for step, value in losses(whole).items() if step > 2})

    def test_cut_off_between_checkpoint_and_report_it_still_reports(self):
        go_on = lambda message: {"directive": "continue"}
        first, checkpoint = self.train(go_on, 2)
        again, _ = self.train(go_on, 2, latest_checkpoint=checkpoint)
        self.assertEqual(again[-1], first[-1])

    def test_a_learning_rate_that_is_too_high_is_only_a_bad_accuracy(self):
        said, _ = self.train(lambda message: {"directive": "continue"}, 1,
                             hparams={"learning_rate": 1e6, "activation": "relu"})
        self.assertLess(said[-1]["metrics"]["val_accuracy"], 0.5)

    def test_runs_by_itself(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HPSEARCH_")}
        done = subprocess.run([sys.executable, PROGRAM], env=environment | {"HPSEARCH_LENGTH": "1"},
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("val_accuracy", done.stdout)


if __name__ == "__main__":
    unittest.main()
