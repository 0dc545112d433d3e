#!/usr/bin/python3
"""A search that an earlier release has begun is verified, shown and completed by this build.

    kept_searches_test.py BIN_DIR                  all searches of tests/package/releases, and one that this build has begun
    kept_searches_test.py BIN_DIR --keep VERSION   begins a search with these programs, of a release, and keeps it there

A kept search is the state of its daemon and worker: the store, its seals, contexts, logs and what the worker knows of attempts.
"""

import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
RELEASES = pathlib.Path(__file__).resolve().parent / "releases"
PATIENCE = 240
TRIALS = 8
FILE = f"""\
name: kept
entrypoint: [/bin/sh, train.sh, '{{x}}']
metrics: {{loss: 'loss {{number}}'}}
hyperparameters:
  x: {{type: double, minval: 0, maxval: 1}}
searcher: {{name: random, metric: loss, max_length: 2, max_trials: {TRIALS}}}
"""
# While the search is being begun, later trials wait until they have to pause.
PROGRAM = """\
if [ -n "$HOLD_LATER_TRIALS" ] && [ "$HPSEARCH_TRIAL_NUMBER" -ge 4 ]; then
  while hpsearch-report progress >directive; do
    sleep 0.1
  done
  exit 0
fi
echo "loss $1"
echo "loss $1"
"""


def environment(folder, **more):
    return {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8", **more}


def command(folder, *words):
    done = subprocess.run([BIN / "hpsearch", *words], cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def trials_of(folder):
    listed = json.loads(command(folder, "trials", "--state-dir", ".hpsearch/search", "-o", "json"))["trials"]
    return {trial["trial"]: (trial["state"], trial["metric"], trial["hparams"]) for trial in listed}


def begin(folder):
    """A search that is paused after its first four trials; their states, metrics and hyperparameters."""
    folder.mkdir(parents=True)
    (folder / "search.yaml").write_text(FILE, encoding="utf-8")
    (folder / "train.sh").write_text(PROGRAM, encoding="utf-8")
    search = subprocess.Popen([BIN / "hpsearch", "run", "search.yaml", "--slots", "2"], cwd=folder,
                              env=environment(folder, HOLD_LATER_TRIALS="yes"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    watchdog = threading.Timer(PATIENCE, search.kill)
    watchdog.start()
    said, completed = [], 0
    try:
        for line in search.stdout:
            said.append(line)
            completed += " completed at " in line
            if completed == 4:
                completed += 1  # Once.
                search.send_signal(signal.SIGINT)
        assert search.wait() == 130, "".join(said)
    finally:
        watchdog.cancel()
        search.stdout.close()
    ended = {number: trial for number, trial in trials_of(folder).items() if trial[0] == "COMPLETED"}
    assert sorted(ended) == [0, 1, 2, 3], "".join(said)
    (folder / "ended.json").write_text(json.dumps(ended), encoding="utf-8")


def keep(version):
    with tempfile.TemporaryDirectory() as scratch:
        begin(pathlib.Path(scratch) / version)
        RELEASES.mkdir(exist_ok=True)
        packed = subprocess.run(["tar", "--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "-C", scratch, version],
                                capture_output=True, check=True).stdout
        path = RELEASES / f"{version}.tar.zst"
        subprocess.run(["zstd", "-q", "-19", "-f", "-o", path], input=packed, check=True)
        print(f"{path}: {path.stat().st_size} bytes")


class KeptSearches(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hpsearch-kept-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def complete(self, folder):
        before = {int(number): tuple(trial) for number, trial in json.loads((folder / "ended.json").read_text(encoding="utf-8")).items()}
        command(folder, "store", "verify", ".hpsearch/search/daemon")
        self.assertEqual({number: trial for number, trial in trials_of(folder).items() if number in before}, before)
        self.assertIn("COMPLETED", command(folder, "run", "search.yaml", "--slots", "2", "-o", "json"))
        after = trials_of(folder)
        self.assertEqual([state for state, _, _ in after.values()], ["COMPLETED"] * TRIALS)
        self.assertEqual({number: after[number] for number in before}, before)
        self.assertIn("loss ", command(folder, "logs", "--state-dir", ".hpsearch/search", "0"))

    def test_search_of_this_build_is_completed_elsewhere(self):
        begin(self.folder / "begun")
        shutil.move(self.folder / "begun", self.folder / "moved")
        self.complete(self.folder / "moved")

    def test_searches_of_releases_are_completed(self):
        kept = sorted(RELEASES.glob("*.tar.zst"))
        if not kept:
            self.skipTest("there is no search of an earlier release yet")
        for path in kept:
            with self.subTest(path.name):
                packed = subprocess.run(["zstd", "-q", "-d", "-c", path], capture_output=True, check=True).stdout
                subprocess.run(["tar", "-x", "-C", self.folder], input=packed, check=True)
                self.complete(self.folder / path.name.removesuffix(".tar.zst"))


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--keep":
        keep(sys.argv[2])
    else:
        unittest.main(verbosity=2)
