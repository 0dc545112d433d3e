"""`hpsearch run`, every searcher, to the end: what was trained is what the preview said and what the store says."""

import unittest

import harness

EQUAL = {"METRIC": "equal"}  # With equal metrics the preview is exact, whatever the order of events.


class QuickSearch(harness.Case):
    def search(self, searcher, hyperparameters=None, fake=EQUAL):
        """Runs the experiment; returns (preview, trials, ledger) after checking that they agree."""
        tree = harness.experiment(self.ledger_path, searcher, fake=fake, hyperparameters=hyperparameters)
        file = self.write_experiment(tree)
        preview = self.run_cli("preview", file, "--output", "json")
        self.run_cli("run", file, "--slots", 3)
        trials = self.run_cli("trials", "--state-dir", self.folder / ".hpsearch" / "experiment", "--output", "json")
        trials = trials["trials"]
        ledger = self.ledger

        self.assertEqual(len(trials), preview["trials"])
        self.assertEqual({trial["trial"]: trial["reached"] for trial in trials}, ledger.final_lengths())
        self.assertEqual({trial["trial"]: trial["hparams"] for trial in trials},
                         {line["trial"]: line["hparams"] for line in ledger.of("start")})
        self.assertEqual(set(harness.count((line["trial"], line["step"]) for line in ledger.of("step")).values()), {1},
                         "a step was trained twice")
        final = harness.count(ledger.final_lengths().values())
        if fake == EQUAL:
            self.assertEqual({str(length): count for length, count in final.items()}, preview["final_counts"])
        self.assertEqual(sum(length * count for length, count in final.items()), preview["total_length"])
        return preview, trials, ledger

    def test_single(self):
        _, trials, _ = self.search({"name": "single", "max_length": 4}, hyperparameters={"x": 0.5})
        self.assertEqual([trial["state"] for trial in trials], ["COMPLETED"])

    def test_grid(self):
        space = {"x": {"type": "double", "minval": 0, "maxval": 1, "count": 3},
                 "kind": {"type": "categorical", "vals": ["a", "b"]}}
        _, _, ledger = self.search({"name": "grid", "max_length": 2}, hyperparameters=space)
        points = {(line["hparams"]["kind"], line["hparams"]["x"]) for line in ledger.of("start")}
        self.assertEqual(points, {(kind, x) for kind in ("a", "b") for x in (0.0, 0.5, 1.0)})

    def test_random(self):
        _, _, ledger = self.search({"name": "random", "max_length": 3, "max_trials": 12, "max_concurrent_trials": 2})
        self.assertLessEqual(ledger.most_at_once(), 2)

    def test_async_halving(self):
        self.search({"name": "async_halving", "max_length": 9, "max_trials": 27, "num_rungs": 3, "divisor": 3})

    def test_adaptive_asha_pauses_and_promotes(self):
        _, trials, ledger = self.search({"name": "adaptive_asha", "max_length": 27, "max_trials": 30, "divisor": 3})
        self.assertIn("pause", {line["why"] for line in ledger.of("end")})
        self.assertGreater(max(trial["attempts"] for trial in trials), 1, "no trial was resumed from a checkpoint")

    def test_adaptive_asha_stop_once_never_resumes(self):
        tree = harness.experiment(self.ledger_path, {"name": "adaptive_asha", "max_length": 27, "max_trials": 30,
                                                     "divisor": 3, "stop_once": True})
        self.run_cli("run", self.write_experiment(tree), "--slots", 3)
        self.assertEqual({line["attempt"] for line in self.ledger.of("start")}, {1})
        self.assertEqual({line["why"] for line in self.ledger.of("end")}, {"stop"})

    def test_best_is_the_best_that_was_reported(self):
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 2, "max_trials": 10})
        self.run_cli("run", self.write_experiment(tree), "--slots", 2)
        best = self.run_cli("best", "--state-dir", self.folder / ".hpsearch" / "experiment", "--output", "json")
        loss = {line["trial"]: (line["hparams"]["x"] - 0.3) ** 2 + 0.5 for line in self.ledger.of("start")}
        self.assertEqual(best["trial"], min(loss, key=loss.get))

    def test_a_finished_search_is_not_run_again(self):
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 1, "max_trials": 3})
        file = self.write_experiment(tree)
        self.run_cli("run", file)
        starts = len(self.ledger.of("start"))
        self.run_cli("run", file)
        self.assertEqual(len(self.ledger.of("start")), starts)


if __name__ == "__main__":
    unittest.main()
