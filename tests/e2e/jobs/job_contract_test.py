"""Programs written to the platforms' contracts find what those promise, byte for byte; the examples run unmodified."""

import hashlib
import itertools
import json
import os
import pathlib
import shutil
import unittest

import harness
from witness import CPP, PROGRAMS, STRANGER, Attempt, accounts, argument, compact, flat

EXAMPLES = harness.ROOT / "examples"
HYPERPARAMETERS = {
    "batch-size": 32,
    "big": 100000.0,
    "low": -1e-05,
    "lr": 1e-05,
    "optimizer": {"momentum": 0.9, "nesterov": True},
    "text": "it's a \"$(touch canary)\"\n漢😀",
}
PAIRS = [(f"--{name}", argument(value)) for name, value in flat(HYPERPARAMETERS).items()]
WORDS = [word for pair in PAIRS for word in pair]
WITNESSES = {"python": ["/usr/bin/python3", "witness.py"], "shell": ["sh", "witness.sh"], "cpp": CPP}
# bool_style → true and false as text, and as arguments: each with its name before it, or a bare name, or nothing.
BOOL_STYLES = {
    "python": ("True", "False", "--{}=True", "--{}=False"),
    "lower": ("true", "false", "--{}=true", "--{}=false"),
    "int": ("1", "0", "--{}=1", "--{}=0"),
    "flag": ("True", "False", "--{}", None),
    "empty_false": ("True", "", "--{}=True", "--{}="),
}


