"""kill -9 of shims at random moments: what they kept is ended with them, nothing of it survives, and its trials run again at
nobody's cost.

E2E_KILLS kills (12; `scripts/soak` 100), while the search goes on. Judged by the trainings' own ledger.
"""

import os
import pathlib
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
    def trained_since(self, at):
        """Whether a training that began later than that has reported."""
        ledger = self.ledger
        began = {(line["trial"], line["attempt"]): line["at"] for line in ledger.of("start")}
        return any(began[line["trial"], line["attempt"]] > at for line in ledger.of("step") if line["step"] > 1)

    def test_search_survives_shims_that_die_at_random_moments(self):
        rng = harness.seeded()
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        worker = cluster.start_worker(SLOTS)
        searcher = {"name": "random", "max_length": 8, "max_trials": 100000, "max_concurrent_trials": SLOTS}
        tree = harness.experiment(self.ledger_path, searcher, fake={"METRIC": "equal", "STEP_SECONDS": 0.1}, max_restarts=0)
        experiment = cluster.submit(tree)
        kills, killed_at = 0, 0
        while kills < KILLS:
            # A worker where nobody lives to report rests ever longer.
            harness.wait_for(lambda: self.trained_since(killed_at), "a training to start and report")
            time.sleep(rng.choice([rng.uniform(0, 0.1), rng.uniform(0.1, 0.5)]))
            self.assertEqual(cluster.state_of(experiment), "ACTIVE")
            if alive := shims(self.folder):
                chosen = rng.choice(alive)
                at = harness.kill_exactly(chosen, lambda: chosen in shims(self.folder))
                kills += at is not None
                killed_at = at or killed_at
        self.run_cli("set", experiment, "max_trials=1", "--server", cluster.server)  # No trial more than there are.
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        trials = cluster.trials(experiment)
        self.assertEqual({(trial["state"], trial["restarts"], trial["reached"]) for trial in trials}, {("COMPLETED", 0, 8)},
                         [trial["last_failure"] for trial in trials if trial["last_failure"]])
        worker.end()
        self.judge_reports(cluster, experiment)
        ledger = self.ledger
        # A shim's sockets close a moment before the kernel ends its program, which may just see it.
        self.assertLessEqual({line["why"] for line in ledger.of("end")}, {"stop", "socket closed"},
                             "a training was ended otherwise than with its shim")
        stopped = [line["trial"] for line in ledger.of("end") if line["why"] == "stop"]
        self.assertEqual(len(set(stopped)), len(stopped), "a trial was trained to its end twice")
        self.assertEqual(ledger.alive(), [], "trainings outlived their shims")
        lost = sum(trial["attempts"] - 1 for trial in trials)
        print(f"{KILLS} shims killed, {lost} attempts lost, {len(trials)} trials whole", file=sys.stderr)
        self.assertGreaterEqual(lost, KILLS // 2, "hardly a kill hit a running training")
        self.assertLessEqual(lost, KILLS)


if __name__ == "__main__":
    unittest.main()
