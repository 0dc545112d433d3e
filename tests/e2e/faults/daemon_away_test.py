"""A daemon that is away: killed or stopped for a while, alone or together with a worker's agent. Every training keeps its
process, those that reach their length wait, and how those ended that ended meanwhile arrives.

E2E_AWAY_SECONDS ("0 1 20"; `scripts/soak` adds 60), all at the same time. Judged by the trainings' own ledgers.
"""

import os
import signal
import sys
import time
import unittest

import harness

AWAY = [float(text) for text in os.environ.get("E2E_AWAY_SECONDS", "0 1 20").split()]
STEP_SECONDS = 0.2
CODES = [1, 3, 77, "SIGSEGV", "SIGKILL"]
ENDS = {1: "exit status 1", 3: "exit status 3", 77: "exit status 77", "SIGSEGV": "signal 11", "SIGKILL": "signal 9"}


class Scene:
    """A cluster of its own, with trainings that go on, that wait for a decision and that end while the daemon is away."""

    def __init__(self, case, how, away):
        self.case, self.how, self.away = case, how, away
        self.name = f"{how} for {away:g} s"
        self.folder = case.folder / self.name.replace(" ", "-")
        self.folder.mkdir()
        self.told = self.folder / "end-now"
        self.cluster = harness.Cluster(case)
        self.cluster.state = self.folder / "daemon"
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.worker = None
        self.start_worker()
        self.experiments = {"goes on": self.submit("goes on", {"name": "random", "max_trials": 2},
                                                   max_length=round((away + 15) / STEP_SECONDS)),
                            "waits": self.submit("waits", {"name": "random", "max_trials": 2}, max_length=60),
                            "ends": self.submit("ends", {"name": "grid"}, max_length=100_000, END_WHEN=self.told)}

    def start_worker(self):
        self.worker = self.cluster.start_worker(4 + len(CODES), self.folder.relative_to(self.case.folder) / "worker")

    def submit(self, what, searcher, max_length, **fake):
        hyperparameters = {"code": {"type": "categorical", "vals": CODES}}
        return self.cluster.submit(harness.experiment(
            self.folder / what, searcher | {"max_length": max_length, "max_concurrent_trials": 100}, hyperparameters=hyperparameters,
            fake={"METRIC": "equal", "STEP_SECONDS": STEP_SECONDS} | fake, max_restarts=0))

    def ledger(self, what):
        return harness.Ledger(self.folder / what)

    def all_run(self):
        running = {what: {line["trial"] for line in self.ledger(what).of("step")} for what in self.experiments}
        return [len(running[what]) for what in ("goes on", "waits", "ends")] == [2, 2, len(CODES)]

    def take_daemon_away(self):
        self.processes = {line["pid"]: harness.start_time(line["pid"])
                          for what in ("goes on", "waits") for line in self.ledger(what).of("start")}
        self.case.assertNotIn(None, self.processes.values())
        if self.how == "stopped":
            self.cluster.daemon.popen.send_signal(signal.SIGSTOP)
        else:
            self.cluster.kill_daemon()
        if self.how == "killed with the agent":
            self.worker.popen.kill()
            self.worker.popen.wait()
            self.start_worker()
        self.told.touch()
        self.back_at = time.monotonic() + self.away

    def bring_daemon_back(self):
        time.sleep(max(0, self.back_at - time.monotonic()))
        self.case.assertEqual({pid: harness.start_time(pid) for pid in self.processes}, self.processes, self.name)
        if self.how == "stopped":
            self.cluster.daemon.popen.send_signal(signal.SIGCONT)
        else:
            self.cluster.start_daemon()

    def judge(self):
        for experiment in self.experiments.values():
            self.cluster.wait_until_over(experiment)
        for what in ("goes on", "waits"):
            self.case.judge(self.cluster, self.experiments[what], 2, self.ledger(what))
        ended = {line["trial"]: line["code"] for line in self.ledger("ends").of("end")}
        self.case.assertEqual(sorted(ended.values(), key=str), sorted(CODES, key=str), self.name)
        for trial in self.cluster.trials(self.experiments["ends"]):
            self.case.assertEqual((trial["state"], trial["attempts"]), ("FAILED", 1), (self.name, trial))
            self.case.assertIn(ENDS[ended[trial["trial"]]], trial["last_failure"], (self.name, trial))


class DaemonAway(harness.Case):
    def test_no_training_notices(self):
        longest = max(AWAY)
        plans = [("stopped", longest), ("killed with the agent", longest)] + [("killed", away) for away in sorted(AWAY, reverse=True)]
        scenes = []
        for how, away in plans:  # The longest first: starting the others takes a part of its time.
            scene = Scene(self, how, away)
            scenes.append(scene)
            harness.wait_for(scene.all_run, f"the trainings of the daemon {scene.name} to run")
            scene.take_daemon_away()
        for scene in sorted(scenes, key=lambda scene: scene.away):
            scene.bring_daemon_back()
        for scene in scenes:
            scene.judge()
            print(f"daemon {scene.name}: {len(scene.processes)} of {len(scene.processes)} trainings kept their process, "
                  f"{len(CODES)} of {len(CODES)} exits arrived", file=sys.stderr)

    def test_workers_are_back_after_a_daemon_that_is_killed_again_and_again(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        for name in ("one", "two"):
            cluster.start_worker(1, name)
        experiment = cluster.submit(harness.experiment(self.ledger_path, {"name": "random", "max_trials": 2, "max_length": 40},
                                                       fake={"STEP_SECONDS": 0.1}, max_restarts=0))
        harness.wait_for(lambda: len({line["trial"] for line in self.ledger.of("step")}) == 2, "both trials to run")
        for _ in range(5):  # Before the workers are back.
            cluster.kill_daemon()
            cluster.start_daemon()
            cluster.wait_until_up()
        up = time.monotonic()
        harness.wait_for(lambda: all(worker["connected"] for worker in cluster.get("/api/v1/workers")["workers"]),
                         "both workers to be back")
        print(f"both workers are back after {time.monotonic() - up:.1f} s", file=sys.stderr)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual([trial["attempts"] for trial in cluster.trials(experiment)], [1, 1])

    def test_who_waits_at_its_length_is_paused_where_the_operator_wants_it(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(4, "worker", "--orphan-policy", "pause_at_rung=1")
        searcher = {"name": "async_halving", "max_trials": 9, "num_rungs": 3, "divisor": 3, "max_length": 45}
        experiment = cluster.submit(harness.experiment(self.ledger_path, searcher, fake={"STEP_SECONDS": 0.05}, max_restarts=0))
        harness.wait_for(lambda: len({line["trial"] for line in self.ledger.of("step")}) >= 4, "four trainings to run")
        cluster.kill_daemon()

        def nobody_runs():
            return len(self.ledger.of("end")) == len(self.ledger.of("start"))
        harness.wait_for(nobody_runs, "every training to reach its length and leave")
        self.assertIn("pause", {line["why"] for line in self.ledger.of("end")})
        cluster.start_daemon()
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        self.judge(cluster, experiment, 4)  # Who went on did so from its checkpoint: no step was trained twice.
        self.assertEqual({trial["restarts"] for trial in cluster.trials(experiment)}, {0})


if __name__ == "__main__":
    unittest.main()
