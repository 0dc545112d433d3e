"""Functions that travel to the processes of trials: how they are written down, called, resumed; what is refused."""

import functools
import importlib
import importlib.util
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap
import types
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))

import hpsearch as hp
from fake_worker import PACKAGE, TrialTest
from hpsearch._functions.function_call import passes_of
from hpsearch._functions.function_file import FunctionFile
from hpsearch._functions.function_source import Untransferable, source_of
from hpsearch._functions.loaded_function import LoadedFunction
from script_folder import ScriptFolder

SCALE = 3


class Net:
    def __init__(self, width):
        self.width = width


class Unreadable:
    def __init__(self, number=3):
        self.number = number

    def __reduce__(self):
        return (_refuse, (self.number,))


def _refuse(number):
    raise ValueError("no {}".format(number))


def helper(x):
    return x * SCALE + math_of(x)


def math_of(x):
    import math
    return math.sqrt(abs(x))


def objective(trial):
    return helper(trial["x"]) + Net(2).width



class Calls(unittest.TestCase):
    def passes(self, function, space=("lr", "width"), arguments=()):
        return passes_of(function, list(space), {name: 1 for name in arguments})

    def test_parameters_get_what_their_names_say(self):
        self.assertEqual(self.passes(lambda t: 0), {"t": "trial"})
        self.assertEqual(self.passes(lambda trial: 0), {"trial": "trial"})
        self.assertEqual(self.passes(lambda lr, width: 0), {"lr": "param", "width": "param"})
        self.assertEqual(self.passes(lambda lr, *, trial, data: 0, arguments=["data"]),
                         {"lr": "param", "trial": "trial", "data": "argument"})
        self.assertEqual(self.passes(lambda lr, depth=3: 0), {"lr": "param"})
        self.assertEqual(self.passes(lambda **params: 0), {"lr": "param", "width": "param"})

    def test_what_cannot_be_called_is_refused_before_it_runs(self):
        for function, arguments, word in ((lambda lr, other, third: 0, (), "other, third"), (lambda trial, other: 0, (), "other"),
                                          (lambda t: 0, ("data",), "takes no argument data"), (lambda t: 0, ("lr",), "rename")):
            with self.assertRaisesRegex(TypeError, word):
                self.passes(function, arguments=arguments)


class Sources(ScriptFolder):
    def test_a_function_brings_what_it_uses(self):
        source = source_of(objective)
        self.assertEqual([one.name for one in source.definitions], ["Net", "helper", "math_of", "objective"])
        self.assertEqual(source.values, {"SCALE": 3})

    def test_a_digest_is_of_what_it_does(self):
        module = self.folder / "dig.py"
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))

        def digest(text):
            module.write_text(text)
            sys.modules.pop("dig", None)
            importlib.invalidate_caches()
            import linecache
            linecache.clearcache()
            with unittest.mock.patch.object(sys, "dont_write_bytecode", True):
                return FunctionFile(importlib.import_module("dig").f, ["x"], {}).digests()

        first = digest("def g(x):\n    return x\n\ndef f(t):\n    return g(t['x'])\n")
        self.assertEqual(digest("# more\n\ndef g(x):\n    return (x)  # it\n\n\ndef other(): pass\n\ndef f(t):\n  return g(t['x'])\n"),
                         first)
        self.assertNotEqual(digest("def g(x):\n    return x + 1\n\ndef f(t):\n    return g(t['x'])\n"), first)

    def test_of_several_lambdas_on_a_line_the_right_one(self):
        functions = [lambda t: t + 1, lambda t: t + 2, lambda t: t]
        texts = [source_of(function).definitions[0].text for function in functions]
        self.assertEqual(texts, ["objective = (lambda t: t + 1)", "objective = (lambda t: t + 2)", "objective = (lambda t: t)"])

    def test_of_several_lambdas_on_a_line_one_that_calls_an_imported_module(self):
        first, second = (lambda t: os.fspath(t["x"])), (lambda t: json.dumps(t["x"]))  # Compiled unlike calls of methods.
        self.assertIn("json.dumps", source_of(second).text())
        self.assertIn("os.fspath", source_of(first).text())

    def test_what_cannot_travel_is_refused_with_a_remedy(self):
        offset = 3

        def closure(t):
            return t["x"] + offset

        with self.assertRaisesRegex(Untransferable, "uses offset, a variable of the function around it"):
            source_of(closure)
        with unittest.mock.patch.dict(sys.modules, {"cloudpickle": None}):
            with self.assertRaisesRegex(TypeError, "offset.*Install cloudpickle.*arguments="):
                FunctionFile(closure, ["x"], {})
            made = {}
            exec("f = lambda t: t['x']", made)
            with self.assertRaisesRegex(TypeError, "the source of <lambda> is not known|cannot be read"):
                FunctionFile(made["f"], ["x"], {})
            with self.assertRaisesRegex(TypeError, "fail is a method, and its object has no source. Install cloudpickle"):
                FunctionFile(self.fail, ["msg"], {})
            with self.assertRaisesRegex(TypeError, "partial"):
                FunctionFile(functools.partial(objective, 5), ["x"], {})


