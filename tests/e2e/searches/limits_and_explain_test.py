"""Limits of a living experiment, budgets that end it, one trial ended by hand, and why each trial is where it is."""

import unittest

import harness


class LimitsAndExplain(harness.Case):
    def begin(self, searcher, slots=4, **more):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(slots)
        tree = harness.experiment(self.ledger_path, searcher, fake={"STEP_SECONDS": 0.05}, **more)
        return cluster, cluster.submit(tree)

    def hpsearch(self, cluster, *arguments, **more):
        return self.run_cli(*arguments, "--server", cluster.server, **more)

    def test_limits_change_on_a_living_experiment(self):
        cluster, experiment = self.begin({"name": "random", "max_length": 40, "max_trials": 3,
                                          "max_concurrent_trials": 1})
        running = lambda: [t["trial"] for t in cluster.trials(experiment) if t["state"] == "RUNNING"]
        harness.wait_for(lambda: running() == [0], "the first trial runs alone")
        said = self.hpsearch(cluster, "set", experiment, "max_concurrent_trials=3", "max_trials=5").stdout
        self.assertIn("searcher.max_concurrent_trials is 3", said)
        harness.wait_for(lambda: len(running()) == 3, "three trials run at once")
        config = self.hpsearch(cluster, "config", experiment, "--output", "json")
        self.assertEqual(config["searcher"]["max_trials"], 5)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual(len(cluster.trials(experiment)), 5)
        self.assertEqual(harness.Ledger(self.ledger_path).most_at_once(), 3)

        refused = self.hpsearch(cluster, "set", experiment, "max_trials=4", expect=4)
        self.assertIn("COMPLETED", refused.stderr)
        self.hpsearch(cluster, "set", experiment, "max_trials=7")
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual(len(cluster.trials(experiment)), 7)
        refused = self.hpsearch(cluster, "set", experiment, "max_trails=9", expect=2)
        self.assertIn('did you mean "max_trials"?', refused.stderr)
        refused = self.hpsearch(cluster, "set", experiment, "max_trials", expect=2)
        self.assertIn("LIMIT=VALUE", refused.stderr)

    def test_none_brings_the_default_back_and_says_what_holds(self):
        cluster, experiment = self.begin({"name": "random", "max_length": 400, "max_trials": 50,
                                          "max_concurrent_trials": 1, "on_duplicate": "reject"},
                                         budget={"max_time": "1h"}, resources={"priority": 7, "max_slots": 2})
        said = self.hpsearch(cluster, "set", experiment, "max_concurrent_trials=none", "on_duplicate=none",
                             "max_time=none", "priority=none", "max_slots=none", "max_trials=60").stdout
        for what in ("searcher.max_concurrent_trials is 16 (the default)",
                     "searcher.on_duplicate is allow (the default)", "budget.max_time is no limit", "resources.priority is 50 (the default)",
                     "resources.max_slots is no limit", "searcher.max_trials is 60"):
            self.assertIn(what + ";", said.replace(" now\n", ";"))
        held = self.hpsearch(cluster, "set", experiment, "max_slots=0", "max_trials=7e1")
        self.assertIn("searcher.max_trials is 70 now", held.stdout)
        self.assertIn("a trial takes 1 slot: nothing runs until max_slots is raised", held.stderr)
        config = self.hpsearch(cluster, "config", experiment, "--output", "json")
        self.assertEqual(config["searcher"]["max_concurrent_trials"], 16)
        self.assertEqual(config["resources"]["priority"], 50)

    def test_a_target_that_is_reached_ends_the_search_and_leaves_nothing_running(self):
        cluster, experiment = self.begin({"name": "random", "max_length": 400, "max_trials": 50})
        harness.wait_for(lambda: any(t["best_metric"] is not None for t in cluster.trials(experiment)), "a first metric")
        self.hpsearch(cluster, "set", experiment, "target=1e9")
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        shown = self.hpsearch(cluster, "show", experiment, "--output", "json")
        self.assertIn("reached budget.target", shown["reason"])
        self.assertEqual(shown["progress"], 1)
        self.assertEqual(shown["trials"]["RUNNING"] + shown["trials"]["PENDING"], 0)

    def test_time_and_failures_are_budgets_too(self):
        cluster, experiment = self.begin({"name": "random", "max_length": 4000, "max_trials": 50},
                                         budget={"max_time": "1s"})
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        shown = self.hpsearch(cluster, "show", experiment, "--output", "json")
        self.assertIn("budget.max_time", shown["reason"])
        ended = [e for e in cluster.get("/api/v1/events?limit=1000")["events"] if e["type"] == "experiment_stopping"]
        self.assertGreaterEqual(ended[0]["at"] - shown["first_lease_at"], 1.0)

    def test_every_trial_can_be_explained(self):
        cluster, experiment = self.begin({"name": "async_halving", "max_length": 9, "num_rungs": 3, "divisor": 3,
                                          "max_trials": 12, "max_concurrent_trials": 1}, slots=1)
        paused = lambda: [t["trial"] for t in cluster.trials(experiment) if t["state"] == "PAUSED"]
        harness.wait_for(lambda: len(paused()) >= 1, "a trial waits at its rung")
        self.hpsearch(cluster, "pause", experiment)
        harness.wait_for(lambda: not [t for t in cluster.trials(experiment) if t["state"] == "RUNNING"], "all have paused")
        at_rung = [t for t in cluster.trials(experiment) if t["state"] == "PAUSED" and "rank" in t["reason"]]
        self.assertTrue(at_rung)
        explained = self.hpsearch(cluster, "explain", experiment, at_rung[0]["trial"], "--output", "json")
        reason = explained["reason"]
        # The fewest results n with floor(n / 3) > rank, if all further ones rank behind it.
        needed = next(n for n in range(1000) if (reason["size"] + n) // 3 > reason["rank"])
        self.assertEqual(explained["results_needed"], needed)
        self.assertEqual([e["type"] for e in explained["history"]][:3],
                         ["trial_created", "lease_granted", "attempt_started"])
        text = self.hpsearch(cluster, "explain", experiment, at_rung[0]["trial"]).stdout
        self.assertIn("now: at 1 ", text)
        self.assertIn("next: ", text)

        ended = at_rung[0]["trial"]
        self.assertIn("CANCELED", self.hpsearch(cluster, "cancel", experiment, "--trial", ended).stdout)
        self.hpsearch(cluster, "resume", experiment)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        for trial in cluster.trials(experiment):
            explained = self.hpsearch(cluster, "explain", experiment, trial["trial"], "--output", "json")
            self.assertTrue(explained["now"].startswith("has ended as " + trial["state"]), explained["now"])
            told = {"report_taken", "checkpoints_collected"}  # What may follow: its exit, and what is not kept of it.
            decisions = [entry["type"] for entry in explained["history"] if entry["type"] not in told]
            self.assertEqual(decisions[-1], "trial_ended")
        self.assertEqual(cluster.trials(experiment)[ended]["reached"], 1)
        unknown = self.hpsearch(cluster, "explain", experiment, 99, expect=3)
        self.assertIn("no trial 99", unknown.stderr)

    def test_a_model_is_explained(self):
        cluster, experiment = self.begin({"name": "async_halving", "max_length": 9, "num_rungs": 3, "divisor": 3,
                                          "max_trials": 14, "sampler": "model", "model": {"explore": 0}})
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        reasons = []
        for trial in cluster.trials(experiment):
            explained = self.hpsearch(cluster, "explain", experiment, trial["trial"], "--output", "json")
            reasons.append(explained["history"][0]["reason"])
        chosen = [reason for reason in reasons if reason["why"] == "model_choice"]
        self.assertEqual({reason["why"] for reason in reasons}, {"before_model", "model_choice"})
        for reason in chosen:
            self.assertEqual(set(reason["expected"]), {"mean", "deviation", "log_improvement", "correlation", "nearest"})
            self.assertGreater(reason["expected"]["deviation"], 0)
            self.assertLess(max(reason["expected"]["nearest"]), 14)
        last = max(range(14), key=lambda trial: reasons[trial]["why"] == "model_choice")
        self.assertIn("the model's choice: expects ", self.hpsearch(cluster, "explain", experiment, last).stdout)

        learnt = self.hpsearch(cluster, "model", experiment, "--output", "json")
        self.assertEqual({one["name"] for one in learnt["hyperparameters"]}, {"x", "kind"})
        self.assertAlmostEqual(sum(one["share"] for one in learnt["hyperparameters"]), 1)
        self.assertEqual([one["length"] for one in learnt["lengths"]], [1, 3, 9])
        self.assertEqual(sum(one["results"] for one in learnt["lengths"]), learnt["results"])
        self.assertEqual(set(learnt["best"]["hparams"]), {"x", "kind"})
        told = self.hpsearch(cluster, "model", experiment).stdout
        self.assertIn(f"learnt from {learnt['results']} results\n", told)
        self.assertIn("expected to be the best: loss ", told)

    def test_what_has_no_model_yet_says_so(self):
        cluster, experiment = self.begin({"name": "random", "max_length": 1, "max_trials": 3, "sampler": "model"})
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        told = self.hpsearch(cluster, "model", experiment).stdout
        self.assertEqual(told, "the model has 3 results and needs 8: 5 are missing\n")
        other = cluster.submit(harness.experiment(self.ledger_path, {"name": "single", "max_length": 1}))
        told = self.hpsearch(cluster, "model", other, expect=2).stderr
        self.assertIn("has no model: its searcher.sampler is random", told)


if __name__ == "__main__":
    unittest.main()
