"""Hydra's sweeper with genuine Hydra and the real programs."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "clients" / "python"
BIN = os.environ["E2E_BIN_DIR"]
PATIENCE = 240
sys.path.insert(0, str(PACKAGE))

import hpsearch as hp
import yaml
from hpsearch._local.local import Local
from hydra.core.override_parser.overrides_parser import OverridesParser

from hydra_plugins.hpsearch_sweeper._space import OverrideSpace

APPLICATION = """
    import logging, os, time
    import hydra
    import hpsearch as hp
    from hydra.core.config_store import ConfigStore
    from omegaconf import OmegaConf

    OmegaConf.register_new_resolver("double", lambda x: 2 * x)
    ConfigStore.instance().store(group="hydra/launcher", name="queue", node={"_target_": "queue.Launcher"})

    if os.environ.get("OPTUNA_SAMPLERS"):  # As the Optuna sweeper registers them.
        for name in ("tpe", "cmaes"):
            ConfigStore.instance().store(group="hydra/sweeper/sampler", name=name, node={"_target_": "samplers." + {
                "tpe": "TPESampler", "cmaes": "CmaEsSampler"}[name], "seed": None})

    @hydra.main(config_path="conf", config_name="config", version_base="1.3")
    def main(config):
        logging.getLogger(__name__).info("need %s", config.need)
        with open(os.environ["LEDGER"], "a") as file:
            print(hp.trial().trial_number, file=file)
        time.sleep(config.pause)
        if config.lr > config.limit:
            raise RuntimeError("the loss is infinite")
        if config.text:
            return config.text
        for step in range(1, config.steps + 1):
            if hp.report(step, value=config.lr + 1 / step) is not hp.CONTINUE:
                return None
        return None if config.steps else config.lr + config.twice + config.need + (config.opt.kind == "sgd")

    if __name__ == "__main__":
        main()
"""
CONFIG = """
    defaults: [_self_, {opt: sgd}]
    lr: 0.1
    need: ???
    width: 3
    twice: ${double:${width}}
    pause: 0
    steps: 0
    limit: 10
    text: null
