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

    def test_programs_get_active_hyperparameters_only(self):
        """As arguments, variables and JSON; in tables and exports the others are empty."""
        given = self.folder / "given"
        note = (f'echo $HPSEARCH_TRIAL_ID {{args}} variables $(env | grep -c ^HPSEARCH_HP_)'
                f' "<${{HPSEARCH_HP_MOMENTUM-none}}>" >> {given}; exec /usr/bin/python3 -IS {harness.FAKE_TRAINING}')
        space = {"optimizer": {"type": "categorical", "vals": ["sgd", "adam"]},
                 "momentum": {"type": "int", "minval": 1, "maxval": 9, "when": {"optimizer": "sgd"}},
                 "x": 0.5}
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 1, "max_trials": 8},
                                  hyperparameters=space) | {"entrypoint": note}
        self.run_cli("run", self.write_experiment(tree), "--slots", 2)
        state = self.folder / ".hpsearch" / "experiment"
        trials = self.run_cli("trials", "--state-dir", state, "--output", "json")["trials"]
        expected = []
        for trial in trials:
            hparams = trial["hparams"]
            self.assertEqual("momentum" in hparams, hparams["optimizer"] == "sgd")
            arguments = " ".join(f"--{name} {value}" for name, value in sorted(hparams.items()))
            expected.append(f"{arguments} variables {len(hparams)} <{hparams.get('momentum', 'none')}>")
        self.assertEqual(sorted(line.partition(" ")[2] for line in given.read_text().splitlines()), sorted(expected))
        self.assertEqual({len(trial["hparams"]) for trial in trials}, {2, 3}, "the seed draws only one optimizer")
        self.assertEqual({line["trial"]: line["hparams"] for line in self.ledger.of("start")},
                         {trial["trial"]: trial["hparams"] for trial in trials})
        export = self.run_cli("export", "--state-dir", state, "--format", "csv").stdout.splitlines()
        rows = [dict(zip(export[0].split(","), row.split(","))) for row in export[1:]]
        self.assertEqual([row["hparams.momentum"] for row in rows],
                         [str(trial["hparams"].get("momentum", "")) for trial in trials])

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
