"""What `hpsearch run` says of own scripts: steps from 0, repeated work, and numbers as programs print them."""

import json
import textwrap
import unittest

import harness

ASHA = {"name": "adaptive_asha", "metric": "loss", "max_length": {"epochs": 9}, "max_trials": 9, "divisor": 3,
        "mode": "aggressive"}
RANDOM = {"name": "random", "metric": "loss", "max_length": {"epochs": 9}, "max_trials": 3}


class TrueNumbers(harness.Case):
    def search(self, script, searcher, expect=0, **more):
        """What is said, the detail of the search, and its trials. The script writes an x for each epoch that it trains."""
        (self.folder / "train.py").write_text(textwrap.dedent(script))
        tree = {"name": "own", "entrypoint": ["/usr/bin/python3", "train.py", "{lr}"], "source": "in_place",
                "hyperparameters": {"lr": {"type": "double", "minval": 0.1, "maxval": 0.9}}, "searcher": searcher} | more
        said = self.run_cli("run", self.write_experiment(tree, "own.yaml"), "--slots", 2, "--seed", 1, expect=expect).stdout
        state = self.folder / ".hpsearch" / "own"
        detail = self.run_cli("show", "--state-dir", state, "--output", "json")
        trials = self.run_cli("trials", "--state-dir", state, "--output", "json")["trials"]
        return said, detail, trials

    def values(self, metric):
        """Of a metric, in order, as the store has them."""
        store = next((self.folder / ".hpsearch" / "own").rglob("events.db")).parent
        found = []

        def walk(node):
            for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
                walk(inner)
            if isinstance(node, dict) and isinstance((node.get("metrics") or {}).get(metric), float):
                found.append(node["metrics"][metric])

        for line in self.run_cli("store", "export", store).stdout.splitlines():
            walk(json.loads(line))
        return found

    def test_the_table_shows_nan_where_nan_was_reported(self):
        self.search("""
            import sys
            for epoch in range(1, 4):
                value = "nan" if epoch > 1 and float(sys.argv[1]) > 0.5 else 1 / epoch
                print("epoch", epoch, "loss", value)
            """, RANDOM | {"max_length": {"epochs": 3}, "max_trials": 8}, metrics={"loss": "epoch {step} loss {number}"})
        rows = [line.split() for line in self.run_cli("trials", "--state-dir", self.folder / ".hpsearch" / "own").stdout.splitlines()]
        self.assertEqual(rows[0], ["TRIAL", "STATE", "TRAINED", "BEST", "AT", "LAST", "lr"])
        last = {"nan" if float(row[-1]) > 0.5 else "": row[3:-1] for row in rows[1:]}
        self.assertEqual(last, {"nan": ["1", "1", "nan"], "": ["0.333333", "3"]})

    def test_epochs_from_0_are_counted_from_1(self):
        script = """
            import os, sys
            for epoch in range(int(os.environ["HPSEARCH_LENGTH"])):
                open("epochs", "a").write("x")
                print('HPSEARCH {"step": %d, "loss": %f}' % (epoch, float(sys.argv[1]) / (epoch + 1)))
            """
        said, detail, trials = self.search(script, RANDOM)
        self.assertRegex(said, r"note: trial \d: its steps count from 0, and the last of 9 epochs is 8")
        self.assertIn("training      27 of 27 epochs", said)
        self.assertRegex(said, r"best +loss .* at 9 epochs")
        self.assertEqual({(trial["state"], trial["reached"], trial["attempts"]) for trial in trials}, {("COMPLETED", 9, 1)})

    def test_epochs_from_0_are_promoted(self):
        script = """
            import os, sys
            for epoch in range(int(os.environ["HPSEARCH_LENGTH"])):
                open("epochs", "a").write("x")
                print('HPSEARCH {"step": %d, "loss": %f}' % (epoch, float(sys.argv[1]) / (epoch + 1)))
            """
        said, detail, trials = self.search(script, ASHA)
        self.assertIn("from 0", said)
        self.assertIn(9, {trial["reached"] for trial in trials if trial["state"] == "COMPLETED"})
        self.assertEqual(detail["length_trained"], len((self.folder / "epochs").read_text()))

    def test_repeated_work_is_noted_and_counts(self):
        said, detail, trials = self.search("""
            import os, sys
            for epoch in range(1, int(os.environ["HPSEARCH_LENGTH"]) + 1):
                open("epochs", "a").write("x")
                print('HPSEARCH {"step": %d, "loss": %f}' % (epoch, float(sys.argv[1]) / epoch), flush=True)
            """, ASHA)
        epochs = len((self.folder / "epochs").read_text())
        # Once when it happens, once below the summary.
        self.assertEqual(said.count("and began anew, at 1: it left no checkpoint"), 2, said)
        self.assertEqual(detail["length_trained"], epochs)
        self.assertIn(f"training      {epochs} of 81 epochs; ", said)
        self.assertIn("of them again, after a restart", said)

    def test_a_crash_without_a_report_leaves_unknown_what_was_trained(self):
        said, detail, trials = self.search("""
            import os, sys
            if float(sys.argv[1]) < 0.5:
                sys.exit("boom")
            for epoch in range(1, 10):
                print('HPSEARCH {"step": %d, "loss": %s}' % (epoch, sys.argv[1]), flush=True)
            """, RANDOM, expect=None, max_restarts=0)
        failed = sum(trial["state"] == "FAILED" for trial in trials)
        self.assertIn(failed, (1, 2), said)
        self.assertIn(f"≥ {9 * (3 - failed)} of 27 epochs (unknown for {failed} trial", said)

    def test_numbers_are_read_as_they_are_printed(self):
        said, detail, trials = self.search(r"""
            import sys
            for epoch, loss in enumerate(["nan", "1e-4", "-inf", "inf", "9.25e-1"], 1):
                print("\x1b[36mEpoch %d\x1b[0m loss \x1b[1;38;5;208m%s\x1b[0m acc %d.5%%" % (epoch, loss, epoch), flush=True)
                print("parameters: 1,234,567; took 12ms; drop 0,25", flush=True)
            """, {"name": "random", "metric": "loss", "max_length": {"epochs": 5}, "max_trials": 1},
            metrics={"loss": r"Epoch {step} loss {number}", "acc": r"acc {number}", "size": r"parameters: {number}",
                     "time": "took {number}", "drop": "drop {number}"})
        self.assertRegex(said, r"best +loss 0.0001, trial 0 at 2 epochs")
        self.assertEqual(trials[0]["metric"], 0.925)
        self.assertEqual(self.values("acc"), [1.5, 2.5, 3.5, 4.5, 5.5])
        self.assertEqual(self.values("time"), [12.0] * 5)
        self.assertEqual(self.values("size") + self.values("drop"), [], "1 of 1,234,567 or 0 of 0,25")
        self.assertRegex(said, r"note: trial 0: the pattern of metrics.(size|drop) found")


if __name__ == "__main__":
    unittest.main()
