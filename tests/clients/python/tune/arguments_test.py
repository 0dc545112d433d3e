"""What tune() makes of its arguments, and in which words it speaks of them: searchers, samplers, names of other packages."""

import io
import math
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import textwrap
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "clients" / "python"))

import hpsearch as hp
from hpsearch import run_function
from hpsearch._functions.confirmation import Confirmation
from hpsearch._functions.foreign_arguments import _WORDS
from hpsearch._functions.function_trial import NotFinite
from hpsearch._functions.interruption import interruption
from hpsearch._functions.python_words import field_in_python, note_in_python, refusal_in_python
from hpsearch._functions.searcher_section import searcher_section
from hpsearch._functions.tune_progress import follow_search
from hpsearch._local.search_directory import LocalExperiment
from hpsearch._problems import ProblemItem

PACKAGE = pathlib.Path(__file__).resolve().parents[4] / "clients" / "python"


def objective(trial):
    return trial["x"]


def section(searcher=None, sampler=None, max_length=1, max_trials=None):
    return searcher_section(searcher, sampler, "loss", max_length, max_trials, True)


class Searchers(unittest.TestCase):
    def test_the_default_learns(self):
        self.assertEqual(section(), {"name": "random", "sampler": "model", "metric": "loss", "max_length": {"epochs": 1},
                                     "smaller_is_better": True, "max_trials": 100})
        longer = section(max_length=27, max_trials=40)
        self.assertEqual((longer["name"], longer["sampler"], longer["mode"]), ("adaptive_asha", "model", "aggressive"))
        self.assertEqual((longer["max_length"], longer["max_trials"]), ({"epochs": 27}, 40))
        self.assertEqual(section(max_length={"steps": 500})["name"], "adaptive_asha")
        self.assertEqual(section(max_length={"steps": 1})["name"], "random")

    def test_a_sampler_is_an_argument(self):
        for sampler in ("model", "tpe", "anneal", "random"):
            self.assertEqual(section(sampler=sampler)["sampler"], sampler)
            self.assertEqual(section("asha", sampler), section({"name": "adaptive_asha"}, sampler))
        self.assertEqual(section({"name": "random", "sampler": "tpe"}, "tpe")["sampler"], "tpe")

    def test_a_given_searcher_has_its_own_sampler(self):
        self.assertNotIn("sampler", section("random"))
        self.assertEqual(section(hp.random(metric="loss", max_length=3, max_trials=2))["max_trials"], 2)
        self.assertNotIn("max_trials", section("grid"))

    def test_samplers_that_make_no_sense(self):
        for searcher, sampler, kind, words in (
                (None, "gp", ValueError, r'^sampler is .gp.; it must be "model", "tpe", "anneal" or "random": write sampler="model"$'),
                (None, "TPESampler", ValueError, 'write sampler="tpe"'), (None, "x", ValueError, 'or "random"$'),
                (None, 3, TypeError, "^sampler is 3; it must be"),
                ("grid", "tpe", ValueError, "^sampler is 'tpe'; the searcher 'grid' takes none"),
                ({"name": "random", "sampler": "tpe"}, "model", ValueError, "^sampler is 'model', and the sampler of `searcher` is 'tpe'")):
            with self.subTest(sampler), self.assertRaisesRegex(kind, words):
                section(searcher, sampler)

    def test_searchers_of_other_packages_name_what_to_write(self):
        for name, words in (("tpe", 'sampler="tpe"'), ("bayesian", 'sampler="model"'), ("gp", 'sampler="model"'), ("optuna", 'sampler="tpe"'),
                            ("TPESampler", 'sampler="tpe"'), ("tpe_search", 'sampler="tpe"'), ("BayesOptSearch", 'sampler="model"'),
                            ("model", 'sampler="model"'), ("anneal", 'sampler="anneal"'), ("bohb", 'searcher="asha", sampler="tpe"')):
            with self.subTest(name), self.assertRaisesRegex(ValueError, "a sampler chooses their hyperparameters: write {}$".format(words)):
                section(name)
        for name, words in (("hyperband", "asha"), ("SuccessiveHalvingPruner", "asha"), ("grid_search", "grid")):
            with self.subTest(name), self.assertRaisesRegex(ValueError, 'write searcher="{}"$'.format(words)):
                section(name)