class Files(ScriptFolder):
    def travelled(self, function, space, arguments=None, params=None):
        context = self.folder / "context"
        context.mkdir()
        FunctionFile(function, list(space), arguments or {}).write(context, self.folder / "arguments")
        return LoadedFunction(context, types.ModuleType("__main__")).call(params or space)

    def test_a_function_of_a_module(self):
        self.assertEqual(self.travelled(textwrap.dedent, {"text": "  a"}), "a")

    def test_a_partial_brings_its_arguments(self):
        self.assertEqual(self.travelled(functools.partial(lambda x, add: x + add, add=2), {"x": 1}), 3)

    def test_a_parameter_with_a_misspelled_name_is_named_when_its_value_is_used(self):
        trial = hp.FunctionTrial({"rate": 0.1}, length=1)
        with self.assertRaisesRegex(TypeError, "The parameter x gets the trial, because the space has no x"):
            self.travelled(lambda x: x * x, {"rate": 0.1}, params=trial)

    def test_other_errors_of_a_function_stay_as_they_are(self):
        trial = hp.FunctionTrial({"rate": 0.1}, length=1)
        with self.assertRaises(TypeError) as caught:
            self.travelled(lambda t: t["rate"] + "1", {"rate": 0.1}, params=trial)
        self.assertNotIn("gets the trial", str(caught.exception))

    def test_a_script_without_cloudpickle(self):
        said = self.run_script("""
            import dataclasses, json, pathlib
            import hpsearch as hp
            from hpsearch._functions.function_file import FunctionFile
            from json import dumps as write
            FACTOR = 2
            class Base:
                bias = 1
            class Model(Base):
                def predict(self, x): return FACTOR * x + self.bias
            MODEL = Model()
            @dataclasses.dataclass
            class Result:
                y: int
            def train(x, *, trial=None, model=MODEL):
                return write({"y": Result(model.predict(x)).y, "z": MODEL.predict(x)})
            if __name__ == "__main__":
                for number, function in enumerate([train, lambda t: json.loads('[1]')[0] + t["x"]]):
                    place = pathlib.Path("c%d" % number); place.mkdir()
                    written = FunctionFile(function, ["x"], {}); written.write(place, pathlib.Path("a"))
                    print(written.kind)
            """)
        self.assertEqual(said.split(), ["source", "source"])
        for name, expected in (("c1", "6"), ("c0", '{"y": 11, "z": 11}')):
            self.assertEqual(self.called_in_another_process(self.folder / name, {"x": 5}), expected)


