"""Files of other products, as a person brings them: `hpsearch validate` names them, `hpsearch import` makes an experiment of
them, and a W&B sweep's own program runs under `hpsearch run` without a change."""

import re
import unittest

import harness

SWEEP = """
program: train.py
method: random
metric:
  goal: minimize
  name: val_loss
parameters:
  lr:
    distribution: log_uniform_values
    min: 0.0001
    max: 0.1
  batch_size:
    values: [32, 64]
  epochs:
    value: 3
run_cap: 4
"""

# Reads its hyperparameters from wandb.config, as most programs of sweeps do.
TRAIN = """
import wandb

run = wandb.init()
for epoch in range(run.config.epochs):
    wandb.log({"epoch": epoch, "train_loss": 1.0})
    wandb.log({"val_loss": run.config.lr * run.config.batch_size / (epoch + 1)})
wandb.finish()
"""

KATIB = """
apiVersion: kubeflow.org/v1beta1
kind: Experiment
metadata: {name: random, namespace: kubeflow}
spec:
  objective: {type: maximize, goal: 0.999, objectiveMetricName: Validation-accuracy, additionalMetricNames: [loss]}
  algorithm: {algorithmName: tpe, algorithmSettings: [{name: random_state, value: "7"}]}
  earlyStopping: {algorithmName: medianstop, algorithmSettings: [{name: start_step, value: "2"}]}
  parallelTrialCount: 1
  maxTrialCount: 6
  maxFailedTrialCount: 0
  parameters:
    - {name: --lr, parameterType: double, feasibleSpace: {min: "0.01", max: "0.05"}}
    - {name: num-epochs, parameterType: int, feasibleSpace: {min: "8", max: "8"}}
    - {name: opt, parameterType: categorical, feasibleSpace: {list: [sgd, adam]}}
  trialTemplate:
    primaryContainerName: training
    trialParameters:
      - {name: learningRate, reference: --lr}
      - {name: epochs, reference: num-epochs}
      - {name: optimizer, reference: opt}
    trialSpec:
      apiVersion: batch/v1
      kind: Job
      spec:
        backoffLimit: 0
        template:
          spec:
            nodeSelector: {disk: ssd}
            containers:
              - name: training
                image: example.org/mnist
                command: [python3, mnist.py, "--lr=${trialParameters.learningRate}", "--epochs=${trialParameters.epochs}"]
                env: [{name: OPTIMIZER, value: "${trialParameters.optimizer}"}, {name: DATA, value: /data}]
            restartPolicy: Never
"""
MNIST = """
import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
parser.add_argument("--epochs", type=int)
args = parser.parse_args()
assert os.environ["OPTIMIZER"] in ("sgd", "adam") and os.environ["DATA"] == "/data"
for epoch in range(1, args.epochs + 1):
    loss = args.lr + 1 / (epoch + 1)
    print(f"2026-01-05T10:00:00Z INFO Epoch[{epoch}] Train-accuracy=0.5 Validation-accuracy = {1 - loss:.6f}")
    print(f"2026-01-05T10:00:00Z INFO Epoch[{epoch}] val_loss=7 loss={loss:.6f}", flush=True)
"""

NNI = """
experimentName: mnist
searchSpaceFile: space.json
trialCommand: python3 mnist.py
trialConcurrency: 2
maxTrialNumber: 5
tuner: {name: TPE, classArgs: {optimize_mode: maximize}}
trainingService: {platform: local}
"""
NNI_SPACE = '{"lr": {"_type": "loguniform", "_value": [0.0001, 0.1]}, "hidden": {"_type": "choice", "_value": [128, 256]}}'


