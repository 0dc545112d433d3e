"""Clients that run trials themselves (`workers: external`), and a daemon that is killed while they do."""

import collections
import os
import random
import threading
import time
import unittest

import harness

SEED = int(os.environ.get("E2E_SEED", "1"))
TRIALS, AT_ONCE, CLIENTS = 40, 6, 4


def search():
    return {"workers": "external", "hyperparameters": {"x": {"type": "double", "minval": 0, "maxval": 1}},
            "searcher": {"name": "async_halving", "metric": "loss", "max_length": {"epochs": 9}, "num_rungs": 3, "divisor": 3,
                         "max_trials": TRIALS, "max_concurrent_trials": AT_ONCE},
            "reproducibility": {"experiment_seed": 7}}


class Client(threading.Thread):
    """Asks, trains and reports until the experiment is over, and repeats each request until it is answered."""

    def __init__(self, cluster, experiment, number):
        super().__init__(daemon=True)
        self.cluster, self.path, self.number = cluster, f"/api/v1/experiments/{experiment}", number
        self.keys, self.answered, self.trouble = 0, [], None

    def change(self, path, body):
        self.keys += 1
        headers = {"Idempotency-Key": f"client {self.number} request {self.keys}"}
        found = {}

        def answered():
            try:
                found["status"], found["answer"] = self.cluster.call("POST", self.path + path, body, headers)
            except (OSError, harness.http.client.HTTPException, ValueError):
                return False
            return found["status"] not in (503, 507)

        harness.wait_for(answered, f"an answer to {path}")
        return found["status"], found["answer"]

    def train(self, trial):
        path, lease, length, step = f"/trials/{trial['trial']}", trial["lease"], trial["length"], trial["reached"]
        directive = "continue"
        while directive == "continue" and step < length:
            step += 1
            status, answer = self.change(f"{path}/report",
                                         {"lease": lease, "step": step, "metrics": {"loss": trial["hparams"]["x"] + 1 / step}})
            assert status == 200, (status, answer)
            self.answered.append((trial["trial"], trial["attempt"], step))
            directive, length = answer["directive"], answer["length"]
        status, answer = self.change(f"{path}/tell", {"lease": lease, "state": "completed"})
        assert status == 200, (status, answer)

    def run(self):
        try:
            state = "ACTIVE"
            while state == "ACTIVE":
                status, asked = self.change("/ask", {"count": 2, "lease_seconds": 300})
                assert status == 200, (status, asked)
                state = asked["state"]
                for trial in asked["trials"]:
                    self.train(trial)
                if not asked["trials"]:
                    time.sleep(0.05)
        except BaseException as trouble:  # The test fails with it, in its own thread.
            self.trouble = trouble


class AskTell(harness.Case):
    def up(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        return cluster

    def test_a_trial_that_was_asked_for_is_told_after_the_daemon_was_killed(self):
        cluster = self.up()
        experiment = cluster.submit(search())
        path = f"/api/v1/experiments/{experiment}"
        key = {"Idempotency-Key": "once"}
        status, asked = cluster.call("POST", f"{path}/ask", {"count": 3, "lease_seconds": 600}, key)
        self.assertEqual((status, len(asked["trials"])), (200, 3))
        first = asked["trials"][0]
        cluster.call("POST", f"{path}/trials/{first['trial']}/report",
                     {"lease": first["lease"], "step": 1, "metrics": {"loss": 0.5}})
        cluster.kill_daemon()
        cluster.start_daemon()
        cluster.wait_until_up()
        status, again = cluster.call("POST", f"{path}/ask", {"count": 3, "lease_seconds": 600}, key)
        self.assertEqual([trial["lease"] for trial in again["trials"]], [trial["lease"] for trial in asked["trials"]])
        self.assertEqual(again["trials"][0]["reached"], 1)
        states = []
        for trial in asked["trials"]:
            status, told = cluster.call("POST", f"{path}/trials/{trial['trial']}/tell",
                                        {"lease": trial["lease"], "state": "failed", "message": "no such data"})
            self.assertEqual(status, 200, told)
            states.append(told["trial_state"])
        # The first had a result at its rung: how it ended after that counts for nothing.
        self.assertEqual(states, ["PAUSED", "PENDING", "PENDING"])
        self.assertEqual([trial["restarts"] for trial in cluster.trials(experiment)], [0, 1, 1])

    def test_clients_finish_a_search_under_a_daemon_that_is_killed_again_and_again(self):
        rng = random.Random(SEED)
        print(f"seed {SEED}")
        cluster = self.up()
        experiment = cluster.submit(search())
        clients = [Client(cluster, experiment, number) for number in range(CLIENTS)]
        for client in clients:
            client.start()

        def start():
            cluster.start_daemon()
            cluster.wait_until_up()

        over = ("COMPLETED", "CANCELED", "FAILED")
        self.disturb(rng, 4, lambda: cluster.state_of(experiment) in over, cluster.kill_daemon, start, 0.5)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        for client in clients:
            client.join(harness.PATIENCE)
            self.assertFalse(client.is_alive())
            self.assertIsNone(client.trouble)
        trials = cluster.trials(experiment)
        self.assertEqual(len(trials), TRIALS)
        self.assertEqual([trial["restarts"] for trial in trials], [0] * TRIALS)
        answered = collections.Counter(report for client in clients for report in client.answered)
        self.assertEqual(set(answered.values()), {1}, "two clients had the same trial at once")
        stored = collections.Counter((trial["trial"], report["attempt"], report["step"]) for trial in trials
                                     for report in cluster.metrics(experiment, trial["trial"]))
        self.assertEqual(stored, answered, "each report that was answered is there, once")

    def test_a_killed_experiment_ends_without_its_clients(self):
        cluster = self.up()
        experiment = cluster.submit(search())
        path = f"/api/v1/experiments/{experiment}"
        _, asked = cluster.call("POST", f"{path}/ask", {"lease_seconds": 600})
        trial = asked["trials"][0]
        status, answer = cluster.call("POST", f"{path}/trials/{trial['trial']}/report",
                                      {"lease": trial["lease"], "step": 1, "metrics": {"other": 1}})
        self.assertEqual((status, answer["directive"]), (202, "continue"), "nothing is decided without the metric")
        cluster.call("POST", f"{path}/kill")
        self.assertEqual(cluster.wait_until_over(experiment), "CANCELED")
        status, _ = cluster.call("POST", f"{path}/trials/{trial['trial']}/report",
                                 {"lease": trial["lease"], "step": 1, "metrics": {"loss": 1}})
        self.assertEqual(status, 409)


if __name__ == "__main__":
    unittest.main()