class Spawned(ScriptFolder):
    """Processes that a trial starts by multiprocessing get instances and functions of the script."""

    SCRIPT = """
        import dataclasses, multiprocessing, pathlib, pickle
        from hpsearch._functions.function_file import FunctionFile

        @dataclasses.dataclass
        class Point:
            x: int
            def moved(self): return Point(self.x + OFFSET)

        class Dataset:
            def __init__(self, points): self.points = points
            def __getitem__(self, at): return self.points[at].moved()

        OFFSET = 10
        def get(pair): return pair[0][pair[1]]

        def train(x, *, method, first):
            data = Dataset([first, Point(x), Point(2)])
            assert pickle.loads(pickle.dumps(data)).points == data.points
            with multiprocessing.get_context(method).Pool(2) as pool:
                return [point.x for point in pool.map(get, [(data, at) for at in range(3)])], type(data).__module__

        if __name__ == "__main__":
            for method in ("spawn", "forkserver"):
                place = pathlib.Path(method); place.mkdir()
                written = FunctionFile(train, ["x"], {"method": method, "first": Point(5)})
                written.write(place)
                print(written.kind)
        """

    def check(self, kind, hides_cloudpickle):
        self.assertEqual(self.run_script(self.SCRIPT, hides_cloudpickle=hides_cloudpickle).split(), [kind, kind])
        for method in ("spawn", "forkserver"):
            with self.subTest(method):
                self.assertEqual(self.called_in_another_process(self.folder / method, {"x": 1}), "([15, 11, 12], '__main__')")

    def test_of_source(self):
        self.check("source", True)

    if importlib.util.find_spec("cloudpickle"):  # ctest takes a file of which one test is skipped for a skipped one.
        def test_of_cloudpickle(self):
            self.check("pickle", False)

    def test_a_name_that_the_function_does_not_use_is_not_there(self):
        self.run_script(self.SCRIPT)
        probe = "import hpsearch._functions.main_module as m, sys, types\nsys.modules['__main__'] = main = types.ModuleType('__main__')\n" \
                "main.__getattr__ = m._find_in_function\nprint(main.OFFSET, hasattr(main, 'other'), main.Point(3).moved().x)"
        done = subprocess.run([sys.executable, "-B", "-c", probe], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, PYTHONPATH=str(PACKAGE), HPSEARCH_FUNCTION_DIRECTORY=str(self.folder / "spawn")))
        self.assertEqual(done.stdout.strip(), "10 False 13", done.stderr)