class ForeignFiles(harness.Case):
    def give(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def import_and_validate(self, path):
        """The experiment file that is made of it."""
        made = self.folder / "experiment.yaml"
        self.run_cli("import", path, "--to", made)
        self.run_cli("validate", made)
        return made

    def test_each_is_named_in_one_sentence(self):
        for name, text, kind in (("sweep.yaml", SWEEP, "a W&B sweep"), ("katib.yaml", KATIB, "a Katib experiment"),
                                 ("config.yaml", NNI, "an NNI experiment"), ("space.json", NNI_SPACE, "an NNI search space")):
            with self.subTest(kind):
                path = self.give(name, text)
                for verb in ("validate", "preview", "run"):
                    done = self.run_cli(verb, path, expect=2)
                    self.assertEqual((done.stdout, re.sub(r":\d+: ", ": ", done.stderr)), (
                        "", f"{path}: is {kind} (an experiment file; `hpsearch import FILE` makes one of it)\n"))

    def test_an_unchanged_program_of_a_sweep_is_searched(self):
        self.give("train.py", TRAIN)
        made = self.import_and_validate(self.give("sweep.yaml", SWEEP))
        self.assertIn("  # DECIDE: taken from the parameter epochs; it is how often a trial reports the metric at most.\n"
                      "  max_length:\n    epochs: 3\n", made.read_text())
        self.assertIn("  lr: {type: double, minval: 0.0001, maxval: 0.1, scale: log}\n", made.read_text())
        with made.open("a") as file:
            file.write(f"environment:\n  environment_variables:\n    PYTHONPATH: {harness.ROOT / 'clients' / 'python'}\n"
                       "    PYTHONDONTWRITEBYTECODE: '1'\n")
        self.run_cli("run", made, "--slots", 2)
        state = ("--state-dir", self.folder / ".hpsearch" / "experiment", "--output", "json")
        trials = self.run_cli("trials", *state)["trials"]
        self.assertEqual([(trial["state"], trial["reached"]) for trial in trials], [("COMPLETED", 3)] * 4)
        loss = {trial["trial"]: trial["hparams"]["lr"] * trial["hparams"]["batch_size"] for trial in trials}
        self.assertEqual(self.run_cli("best", *state)["trial"], min(loss, key=loss.get))

    def test_a_program_of_katib_is_searched_by_what_it_prints(self):
        self.give("mnist.py", MNIST)
        made = self.import_and_validate(self.give("katib.yaml", KATIB))
        text = made.read_text()
        self.assertIn('entrypoint: ["env","OPTIMIZER={opt}","python3","mnist.py","--lr={lr}","--epochs={num-epochs}"]\n', text)
        made.write_text(re.sub(r" +image: .*\n", "", text))  # As its comment says: without the image.
        self.run_cli("run", made, "--slots", 1)
        state = ("--state-dir", self.folder / ".hpsearch" / "experiment", "--output", "json")
        trials = self.run_cli("trials", *state)["trials"]
        self.assertEqual(len(trials), 6)
        self.assertEqual({trial["state"] for trial in trials}, {"COMPLETED", "STOPPED"}, "worse ones are stopped early")
        for trial in trials:
            loss = trial["hparams"]["lr"] + 1 / (trial["reached"] + 1)
            self.assertAlmostEqual(trial["metric"], 1 - loss, delta=1e-5)
        table = self.run_cli("export", "--what", "metrics", *state[:2]).stdout
        self.assertIn("loss", table, "additional metrics are recorded")
        self.assertNotIn("loss,7", table, "val_loss is another metric")

    def test_the_pod_of_katib_goes_to_a_file_of_its_own(self):
        katib = self.give("katib.yaml", KATIB)
        pod, made = self.folder / "pod.yaml", self.folder / "experiment.yaml"
        self.run_cli("import", katib, "--pod-template", pod, "--to", made)
        self.assertIn("hpsearch alloc add kubernetes", pod.read_text())
        self.assertEqual([line for line in pod.read_text().splitlines() if not line.startswith("#")],
                         ["spec:", "  containers:", "    - image: example.org/mnist", "      name: training",
                          "  nodeSelector:", "    disk: ssd"])
        made.unlink()
        self.assertIn("pod.yaml exists already", self.run_cli("import", katib, "--pod-template", pod, "--to", made, expect=2).stderr)
        self.assertFalse(made.exists(), "both files are written, or none")
        sweep = self.give("sweep.yaml", SWEEP)
        self.assertIn("the file describes no pod", self.run_cli("import", sweep, "--pod-template", made, expect=2).stderr)

    def test_a_file_that_is_refused_is_shown_with_its_line(self):
        katib = self.give("katib.yaml", KATIB.replace("{algorithmName: tpe", "{algorithmName: pbt"))
        self.assertEqual(self.run_cli("import", katib, expect=2).stderr.partition(" (")[0],
                         f'{katib}:7: spec.algorithm.algorithmName: is "pbt", which changes hyperparameters while a trial trains')
        self.give("space.json", NNI_SPACE.replace("loguniform", "zipf"))
        config = self.give("config.yaml", NNI)
        self.assertTrue(self.run_cli("import", config, expect=2).stderr.startswith(f"{self.folder / 'space.json'}:1: lr: is "))

    def test_nni_keeps_its_space_in_a_file_beside(self):
        self.give("space.json", NNI_SPACE)
        made = self.import_and_validate(self.give("config.yaml", NNI))
        self.assertIn("  hidden: {type: categorical, vals: [128,256]}\n", made.read_text())
        (self.folder / "space.json").unlink()
        done = self.run_cli("import", self.folder / "config.yaml", expect=2)
        self.assertIn(f"{self.folder / 'space.json'}: no such file", done.stderr)

    def test_what_is_made_goes_to_standard_output_and_replaces_nothing(self):
        sweep = self.give("sweep.yaml", SWEEP)
        made = self.give("experiment.yaml", self.run_cli("import", sweep).stdout)
        self.run_cli("validate", made)
        self.assertIn("experiment.yaml exists already", self.run_cli("import", sweep, "--to", made, expect=2).stderr)
        self.assertIn("is none of the files that can be imported", self.run_cli("import", made, expect=2).stderr)


if __name__ == "__main__":
    unittest.main()
