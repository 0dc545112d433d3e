"""A search that begins with the results of earlier ones: of searches here, of files, of a daemon's experiments."""

import unittest

import harness

PROGRAM = """import sys
lr = float(sys.argv[1])
for epoch in range(1, 4):
    print(f"epoch {epoch} loss: {abs(lr - 0.3) + 1 / epoch:.4f}")
"""

EXPERIMENT = """entrypoint: python3 train.py {lr}
hyperparameters:
  lr: {type: double, minval: 0, maxval: 1}
searcher: {name: random, metric: loss, max_length: {epochs: 3}, max_trials: 20, SETTINGS}
metrics: {loss: 'loss: {number}'}
reproducibility: {experiment_seed: 3}
"""
LEARNING = "sampler: model, model: {explore: 0}, max_concurrent_trials: 2"


class PriorResults(harness.Case):
    def write(self, name, settings="", experiment=EXPERIMENT):
        (self.folder / "train.py").write_text(PROGRAM)
        (self.folder / name).write_text(experiment.replace("SETTINGS", settings))
        return name

    def run_first(self):
        self.run_cli("run", self.write("first.yaml"), "--slots", 2)

    def distances(self, *which):
        """How far from the best each trial is, in order."""
        return [abs(trial["hparams"]["lr"] - 0.3) for trial in self.run_cli("trials", *which, "-o", "json")["trials"]]

    def test_a_second_search_learns_from_the_first(self):
        self.run_first()
        second = self.write("second.yaml", f"{LEARNING}, prior: [first]", EXPERIMENT.replace("20", "6"))
        said = self.run_cli("run", second, "--slots", 2).stderr
        self.assertIn("searcher.prior: 20 of 20 earlier results are used", said)
        alone = self.write("alone.yaml", LEARNING, EXPERIMENT.replace("20", "6"))
        self.run_cli("run", alone, "--slots", 2)
        learned, blind = sum(self.distances("second")), sum(self.distances("alone"))
        self.assertLess(learned, blind / 2)
        self.assertLess(self.distances("second")[0], min(self.distances("first")) + 0.1)
        self.assertIn("the model's choice", self.run_cli("explain", "second", 0).stdout)
        kept = self.run_cli("config", "second", "-o", "json")["searcher"]["prior"]
        self.assertEqual(len(kept), 20)
        # The experiment has them from now on.
        self.run_cli("delete", "first", "--yes")
        again = self.run_cli("run", second, "--slots", 2)
        self.assertIn("already ended", again.stderr)
        self.assertEqual(self.run_cli("config", "second", "-o", "json")["searcher"]["prior"], kept)

    def test_a_file_of_results(self):
        self.run_first()
        for name, form in (("first.csv", "csv"), ("first.jsonl", "jsonl")):
            with self.subTest(name):
                (self.folder / name).write_text(self.run_cli("export", "first", "--format", form).stdout)
                half = EXPERIMENT.replace("maxval: 1", "maxval: 0.5")
                file = self.write("half.yaml", f"{LEARNING}, prior: [{name}]", half)
                for verb in ("validate", "preview"):
                    said = self.run_cli(verb, file).stderr
                    self.assertRegex(said, r"searcher\.prior: \d+ of 20 earlier results are used; left out: \d+ outside the "
                                           r"space \(the first: hyperparameters\.lr is 0\.")

    def test_what_does_not_fit_is_refused(self):
        self.run_first()
        for change, sentence in (
                (("metric: loss", "metric: error"), 'has results of the metric "loss", and this search is by "error"'),
                (("metric: loss,", "metric: loss, smaller_is_better: false,"), "in which smaller is better, and in this one"),
                (("epochs: 3", "steps: 3"), "has lengths in epochs, and this search in steps"),
                (("prior: [first]", "prior: [frist]"), 'did you mean "first"?'),
                (("prior: [first]", "prior: [none.csv]"), "no such file"),
                (("name: random", "name: grid"), "searcher.prior: does not apply to grid (leave it out)")):
            with self.subTest(sentence):
                text = EXPERIMENT.replace("SETTINGS", "sampler: tpe, prior: [first]").replace(*change)
                (self.folder / "second.yaml").write_text(text)
                self.assertIn(sentence, self.run_cli("validate", "second.yaml", expect=None).stderr)
        unheard = self.write("second.yaml", "prior: [first]")
        self.assertIn("has no effect: sampler is random", self.run_cli("validate", unheard).stderr)

    def test_experiments_of_a_daemon(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(2)
        server = ("--server", f"unix://{cluster.state / 'api.sock'}")
        self.run_cli("submit", self.write("first.yaml"), *server)
        self.run_cli("wait", 1, *server)
        second = self.write("second.yaml", f"{LEARNING}, prior: [1]", EXPERIMENT.replace("20", "6"))
        said = self.run_cli("submit", second, *server).stderr
        self.assertIn("20 of 20 earlier results are used", said)
        self.run_cli("wait", 2, *server)
        self.assertLess(self.distances(2, *server)[0], min(self.distances(1, *server)) + 0.1)
        refused = cluster.call("POST", "/api/v1/experiments", {"config": {
            "entrypoint": "true", "hyperparameters": {}, "searcher": {
                "name": "random", "metric": "loss", "max_length": 1, "max_trials": 1, "sampler": "tpe", "prior": [1]}}})
        self.assertEqual(refused[0], 400)
        self.assertIn("only the command line reads searches and files", str(refused[1]))


if __name__ == "__main__":
    unittest.main()
