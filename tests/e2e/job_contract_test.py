"""Programs written to the platforms' contracts find what those promise, byte for byte; the examples run unmodified."""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import unittest

import harness

PROGRAMS = harness.HERE / "programs"
EXAMPLES = harness.ROOT / "examples"
OURS = ("HPSEARCH_", "PAI_", "DET_", "MA_", "VC_", "VK_", "CUDA_", "NVIDIA_")
MORE = ("PYTHONUNBUFFERED", "OMP_NUM_THREADS", "data_url", "MY_OWN")
HYPERPARAMETERS = {
    "batch-size": 32,
    "big": 100000.0,
    "low": -1e-05,
    "lr": 1e-05,
    "optimizer": {"momentum": 0.9, "nesterov": True},
    "text": "it's a \"$(touch canary)\"\n漢😀",
}


def flat(tree, prefix=""):
    """Name → value, nested names joined by dots, sorted."""
    out = {}
    for name, value in sorted(tree.items()):
        out |= flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return out


def argument(value):
    """Python's str(), but a negative real without exponent."""
    return "-0.00001" if value == -1e-05 else str(value)


def compact(tree):
    return json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class JobContract(harness.Case):
    def setUp(self):
        super().setUp()
        # Paths of sockets have to be short; those of the programs are what the test compares.
        self.context = self.folder / "context"
        shutil.copytree(PROGRAMS, self.context)
        self.witness = self.folder / "witness"
        self.witness.mkdir()
        (self.folder / "train").mkdir()
        (self.folder / "test.csv").write_text("1,2\n")

    def run_witness(self, entrypoint):
        """Runs one trial of it; returns its attempt directory."""
        tree = {
            "name": "witness",
            "entrypoint": entrypoint,
            "hyperparameters": HYPERPARAMETERS,
            "searcher": {"name": "single", "metric": "loss", "max_length": {"epochs": 1}},
            "environment": {"environment_variables": {"WITNESS_DIR": str(self.witness), "MY_OWN": "a b"}},
            "inputs": {"train": str(self.folder / "train") + "/", "test": str(self.folder / "test.csv"),
                       "data_url": {"path": str(self.folder / "train"), "passed_as": "variable"}},
            "outputs": {"results": str(self.folder / "results"), "own-channel": {}},
            "data": {"url": "x"},
            "reproducibility": {"experiment_seed": 5},
            "max_restarts": 0,
        }
        file = self.folder / "experiment.yaml"
        file.write_text(json.dumps(tree, ensure_ascii=False))
        state = self.folder / "state"
        # Only for the worker to leave out: it may itself be somebody's job.
        os.environ |= {"RANK": "3", "WORLD_SIZE": "4", "TF_CONFIG": "{}", "PAI_HPS_STRANGER": "1"}
        self.run_cli("run", file, self.context, "--slots", 1, "--state-dir", state)
        return next(state.glob("**/attempts")) / "1-0-1"

    def expected(self, attempt, found):
        """The environment, as the specification says it."""
        ml = attempt / "ml"
        params = compact(HYPERPARAMETERS)
        values = flat(HYPERPARAMETERS)
        expected = {
            "HPSEARCH_EXPERIMENT_ID": "1", "DET_EXPERIMENT_ID": "1", "HPSEARCH_EXPERIMENT_NAME": "witness",
            "HPSEARCH_TRIAL_ID": "1", "DET_TRIAL_ID": "1", "HPSEARCH_TRIAL_NUMBER": "0",
            "HPSEARCH_ATTEMPT": "1", "DET_TRIAL_RUN_ID": "1",
            "HPSEARCH_TRIAL_SEED": found["HPSEARCH_TRIAL_SEED"], "DET_TRIAL_SEED": found["HPSEARCH_TRIAL_SEED"],
            "HPSEARCH_LENGTH": "1", "HPSEARCH_UNIT": "epochs", "HPSEARCH_METRIC": "loss",
            "HPSEARCH_CHECKPOINT_DIR": f"{ml}/output/checkpoints", "HPSEARCH_OUTPUT_DIR": f"{ml}/output",
            "HPSEARCH_LATEST_CHECKPOINT": "", "HPSEARCH_SOCKET": found["HPSEARCH_SOCKET"],
            "HPSEARCH_PARAMS": params, "DET_HPARAMS": params, "HPSEARCH_PARAMS_FILE": f"{attempt}/params.json",
            "HPSEARCH_DATA": '{"url":"x"}', "HPSEARCH_SLOT_IDS": "", "DET_SLOT_IDS": "[]",
            "CUDA_VISIBLE_DEVICES": "", "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
            "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": found["OMP_NUM_THREADS"], "MY_OWN": "a b",
            "PAI_WORKING_DIR": f"{ml}/usercode", "PAI_CONFIG_DIR": f"{ml}/input/config/",
            "PAI_HPS": json.dumps(values),
            "PAI_USER_ARGS": " ".join(f"--{name} {shlex.quote(argument(value))}" for name, value in values.items()),
            "PAI_INPUT_TRAIN": f"{ml}/input/data/train/", "PAI_INPUT_TEST": f"{ml}/input/data/test/test.csv",
            "PAI_INPUT_DATA_URL": f"{ml}/input/data/data_url/", "data_url": f"{ml}/input/data/data_url/",
            "MA_HOME": f"{ml}", "MA_JOB_DIR": f"{ml}", "MA_MOUNT_PATH": f"{ml}", "MA_LOG_DIR": f"{ml}/output/logs",
            "MA_CURRENT_IP": "127.0.0.1", "MA_NUM_GPUS": "0", "MA_TASK_NAME": "worker", "MA_NUM_HOSTS": "1", "MA_SCRIPT_INTERPRETER": "",
            "VC_TASK_INDEX": "0", "VK_TASK_INDEX": "0", "VC_WORKER_NUM": "1", "VC_WORKER_HOSTS": "127.0.0.1",
        }
        for channel in ("model", "checkpoints", "tensorboard", "logs", "results", "own-channel"):
            variable = channel.upper().replace("-", "_")
            expected[f"PAI_OUTPUT_{variable}"] = f"{ml}/output/{channel}/"
        for name, value in values.items():
            variable = name.upper().replace("-", "_").replace(".", "_")
            expected[f"PAI_HPS_{variable}"] = str(value)
        return expected

    def check_witness(self, language, entrypoint, arguments):
        attempt = self.run_witness(entrypoint)
        seen = self.witness / language
        read = lambda name: [os.fsdecode(piece) for piece in (seen / name).read_bytes().split(b"\0")[:-1]]
        found = dict(variable.split("=", 1) for variable in read("environment"))
        said = {name: value for name, value in found.items() if name.startswith(OURS) or name in MORE}
        self.maxDiff = None
        self.assertEqual(said, self.expected(attempt, found))
        for stranger in ("RANK", "WORLD_SIZE", "TF_CONFIG"):
            self.assertNotIn(stranger, found)
        self.assertEqual(read("arguments"), arguments)
        self.assertEqual(read("directory"), [found["PAI_WORKING_DIR"]])
        self.assertEqual((seen / "params.json").read_text(), compact(HYPERPARAMETERS) + "\n")
        strings = {name: str(value) for name, value in flat(HYPERPARAMETERS).items()}
        self.assertEqual((seen / "hyperparameters.json").read_text(), json.dumps(strings) + "\n")
        job = json.loads((seen / "training_job.json").read_text())
        self.assertEqual(job["hyperparameters"], HYPERPARAMETERS)
        self.assertEqual(job["experiment"], {"id": 1, "name": "witness"})
        self.assertEqual(job["trial"], {"id": 1, "number": 0, "attempt": 1, "seed": int(found["HPSEARCH_TRIAL_SEED"])})
        self.assertEqual(job["length"], {"unit": "epochs", "until": 1, "done": 0})
        self.assertEqual(job["inputs"]["test"], found["PAI_INPUT_TEST"])
        self.assertEqual(job["outputs"]["own-channel"], found["PAI_OUTPUT_OWN_CHANNEL"])
        self.assertEqual(job["resources"], {"slots": [0], "devices": [], "instance_count": 1, "instance_index": 0})
        self.assertFalse(list(self.folder.glob("**/canary")), "a value was executed")

    def pairs(self):
        return [(f"--{name}", argument(value)) for name, value in flat(HYPERPARAMETERS).items()]

    def test_python_by_a_list(self):
        self.check_witness("python", ["python3", "witness.py", "{args}", "{text}", "{outputs.model}x"],
                           [word for pair in self.pairs() for word in pair] +
                           [HYPERPARAMETERS["text"],
                            str(self.folder / "state/worker/attempts/1-0-1/ml/output/model/x")])

    def test_shell_by_a_line(self):
        self.check_witness("shell", "eval \"sh witness.sh $PAI_USER_ARGS\" && true",
                           [word for pair in self.pairs() for word in pair])

    @unittest.skipUnless(shutil.which("c++"), "there is no C++ compiler here")
    def test_cpp_by_equals(self):
        subprocess.run(["c++", "-std=c++17", "-o", self.context / "witness", self.context / "witness.cpp"], check=True)
        self.check_witness("cpp", ["./witness", "{args_eq}"], [f"{name}={value}" for name, value in self.pairs()])

    def test_a_missing_input_is_named(self):
        tree = {"entrypoint": ["true"], "searcher": {"name": "single", "metric": "loss", "max_length": 1},
                "inputs": {"train": str(self.folder / "nowhere")}, "max_restarts": 0}
        done = self.run_cli("run", self.write_experiment(tree), "--slots", 1, expect=7)
        self.assertIn(f"inputs.train: there is no {self.folder}/nowhere on this worker's machine", done.stdout + done.stderr)

    def test_outputs_with_a_path_stay_and_are_filled_from_the_attempt_before(self):
        (self.context / "count.sh").write_text("echo x >> \"${PAI_OUTPUT_TRAIN_URL}attempts\"\n"
                                               "test $HPSEARCH_ATTEMPT -ge 3 || exit 1\n"
                                               "echo 'HPSEARCH {\"step\": 1, \"loss\": 1}'\n")
        tree = {"entrypoint": "sh count.sh", "searcher": {"name": "single", "metric": "loss", "max_length": 1},
                "outputs": {"train_url": {"path": str(self.folder / "results"), "pre_download": True}}}
        self.run_cli("run", self.write_experiment(tree), self.context, "--slots", 1)
        trial = self.folder / "results/1/0"
        self.assertEqual({attempt: (trial / attempt / "attempts").read_text() for attempt in ("1", "2", "3")},
                         {"1": "x\n", "2": "x\nx\n", "3": "x\nx\nx\n"})
        # Another search would be experiment 1 too.
        self.run_cli("run", self.write_experiment(tree | {"max_restarts": 0}, "other.yaml"), self.context, "--slots", 1, expect=7)
        self.assertEqual((trial / "3" / "attempts").read_text(), "x\nx\nx\n")

    # --- the platforms' examples ---

    def run_example(self, name):
        """Runs it where it lies, all but its state; returns (best trial, attempt directories)."""
        state = self.folder / name
        self.run_cli("run", EXAMPLES / name / "experiment.yaml", "--slots", 2, "--state-dir", state)
        trials = self.run_cli("trials", "--state-dir", state, "--output", "json")["trials"]
        self.assertEqual({trial["state"] for trial in trials} - {"COMPLETED", "STOPPED"}, set())
        return trials, sorted(next(state.glob("**/attempts")).iterdir())

    def test_pai_training_job(self):
        trials, attempts = self.run_example("pai")
        self.assertEqual(len(trials), 4)
        models = [json.loads((attempt / "output/model/model.json").read_text()) for attempt in attempts]
        self.assertEqual(sorted(model["learning_rate"] for model in models),
                         sorted(trial["hparams"]["learning_rate"] for trial in trials))

    def test_pai_component(self):
        checked = self.run_cli("component", "check", EXAMPLES / "component/component.yaml")
        self.assertIn("is a valid component: count-words", checked.stdout)
        trials, attempts = self.run_example("component")
        self.assertEqual(len(trials), 8)
        for attempt in attempts:
            words = (attempt / "output/report/words.txt").read_text().split()
            self.assertEqual((attempt / "stdout.log").read_text(),
                             f"input {attempt}/ml/input/data/texts/\noutput {attempt}/ml/output/report/\n"
                             f"distinct={len(words)}\n")

    def test_modelarts_boot_file(self):
        trials, attempts = self.run_example("modelarts")
        self.assertEqual(len(trials), 4)
        for attempt in attempts:
            slope = float((attempt / "output/train_url/slope.txt").read_text())
            self.assertTrue(0 < slope < 2.5, slope)

    def test_plain_script(self):
        trials, _ = self.run_example("plain")
        self.assertEqual(len(trials), 12)
        self.assertIn("STOPPED", {trial["state"] for trial in trials})


if __name__ == "__main__":
    unittest.main()