class JobContract(harness.Case):
    def setUp(self):
        super().setUp()
        self.maxDiff = None
        self.context = self.folder / "context"
        shutil.copytree(PROGRAMS, self.context)
        self.witness = self.folder / "witness"
        (self.folder / "train").mkdir()
        (self.folder / "test.csv").write_text("1,2\n")

    def clear(self):
        """For another run_witness()."""
        shutil.rmtree(self.folder / "state")
        shutil.rmtree(self.witness)

    def run_witness(self, entrypoint, hyperparameters=HYPERPARAMETERS, **more):
        """Runs one trial of it; (what it wrote down, its attempt's directory)."""
        self.witness.mkdir()
        tree = {
            "name": "witness",
            "entrypoint": entrypoint,
            "hyperparameters": hyperparameters,
            "searcher": {"name": "single", "metric": "loss", "max_length": {"epochs": 1}},
            "environment": {"environment_variables": {"WITNESS_DIR": str(self.witness), "MY_OWN": "a b"}},
            "inputs": {"train": str(self.folder / "train") + "/", "test": str(self.folder / "test.csv"),
                       "data_url": {"path": str(self.folder / "train"), "passed_as": "variable"}},
            "outputs": {"results": str(self.folder / "results"), "own-channel": {}},
            "data": {"url": "x"},
            "reproducibility": {"experiment_seed": 5},
            "max_restarts": 0,
        } | more
        file = self.folder / "experiment.yaml"
        file.write_text(json.dumps(tree, ensure_ascii=False))
        os.environ |= STRANGER
        self.run_cli("run", file, self.context, "--slots", 1, "--state-dir", self.folder / "state")
        account, = accounts(self.witness)
        return account, next((self.folder / "state").glob("**/attempts")) / "1-0-1"

    def check_witness(self, entrypoint, command, arguments):
        """`command` and `arguments`: what becomes of the entrypoint, and what its program is given of it."""
        account, root = self.run_witness(entrypoint)
        inputs = {"train": f"{root}/ml/input/data/train/", "test": f"{root}/ml/input/data/test/test.csv",
                  "data_url": f"{root}/ml/input/data/data_url/"}
        attempt = Attempt(root, HYPERPARAMETERS, seed=int(account.environment["HPSEARCH_TRIAL_SEED"]), inputs=inputs,
                          outputs=["results", "own-channel"], data={"url": "x"}, threads=len(os.sched_getaffinity(0)),
                          own={"WITNESS_DIR": self.witness, "MY_OWN": "a b", "data_url": inputs["data_url"]},
                          command=command, context=str(self.context), digest=account.job()["context"]["sha256"])
        self.assertEqual(account.was_given(), attempt.environment(account.environment))
        self.assertEqual(account.job(), attempt.training_job())
        self.assertEqual(account.arguments, arguments)
        self.assertEqual(account.directory, f"{root}/ml/usercode")
        self.assertEqual(account.text("params.json"), compact(HYPERPARAMETERS) + "\n")
        strings = {name: str(value) for name, value in flat(HYPERPARAMETERS).items()}
        self.assertEqual(account.text("hyperparameters.json"), json.dumps(strings) + "\n")
        digests = {hashlib.sha256(file.read_bytes()).hexdigest() for file in (self.folder / "state").rglob("*")
                   if file.is_file()}
        self.assertIn(attempt.digest, digests, "the context is known by the SHA-256 of what was packed")
        self.assertFalse(list(self.folder.glob("**/canary")), "a value was executed")

    def test_python_by_a_list(self):
        self.check_witness(["/usr/bin/python3", "witness.py", "{args}"], ["/usr/bin/python3", "witness.py", *WORDS], WORDS)

    def test_shell_by_a_line(self):
        line = "eval \"sh witness.sh $PAI_USER_ARGS\" && true"
        self.check_witness(line, ["/bin/sh", "-c", line], WORDS)

    def test_cpp_by_equals(self):
        words = [f"{name}={value}" for name, value in PAIRS]
        self.check_witness([*CPP, "{args_eq}"], [*CPP, *words], words)

    def test_placeholders(self):
        root = self.folder / "state/worker/attempts/1-0-1"
        ml = root / "ml"
        places = {
            "{checkpoint_dir}/model": f"{ml}/output/checkpoints/model",
            "{output_dir}": f"{ml}/output",
            "{trial_id}": "1",
            "{inputs.train}": f"{ml}/input/data/train/",
            "{inputs.test}": f"{ml}/input/data/test/test.csv",
            "{outputs.own-channel}x": f"{ml}/output/own-channel/x",
            "{lr}{low}": "1e-05-0.00001",
            "{optimizer.momentum}": "0.9",
            "{optimizer}": '{"momentum":0.9,"nesterov":true}',
            "{text}": HYPERPARAMETERS["text"],
            "{{lr}}": "{lr}",
        }
        for language in ("python", "cpp"):
            account, found = self.run_witness([*WITNESSES[language], *places])
            self.assertEqual(found, root)
            self.assertEqual(account.arguments, list(places.values()), language)
            self.clear()
        account, _ = self.run_witness("sh witness.sh " + " ".join(places))
        self.assertEqual(account.arguments, list(places.values()))
        self.assertFalse(list(self.folder.glob("**/canary")), "a value was executed")

    def test_placeholders_in_quotes(self):
        text = HYPERPARAMETERS["text"]
        account, _ = self.run_witness("sh witness.sh \"<{text}>\" '<'{text}'>' \"$MY_OWN\"{lr} # {text}")
        self.assertEqual(account.arguments, [f"<{text}>", f"<{text}>", "a b1e-05"])
        self.assertFalse(list(self.folder.glob("**/canary")), "a value was executed")
        tree = {"entrypoint": "sh -c 'echo {text}'", "hyperparameters": HYPERPARAMETERS,
                "searcher": {"name": "single", "metric": "loss", "max_length": 1}}
        done = self.run_cli("validate", self.write_experiment(tree), expect=2)
        self.assertIn("has {text} in line 1, inside single quotes (end the quotes before it, or use $HPSEARCH_HP_TEXT)",
                      done.stdout + done.stderr)

    def test_each_style_of_booleans(self):
        values = {f"{style}-{value}".lower(): value for style in BOOL_STYLES for value in (True, False)}
        asked = {name: {"type": "const", "val": value, "bool_style": name.partition("-")[0]}
                 for name, value in values.items()}
        texts, words = {}, []
        for name, value in sorted(values.items()):
            style = BOOL_STYLES[name.partition("-")[0]]
            texts[name] = style[0 if value else 1]
            words += [word.format(name) for word in [style[2 if value else 3]] if word is not None]
        apart = [piece for word in words for piece in word.split("=")]
        for program, (form, expected) in itertools.product(WITNESSES.values(), (("typed", values), ("string", texts))):
            account, _ = self.run_witness([*program, "{args_eq}", "|", "{args}", "|", *(f"{{{name}}}" for name in texts)],
                                          hyperparameters=asked, pai={"hps_json_values": form})
            found = account.environment
            self.assertEqual(account.arguments, [*words, "|", *apart, "|", *texts.values()])
            self.assertEqual(found["PAI_USER_ARGS"], " ".join(piece or "''" for piece in apart))
            self.assertEqual({name: value for name, value in found.items() if name.startswith("PAI_HPS_")},
                             {f"PAI_HPS_{name.upper().replace('-', '_')}": text for name, text in texts.items()})
            self.assertEqual(found["PAI_HPS"], json.dumps(expected, sort_keys=True))
            for native in ("HPSEARCH_PARAMS", "DET_HPARAMS"):
                self.assertEqual(found[native], compact(values))
            self.assertEqual(account.text("hyperparameters.json"), json.dumps(texts) + "\n")
            self.assertEqual(account.job()["hyperparameters"], values)
            self.clear()

    def test_texts_instead_of_types(self):
        for program in WITNESSES.values():
            account, _ = self.run_witness(program, pai={"hps_json_values": "string"})
            self.assertEqual(account.environment["PAI_HPS"],
                             json.dumps({name: str(value) for name, value in flat(HYPERPARAMETERS).items()}))
            self.assertEqual(account.environment["HPSEARCH_PARAMS"], compact(HYPERPARAMETERS))
            self.clear()

    def test_channels_by_argument(self):
        channels = {"data_url": {"path": str(self.folder / "train"), "passed_as": "argument"}}
        results = {"train_url": {"path": str(self.folder / "results"), "passed_as": "argument"}}
        for program in WITNESSES.values():
            account, root = self.run_witness([*program, "{args_eq}"], hyperparameters={"lr": 0.5}, inputs=channels,
                                             outputs=results)
            self.assertEqual(sorted(account.arguments),
                             [f"--data_url={root}/ml/input/data/data_url/", "--lr=0.5",
                              f"--train_url={root}/ml/output/train_url/"])
            self.clear()

    def test_a_missing_input_is_named(self):
        tree = {"entrypoint": ["true"], "searcher": {"name": "single", "metric": "loss", "max_length": 1},
                "inputs": {"train": str(self.folder / "nowhere")}, "max_restarts": 0}
        done = self.run_cli("run", self.write_experiment(tree), "--slots", 1, expect=2)
        self.assertIn(f'inputs.train: is "{self.folder}/nowhere", which doesn\'t exist on this machine', done.stderr)

    def test_inputs_of_an_object_store_are_fetched(self):
        """With a directory in the place of the store."""
        if shutil.which("rclone") is None:
            self.skipTest("no rclone here (apt-get install rclone)")
        bucket = self.folder / "store" / "bucket"
        (bucket / "images" / "deep").mkdir(parents=True)
        (bucket / "images" / "deep" / "one.txt").write_text("1\n")
        (bucket / "labels.csv").write_text("a\n")
        (self.context / "look.sh").write_text("test \"$(cat \"${PAI_INPUT_IMAGES}deep/one.txt\")\" = 1 || exit 9\n"
                                              "test \"$(cat \"$PAI_INPUT_LABELS\")\" = a || exit 8\n"
                                              "echo 'HPSEARCH {\"step\": 1, \"loss\": 1}'\n")
        tree = {"entrypoint": "sh look.sh", "searcher": {"name": "single", "metric": "loss", "max_length": 1},
                "inputs": {"images": "oss://bucket/images/", "labels": "obs://bucket/labels.csv"}, "max_restarts": 0}
        self.assertIn("nothing tells workers how to fetch it",
                      self.run_cli("validate", self.write_experiment(tree), expect=2).stderr)
        stores = {f"RCLONE_CONFIG_{scheme}_{what}": value for scheme in ("OSS", "OBS")
                  for what, value in (("TYPE", "alias"), ("REMOTE", str(self.folder / "store")))}
        tree["environment"] = {"environment_variables": stores}
        self.run_cli("run", self.write_experiment(tree), self.context, "--slots", 1)
        configuration = self.folder / "rclone.conf"
        configuration.write_text("".join(f"[{scheme}]\ntype = alias\nremote = {self.folder / 'store'}\n"
                                         for scheme in ("oss", "obs")))
        tree["environment"] = {"environment_variables": {"RCLONE_CONFIG": str(configuration)}}
        self.run_cli("run", self.write_experiment(tree), self.context, "--slots", 1, "--fresh")
        tree["inputs"]["labels"] = "obs://bucket/nothing.csv"
        done = self.run_cli("run", self.write_experiment(tree), self.context, "--slots", 1, "--fresh", expect=7)
        self.assertIn("inputs.labels: cannot fetch obs://bucket/nothing.csv", done.stdout + done.stderr)

    def test_code_lies_where_modelarts_puts_it(self):
        (self.context / "look.sh").write_text(f"cd \"$MA_JOB_DIR/{self.context.name}\" && test -f look.sh || exit 9\n"
                                              "echo 'HPSEARCH {\"step\": 1, \"loss\": 1}'\n")
        tree = {"entrypoint": "sh look.sh", "searcher": {"name": "single", "metric": "loss", "max_length": 1},
                "max_restarts": 0}
        self.run_cli("run", self.write_experiment(tree), self.context, "--slots", 1)

    def test_outputs_with_a_path_stay_and_are_filled_from_the_attempt_before(self):
        (self.context / "count.sh").write_text("echo x >> \"${PAI_OUTPUT_TRAIN_URL}attempts\"\n"
                                               "test $HPSEARCH_ATTEMPT -ge 3 || exit $HPSEARCH_ATTEMPT\n"
                                               "echo 'HPSEARCH {\"step\": 1, \"loss\": 1}'\n")
        tree = {"entrypoint": "sh count.sh", "searcher": {"name": "single", "metric": "loss", "max_length": 1},
                "outputs": {"train_url": {"path": str(self.folder / "results"), "pre_download": True}}}
        self.run_cli("run", self.write_experiment(tree), self.context, "--slots", 1)
        (trial,) = (self.folder / "results").glob("*/1/0")  # Below the store's number.
        self.assertEqual({attempt: (trial / attempt / "attempts").read_text() for attempt in ("1", "2", "3")},
                         {"1": "x\n", "2": "x\nx\n", "3": "x\nx\nx\n"})
        # Another search is experiment 1 too, as is a fresh one on the same file.
        self.run_cli("run", self.write_experiment(tree, "other.yaml"), self.context, "--slots", 1)
        self.run_cli("run", self.write_experiment(tree), self.context, "--slots", 1, "--fresh")
        self.assertEqual(len(list((self.folder / "results").glob("*/1/0/3"))), 3)
        self.assertEqual((trial / "3" / "attempts").read_text(), "x\nx\nx\n")

    # --- the platforms' examples ---

    def run_example(self, name, folder=EXAMPLES):
        """Runs it where it lies, all but its state; returns (trials, attempt directories)."""
        state = self.folder / name
        self.run_cli("run", folder / name / "experiment.yaml", "--slots", 2, "--state-dir", state)
        trials = self.run_cli("trials", "--state-dir", state, "--output", "json")["trials"]
        self.assertEqual({trial["state"] for trial in trials} - {"COMPLETED", "STOPPED"}, set())
        return trials, sorted(next(state.glob("**/attempts")).iterdir())

    def test_pai_training_job(self):
        trials, attempts = self.run_example("pai")
        self.assertEqual(len(trials), 4)
        models = [json.loads((attempt / "output/model/model.json").read_text()) for attempt in attempts]
        self.assertEqual(sorted(model["learning_rate"] for model in models),
                         sorted(trial["hparams"]["learning_rate"] for trial in trials))

    def test_components_give_values_in_their_types(self):
        component = {"name": "typed", "parameters": {
            "lr": {"type": "Float"}, "rate": {"type": "Float"}, "n": {"type": "Int"}, "sizes": {"type": "Int"},
            "loud": {"type": "Bool", "bool_style": "lower"}, "word": {"type": "String", "pattern": "^[0-9]+$"}}}
        for program in WITNESSES.values():
            account, _ = self.run_witness(
                [*program, "{args_eq}"], component=component, inputs={}, outputs={},
                searcher={"name": "grid", "metric": "loss", "max_length": {"epochs": 1}},
                hyperparameters={"lr": 1, "rate": {"type": "categorical", "vals": [2]}, "n": 32.0, "word": "010",
                                 "sizes": {"type": "const", "val": 1e3}, "loud": {"type": "categorical", "vals": [True]}})
            self.assertEqual(account.arguments,
                             ["--loud=true", "--lr=1.0", "--n=32", "--rate=2.0", "--sizes=1000", "--word=010"])
            self.clear()
        self.assertEqual(account.environment["PAI_HPS"],
                         '{"loud": true, "lr": 1.0, "n": 32, "rate": 2.0, "sizes": 1000, "word": "010"}')

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

    def custom_component_prints(self, ml, trial):
        """Everything that examples/custom_component prints, when its tree is seen at `ml`."""
        given = trial["hparams"]
        self.assertEqual([type(given[f"param{number}"]) for number in (1, 2, 3, 4)], [int, float, str, bool])
        texts = {name: str(value) for name, value in given.items()}
        self.assertEqual((texts["param3"], texts["param4"]), ("mean", "True"))
        inputs = {"test": f"{ml}/input/data/test/test.csv", "train": f"{ml}/input/data/train/"}
        outputs = {name: f"{ml}/output/{name}/" for name in ("checkpoints", "logs", "model", "tensorboard")}
        arguments = texts | inputs | {name: outputs[name] for name in ("checkpoints", "model")}
        environment = {
            "MASTER_ADDR": "127.0.0.1", "NPROC_PER_NODE": "1", "RANK": "0", "WORLD_SIZE": "1",
            "PAI_CONFIG_DIR": f"{ml}/input/config/", "PAI_HPS": json.dumps(given), "PAI_WORKING_DIR": f"{ml}/usercode",
            "PAI_USER_ARGS": " ".join(f"--{name} {text}" for name, text in texts.items()),
        }
        environment |= {f"PAI_HPS_{name.upper()}": text for name, text in texts.items()}
        environment |= {f"PAI_INPUT_{name.upper()}": place for name, place in inputs.items()}
        environment |= {f"PAI_OUTPUT_{name.upper()}": place for name, place in outputs.items()}
        listed = lambda values: [f"  {name}={value}" for name, value in sorted(values.items())]
        return "\n".join([
            "arguments:", *listed(arguments), "environment:", *listed(environment),
            "hyperparameters.json:", *listed({name: repr(text) for name, text in texts.items()}),
            "channels:", f"  {ml}/input/data/train/a.csv: 2 points", f"  {ml}/input/data/train/b.csv: 1 points",
            f"  {ml}/input/data/test/test.csv: 1 points", f"mse={trial['metric']}", "job finished", ""])

    def test_pai_custom_component(self):
        trials, attempts = self.run_example("custom_component")
        self.assertEqual(len(trials), 2)
        for attempt in attempts:
            trial, = (trial for trial in trials if attempt.name == f"1-{trial['trial']}-1")
            self.assertEqual((attempt / "stdout.log").read_text(), self.custom_component_prints(attempt / "ml", trial))
            slope = json.loads((attempt / "output/model/model.json").read_text())["slope"]
            steps = [json.loads(file.read_text()) for file in pathlib.Path(trial["checkpoint"]).glob("*.json")]
            self.assertIn({"step": trial["hparams"]["param1"], "slope": slope}, steps)

    def test_pai_custom_component_at_ml(self):
        shutil.copytree(EXAMPLES / "custom_component", self.folder / "copies/custom_component")
        with open(self.folder / "copies/custom_component/experiment.yaml", "a") as file:
            file.write("layout: /ml\n")
        trials, attempts = self.run_example("custom_component", self.folder / "copies")
        for attempt in attempts:
            trial, = (trial for trial in trials if attempt.name == f"1-{trial['trial']}-1")
            printed = (attempt / "stdout.log").read_text()
            # Where the worker may not mount, the tree stays where it is.
            ml = "/ml" if "PAI_WORKING_DIR=/ml/usercode" in printed else attempt / "ml"
            self.assertEqual(printed, self.custom_component_prints(ml, trial))

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
