"""Mirrors that the experiment file names: with the genuine TensorBoard, and with a tracker that cannot be used."""

import json
import os
import re
import subprocess
import sys
import unittest

import harness

PYTHON = os.environ.get("HPSEARCH_GENUINE_PYTHON") or str(harness.ROOT / "build" / "python-genuine" / "bin" / "python3")
SEED = 3  # With one slot, a trial is paused and later promoted.
PAGE = harness.ROOT / "docs" / "reporting.md"  # Its first program reports, saves and resumes.
READ = """
import json, sys
from tensorboard.backend.event_processing.plugin_event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], tensor_size_guidance={"tensors": 0})
events.Reload()
out = {tag: [event.step for event in events.Tensors(tag)] for tag in ("val_loss", "training.loss")}
out["statuses"] = [event.tensor_proto.string_val[0].decode() for event in events.Tensors("hpsearch/status")]
print(json.dumps(out))
"""


class Mirrors(harness.Case):
    def run_search(self, python, mirrors, **variables):
        """The directory of its state."""
        files = dict(re.findall(r"^```(?:python|yaml)\n# (way1\S+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL))
        (self.folder / "way1.py").write_text(files["way1.py"])
        variables = {"PYTHONPATH": str(harness.ROOT / "clients" / "python"), "PYTHONDONTWRITEBYTECODE": "1", **variables}
        environment = {"mirrors": mirrors, "environment_variables": variables}
        (self.folder / "way1.yaml").write_text(files["way1.yaml"].replace("/usr/bin/python3", python) +
                                               "environment: " + json.dumps(environment) + "\n")
        self.run_cli("run", self.folder / "way1.yaml", "--slots", 1, "--seed", SEED)
        state = self.folder / ".hpsearch" / "way1"
        self.assertEqual(self.run_cli("show", "--state-dir", state, "--output", "json")["state"], "COMPLETED")
        return state

    def test_a_tracker_that_cannot_be_used_fails_no_trial(self):
        (self.folder / "mlflow.py").write_text("raise ImportError('not here')\n")
        state = self.run_search("/usr/bin/python3", ["mlflow"])
        trials = self.run_cli("trials", "--state-dir", state, "--output", "json")["trials"]
        self.assertTrue(all(trial["metric"] is not None and trial["restarts"] == 0 for trial in trials), trials)
        log = self.run_cli("logs", "--state-dir", state, trials[0]["trial"], "--stderr").stdout
        self.assertIn("hpsearch: mirror: mlflow: the mirror needs the package mlflow", log)

    def test_each_trial_is_one_run_over_pauses_and_promotions(self):
        if not os.path.exists(PYTHON) or subprocess.run([PYTHON, "-c", "import tensorboard"]).returncode != 0:
            self.skipTest("no genuine tensorboard here: scripts/setup python makes {}".format(PYTHON))
        state = self.run_search(PYTHON, ["tensorboard"])
        trials = self.run_cli("trials", "--state-dir", state, "--output", "json")["trials"]
        promoted = 0
        for trial in trials:
            runs = list((state / "trials").glob(f"*/files/tensorboard/*-1-{trial['trial']}"))
            self.assertEqual(len(runs), 1, trial)
            done = subprocess.run([PYTHON, "-B", "-c", READ, str(runs[0])], capture_output=True, text=True,
                                  timeout=harness.PATIENCE, check=True)
            found = json.loads(done.stdout)
            for tag in ("val_loss", "training.loss"):
                self.assertEqual(found[tag], list(range(1, trial["reached"] + 1)), (tag, trial))
            promoted += len(list(runs[0].iterdir())) > 1
            # Also of a trial that paused at a rung, and was never promoted.
            last = "FINISHED" if trial["reached"] == 9 else "PRUNED"
            self.assertEqual(found["statuses"][-1].split(":")[0], last, (found, trial))
        self.assertGreater(promoted, 0, "a search in which nothing is resumed shows nothing")


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
