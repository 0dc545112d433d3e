"""Mirrors with the genuine trackers: three attempts of one trial, the first one killed, are one run with no step twice.

With the Python of build/python-genuine (scripts/setup python), or of HPSEARCH_GENUINE_PYTHON; skipped without.
"""

import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from fake_worker import PACKAGE, TrialTest

sys.path.insert(0, str(PACKAGE))  # For the tests' common part; the programs get it by PYTHONPATH.

ROOT = PACKAGE.parents[1]
PYTHON = os.environ.get("HPSEARCH_GENUINE_PYTHON") or str(ROOT / "build" / "python-genuine" / "bin" / "python3")
PATIENCE = 250
RUN = "77-1-4"
PARAMS = {"lr": 0.5, "net": {"hidden": 8}}

# Reports steps FIRST to LAST. With "crash" it then waits to be killed, once the tracker has them.
PROGRAM = """
import json, pathlib, sys, time
import hpsearch
tracker, options, end = sys.argv[1], json.loads(sys.argv[2]), sys.argv[5]
first, last = map(int, sys.argv[3:5])
hpsearch.mirror(tracker, wait=200, **options)
for step in range(first, last + 1):
    hpsearch.report_training(step, loss=1 / step)
    hpsearch.report(step, val_loss=2 / step)
feed = hpsearch._in_trial._trial._mirrors._feeds[tracker]
if end == "crash":
    while feed._waiting or feed._taken:
        time.sleep(0.01)
    pathlib.Path("delivered").touch()
    time.sleep(1000)
"""

# What W&B will send of each run in a directory, and from how many files.
READ_WANDB = """
import glob, json, sys
from hpsearch.mirrors._wandb_file import _records
from wandb.proto.wandb_internal_pb2 import Record
out = {"ids": [], "groups": [], "steps": [], "training": [], "tags": [], "config": {}, "summary": {}}
for path in sorted(glob.glob(sys.argv[1] + "/wandb/offline-run-*/*.wandb")):
    tags = []
    for text in _records(open(path, "rb").read()):
        record = Record.FromString(text)
        kind = record.WhichOneof("record_type")
        if kind == "run":
            out["ids"].append(record.run.run_id)
            out["groups"].append(record.run.run_group)
            tags = list(record.run.tags)
            out["config"].update({item.key: json.loads(item.value_json) for item in record.run.config.update})
        elif kind == "history":
            names = {item.key or ".".join(item.nested_key) for item in record.history.item}
            out["steps"] += [record.history.step.num] * ("val_loss" in names)
            out["training"] += [record.history.step.num] * ("training.loss" in names)
        elif kind == "summary":
            out["summary"].update({item.key or ".".join(item.nested_key): json.loads(item.value_json)
                                   for item in record.summary.update})
    out["tags"].append(tags)
print(json.dumps(out))
"""

READ_TENSORBOARD = """
import json, os, sys
from tensorboard.backend.event_processing.plugin_event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import metadata
out = {"runs": os.listdir(sys.argv[1])}
events = EventAccumulator(os.path.join(sys.argv[1], out["runs"][0]), tensor_size_guidance={"tensors": 0})
events.Reload()
for tag in ("val_loss", "training.loss"):
    out[tag] = [event.step for event in events.Tensors(tag)]
out["statuses"] = [event.tensor_proto.string_val[0].decode() for event in events.Tensors("hpsearch/status")]
out["about"] = events.Tensors("hpsearch/trial")[-1].tensor_proto.string_val[0].decode()
content = events.SummaryMetadata(metadata.SESSION_START_INFO_TAG).plugin_data.content
start = metadata.parse_session_start_info_plugin_data(content)
out["hparams"] = {name: value.number_value for name, value in start.hparams.items()}
print(json.dumps(out))
"""


