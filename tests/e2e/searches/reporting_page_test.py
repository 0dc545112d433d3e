"""docs/reporting.md: every example on it runs as it stands, and what it warns of is told."""

import json
import re
import subprocess
import unittest

import harness

PAGE = harness.ROOT / "docs" / "reporting.md"
FILE = re.compile(r"^```(?:python|sh|yaml)\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BACKWARD = """
for step in 1 2 1 3; do
  hpsearch-report --step $step val_loss=0.5 || exit 0
done
hpsearch-report --step 4 val_los=0.5
hpsearch-report --step 5 val_los=0.5
"""


class ReportingPage(harness.Case):
    def check(self, name, resumes, variables=None):
        """Runs NAME.yaml of the page beside all its other files, with more variables if any are given."""
        for file, text in FILE.findall(PAGE.read_text()):
            (self.folder / file).write_text(text)
        if variables:
            with (self.folder / f"{name}.yaml").open("a") as file:
                file.write(f"environment: {json.dumps({'environment_variables': variables})}\n")
        self.run_cli("run", self.folder / f"{name}.yaml", "--slots", 2)
        state = self.folder / ".hpsearch" / name
        shown = self.run_cli("show", "--state-dir", state, "--output", "json")
        self.assertEqual((shown["state"], shown["notes"]), ("COMPLETED", []), "a good example is told nothing")
        trials = self.run_cli("trials", "--state-dir", state, "--output", "json")["trials"]
        self.assertTrue(all(trial["metric"] is not None for trial in trials), trials)
        self.assertEqual(max(trial["reached"] for trial in trials), shown["max_length"], trials)
        self.assertEqual(any(trial["checkpoint"] for trial in trials), resumes)

    def test_way_1_python(self):
        # As if it were installed.
        package = {"PYTHONPATH": str(harness.ROOT / "clients" / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
        self.check("way1", resumes=True, variables=package)

    def test_way_1_runs_by_itself(self):
        (self.folder / "way1.py").write_text(dict(FILE.findall(PAGE.read_text()))["way1.py"])
        done = subprocess.run(["/usr/bin/python3", "-B", "way1.py"], cwd=self.folder, text=True, capture_output=True,
                              env=harness.environment() | {"PYTHONPATH": str(harness.ROOT / "clients" / "python")},
                              timeout=harness.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("step 9: val_loss = ", done.stdout)
        self.assertNotIn("step 10", done.stdout)

    def test_way_2_any_language(self):
        self.check("way2", resumes=True)

    def test_way_3_a_line(self):
        self.check("way3", resumes=False)

    def test_way_4_no_change(self):
        self.check("way4", resumes=False)

    def test_what_is_odd_is_told_once(self):
        (self.folder / "odd.sh").write_text(BACKWARD)
        tree = {"name": "odd", "entrypoint": ["sh", "odd.sh"], "hyperparameters": {"x": 1},
                "searcher": {"name": "single", "metric": "val_loss", "max_length": {"epochs": 4}}}
        self.run_cli("run", self.write_experiment(tree, "odd.yaml"), expect=None)
        state = self.folder / ".hpsearch" / "odd"
        shown = self.run_cli("show", "--state-dir", state, "--output", "json")
        self.assertEqual([note["about"] for note in shown["notes"]], ["backward", "missing"], shown["notes"])
        text = self.run_cli("show", "--state-dir", state).stdout
        self.assertIn("trial 0: it reports 1 epoch after 2 epochs", text)
        self.assertIn('reported "val_los"; the search\'s metric is "val_loss" (did you mean "val_los"?)', text)


if __name__ == "__main__":
    unittest.main()