class Trials(TrialTest):
    """A function's trial against a fake worker."""

    def train(self, trial, steps):
        start = trial.load()
        for epoch in trial.epochs(start):
            steps.append(epoch)
            trial.report(epoch, loss=1 / epoch, save=lambda: {"epoch": epoch})
        return start

    def test_it_trains_to_the_length_and_further_when_that_grows(self):
        lengths = {2: 4, 3: 4, 4: 4}
        worker = self.in_trial(lambda message: {
            "directive": "stop" if message.get("step") == 4 and message["type"] == "report" else "continue",
            "length": lengths.get(message.get("step"), 2)}, LENGTH="2", PARAMS='{"x": 1}')
        steps = []
        trial = hp.FunctionTrial()
        self.assertIsNone(self.train(trial, steps))
        self.assertEqual((steps, trial["x"], dict(trial)), ([1, 2, 3, 4], 1, {"x": 1}))
        self.assertEqual([message["type"] for message in worker.heard],
                         ["report", "checkpoint", "report", "report", "checkpoint", "report"])

    def test_it_goes_on_from_its_checkpoint(self):
        self.in_trial(lambda message: {"directive": "pause" if message["type"] == "report" and message["step"] == 2 else
                                       "continue", "length": 2}, LENGTH="2")
        self.train(hp.FunctionTrial(), [])
        kept = self.folder / "kept"
        shutil.copytree(str(hp.checkpoint_dir()), str(kept))
        self.setUp()
        self.in_trial(lambda message: {"directive": "stop" if message.get("step") == 4 else "continue", "length": 4},
                      LENGTH="4", LATEST_CHECKPOINT=kept)
        steps = []
        trial = hp.FunctionTrial()
        self.assertEqual(self.train(trial, steps), 2)
        self.assertEqual((steps, trial.state), ([3, 4], {"epoch": 2}))

    def test_a_report_that_was_lost_is_made_again(self):
        self.in_trial(lambda message: {"directive": "stop", "length": 2}, LENGTH="2")
        self.train(hp.FunctionTrial(), [])
        kept = self.folder / "kept"
        hp.checkpoint_dir()
        trial = hp.FunctionTrial()
        trial._save(2, {"loss": 0.5}, lambda: 7)
        shutil.copytree(str(hp.checkpoint_dir()), str(kept))
        self.setUp()
        worker = self.in_trial(lambda message: {"directive": "stop", "length": 2}, LENGTH="2", LATEST_CHECKPOINT=kept)
        steps = []
        self.assertEqual(self.train(hp.FunctionTrial(), steps), 2)
        self.assertEqual((steps, worker.heard), ([], [{"type": "report", "step": 2, "metrics": {"loss": 0.5}}]))

    def test_a_state_that_cannot_be_read_again_fails_when_it_is_saved(self):
        def checked(attempt, state):
            self.setUp()
            self.in_trial(lambda message: {"directive": "continue", "length": 2}, LENGTH="2", ATTEMPT=str(attempt))
            trial = hp.FunctionTrial()
            trial.report(2, loss=1, save=lambda: state)
            return trial
        with self.assertRaisesRegex(TypeError, r"what `save` returned was stored, but cannot be read again \(ValueError: no 3"):
            checked(1, Unreadable())
        checked(2, Unreadable())  # Its first attempt was tried; and reading takes time.
        with unittest.mock.patch("hpsearch._functions.function_trial._check_state") as check:
            trial = checked(1, {"a": 1})
            trial.report(3, loss=1, save=lambda: {"a": 1})
            check.assert_called_once()

    def test_directives_are_raised_only_if_asked_for(self):
        for directive, kind in (("stop", hp.Stop), ("pause", hp.Pause)):
            self.setUp()
            self.in_trial(lambda message: {"directive": directive, "length": 3})
            trial = hp.FunctionTrial()
            self.assertEqual(trial.report(1, loss=1), directive)
            with self.assertRaises(kind):
                trial.report(2, loss=1, raise_=True)

    def test_a_state_goes_into_a_model_or_a_function(self):
        self.in_trial(lambda message: {"directive": "continue", "length": 9}, LENGTH="9")
        trial = hp.FunctionTrial()
        trial._save(3, {}, lambda: [1, 2])
        kept = self.folder / "kept"
        shutil.copytree(str(hp.checkpoint_dir()), str(kept))
        self.setUp()
        self.in_trial(LENGTH="9", LATEST_CHECKPOINT=kept)

        class Model:
            def load_state_dict(self, state):
                self.state = state

        model, given = Model(), []
        self.assertEqual((hp.FunctionTrial().load(model), model.state), (3, [1, 2]))
        hp.FunctionTrial().load(given.extend)
        self.assertEqual(given, [1, 2])
        with self.assertRaisesRegex(TypeError, "load_state_dict"):
            hp.FunctionTrial().load(5)

    def test_outside_a_search_it_prints(self):
        with unittest.mock.patch("sys.stdout", io.StringIO()) as said, unittest.mock.patch.dict(os.environ, {}, clear=False):
            os.chdir(str(self.folder))
            steps = []
            self.train(hp.FunctionTrial({"x": 3}, length=2), steps)
        self.assertEqual(steps, [1, 2])
        self.assertIn("hpsearch: step 2: loss = 0.5", said.getvalue())


if __name__ == "__main__":
    unittest.main()
