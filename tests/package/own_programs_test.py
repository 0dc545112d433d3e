#!/usr/bin/python3
"""The programs of examples/own_sampler know one searcher more than ours.

    own_programs_test.py OUR_BIN OWN_BIN
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

OURS, OWN = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
del sys.argv[1:3]
PATIENCE = 120
EXPERIMENT = """
entrypoint: ["true"]
hyperparameters:
  lr: {type: log, minval: -4, maxval: -1}
searcher: {name: evolution, metric: loss, max_length: {epochs: 9}, max_trials: 60, num_rungs: 2, divisor: 3}
reproducibility: {experiment_seed: 1}
"""


def run(*command, stdin=""):
    return subprocess.run(list(map(str, command)), input=stdin, capture_output=True, text=True, timeout=PATIENCE)


class OwnPrograms(unittest.TestCase):
    def test_command_line(self):
        simulate = ("simulate", "-", "--metric", "abs(lr-0.01)", "--output", "json")
        refused = run(OURS / "hpsearch", *simulate, stdin=EXPERIMENT)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("evolution", refused.stdout + refused.stderr)
        taken = run(OWN / "hpsearch", *simulate, stdin=EXPERIMENT)
        self.assertEqual(taken.returncode, 0, taken.stdout + taken.stderr)
        self.assertIn('"near_trial"', taken.stdout)

    def test_daemon(self):
        self.assertEqual(self.submitted_to(OURS / "hpsearchd"), 400)
        self.assertIn(self.submitted_to(OWN / "hpsearchd"), (200, 201))

    def submitted_to(self, program):
        """The status with which a daemon answers."""
        with tempfile.TemporaryDirectory() as scratch:
            state = pathlib.Path(scratch) / "state"
            daemon = subprocess.Popen([program, "--state-dir", state, "--http", "127.0.0.1:0", "--http-open"],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                end = time.monotonic() + PATIENCE
                while not (state / "daemon.json").exists():
                    self.assertIsNone(daemon.poll(), "the daemon ended")
                    self.assertLess(time.monotonic(), end, "the daemon does not start")
                    time.sleep(0.02)
                config = {"name": "own", "entrypoint": ["true"],
                          "hyperparameters": {"lr": {"type": "log", "minval": -4, "maxval": -1}},
                          "searcher": {"name": "evolution", "metric": "loss", "max_length": {"epochs": 9},
                                       "max_trials": 60, "num_rungs": 2}}
                here = json.loads((state / "daemon.json").read_text())
                request = urllib.request.Request(f"http://{here['http']}/api/v1/experiments",
                                                 json.dumps({"config": config}).encode(),
                                                 {"Content-Type": "application/json"})
                try:
                    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                        return answer.status
                except urllib.error.HTTPError as refused:
                    with refused:
                        return refused.code
            finally:
                os.kill(daemon.pid, signal.SIGTERM)
                daemon.wait(PATIENCE)


if __name__ == "__main__":
    unittest.main(verbosity=2)