"""


class Space(unittest.TestCase):
    """Overrides as distributions."""

    def space(self, *overrides):
        return OverrideSpace(OverridesParser.create(), overrides)

    def test_kinds_of_sweeps_are_distributions(self):
        space = self.space("a=choice(sgd,adam)", "b=1,2", "c=range(1,10,3)", "d=interval(0,1.5)", "e=interval(2,9)",
                           "f=tag(log,interval(1e-4,1e-1))", "g=int(interval(1.0,8.0))", "h=range(0,1,0.25)",
                           "i=tag(log,int(interval(1,64)))", "j=5")
        self.assertEqual(space.space, {
            "a": {"type": "categorical", "vals": ["sgd", "adam"]},
            "b": {"type": "categorical", "vals": [1, 2]},
            "c": {"type": "int", "minval": 1, "maxval": 7, "step": 3},
            "d": {"type": "double", "minval": 0.0, "maxval": 1.5},
            "e": {"type": "double", "minval": 2.0, "maxval": 9.0},
            "f": {"type": "double", "minval": 1e-4, "maxval": 1e-1, "scale": "log"},
            "g": {"type": "int", "minval": 1, "maxval": 8},
            "h": {"type": "categorical", "vals": [0.0, 0.25, 0.5, 0.75], "ordered": True},
            "i": {"type": "int", "minval": 1, "maxval": 64, "scale": "log"}})
        self.assertEqual(space.fixed, ["j=5"])

    def test_a_later_override_of_a_key_wins(self):
        space = self.space("lr=interval(0,1)", "a=1", "lr=0.5", "a=choice(2,3)")
        self.assertEqual(space.fixed, ["lr=0.5"])
        self.assertEqual(space.space, {"a": {"type": "categorical", "vals": [2, 3]}})

    def test_drawn_values_are_overrides_that_hydra_reads_as_the_same(self):
        space = self.space("+model.lr=interval(0.0,1.0)", "x='a b',null,true,[1,2],{k: 'v'},2,1.5,\"it's\"")
        name = next(name for name, key in space.keys.items() if key == "x")
        for value in space.space[name]["vals"]:
            lr, x = space.drawn({"model_lr": 1e-7, name: value})
            self.assertEqual(lr, "+model.lr=1e-07")
            read = OverridesParser.create().parse_override(x).value()
            plain = value if not isinstance(value, str) or value[0] not in "[{" else OverridesParser.create().parse_override(
                "x=" + value).value()
            self.assertEqual(getattr(read, "text", read), getattr(plain, "text", plain))

    def test_a_shuffled_choice_is_the_same_space_each_time(self):
        spaces = [self.space("x=shuffle(range(1,9))", "y=shuffle(a,b,c,d,e,f,g,h)").space for _ in range(5)]
        self.assertEqual(spaces, spaces[:1] * 5)

    def test_equal_values_of_two_types_stay_apart(self):
        space = self.space("x=choice(1,1.0,true)")
        self.assertEqual(space.space["x"]["vals"], ["1", "1.0", "true"])
        self.assertEqual(space.drawn({"x": "1.0"}), ["x=1.0"])

    def test_keys_that_look_alike_get_names_of_their_own(self):
        space = self.space("a.b=1,2", "a/b=x,y")
        self.assertEqual(sorted(space.keys.values()), ["a.b", "a/b"])

    def test_a_wrong_sweep_is_named(self):
        for text, what in (("x=interval(2.0,1.0)", "must be above low"), ("x=tag(log,interval(0,1))", "begins above 0"),
                           ("x=range(3,3)", "empty"), ("x=range(0,1e9,0.5)", "interval")):
            with self.assertRaisesRegex(ValueError, what) as raised:
                self.space(text)
            self.assertIn(text.split("(")[0], str(raised.exception))


class Sweep(unittest.TestCase):
    """An application with config groups, a missing value and a resolver, swept."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hpsearch-hydra-"))
        self.addCleanup(shutil.rmtree, str(self.folder), ignore_errors=True)
        (self.folder / "conf" / "opt").mkdir(parents=True)
        (self.folder / "app.py").write_text(textwrap.dedent(APPLICATION))
        (self.folder / "conf" / "config.yaml").write_text(textwrap.dedent(CONFIG))
        for kind in ("sgd", "adam"):
            (self.folder / "conf" / "opt" / f"{kind}.yaml").write_text(f"kind: {kind}\n")
        self.out = self.folder / "out"
        self.environment = dict({name: value for name, value in os.environ.items() if not name.startswith("HPSEARCH_")},
                                PYTHONPATH=str(PACKAGE), HPSEARCH_BIN=BIN, HPSEARCH_STATE_HOME=str(self.folder / "state"),
                                LEDGER=str(self.folder / "ledger"), PYTHONDONTWRITEBYTECODE="1")

    def command(self, *overrides):
        return [sys.executable, "app.py", "-m", "hydra/sweeper=hpsearch", "hydra.sweeper.n_jobs=2", *overrides]

    def sweep(self, *overrides, expect=0):
        done = subprocess.run(self.command(*overrides), cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, expect, done.stdout)
        return done.stdout

    def results(self):
        return yaml.safe_load((self.out / "optimization_results.yaml").read_text())

    def config(self, number):
        return yaml.safe_load((self.out / str(number) / ".hydra" / "config.yaml").read_text())

    def runs(self):
        ledger = self.folder / "ledger"
        return ledger.read_text().split() if ledger.exists() else []

    def test_return_values_are_the_metric(self):
        self.sweep("lr=tag(log,interval(1e-4,1e-1))", "opt=glob(*)", "width=range(2,8,2)", "need=1",
                   "hydra.sweeper.n_trials=3", f"hydra.sweep.dir={self.out}")
        results = self.results()
        self.assertEqual((results["name"], list(results["best_params"])), ("hpsearch", ["lr", "opt", "width"]))
        values = []
        for number in range(3):
            place = self.out / str(number)
            self.assertIn("need 1", (place / "app.log").read_text())
            self.assertTrue((place / "attempt" / "stdout.log").is_file())
            config = self.config(number)
            values.append(config["lr"] + 2 * config["width"] + 1 + (config["opt"]["kind"] == "sgd"))
        self.assertAlmostEqual(results["best_value"], min(values))

    def test_forty_overrides_reach_the_application(self):
        fixed = [f"+fixed.f{number}={number}" for number in range(20)]
        swept = [f"+swept.s{number}=interval({number}.0,{number}.5)" for number in range(20)]
        self.sweep(*fixed, *swept, "need=1", "hydra.sweeper.n_trials=2", f"hydra.sweep.dir={self.out}")
        config = self.config(1)
        self.assertEqual(config["fixed"], {f"f{number}": number for number in range(20)})
        for number in range(20):
            self.assertEqual(int(config["swept"][f"s{number}"]), number)
        self.assertEqual(len(self.results()["best_params"]), 20)

    def test_the_same_command_goes_on_after_a_kill(self):
        command = ("lr=interval(0.0,1.0)", "need=1", "pause=1", "hydra.sweeper.n_trials=6")
        process = subprocess.Popen(self.command(*command), cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE
        while len(self.runs()) < 3:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        said = self.sweep(*command)
        self.assertIn("goes on", said)
        places = list(self.folder.glob("multirun/*/*"))
        self.assertEqual(len(places), 1)
        self.assertTrue((places[0] / "optimization_results.yaml").is_file())
        self.assertEqual(set(self.runs()), {str(number) for number in range(6)})
        # What had ended is not run again: at most the two trials that ran were.
        self.assertLessEqual(len(self.runs()), 8)

    def test_a_configuration_that_cannot_be_composed_is_another_one(self):
        text = (self.folder / "conf" / "config.yaml").read_text()
        (self.folder / "conf" / "config.yaml").write_text(text.replace("{opt: sgd}", "{opt: sgd}, {data: a}, {pair: '${opt}_${data}'}"))
        for group, names in (("data", "ab"), ("pair", ("sgd_a", "adam_a", "adam_b"))):
            (self.folder / "conf" / group).mkdir()
            for name in names:
                (self.folder / "conf" / group / f"{name}.yaml").write_text(f"{group}_is: {name}\n")
        # Each option can be composed with some other, but sgd cannot be composed with b.
        first = "{name: random, points_to_evaluate: [{lr: 0.5, opt: sgd, data: b}]}"
        self.sweep("lr=interval(0.0,1.0)", "opt=choice(sgd,adam)", "data=choice(a,b)", "need=1", "hydra.sweeper.n_trials=3",
                   f"hydra.sweeper.searcher={first}", f"hydra.sweep.dir={self.out}")
        logs = [path.read_text() for path in self.out.glob("*/attempt/stdout.log")]
        self.assertTrue(any(" data=b " in log and " opt=sgd " in log for log in logs))
        self.assertEqual(len(self.runs()), 3)
        self.assertNotEqual(tuple(self.results()["best_params"][name] for name in ("opt", "data")), ("sgd", "b"))

    def test_a_searched_config_group_with_a_broken_option_is_refused_before_the_first_trial(self):
        (self.folder / "conf" / "opt" / "broken.yaml").write_text("defaults: [/nowhere]\nkind: broken\n")
        for searched, broken, why in (("choice(sgd,missing,adam)", "opt=missing", "Could not find 'opt/missing'"),
                                      ("glob(*)", "opt=broken", "nowhere")):
            said = self.sweep("lr=interval(0.0,1.0)", f"opt={searched}", "need=1", expect=1)
            self.assertIn(f"{broken} is searched, and cannot be composed", said)
            self.assertIn(why, said)
            self.assertNotIn("Traceback", said)
        self.assertEqual(self.runs(), [])
        self.assertFalse((self.folder / "state").exists())

    def sampler(self, override):
        """The sampler of the search that a sweep with this override was."""
        name = override.rpartition("=")[2]
        self.sweep("lr=interval(0.0,1.0)", "need=1", "hydra.sweeper.n_trials=1", f"hydra.sweeper.study_name={name}", override)
        with unittest.mock.patch.dict(os.environ, HPSEARCH_BIN=BIN), Local(self.folder / "state" / f"hydra-{name}", 1) as client:
            return client.experiment(client.experiments()[0].id).config["searcher"]["sampler"]

    def test_the_sampler_is_a_config_group_as_the_optuna_sweeper_has_it(self):
        said = self.sweep("lr=interval(0.0,1.0)", "need=1", "hydra/sweeper/sampler=cmaes", expect=1)
        self.assertIn("Could not find 'hydra/sweeper/sampler/cmaes'", said)
        self.assertRegex(said, "anneal\\s+model\\s+random\\s+tpe")
        self.assertEqual(self.sampler("hydra/sweeper/sampler=anneal"), "anneal")
        self.assertEqual(self.sampler("hydra.sweeper.sampler=model"), "model")

    def test_the_sampler_groups_of_an_installed_optuna_sweeper_stay_as_they_are(self):
        (self.folder / "samplers.py").write_text("class TPESampler:\n    def __init__(self, seed):\n        self.seed = seed\n\n"
                                                 "class CmaEsSampler(TPESampler):\n    pass\n")
        self.environment.update(OPTUNA_SAMPLERS="1", PYTHONPATH=f"{PACKAGE}:{self.folder}")
        self.assertEqual(self.sampler("hydra/sweeper/sampler=tpe"), "tpe")
        said = self.sweep("lr=interval(0.0,1.0)", "need=1", "hydra/sweeper/sampler=cmaes", expect=1)
        self.assertIn("hydra.sweeper.sampler is 'CmaEsSampler'; it must be random, model, tpe or anneal", said)

    def test_a_command_that_can_never_be_composed_is_refused_at_once(self):
        said = self.sweep("lr=interval(0.0,1.0)", "nothing=1", expect=1)
        self.assertIn("nothing", said)
        self.assertEqual(self.runs(), [])
        self.assertFalse((self.folder / "state").exists())

    def test_an_application_that_reports_is_halved(self):
        self.sweep("lr=interval(0.0,1.0)", "need=1", "steps=9", "hydra.sweeper.n_trials=6", "hydra.sweeper.max_length=9",
                   "hydra.sweeper.direction=minimize", "+hydra.sweeper.fields.max_restarts=0", f"hydra.sweep.dir={self.out}")
        results = self.results()
        self.assertGreaterEqual(results["best_value"], results["best_params"]["lr"] + 1 / 9 - 1e-6)

    def test_params_of_the_configuration_are_overridden_by_the_command_line(self):
        with open(self.folder / "conf" / "config.yaml", "a") as file:
            file.write("hydra: {sweeper: {params: {lr: 'interval(0.0,1.0)', width: 'choice(1,2)'}, n_trials: 2}}\n")
        text = (self.folder / "conf" / "config.yaml").read_text()
        (self.folder / "conf" / "config.yaml").write_text(text.replace("{opt: sgd}", "{opt: sgd}, {override hydra/sweeper: hpsearch}"))
        self.sweep("width=7", "need=1", "hydra.sweeper.direction=maximize", f"hydra.sweep.dir={self.out}")
        self.assertEqual(list(self.results()["best_params"]), ["lr"])
        self.assertEqual(self.config(0)["width"], 7)

    def test_a_named_sweep_grows_and_refuses_another_space(self):
        named = ("need=1", "hydra.sweeper.study_name=mine")
        self.sweep("lr=interval(0.0,1.0)", *named, "hydra.sweeper.n_trials=2")
        self.sweep("lr=interval(0.0,1.0)", *named, "hydra.sweeper.n_trials=4")
        self.assertEqual(len(self.runs()), 4)
        said = self.sweep("lr=interval(0.0,2.0)", *named, expect=1)
        self.assertIn("another hydra.sweeper.study_name", said.replace("\n", " "))

    def test_a_sweep_runs_at_another_daemon(self):
        os.environ.update(HPSEARCH_BIN=BIN, HPSEARCH_STATE_HOME=str(self.folder / "elsewhere"),
                          LEDGER=self.environment["LEDGER"])
        with hp.local(slots=2) as client:
            self.sweep("lr=interval(0.0,1.0)", "need=1", "hydra.sweeper.n_trials=2", f"hydra.sweeper.on={client.address}",
                       f"hydra.sweep.dir={self.out}")
            self.assertEqual(client.experiment(1).best.metric, self.results()["best_value"])
        self.assertFalse((self.folder / "state").exists())

    def test_a_wrong_override_is_named_without_a_traceback(self):
        said = self.sweep("lr=interval(2.0,1.0)", "need=1", expect=1)
        self.assertIn("lr=interval(2.0,1.0)", said)
        self.assertNotIn("Traceback", said)

    def test_another_launcher_is_refused_with_the_reason(self):
        said = self.sweep("lr=interval(0.0,1.0)", "need=1", "hydra/launcher=queue", expect=1)
        self.assertNotIn("Traceback", said)
        self.assertIn("would wait for the slowest of a batch", said)

    def test_settings_without_a_meaning_here_are_refused(self):
        for setting, what in (("on=slurm:gpu", "it must be slurm, with arguments as"), ("sbatch=[-p,gpu]", "sbatch needs on=\"slurm\""), ("direction=[minimize,maximize]",
                              "must be minimize or maximize"), ("gpu_free=101", "gpu_free is 101; it must be from 0 to 100, in percent")):
            said = self.sweep("lr=interval(0.0,1.0)", "need=1", "hydra.sweeper." + setting, expect=1)
            self.assertIn(what, said)
        self.assertFalse((self.folder / "state").exists())

    def test_an_interrupted_sweep_ends_and_goes_on(self):
        command = ("lr=interval(0.0,1.0)", "need=1", "pause=3", "hydra.sweeper.n_trials=3")
        log = self.folder / "log"
        with open(log, "w") as file:
            process = subprocess.Popen(self.command(*command), cwd=self.folder, env=self.environment, stdout=file, stderr=file)
        deadline = time.monotonic() + PATIENCE
        while len(self.runs()) < 2:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        self.assertIn(f"process {process.pid} runs the sweep", self.sweep(*command, expect=1))
        process.send_signal(signal.SIGINT)
        self.assertNotEqual(process.wait(PATIENCE), 0)
        self.assertIn("The same command continues the sweep", log.read_text())
        self.assertIn("goes on", self.sweep(*command))

    def test_a_module_with_another_configuration_is_run_as_it_was_started(self):
        shutil.copy(self.folder / "conf" / "config.yaml", self.folder / "conf" / "other.yaml")
        with open(self.folder / "conf" / "other.yaml", "a") as file:
            file.write("mark: 7\n")
        words = [sys.executable, "-m", "app", "-m", "--config-name", "other", "hydra/sweeper=hpsearch"]
        done = subprocess.run(words + ["need=1", "lr=0.2,0.3", "hydra.sweeper.n_trials=1", f"hydra.sweep.dir={self.out}"],
                              cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.config(0)["mark"], 7)

    def test_a_trial_whose_application_raises_has_failed_and_the_sweep_goes_on(self):
        command = ("lr=choice(0.1,0.2,0.9,0.3)", "limit=0.5", "need=1", "hydra.sweeper.searcher=grid")
        self.sweep(*command, f"hydra.sweep.dir={self.out}")
        self.assertEqual(sorted(self.runs()), ["0", "1", "2", "3"])
        self.assertEqual(self.results()["best_params"], {"lr": 0.1})
        self.assertIn("the loss is infinite", (self.out / "2" / "attempt" / "stderr.log").read_text())
        (self.folder / "ledger").unlink()
        self.sweep(*command, "+hydra.sweeper.fields.max_restarts=1")
        self.assertEqual(sorted(self.runs()), ["0", "1", "2", "2", "3"])

    def test_an_application_that_always_raises_is_stopped_with_what_it_printed(self):
        said = self.sweep("lr=interval(1.0,2.0)", "limit=0.5", "need=1", expect=1)
        self.assertIn("the loss is infinite", said)
        self.assertIn("its first 8 trials failed in the same way", said)
        self.assertEqual(len(self.runs()), 8, "trials of a sweep are not tried again")

    def test_a_result_that_is_no_number_is_named(self):
        said = self.sweep("lr=interval(0.0,1.0)", "need=1", "text=good", "hydra.sweeper.n_trials=1",
                          "+hydra.sweeper.fields.max_restarts=0", expect=1)
        self.assertIn("the task function returned 'good' and reported nothing", said)


if __name__ == "__main__":
    unittest.main()
