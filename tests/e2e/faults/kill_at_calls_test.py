"""kill -9 of agents and shims at their storage calls, one after another: each call's first occurrence in a life, then its
second …, just before it and just after it.

E2E_CALL_KILLS agents and as many shims (24; `scripts/soak` 300). Judged by the trainings' own ledger.
"""

import collections
import itertools
import os
import sys
import unittest

import harness

KILLS = int(os.environ.get("E2E_CALL_KILLS", "24"))
LIBRARY = harness.BIN / "libkill_at_call.so"
SLOTS = 4


class Orders:
    """Who is to die next, and where; a call that a life did not come to begins again."""

    def __init__(self, path, program, calls):
        self.path, self.program = path, program
        self.done = path.with_name(path.name + ".done")
        self.numbers = dict.fromkeys(calls, 1)
        self.turns = itertools.cycle((call, when) for call in calls for when in ("before", "after"))
        self.killed = collections.Counter()

    @property
    def variables(self):
        return {"LD_PRELOAD": str(LIBRARY), "KILL_AT": str(self.path)}

    def give(self):
        self.call, self.when = next(self.turns)
        draft = self.path.with_name(self.path.name + ".draft")
        draft.write_text(f"{self.program} {self.call} {self.numbers[self.call]} {self.when}\n")
        draft.rename(self.path)

    def is_carried_out(self):
        return self.done.exists()

    def settle(self):
        """Takes it back if nobody has carried it out."""
        self.path.unlink(missing_ok=True)
        if not self.is_carried_out():
            self.numbers[self.call] = 1
            return
        self.done.unlink()
        self.killed[self.call] += 1
        if self.when == "after":
            self.numbers[self.call] += 1


class KillAtCalls(harness.Case):
    def begin(self):
        """A search that goes on until it is let end."""
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        searcher = {"name": "random", "max_length": 6, "max_trials": 100000, "max_concurrent_trials": SLOTS}
        tree = harness.experiment(self.ledger_path, searcher, fake={"METRIC": "equal", "STEP_SECONDS": 0.04}, max_restarts=0)
        self.experiment = self.cluster.submit(tree)

    def let_end(self):
        """No trial more than there are: returns them, all completed, none restarted at its own cost."""
        self.run_cli("set", self.experiment, "max_trials=1", "--server", self.cluster.server)
        self.assertEqual(self.cluster.wait_until_over(self.experiment), "COMPLETED")
        trials = self.cluster.trials(self.experiment)
        self.assertEqual({(trial["state"], trial["restarts"], trial["reached"]) for trial in trials}, {("COMPLETED", 0, 6)},
                         [trial["last_failure"] for trial in trials if trial["last_failure"]])
        return trials

    def wait_for_death(self, orders, dead):
        """Or until so many programs have ended that nobody comes to that call any more."""
        ended = len(self.ledger.of("end")) + 2 * SLOTS
        harness.wait_for(lambda: dead() or len(self.ledger.of("end")) > ended, f"a death at {orders.call}",
                         (self.folder / "worker.log").read_text)

    def test_agents(self):
        self.begin()
        orders = Orders(self.folder / "order", "hpsearch-worker", ("write", "fdatasync", "rename", "unlink", "fsync"))
        while orders.killed.total() < KILLS:
            orders.give()
            worker = self.cluster.start_worker(SLOTS, extra=orders.variables)
            self.wait_for_death(orders, lambda: worker.popen.poll() is not None)
            ended = worker.popen.poll() is not None
            worker.popen.kill()
            worker.popen.wait()
            self.assertLessEqual(ended, orders.is_carried_out(), worker.said())
            orders.settle()
        self.cluster.start_worker(SLOTS)
        trials = self.let_end()
        print(f"agents killed: {dict(orders.killed)}; {len(trials)} trials", file=sys.stderr)
        self.judge(self.cluster, self.experiment, SLOTS)

    def test_shims(self):
        self.begin()
        orders = Orders(self.folder / "order", "hpsearch-shim", ("write", "fdatasync", "rename", "unlink", "fsync"))
        worker = self.cluster.start_worker(SLOTS, extra=orders.variables)
        while orders.killed.total() < KILLS:
            orders.give()
            self.wait_for_death(orders, orders.is_carried_out)
            orders.settle()
        trials = self.let_end()
        worker.end()
        self.judge_reports(self.cluster, self.experiment)
        lost = sum(trial["attempts"] - 1 for trial in trials)
        print(f"shims killed: {dict(orders.killed)}; {len(trials)} trials, {lost} attempts lost", file=sys.stderr)
        ledger = self.ledger
        # A shim's sockets close a moment before the kernel ends its program, which may just see it.
        self.assertLessEqual({line["why"] for line in ledger.of("end")}, {"stop", "socket closed"},
                             "a training was ended otherwise than with its shim")
        stopped = [line["trial"] for line in ledger.of("end") if line["why"] == "stop"]
        self.assertEqual(len(set(stopped)), len(stopped), "a trial was trained to its end twice")
        self.assertEqual(ledger.alive(), [], "trainings outlived their shims")
        self.assertLessEqual(lost, orders.killed.total())


if __name__ == "__main__":
    unittest.main()
