"""kill -9 of trainings at random moments: each killed one runs again from its last checkpoint, is counted in the restarts of
its trial, and what it told before counts.

E2E_KILLS kills (20; `scripts/soak` 100), while the search goes on. Judged by the trainings' own ledger.
"""

import json
import os
import pathlib
import sys
import time
import unittest

import harness

KILLS = int(os.environ.get("E2E_KILLS", "20"))
SLOTS = 4
AT_ONCE = 3
CHECKPOINT_EVERY = 3
WELL = ("exit code 0", False)
KILLED = ("signal 9 (SIGKILL)", True)


def key(line):
    return line["trial"], line["attempt"]


def processes_of(folder):
    """Process ids of what was started with a word or a variable that names this folder."""
    found = []
    for process in pathlib.Path("/proc").iterdir():
        try:
            if process.name.isdigit() and any(os.fsencode(folder) in (process / name).read_bytes()
                                              for name in ("cmdline", "environ")):
                found.append(int(process.name))
        except OSError:
            continue
    return found


class Account:
    """What one attempt did, by its own account."""

    def __init__(self, start):
        self.began, self.length = start["step"], start["length"]
        self.last, self.end = self.began, None
        # Who begins at its length has nothing to train and reports where it is.
        self.reports = [self.began] if self.began >= self.length else []

    def add(self, line):
        if line["what"] == "step":
            self.last, self.length = line["step"], line["length"]
            self.reports.append(self.last)
        elif line["what"] == "end":
            self.end = line["why"]

    def checkpoints(self):
        """Where the next attempt may begin: at the last one that was told, or at one that was about to be."""
        def is_one(step):
            return step % CHECKPOINT_EVERY == 0 or step == self.last >= self.length
        told = [step for step in range(self.began, self.last + (self.end != "killed")) if step == self.began or is_one(step)]
        return {told[-1] if told else self.began} | ({self.last} if is_one(self.last) else set())


