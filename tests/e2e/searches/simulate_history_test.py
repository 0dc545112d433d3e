"""`hpsearch simulate` on a finished search's own history: with one slot, what is simulated is what happened."""

import json
import unittest

import harness


class SimulateHistory(harness.Case):
    def replay(self, searcher, fates=None, max_restarts=1):
        """Runs the search on one slot, then simulates it on the curves it recorded."""
        file = self.write_experiment(harness.experiment(self.ledger_path, searcher, max_restarts=max_restarts,
                                                        fake={"FATES": json.dumps(fates or {})}))
        self.run_cli("run", file, "--slots", 1, expect=None)  # Trials that fail are told by its exit status.
        return self.expect_the_same(file, "--state-dir", self.folder / ".hpsearch" / "experiment")

    def expect_the_same(self, file, *where):
        happened = self.run_cli("trials", *where, "--output", "json")["trials"]
        state = self.run_cli("show", *where, "--output", "json")["state"]
        simulated = self.run_cli("simulate", file, "--curves", "experiment:1", *where, "--workers", 1, "--output", "json")
        self.assertEqual(simulated["state"], state)
        self.assertEqual([(trial["trial"], trial["hparams"], trial["reached"], trial["state"], trial["reason"])
                          for trial in simulated["trials"]],
                         [(trial["trial"], trial["hparams"], trial["reached"], trial["state"], trial["reason"])
                          for trial in happened])
        return simulated

    def test_promotion_type(self):
        simulated = self.replay({"name": "async_halving", "max_length": 9, "max_trials": 20, "num_rungs": 3,
                                 "divisor": 3})
        self.assertIn([1, 3, 9], [trial["lengths"] for trial in simulated["trials"]])

    def test_stopping_type(self):
        self.replay({"name": "adaptive_asha", "max_length": 27, "max_trials": 20, "divisor": 3, "stop_once": True})

    def test_a_file_without_a_seed_gets_that_of_the_experiment(self):
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 2, "max_trials": 3})
        del tree["reproducibility"]
        file = self.write_experiment(tree)
        self.run_cli("run", file, "--slots", 1)
        state = self.folder / ".hpsearch" / "experiment"
        config = self.run_cli("config", "--state-dir", state, "--output", "json")
        happened = self.run_cli("trials", "--state-dir", state, "--output", "json")["trials"]

        def simulated(*arguments):
            return self.run_cli("simulate", file, "--curves", "experiment:1", "--state-dir", state, "--output", "json",
                                *arguments)

        own = simulated()
        self.assertEqual(own["seed"], config["reproducibility"]["experiment_seed"])
        self.assertEqual([trial["hparams"] for trial in own["trials"]], [trial["hparams"] for trial in happened])
        self.assertEqual(simulated("--seed", 5)["seed"], 5)
        self.write_experiment(tree | {"reproducibility": {"experiment_seed": 6}})
        self.assertEqual(simulated()["seed"], 6)

    def test_trials_that_ended_early_end_there_again(self):
        fates = {"0": "fails", "1": "invalid", "2": "dies", "3": "leaves"}
        simulated = self.replay({"name": "random", "max_length": 4, "max_trials": 6}, fates)
        self.assertEqual([(trial["state"], trial["reached"]) for trial in simulated["trials"][:5]],
                         [("FAILED", 2), ("STOPPED", 0), ("FAILED", 0), ("COMPLETED", 2), ("COMPLETED", 4)])
        self.assertIn("x does not please", simulated["trials"][1]["reason"]["text"])
        self.assertEqual(len(simulated["trials"]), 7)

    def test_nothing_may_have_been_measured(self):
        simulated = self.replay({"name": "random", "max_length": 4, "max_trials": 2}, {"0": "dies", "1": "dies"},
                                max_restarts=0)  # Three equal failures would pause it.
        self.assertEqual([(trial["state"], trial["reached"]) for trial in simulated["trials"]], [("FAILED", 0)] * 2)

    def test_trials_that_ended_early_do_not_stand_in_the_way_of_halving(self):
        fates = {str(trial): ("invalid", "fails", "leaves", "dies")[trial % 4] for trial in range(0, 20, 3)}
        simulated = self.replay({"name": "async_halving", "max_length": 9, "max_trials": 20, "num_rungs": 3, "divisor": 3},
                                fates)
        ended = {(trial["state"], trial["reached"]) for trial in simulated["trials"]}
        self.assertIn(("COMPLETED", 9), ended)
        self.assertIn(("FAILED", 0), ended)

    def test_trials_that_a_user_ended_while_they_waited_end_at_that_moment(self):
        searcher = {"name": "async_halving", "max_length": 9, "max_trials": 16, "num_rungs": 3, "divisor": 2,
                    "max_concurrent_trials": 1}
        tree = harness.experiment(self.ledger_path, searcher, fake={"STEP_SECONDS": 0.1})
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(1)
        experiment = cluster.submit(tree)
        waiting = lambda: [t["trial"] for t in cluster.trials(experiment) if t["state"] == "PAUSED"]
        for least in (2, 3):
            harness.wait_for(lambda: len(waiting()) >= least, "some wait at their rungs")
            self.run_cli("cancel", experiment, "--trial", waiting()[-1], "--server", cluster.server)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        simulated = self.expect_the_same(self.write_experiment(tree), "--server", cluster.server)
        self.assertEqual([trial["state"] for trial in simulated["trials"]].count("CANCELED"), 2)

    def test_times_are_those_of_the_log(self):
        searcher = {"name": "random", "max_length": 4, "max_trials": 3}
        file = self.write_experiment(harness.experiment(self.ledger_path, searcher, fake={"STEP_SECONDS": 0.1}))
        self.run_cli("run", file, "--slots", 1)
        state = self.folder / ".hpsearch" / "experiment"
        simulated = self.run_cli("simulate", file, "--curves", "experiment:1", "--state-dir", state, "--workers", 1,
                                 "--duration", "curve", "--output", "json")
        self.assertEqual(simulated["duration"], "curve")
        events = self.run_cli("show", "--state-dir", state, "--output", "json")
        self.assertGreaterEqual(simulated["totals"]["seconds"], 3 * 4 * 0.1)
        self.assertLessEqual(simulated["totals"]["seconds"], events["slot_seconds"])

    def test_another_searcher_on_the_same_curves(self):
        searcher = {"name": "random", "max_length": 4, "max_trials": 6}
        self.replay(searcher)
        tree = harness.experiment(self.ledger_path, searcher | {"max_trials": 9})
        file = self.write_experiment(tree)
        state = self.folder / ".hpsearch" / "experiment"
        simulated = self.run_cli("simulate", file, "--curves", "experiment:1", "--state-dir", state, "--cycle",
                                 "--output", "json")
        self.assertEqual(len(simulated["trials"]), 9)
        self.assertEqual(simulated["trials"][6]["metric"], simulated["trials"][0]["metric"])


if __name__ == "__main__":
    unittest.main()
