"""kill -9 of shims at random moments: what they kept is ended with them, nothing of it survives, and its trials run again at
nobody's cost.

E2E_KILLS kills (12; `scripts/soak` 100). Judged by the trainings' own ledger.
"""

import contextlib
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
    parents = {}
    for process in pathlib.Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().split(b"\0") if process.name.isdigit() else []
            if len(words) > 1 and words[0].endswith(b"/hpsearch-shim") and words[1].startswith(os.fsencode(folder)):
                stat = (process / "stat").read_text().rpartition(") ")[2].split()
                parents[int(process.name)] = int(stat[1])
        except OSError:
            continue
    # A shim's child looks like it until it has become the program.
    return sorted(pid for pid, parent in parents.items() if parent not in parents)


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
            with contextlib.suppress(ProcessLookupError):  # It has ended by itself meanwhile.
                if alive:
                    os.kill(rng.choice(alive), signal.SIGKILL)
                    kills += 1
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        trials = cluster.trials(experiment)
        self.assertEqual({(trial["state"], trial["restarts"], trial["reached"]) for trial in trials}, {("COMPLETED", 0, 8)},
                         [trial["last_failure"] for trial in trials if trial["last_failure"]])
        worker.end()
        ledger = self.ledger
        # A shim's sockets close a moment before the kernel ends its program, which may just see it.
        self.assertLessEqual({line["why"] for line in ledger.of("end")}, {"stop", "socket closed"},
                             "a training was ended otherwise than with its shim")
        stopped = [line["trial"] for line in ledger.of("end") if line["why"] == "stop"]
        self.assertEqual(len(set(stopped)), len(stopped), "a trial was trained to its end twice")
        left = [line["pid"] for line in ledger.of("start") if harness.start_time(line["pid"]) is not None]
        self.assertEqual(left, [], "trainings outlived their shims")
        lost = sum(trial["attempts"] - 1 for trial in trials)
        print(f"{kills} shims killed, {lost} attempts lost, {len(trials)} trials whole", file=sys.stderr)
        self.assertGreater(lost, 0, "no kill hit a running training")
        self.assertLessEqual(lost, kills)


if __name__ == "__main__":
    unittest.main()
