"""What users do with experiments that have ended, with failed trials, and with workers that are to become idle."""

import unittest

import harness


class Life(harness.Case):
    def begin(self, searcher, slots=1, **more):
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.worker = self.cluster.start_worker(slots)
        return self.submit(searcher, **more)

    def submit(self, searcher, fake=None, **more):
        return self.cluster.submit(harness.experiment(self.ledger_path, searcher, fake=fake, **more))

    def hpsearch(self, *arguments, **more):
        return self.run_cli(*arguments, "--server", self.cluster.server, **more)

    def listed(self, *options):
        return [one["id"] for one in self.hpsearch("list", "--output", "json", *options)["experiments"]]

    def test_ended_experiments_are_archived_and_deleted(self):
        first = self.begin({"name": "random", "max_length": 2, "max_trials": 2})
        self.assertEqual(self.cluster.wait_until_over(first), "COMPLETED")
        second = self.submit({"name": "random", "max_length": 2000, "max_trials": 2}, fake={"STEP_SECONDS": 0.05})
        self.assertIn("cannot be archived", self.hpsearch("archive", second, expect=4).stderr)
        self.assertIn("is archived", self.hpsearch("archive", first).stdout)
        self.assertEqual(self.listed(), [second])
        self.assertEqual(self.listed("--archived"), [first])
        self.assertEqual(self.listed("--all"), [first, second])
        self.hpsearch("unarchive", first)
        self.assertEqual(self.listed(), [first, second])

        checkpoints = self.cluster.state / "checkpoints" / str(first)
        logs = self.cluster.state / "kept" / str(first)
        harness.wait_for(lambda: list(checkpoints.rglob("step")), "a checkpoint of it")
        harness.wait_for(lambda: list(logs.rglob("*.zst")), "a log of it")
        used = self.cluster.get("/api/v1/usage?by=experiment")["usage"]
        self.assertIn("end it first", self.hpsearch("delete", second, "--yes", expect=4).stderr)
        self.assertIn("--yes", self.hpsearch("delete", first, expect=2).stderr)
        self.assertIn(f"deleted experiment {first}", self.hpsearch("delete", first, "--yes").stdout)
        self.assertEqual(self.listed("--all"), [second])
        self.assertIn(f"experiment {first} was deleted", self.hpsearch("show", first, expect=3).stderr)
        self.assertEqual(self.cluster.call("GET", f"/api/v1/experiments/{first}/trials")[0], 404)
        harness.wait_for(lambda: not list(checkpoints.rglob("step")), "its checkpoints to go")
        harness.wait_for(lambda: not logs.exists(), "its logs to go")
        of_first = lambda rows: [row["slot_seconds"] for row in rows if row["experiment"] == str(first)]
        self.assertEqual(of_first(self.cluster.get("/api/v1/usage?by=experiment")["usage"]), of_first(used))

        self.cluster.kill_daemon()
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.assertEqual(self.listed("--all"), [second])
        self.assertIn("was deleted", self.hpsearch("show", first, expect=3).stderr)
        events = self.cluster.get("/api/v1/events?limit=1000")["events"]
        self.assertIn("experiment_deleted", [event["type"] for event in events])
        self.assertIn("trial_created", [event["type"] for event in events], "the store keeps its events")
        self.assertEqual(self.submit({"name": "single", "max_length": 1}), second + 1)

    def test_a_failed_trial_is_retried_once(self):
        experiment = self.begin({"name": "random", "max_length": 60, "max_trials": 2, "max_concurrent_trials": 1},
                                fake={"STEP_SECONDS": 0.05, "FATES": '{"0": "fails"}'}, max_restarts=0)
        state = lambda trial: self.cluster.trials(experiment)[trial]["state"]
        harness.wait_for(lambda: len(self.cluster.trials(experiment)) == 2, "the second trial to start")
        self.assertEqual(state(0), "FAILED")
        self.assertIn("only a trial that has failed", self.hpsearch("retry", experiment, 1, expect=4).stderr)
        self.assertIn(f"trial 0 of experiment {experiment} is PENDING", self.hpsearch("retry", experiment, 0).stdout)
        self.assertIn("trial 0 is tried once more", self.hpsearch("explain", experiment, 0).stdout)
        self.cluster.wait_until_over(experiment)
        trials = self.cluster.trials(experiment)
        self.assertEqual([trial["attempts"] for trial in trials], [2, 1])
        self.assertEqual([trial["state"] for trial in trials], ["FAILED", "COMPLETED"], "it fails again, for good")
        self.assertIn("before its experiment ends", self.hpsearch("retry", experiment, 0, expect=4).stderr)

    def test_a_drained_worker_becomes_idle(self):
        experiment = self.begin({"name": "random", "max_length": 40, "max_trials": 3, "max_concurrent_trials": 1},
                                fake={"STEP_SECONDS": 0.05})
        states = lambda: [trial["state"] for trial in self.cluster.trials(experiment)]
        harness.wait_for(lambda: states() == ["RUNNING"], "the first trial to run")
        self.assertIn("gets no new trials", self.hpsearch("worker", "drain", "worker").stdout)
        self.assertIn("draining", self.hpsearch("workers").stdout)
        (slot,) = self.cluster.get("/api/v1/slots")["slots"]
        self.assertEqual((slot["state"], slot["experiment"], slot["trial"]), ("busy", experiment, 0))
        harness.wait_for(lambda: states() == ["COMPLETED"], "the first trial to end")
        harness.wait_for(lambda: "drained" in self.hpsearch("workers").stdout, "its program to be gone")
        (slot,) = self.cluster.get("/api/v1/slots")["slots"]
        self.assertEqual((slot["state"], slot["trial"]), ("draining", None))
        self.assertIn("every worker is draining", self.hpsearch("list").stdout)
        self.assertEqual(states(), ["COMPLETED"], "nothing new has started")
        self.assertIn("gets new work", self.hpsearch("worker", "release", "worker").stdout)
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual(len(states()), 3)


if __name__ == "__main__":
    unittest.main()