class OtherNames(unittest.TestCase):
    def test_they_name_ours(self):
        for name, value, words in (
                ("n_trials", 100, "max_trials=100"), ("num_samples", 10, "max_trials=10"), ("max_evals", 5, "max_trials=5"),
                ("timeout", 600, r'budget=\{"max_time": 600\}'), ("n_jobs", 4, "slots=4"), ("direction", "maximize", "smaller_is_better="),
                ("mode", "min", "smaller_is_better="), ("goal", "minimize", "smaller_is_better="), ("study_name", "a", "name='a'"),
                ("max_epochs", 9, "max_length=9"), ("pruner", object(), 'searcher="asha"'), ("random_state", 1, "seed=1"),
                ("param_space", {}, "space"), ("catch", (ValueError,), "the search goes on")):
            with self.subTest(name), self.assertRaisesRegex(TypeError, r"^tune\(\) has no argument '{}'; write .*{}".format(name, words)):
                hp.tune(objective, {"x": 1}, **{name: value})

    def test_all_of_them_have_a_sentence(self):
        for name, words in _WORDS.items():
            self.assertTrue(words.format("VALUE"), name)


class Words(unittest.TestCase):
    def test_fields_are_arguments(self):
        for field, argument in (("searcher.max_trials", "max_trials"), ("searcher.max_length.epochs", "max_length"),
                                ("searcher.max_length.steps", 'max_length["steps"]'), ("searcher.divisor", 'searcher["divisor"]'),
                                ("hyperparameters.lr.minval", 'low of space["lr"]'), ("hyperparameters.net.width", 'space["net"]["width"]'),
                                ("hyperparameters", "space"), ("reproducibility.experiment_seed", "seed"), ("budget.max_time", 'budget["max_time"]'),
                                ("max_restarts", "max_restarts"), ("", "")):
            self.assertEqual(field_in_python(field), argument)

    def test_notes_name_arguments(self):
        for note, said in (
                ("searcher.max_trials: is 10, and there are only 2 different configurations: at least 8 trials repeat an earlier one, with "
                 "another seed (on_duplicate: reject, to train each once)",
                 "max_trials: is 10, and there are only 2 different configurations: at least 8 trials repeat an earlier one, with "
                 'another seed (searcher={..., "on_duplicate": "reject"}, to train each once)'),
                ('searcher.smaller_is_better: is true, and the search minimises "accuracy" (false, if larger values are better)',
                 'smaller_is_better: is True, and the search minimises "accuracy" (False, if larger values are better)'),
                ("hyperparameters: hold nothing to search: all 3 trials run the same configuration, with different seeds (at least one with a "
                 "type: int, double, log or categorical)",
                 "space: hold nothing to search: all 3 trials run the same configuration, with different seeds (at least one distribution, as "
                 "hpsearch.uniform(0, 1))"),
                ("hyperparameters.n: has many values (sampler: random, which draws every value)",
                 'space["n"]: has many values (sampler="random", which draws every value)'),
                ("trial 3 wrote: no such file", "trial 3 wrote: no such file"), ("no trial was trained", "no trial was trained")):
            self.assertEqual(note_in_python(note), said)

    def test_refusals_name_arguments_and_no_lines(self):
        refused = refusal_in_python(hp.BadRequest("e.json has 2 problems", status=400, problems=[
            ProblemItem("searcher.max_trials", "is 0", "an integer of at least 1", 4),
            ProblemItem("bananas", "is not a known field", "one of budget, data", 5)]))
        self.assertEqual(str(refused), "tune() was refused: 2 arguments are wrong\n  max_trials is 0; allowed: an integer of at least 1\n"
                         "  bananas is not a known field; allowed: an argument of tune(), or a field of the experiment file: budget, data")
        self.assertEqual(refused.status, 400)

    def test_a_note_is_printed_once(self):
        validation = {"notes": [{"path": "searcher.max_trials", "what": "is 9", "allowed": "less"}]}
        confirmation = Confirmation(ask=False, progress=True)
        with unittest.mock.patch("sys.stderr", io.StringIO()) as said:
            confirmation.confirm(validation)
            experiment = unittest.mock.MagicMock(spec=LocalExperiment)
            change = unittest.mock.MagicMock(notes=["searcher.max_trials: is 9 (less)", "another"], ended=True, best=None, trials={}, reason="")
            change.name, change.state = "it", "COMPLETED"
            experiment.watch.return_value = iter([change, change])
            experiment.now.return_value.trials = {}
            follow_search(experiment, None, True, confirmation.printed)
        self.assertEqual(said.getvalue().count("max_trials: is 9 (less)"), 1, said.getvalue())
        self.assertEqual(said.getvalue().count("hpsearch: note: another"), 1)


