"""kill -9 of shims at random moments: what they kept is ended with them, nothing of it survives, and its trials run again at
nobody's cost.

E2E_KILLS kills (12; `scripts/soak` 100). Judged by the trainings' own ledger.
"""

import os
import pathlib
import signal
import sys
import time
import unittest

import harness

KILLS = int(os.environ.get("E2E_KILLS", "12"))
SLOTS = 4


def shims(folder):
    """Process ids of the shims that keep attempts below this folder."""
    found = []
    for process in pathlib.Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().split(b"\0") if process.name.isdigit() else []
        except OSError:
            continue
        if len(words) > 1 and words[0].endswith(b"/hpsearch-shim") and words[1].startswith(os.fsencode(folder)):
            found.append(int(process.name))
    return sorted(found)


class KillShim(harness.Case):
    def test_search_survives_shims_that_die_at_random_moments(self):
        rng = harness.seeded()
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        worker = cluster.start_worker(SLOTS)
        searcher = {"name": "random", "max_length": 8, "max_trials": KILLS, "max_concurrent_trials": SLOTS}
        tree = harness.experiment(self.ledger_path, searcher, fake={"METRIC": "equal", "STEP_SECONDS": 0.1}, max_restarts=0)
        experiment = cluster.submit(tree)
        kills = 0
        while kills < KILLS and cluster.state_of(experiment) != "COMPLETED":
            time.sleep(rng.choice([rng.uniform(0, 0.1), rng.uniform(0.1, 0.5)]))
            alive = shims(self.folder)
            if alive:
                os.kill(rng.choice(alive), signal.SIGKILL)
                kills += 1
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        trials = cluster.trials(experiment)
        self.assertEqual({(trial["state"], trial["restarts"], trial["reached"]) for trial in trials}, {("COMPLETED", 0, 8)})
        worker.end()
        ledger = self.ledger
        ended = {(line["trial"], line["attempt"]): line["why"] for line in ledger.of("end")}
        self.assertEqual(set(ended.values()), {"stop"}, "a training was ended otherwise than with its shim")
        self.assertEqual({trial for trial, _ in ended}, set(range(KILLS)))
        left = [line["pid"] for line in ledger.of("start") if harness.start_time(line["pid"]) is not None]
        self.assertEqual(left, [], "trainings outlived their shims")
        lost = sum(trial["attempts"] - 1 for trial in trials)
        print(f"{kills} shims killed, {lost} attempts lost, {len(trials)} trials whole", file=sys.stderr)
        self.assertGreater(lost, 0, "no kill hit a running training")
        self.assertLessEqual(lost, kills)


if __name__ == "__main__":
    unittest.main()
