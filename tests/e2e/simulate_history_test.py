"""`hpsearch simulate` on a finished search's own history: with one slot, what is simulated is what happened."""

import unittest

import harness


class SimulateHistory(harness.Case):
    def replay(self, searcher):
        """Runs the search on one slot, then simulates it on the curves it recorded."""
        file = self.write_experiment(harness.experiment(self.ledger_path, searcher))
        self.run_cli("run", file, "--slots", 1)
        state = self.folder / ".hpsearch" / "experiment"
        happened = self.run_cli("trials", "--state-dir", state, "--output", "json")["trials"]
        simulated = self.run_cli("simulate", file, "--curves", "experiment:1", "--state-dir", state, "--workers", 1,
                                 "--output", "json")
        self.assertEqual(simulated["state"], "COMPLETED")
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