class Ends(unittest.TestCase):
    def test_a_script_ends_without_a_traceback(self):
        text = """
            import sys
            sys.path.insert(0, {!r})
            from hpsearch._functions.interruption import interruption
            try:
                raise interruption()
            except KeyboardInterrupt as caught:
                print("caught")
                raise
            """.format(str(PACKAGE))
        done = subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(text)], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (128 + signal.SIGINT, "caught\n", ""))

    def test_a_prompt_stays(self):
        with unittest.mock.patch.object(sys, "ps1", ">>> ", create=True):
            self.assertNotIsInstance(interruption(), SystemExit)
            self.assertIsInstance(interruption(), KeyboardInterrupt)
            self.assertEqual(interruption()._render_traceback_(), ["KeyboardInterrupt"])

    def test_what_ends_tune_has_the_experiment(self):
        experiment = unittest.mock.MagicMock(spec=hp.Experiment, id=3)
        failed = hp.ExperimentCanceled("experiment 3 was canceled", experiment=experiment, reason="why", notes=["a", "b"])
        self.assertIs(failed.experiment, experiment)
        copy = pickle.loads(pickle.dumps(failed))
        self.assertEqual((type(copy), str(copy), copy.reason, copy.notes, copy.experiment),
                         (hp.ExperimentCanceled, str(failed), "why", ["a", "b"], None))

    def test_a_search_that_paused_itself_says_the_line_that_goes_on(self):
        now = unittest.mock.MagicMock(id=3, state="PAUSED", reason="its first 3 trials failed", notes=["searcher.max_trials: is 9 (less)"])
        now.name = "it"
        for kind, line in ((hp.Experiment, r"goes on: hpsearch.Client\('unix:///a'\).experiment\(3\).resume\(\)\n  note: "),
                           (LocalExperiment, r"hpsearch.open\('it'\) has its results. .* the same call with name='it' goes on; with a changed")):
            experiment = object.__new__(kind)
            experiment.id, experiment.directory = 3, pathlib.Path("/state/it")
            experiment._transport = unittest.mock.Mock(address="unix:///a")
            experiment._last_failure = lambda: "\ntrial 0: no"
            with self.assertRaisesRegex(hp.ExperimentFailed, line) as caught:
                experiment.raise_if_failed(now)
            self.assertIs(caught.exception.experiment, experiment)

    def test_notes_that_were_printed_are_not_in_the_exception_again(self):
        experiment = unittest.mock.MagicMock(spec=LocalExperiment)
        experiment.watch.side_effect = hp.ExperimentFailed("it", notes=["searcher.max_trials: is 9 (less)", "hyperparameters.x: odd"])
        with self.assertRaises(hp.ExperimentFailed) as caught:
            follow_search(experiment, None, False, {"searcher.max_trials: is 9 (less)"})
        self.assertEqual(caught.exception.notes, ['space["x"]: odd'])


class BadTrials(unittest.TestCase):
    def test_a_number_that_is_none_fails_the_trial_with_a_sentence(self):
        trial = hp.FunctionTrial({"x": 1})
        for returned in (math.nan, -math.inf, {"value": math.nan, "other": 1.0}):
            with self.subTest(returned), self.assertRaisesRegex(NotFinite, "^the function returned (nan|-inf) as 'value', which can't be compared"):
                run_function._report(trial, returned)
        with unittest.mock.patch.object(run_function.now, "report", return_value=hp.STOP):
            run_function._report(trial, {"value": 1.0, "other": math.nan})

    def test_it_ends_without_a_traceback(self):
        with unittest.mock.patch.object(run_function, "LoadedFunction") as loaded, unittest.mock.patch("sys.stderr", io.StringIO()) as said, \
                unittest.mock.patch.object(run_function, "take_main"), unittest.mock.patch.dict(os.environ):
            loaded.return_value.call.return_value = math.inf
            self.assertEqual(run_function.main(), 1)
        self.assertEqual(said.getvalue(), "hpsearch: the function returned inf as 'value', which can't be compared; the trial has failed, and the "
                         "search goes on\n")


if __name__ == "__main__":
    unittest.main()
