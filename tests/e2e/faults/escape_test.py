"""Nothing of a training outlives it, whatever it starts, and no slot is used by two, in both ways in which a worker finds what
belongs to a program: by a cgroup of version 2, and by the process table where none may be made.

E2E_CYCLES trainings (120; `scripts/soak` runs 1,000) each way, with the agent killed now and then.
"""

import os
import pathlib
import sys
import time
import unittest

import harness

CYCLES = int(os.environ.get("E2E_CYCLES", "120"))
SLOTS = 4


def survivors(marks):
    """Processes that hold one of these files open."""
    found = []
    for process in pathlib.Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if any(os.readlink(handle).startswith(marks) for handle in (process / "fd").iterdir()):
                found.append(int(process.name))
        except OSError:
            continue
    return found


class Escape(harness.Case):
    def test_nothing_survives_and_no_slot_is_double_booked(self):
        self.escape("process table", harness.without_cgroups(self))

    def test_nothing_survives_in_a_cgroup(self):
        launcher, group = harness.in_a_cgroup(self)
        self.escape("cgroup", launcher)
        # What a dead agent tried at its start is no program's.
        left = lambda: [each for each in group.glob("hpsearch-*/") if not each.name.startswith("hpsearch-try-")]
        harness.wait_for(lambda: not left(), "the cgroups of all programs to be removed", lambda: str(left()), patience=20)

    def escape(self, kills_by, launcher):
        """With a worker that `launcher` starts and that has to say it kills in this way."""
        rng = harness.seeded()
        locks = self.folder / "locks"
        locks.mkdir()
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()

        def start_worker():
            return cluster.start_worker(SLOTS, "worker", "--grace", "0.1", launcher=launcher)

        worker = start_worker()
        cluster.wait_until_kills_by(kills_by)
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 1, "max_trials": CYCLES,
                                                     "max_concurrent_trials": SLOTS}, max_restarts=3)
        tree["entrypoint"] = ["/usr/bin/python3", "-IS", str(harness.HERE / "faults" / "escaping_training.py")]
        tree["environment"]["environment_variables"].update({"FAKE_LOCKS": str(locks), "FAKE_SLOTS": str(SLOTS)})
        tree["environment"]["finish_within"] = "1s"  # Some never end by themselves.
        experiment = cluster.submit(tree)
        kills = 0
        while cluster.state_of(experiment) not in ("COMPLETED", "FAILED"):
            time.sleep(rng.uniform(1, 4))
            worker.popen.kill()
            worker.popen.wait()
            kills += 1
            worker = start_worker()
        self.assertEqual(cluster.state_of(experiment), "COMPLETED")
        worker.end()
        ledger = self.ledger
        print(f"{len(ledger.of('start'))} trainings, {len(ledger.of('escaped'))} escapes, {kills} dead agents",
              file=sys.stderr)
        self.assertEqual(ledger.of("double-booked"), [])
        self.assertGreaterEqual(len(ledger.of("start")), CYCLES)
        self.assertEqual(survivors(str(locks)), [])


if __name__ == "__main__":
    unittest.main()