class KillTraining(harness.Case):
    def setUp(self):
        super().setUp()
        self.leaving = set()  # Attempts that a kill met when they had ended and only their process was left.

    def begin(self, max_restarts, searcher, fake):
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.worker = self.cluster.start_worker(SLOTS)
        tree = harness.experiment(self.ledger_path, searcher, fake={"METRIC": "equal"} | fake, max_restarts=max_restarts)
        self.experiment = self.cluster.submit(tree)

    def kill(self, line):
        """Kills the process of this start; whether it was in the middle of its training."""
        at = harness.kill_exactly(line["pid"], lambda: os.fsencode(self.ledger_path) in
                                  pathlib.Path(f"/proc/{line['pid']}/environ").read_bytes())
        if at is None:
            return False
        if key(line) in map(key, self.ledger.of("end")):
            self.leaving.add(key(line))
            return False
        with open(self.ledger_path, "a") as ledger:
            ledger.write(json.dumps({"what": "end", "trial": line["trial"], "attempt": line["attempt"], "at": at,
                                     "why": "killed"}) + "\n")
        return True

    def running(self):
        ended = set(map(key, self.ledger.of("end")))
        return [line for line in self.ledger.of("start") if key(line) not in ended]

    def attempts_of(self, trial):
        shown = self.run_cli("show", self.experiment, "--trial", trial, "--server", self.cluster.server, "--output", "json")
        return {attempt["attempt"]: (attempt["cause"], attempt["failed"]) for attempt in shown["attempts_made"]}

    def test_search_survives_kills_of_its_trainings_at_random_moments(self):
        rng = harness.seeded()
        searcher = {"name": "async_halving", "max_length": 16, "num_rungs": 3, "divisor": 2, "max_trials": 100000,
                    "max_concurrent_trials": AT_ONCE}
        self.begin(KILLS, searcher, {"STEP_SECONDS": 0.05, "CHECKPOINT_EVERY": CHECKPOINT_EVERY})
        kills = 0
        while kills < KILLS:
            harness.wait_for(self.running, "a training to start")
            time.sleep(rng.choice([rng.uniform(0, 0.1), rng.uniform(0.1, 0.5)]))
            self.assertEqual(self.cluster.state_of(self.experiment), "ACTIVE")
            if running := self.running():
                kills += self.kill(rng.choice(running))
        self.run_cli("set", self.experiment, "max_trials=1", "--server", self.cluster.server)  # No trial more than there are.
        self.assertEqual(self.cluster.wait_until_over(self.experiment), "COMPLETED")
        trials = self.cluster.trials(self.experiment)
        self.worker.end()
        self.cluster.daemon.end()
        self.assertEqual(processes_of(self.folder), [], "something was left")
        self.cluster.start_daemon()  # What is in its store, not what it remembers.
        self.cluster.wait_until_up()
        self.assertEqual(self.cluster.trials(self.experiment), trials)
        self.judge_trials(trials)
        self.assertEqual([line["why"] for line in self.ledger.of("end")].count("killed"), KILLS)

    def judge_trials(self, trials):
        ledger = self.ledger
        self.assertLessEqual(ledger.most_at_once(), AT_ONCE)
        accounts = {}
        for line in ledger.lines:
            if line["what"] == "start":
                self.assertNotIn(key(line), accounts, "an attempt was started twice")
                accounts[key(line)] = Account(line)
            else:
                accounts[key(line)].add(line)
        self.assertEqual(set(accounts), {(trial["trial"], attempt) for trial in trials
                                         for attempt in range(1, trial["attempts"] + 1)})
        self.assertLessEqual({account.end for account in accounts.values()}, {"pause", "stop", "killed"})
        again = failures = 0
        for trial in trials:
            number = trial["trial"]
            mine = [accounts[number, attempt] for attempt in range(1, trial["attempts"] + 1)]
            self.assertIn(trial["state"], ("COMPLETED", "STOPPED"))
            self.assertEqual(trial["reached"], max(account.last for account in mine))
            self.assertEqual(mine[0].began, 0)
            for before, after in zip(mine, mine[1:]):
                self.assertIn(after.began, before.checkpoints(), f"trial {number} does not go on from its last checkpoint")
                again += before.end == "killed" and after.began > 0
            self.judge_reports(number, mine)
            failures += self.judge_ends(trial, mine)
        print(f"{KILLS} trainings killed, {again} went on from a checkpoint, {failures} counted, {len(trials)} trials",
              file=sys.stderr)
        self.assertGreater(failures, KILLS // 2, "hardly a kill hit a training that trained")

    def judge_reports(self, trial, accounts):
        """Each that was answered is there, once and in order; the one a kill fell upon may be."""
        stored = {}
        reports = self.cluster.metrics(self.experiment, trial)
        self.assertEqual([report["attempt"] for report in reports], sorted(report["attempt"] for report in reports))
        for report in reports:
            stored.setdefault(report["attempt"], []).append(report["step"])
        for attempt, account in enumerate(accounts, 1):
            whole = account.reports
            sure = whole[:-1] if account.end == "killed" else whole
            self.assertIn(stored.pop(attempt, []), (whole, sure), f"reports of attempt {attempt} of trial {trial}")
        self.assertEqual(stored, {})

    def judge_ends(self, trial, accounts):
        """How many kills are counted: all but perhaps those that fell upon who had done and told all it was asked for."""
        number, ends = trial["trial"], self.attempts_of(trial["trial"])
        killed = {attempt for attempt, account in enumerate(accounts, 1) if account.end == "killed"}
        for attempt, how in ends.items():
            if (number, attempt) in self.leaving:
                self.assertIn(how, [WELL, KILLED], (trial, attempt, ends))
            else:
                self.assertEqual(how, KILLED if attempt in killed else WELL, (trial, attempt, ends))
        midway = {attempt for attempt in killed if accounts[attempt - 1].last < accounts[attempt - 1].length}
        self.assertGreaterEqual(trial["restarts"], len(midway), trial)
        self.assertLessEqual(trial["restarts"], len(killed), trial)
        return trial["restarts"]

    def test_a_trial_runs_again_max_restarts_times(self):
        self.begin(2, {"name": "random", "max_length": 1000, "max_trials": 1}, {"STEP_SECONDS": 0.05})
        for attempt in (1, 2, 3):
            harness.wait_for(self.running, f"attempt {attempt} to start")
            self.assertTrue(self.kill(self.running()[0]))
        self.cluster.wait_until_over(self.experiment)
        (trial,) = self.cluster.trials(self.experiment)
        self.assertEqual((trial["state"], trial["attempts"], trial["restarts"]), ("FAILED", 3, 3))
        self.assertEqual(self.attempts_of(0), {attempt: KILLED for attempt in (1, 2, 3)})
        self.assertEqual(len(self.ledger.of("start")), 3)


if __name__ == "__main__":
    unittest.main()