class Genuine(TrialTest):
    tracker = ""

    def setUp(self):
        super().setUp()
        if not os.path.exists(PYTHON) or subprocess.run([PYTHON, "-c", "import " + self.tracker]).returncode != 0:
            self.skipTest("no genuine {} here: scripts/setup python makes {}".format(self.tracker, PYTHON))

    def command(self, program, *words):
        return [PYTHON, "-B", "-c", program, *map(str, words)]

    def environment(self):
        # They would ask the network for news.
        return {**os.environ, "PYTHONPATH": str(PACKAGE), "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true",
                "WANDB_ERROR_REPORTING": "false", "HOME": str(self.folder)}

    def attempt(self, number, first, last, end, options, below=0):
        """One attempt in a directory of its own. It ends so many steps `below` the length that it was given."""
        length = (last if end != "crash" else last + 2) + below
        worker = self.in_trial(
            lambda message: {"directive": end if message["step"] == length - below else "continue", "length": length},
            ATTEMPT=number, LENGTH=length, MAX_LENGTH=9, STORE=77, EXPERIMENT_NAME="digits", PARAMS=json.dumps(PARAMS))
        place = self.folder / "attempt-{}".format(number)
        place.mkdir()
        with (place / "log").open("w+") as log:
            process = subprocess.Popen(self.command(PROGRAM, self.tracker, json.dumps(options), first, last, end),
                                       cwd=place, env=self.environment(), start_new_session=True, stderr=log)
            if end == "crash":
                deadline = time.monotonic() + PATIENCE
                while not (place / "delivered").exists() and process.poll() is None and time.monotonic() < deadline:
                    time.sleep(0.05)
                self.delivered(last)
                os.killpg(process.pid, signal.SIGKILL)  # As a worker does: nothing of the attempt is left.
            self.assertEqual(process.wait(PATIENCE), -signal.SIGKILL if end == "crash" else 0)
            log.seek(0)
            text = log.read()
        self.assertNotIn("hpsearch: mirror", text)
        worker.close()
        os.unlink(worker.address)

    def delivered(self, last):
        """Waits until the crash finds something in the tracker."""

    def three_attempts(self, options):
        """Killed after step 6 and resumed from step 4, stopped at 7, its length, then promoted to 9."""
        self.attempt(1, 1, 6, "crash", options)
        self.attempt(2, 5, 7, "pause", options)
        self.between()
        self.attempt(3, 8, 9, "stop", options)

    def between(self):
        """What the tracker has between the attempts."""

    def read(self, program, *words):
        done = subprocess.run(self.command(program, *words), capture_output=True, text=True, timeout=PATIENCE,
                              env=self.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


class MlflowTest(Genuine):
    tracker = "mlflow"

    def rows(self, query):
        with sqlite3.connect(str(self.folder / "mlflow.db")) as database:
            return database.execute(query).fetchall()

    def tags(self):
        return dict(self.rows("SELECT key, value FROM tags WHERE key LIKE 'hpsearch.%'"))

    def between(self):
        # If it is never promoted, the run stays so.
        self.assertEqual((self.tags()["hpsearch.status"], self.tags()["hpsearch.reason"], self.rows("SELECT status FROM runs")),
                         ("PRUNED", "stopped at step 7 of at most 9, unless it is promoted", [("FINISHED",)]))
        self.assertGreater(self.rows("SELECT end_time FROM runs")[0][0], 0)

    def test_three_attempts_are_one_run(self):
        options = {"tracking_uri": "sqlite:///{}".format(self.folder / "mlflow.db"), "tags": {"team": "a"}}
        self.three_attempts(options)
        self.assertEqual(self.rows("SELECT status, name FROM runs"), [("FINISHED", "trial-4")])
        self.assertEqual(self.rows("SELECT name FROM experiments WHERE experiment_id != 0"), [("digits",)])
        for name in ("val_loss", "training.loss"):
            rows = self.rows("SELECT step FROM metrics WHERE key = '{}' ORDER BY step".format(name))
            self.assertEqual([row[0] for row in rows], list(range(1, 10)), name)
        self.assertEqual(dict(self.rows("SELECT key, value FROM params")), {"lr": "0.5", "net.hidden": "8"})
        self.assertEqual(self.tags(), {"hpsearch.trial": RUN, "hpsearch.experiment": "digits", "hpsearch.seed": "7",
                                       "hpsearch.attempt": "3", "hpsearch.status": "FINISHED",
                                       "hpsearch.reason": "ended at step 9"})
        self.attempt(4, 10, 10, "pause", options, below=1)
        self.assertEqual((self.tags()["hpsearch.status"], self.rows("SELECT status FROM runs")), ("PAUSED", [("SCHEDULED",)]))


class WandbTest(Genuine):
    tracker = "wandb"

    def test_three_attempts_are_one_run(self):
        self.three_attempts({"dir": str(self.folder), "mode": "offline", "tags": ["mine"]})
        found = self.read(READ_WANDB, self.folder)
        self.assertEqual((set(found["ids"]), set(found["groups"])), ({RUN}, {"digits"}))
        for name in ("steps", "training"):
            # What W&B had not written when it was killed is lost, but only of what the trial lost too.
            self.assertEqual(sorted(set(found[name])), sorted(found[name]), name)
            self.assertLessEqual(set(range(5, 10)), set(found[name]), name)
        self.assertEqual(found["tags"], [["mine"], ["mine", "PRUNED"], ["mine", "FINISHED"]])
        self.assertEqual({name: found["config"][name] for name in PARAMS}, PARAMS)
        self.assertEqual(found["config"]["hpsearch"], {"trial": RUN, "number": 4, "seed": 7, "attempt": 3})
        self.assertEqual(found["summary"]["hpsearch.reason"], "ended at step 9")

    def delivered(self, last):
        # W&B writes the row of a step when the next one begins.
        deadline = time.monotonic() + PATIENCE
        while last - 1 not in self.read(READ_WANDB, self.folder)["steps"] and time.monotonic() < deadline:
            time.sleep(0.05)


class TensorboardTest(Genuine):
    tracker = "tensorboard"

    def test_three_attempts_are_one_run(self):
        self.three_attempts({"logdir": str(self.folder / "logs")})
        found = self.read(READ_TENSORBOARD, self.folder / "logs")
        self.assertEqual(found["runs"], [RUN])
        for name in ("val_loss", "training.loss"):
            self.assertEqual(found[name], list(range(1, 10)), name)
        self.assertEqual(found["statuses"], ["PRUNED: stopped at step 7 of at most 9, unless it is promoted", "FINISHED: ended at step 9"])
        self.assertEqual(found["about"], "trial 4 of digits, attempt 3, seed 7")
        self.assertEqual(found["hparams"], {"lr": 0.5, "net.hidden": 8})


if __name__ == "__main__":
    unittest.main()
