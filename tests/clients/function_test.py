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
import tempfile
import textwrap
import types
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))

import hpsearch as hp
from fake_worker import PACKAGE, TrialTest
from hpsearch._function_file import LARGE, FunctionFile, passes_of
from hpsearch._function_source import Untransferable, source_of
from hpsearch._gpus import check_gpus
from hpsearch._loaded_function import LoadedFunction
from hpsearch._local import check_platform, checked_name, local, make_private, process_with_lock
from hpsearch._search_directory import LocalExperiment, SearchDirectory, _differences, _readers
from hpsearch._stable_digest import NoStableForm, value_digest
from hpsearch._tune_progress import follow_search

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


def objective_of_data(t, data):
    return len(data)


def objective_with_data(t, data):
    return helper(len(data))


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hpsearch-function-"))
        self.addCleanup(shutil.rmtree, str(self.folder), ignore_errors=True)

    def run_script(self, text, *arguments, hides_cloudpickle=True, **variables):
        """Runs a script, as a user would; returns what it printed."""
        script = self.folder / "script.py"
        script.write_text(("import sys\nsys.modules['cloudpickle'] = None\n" if hides_cloudpickle else "") + textwrap.dedent(text))
        done = subprocess.run([sys.executable, "-B", str(script), *map(str, arguments)], capture_output=True, text=True,
                              timeout=60, cwd=str(self.folder), env=dict(os.environ, PYTHONPATH=str(PACKAGE), **variables))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def called_in_another_process(self, context, params, package=PACKAGE):
        """What a function that was written into `context` returns, as in a trial."""
        loader = ("import sys, json, os\nfrom hpsearch._loaded_function import LoadedFunction\nimport pathlib\n"
                  "from hpsearch._main_module import take_main\nos.chdir(sys.argv[1])\n"
                  "print(LoadedFunction(pathlib.Path.cwd(), take_main()).call(json.loads(sys.argv[2])))\n")
        done = subprocess.run([sys.executable, "-B", "-c", loader, str(context), json.dumps(params)], capture_output=True,
                              text=True, timeout=100, env=dict(os.environ, PYTHONPATH=str(package)))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()


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


class Sources(Folder):
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


class Files(Folder):
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
            from hpsearch._function_file import FunctionFile
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

    def test_large_arguments_are_stored_once_and_mapped(self):
        blob = os.urandom(LARGE + 5)
        first, second = FunctionFile(lambda t, data: 0, ["x"], {"data": blob}), FunctionFile(
            lambda t, data, more: 0, ["x"], {"data": blob, "more": 1})
        for number, written in enumerate((first, second)):
            place = self.folder / str(number)
            place.mkdir()
            written.write(place, self.folder / "arguments")
        self.assertEqual([path.stat().st_size for path in (self.folder / "arguments").iterdir()], [LARGE + 5])
        self.assertNotIn(blob[:100], (self.folder / "0" / "arguments.pickle").read_bytes())
        loaded = LoadedFunction(self.folder / "0", types.ModuleType("__main__"))._arguments["data"]
        self.assertEqual(bytes(loaded), blob)
        with self.assertRaises(TypeError):
            loaded[0] = 1
        self.assertNotEqual(first.digests(), FunctionFile(lambda t, data: 0, ["x"], {"data": blob + b"x"}).digests())

    def test_large_arrays_are_mapped(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no NumPy here")
        array = numpy.arange(LARGE // 4)
        self.assertEqual(self.travelled(lambda x, data: (type(data).__name__, data.flags.writeable, int(data.sum())),
                                        {"x": 1}, {"data": array}), ("memmap", False, int(array.sum())))


class Spawned(Folder):
    """Processes that a trial starts by multiprocessing get instances and functions of the script. Issue 46."""

    SCRIPT = """
        import dataclasses, multiprocessing, pathlib, pickle
        from hpsearch._function_file import FunctionFile

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
        probe = "import hpsearch._main_module as m, sys, types\nsys.modules['__main__'] = main = types.ModuleType('__main__')\n" \
                "main.__getattr__ = m._find_in_function\nprint(main.OFFSET, hasattr(main, 'other'), main.Point(3).moved().x)"
        done = subprocess.run([sys.executable, "-B", "-c", probe], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, PYTHONPATH=str(PACKAGE), HPSEARCH_FUNCTION_DIRECTORY=str(self.folder / "spawn")))
        self.assertEqual(done.stdout.strip(), "10 False 13", done.stderr)


class Digests(Folder):
    """Same name, same data. Issue 46."""

    def digests(self, function, arguments=None):
        with unittest.mock.patch.object(FunctionFile, "_kind", lambda self: "source"):
            return FunctionFile(function, ["t"], arguments or {}).digests()

    def test_arguments_are_known_by_their_content(self):
        def digest(value):
            return self.digests(lambda t, data: 0, {"data": value})["argument"]["data"]
        def adds(number):
            return lambda x: x + number
        self.assertEqual(len({value_digest(value, "it") for value in (adds(1), adds(2), [adds(1)], [adds(2)])}), 4)
        different = [Net(2), Net(3), [Net(2)], {"a": Net(2)}, {1, 2}, {1, 3}, (1, 2), [1, 2], [1, 2.0], b"a", "a", None, Net, math_of,
                     functools.partial(helper, 1), functools.partial(helper, 2), pathlib.PurePosixPath("a"), {"a": 1}, {"a": True}]
        self.assertEqual(len({digest(value) for value in different}), len(different))
        for make in (lambda: Net(2), lambda: {"b": {3, "x"}, "a": [Net(1)]}, lambda: functools.partial(helper, Net(4))):
            self.assertEqual(digest(make()), digest(make()))
        self.assertEqual(digest({"a": 1, "b": 2}), digest({"b": 2, "a": 1}))

    def test_tables_and_arrays(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no NumPy here")

        def digest(value):
            return self.digests(lambda t, data: 0, {"data": value})["argument"]["data"]
        values = [numpy.arange(4.0), numpy.arange(4), numpy.arange(4).reshape(2, 2), numpy.array([1, None]), numpy.array(["a", "b"])]
        try:
            import pandas
        except ImportError:
            pass
        else:
            table = pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]})
            values += [table, table.assign(a=[1, 3]), table.rename(columns={"a": "c"}), table.set_index("b"), table["a"],
                       table.astype({"a": "float64"}), table.assign(b=pandas.Categorical(["x", "y"]))]
            apart = pandas.concat([table[["a"]], table[["b"]]], axis=1)
            self.assertEqual(digest(apart), digest(table.copy()))
        self.assertEqual(len({digest(value) for value in values}), len(values))
        for value in values:
            self.assertEqual(digest(value), digest(value.copy()))
            self.assertEqual(digest([value]), digest([value.copy()]))

    def test_variables_around_a_function_and_the_state_of_its_object_are_values(self):
        def make(offset, net):
            return lambda t: t["x"] + offset + net.width
        first = self.digests(make(1, Net(2)))
        self.assertEqual(self.digests(make(1, Net(2))), first)
        self.assertEqual(_differences(first, self.digests(make(2, Net(2)))), ["value (offset)"])
        self.assertEqual(_differences(first, self.digests(make(1, Net(3)))), ["value (net)"])
        self.assertEqual(_differences(first, self.digests(lambda t: t["x"])), ["function", "value (net, offset)"])

        class Objective:
            def __init__(self, data):
                self.data = data

            def __call__(self, t):
                return t["x"] + len(self.data)

            def run(self, t):
                return self(t)

        one, same, other = Objective([1]), Objective([1]), Objective([2])
        self.assertEqual(self.digests(one), self.digests(same))
        self.assertNotEqual(self.digests(one), self.digests(other))
        self.assertEqual(self.digests(one.run), self.digests(same.run))
        self.assertNotEqual(self.digests(one.run), self.digests(other.run))
        self.assertNotEqual(self.digests(functools.partial(helper, 1)), self.digests(functools.partial(helper, 2)))

    def test_functions_that_a_library_wraps_are_known_by_what_they_do(self):
        def make(number):
            @functools.lru_cache()
            def cached(x):
                return x + number
            return lambda t: cached(t["x"])
        self.assertEqual(self.digests(make(1)), self.digests(make(1)))
        self.assertEqual(_differences(self.digests(make(1)), self.digests(make(2))), ["value (number)"])

    def test_globals_of_functions_that_are_called(self):
        first = self.digests(objective)
        with unittest.mock.patch.object(sys.modules[__name__], "SCALE", {"a": Net(4)}):
            changed = self.digests(objective)
        self.assertEqual(_differences(first, changed), ["value (SCALE)"])

    def test_every_process_has_the_same(self):
        text = """
            import collections, dataclasses, enum, functools
            from hpsearch._stable_digest import FunctionDigest
            @dataclasses.dataclass
            class Setting:
                words: set
            class Kind(enum.Enum):
                A = "a"
            Pair = collections.namedtuple("Pair", "left right")
            WORDS = {"alpha", "beta", "gamma"}
            def outer(data):
                @functools.lru_cache()
                def cached(x): return x in {"one", "two", "three"}
                return lambda t: (cached(t["x"]), data, WORDS, Kind.A, Pair(1, 2), Setting(WORDS), [w for w in WORDS])
            found = FunctionDigest(outer({"k": {Kind.A, "x"}, "s": Setting({"q", "r"})}))
            print(found.code, sorted(found.values.items()))
            """
        self.assertEqual(self.run_script(text, PYTHONHASHSEED="1"), self.run_script("\n\n" + text, PYTHONHASHSEED="2"))

    def test_a_search_goes_on_with_the_same_data_only(self):
        config = {"hyperparameters": {"x": 1}, "searcher": {"name": "random", "max_trials": 3}}
        own = self.folder / "own"
        own.mkdir()
        (own / "model.py").write_text("a = 1\n")
        (own / "data.csv").write_text("1\n")

        def go_on(data, scale=3, **fields):
            with unittest.mock.patch.dict(os.environ, {"HPSEARCH_STATE_HOME": str(self.folder)}):
                directory = SearchDirectory("mine")
            make_private(directory.path)
            with unittest.mock.patch.object(FunctionFile, "_kind", lambda self: "module"), unittest.mock.patch.object(
                    sys.modules[__name__], "SCALE", scale), unittest.mock.patch("sys.stderr", io.StringIO()) as said:
                written = FunctionFile(objective_with_data, ["t"], {"data": data})
                directory._recorded(dict(json.loads(json.dumps(config)), **fields), written, own, True)
            return said.getvalue()
        self.assertEqual(go_on({"rows": [1.5, 2]}), "")
        self.assertEqual(go_on({"rows": [1.5, 2]}), "")
        with self.assertRaisesRegex(ValueError, r"the search 'mine' was begun with another argument \(data\); give it another name"):
            go_on({"rows": [1.5, 3]})
        with self.assertRaisesRegex(ValueError, r"was begun with another value \(SCALE\);"):
            go_on({"rows": [1.5, 2]}, scale=4)
        # Other fields are kept, and a place of the package is none.
        moved = {"environment_variables": {"PYTHONPATH": "/elsewhere"}}
        self.assertEqual(go_on({"rows": [1.5, 2]}, environment=moved), "")
        self.assertEqual(go_on({"rows": [1.5, 2]}, max_restarts=0, environment=dict(moved, preload=["json"]),
                               reproducibility={"experiment_seed": 3}),
                         "hpsearch: the search 'mine' goes on with the environment, max_restarts, seed that it was begun with. To change "
                         "this, give the search another name\n")
        # Programs write results beside their code, so the context may change.
        (own / "data.csv").write_text("2\n")
        (own / "result.txt").write_text("")
        said = go_on({"rows": [1.5, 2]})
        self.assertIn("goes on with the files that {} had when it was begun; by now 2 differ: data.csv, result.txt.".format(own), said)
        self.assertEqual((self.folder / "mine/context/data.csv").read_text(), "1\n")

    def test_what_has_no_stable_form_is_refused_if_the_search_has_a_name(self):
        class Changing:
            def __reduce__(self):
                return (bytes, (os.urandom(8),))

        class Open:
            def __init__(self):
                self.file = sys.stdout

        for value, word in ((Changing(), r"^the argument data is a Changing whose pickle is another one each time\. A later call with "
                             "the name 'mine' could not tell"),):
            with unittest.mock.patch.dict(os.environ, {"HPSEARCH_STATE_HOME": str(self.folder)}):
                directory = SearchDirectory("mine")
            written = FunctionFile(objective_of_data, ["t"], {"data": value})
            with self.assertRaisesRegex(TypeError, word):
                directory._digests(written, True)
            self.assertEqual(list(directory._digests(written, False)), ["function"])
        with self.assertRaisesRegex(NoStableForm, "the data.file is a TextIOWrapper, which cannot be pickled"):
            value_digest(Open(), "the data")
        # A module that is imported in the trial may have a lock.
        self.assertEqual(self.digests(textwrap.dedent)["argument"], {})


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

    def test_a_state_that_cannot_be_read_again_fails_when_it_is_saved(self):  # Issue 46.
        def checked(attempt, state):
            self.setUp()
            self.in_trial(lambda message: {"directive": "continue", "length": 2}, LENGTH="2", ATTEMPT=str(attempt))
            trial = hp.FunctionTrial()
            trial.report(2, loss=1, save=lambda: state)
            return trial
        with self.assertRaisesRegex(TypeError, r"what `save` returned was stored, but cannot be read again \(ValueError: no 3"):
            checked(1, Unreadable())
        checked(2, Unreadable())  # Its first attempt was tried; and reading takes time.
        with unittest.mock.patch("hpsearch._function_trial._check_state") as check:
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


class Local(Folder):
    def test_other_machines_are_told_what_works(self):
        for system, machine in (("darwin", "arm64"), ("win32", "AMD64"), ("linux", "aarch64")):
            with unittest.mock.patch("sys.platform", system), unittest.mock.patch("platform.machine", lambda: machine):
                with self.assertRaisesRegex(NotImplementedError, "needs Linux x86-64.*hpsearch.Client"):
                    local()
        with unittest.mock.patch("sys.platform", "linux"), unittest.mock.patch("platform.machine", lambda: "x86_64"):
            check_platform("it")

    def test_names_and_places(self):
        for name in ("", ".", "..", "a/b", "x" * 300):
            with self.assertRaisesRegex(ValueError, "without /"):
                checked_name(name)
        make_private(self.folder / "a" / "b")
        self.assertEqual((self.folder / "a" / "b").stat().st_mode & 0o777, 0o700)
        (self.folder / "file").write_text("")
        with self.assertRaisesRegex(OSError, "XDG_STATE_HOME"):
            make_private(self.folder / "file" / "below")

    def test_what_changed_is_named(self):
        before = {"function": "a", "space": {"x": 1, "y": 2}, "searcher": {"name": "random"}}
        self.assertEqual(_differences(before, before), [])
        self.assertEqual(_differences(before, {"function": "b", "space": {"x": 1, "y": 3, "z": 0}, "searcher": {"name": "grid"}}),
                         ["function", "space (y, z)", "searcher (name)"])
        self.assertEqual(_differences(dict(before, value={"DATA": "1", "N": "2"}, argument={"seed": "1"}),
                                      dict(before, value={"DATA": "3", "N": "2"}, argument={"seed": "2"})),
                         ["value (DATA)", "argument (seed)"])

    def test_locks_of_other_processes_are_seen(self):
        self.assertIsNone(process_with_lock(self.folder / "none"))
        lock = self.folder / "lock"
        lock.write_text("")
        self.assertIsNone(process_with_lock(lock))
        holder = subprocess.Popen([sys.executable, "-c", "import fcntl, os, sys; f = open(sys.argv[1], 'r+'); "
                                   "fcntl.lockf(f, fcntl.LOCK_EX); f.write(str(os.getpid())); f.flush(); "
                                   "print(1, flush=True); input()", str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        holder.stdout.readline()
        self.assertEqual(process_with_lock(lock), holder.pid)
        holder.communicate(b"\n")
        self.assertIsNone(process_with_lock(lock))

    def test_a_reader_waits_for_the_end_of_the_daemon_before_it(self):
        with unittest.mock.patch.dict(os.environ, {"HPSEARCH_STATE_HOME": str(self.folder)}):
            directory = SearchDirectory("mine")
        daemon = directory.run_state / "daemon"
        daemon.mkdir(parents=True)
        (daemon / "events.db").write_text("")
        (daemon / "lock").write_text("")
        ending = subprocess.Popen([sys.executable, "-c", "import fcntl, os, sys; f = open(sys.argv[1], 'r+'); "
                                   "fcntl.lockf(f, fcntl.LOCK_EX); f.write(str(os.getpid())); f.flush(); "
                                   "print(1, flush=True); input()", str(daemon / "lock")], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        ending.stdout.readline()
        self.addCleanup(_readers.clear)
        began = []

        class Reader:
            address = "unix:///a-reader"

            def __init__(self, state, slots=None, *, worker=True):
                began.append(process_with_lock(daemon / "lock"))

        def look_again(_):
            ending.communicate(b"\n")

        with unittest.mock.patch("hpsearch._search_directory.Guard", Reader), \
                unittest.mock.patch("hpsearch._search_directory.time.sleep", look_again):
            found = directory.find_daemon()
        self.assertEqual((str(found), began), ("unix:///a-reader", [None]))

    def test_a_module_that_searches_when_it_is_imported(self):
        with unittest.mock.patch.dict(os.environ, {"HPSEARCH_LOADS_FUNCTION": "1"}), self.assertRaisesRegex(
                RuntimeError, "__main__"):
            hp.tune(objective, {"x": hp.uniform(0, 1)})

    def test_arguments_that_make_no_sense(self):
        async def coroutine(t):
            return 1.0

        def generator(t):
            yield 1.0

        for more, kind, word in (
                ({"on": "slurm:long"}, ValueError, "^on is 'slurm:long'; queues of Slurm are not supported. It must be \"local\" or"),
                ({"on": "https://head:8077"}, ValueError, r"on=hpsearch.Client\('https://head:8077'\)"),
                ({"on": 3}, TypeError, "on is a int; it must be"),
                ({"resume": "maybe"}, ValueError, "auto"),
                ({"seed": "a"}, TypeError, "seed is 'a'; it must be a whole number"),
                ({"seed": -1}, ValueError, "seed is -1; it must be from 0 to 2147483647"),
                ({"space": [1]}, TypeError, r"space is \[1\]; it must be a dict"),
                ({"space": None}, TypeError, "space is None; it must be a dict"),
                ({"function": 3}, TypeError, "function is 3; it must be a function"),
                ({"function": coroutine}, TypeError, "coroutine is a generator or a coroutine; it must be a function"),
                ({"function": generator}, TypeError, "generator is a generator or a coroutine; it must be a function"),
                ({"arguments": [1]}, TypeError, r"arguments is \[1\]; it must be a dict")):
            with self.subTest(more), self.assertRaisesRegex(kind, word):
                hp.tune(**dict({"function": objective, "space": {"x": 1}}, **more))

    def test_an_interrupt_pauses_a_search_without_a_name(self):  # Issue 43: nothing returned to it, and it trained on.
        def interrupted(kind, name):
            experiment = unittest.mock.MagicMock(spec=kind, id=3, directory=pathlib.Path("/state/f-1"), _transport=unittest.mock.Mock(
                address="unix:///a"))
            experiment.watch.side_effect = KeyboardInterrupt
            with unittest.mock.patch("sys.stderr", io.StringIO()) as said, self.assertRaises(KeyboardInterrupt):
                follow_search(experiment, name, True)
            return experiment, said.getvalue()
        local, said = interrupted(LocalExperiment, None)
        local.end_runner.assert_called_once_with()
        local.release.assert_called_once_with()
        self.assertIn("interrupted; the search is paused, and its trials save checkpoints and end. The same call with name='f-1'", said)
        local, said = interrupted(LocalExperiment, "mine")
        local.end_runner.assert_not_called()
        self.assertIn("interrupted; the search goes on, and the same call returns to it. To end it: hpsearch.Client('unix:///a')", said)
        remote, said = interrupted(hp.Experiment, None)
        remote.pause.assert_called_once_with()
        self.assertIn("the search is paused. To go on: hpsearch.Client('unix:///a').experiment(3).resume(); to end it: .cancel()", said)

    def test_a_warning_of_failed_trials_is_the_last_line(self):  # Issue 46: promising trials vanished without a word.
        def ended(**trials):
            experiment = unittest.mock.MagicMock(spec=LocalExperiment, directory=pathlib.Path("/state/f-1"))
            experiment.watch.return_value = iter([])
            experiment.now.return_value.trials = trials
            experiment.trials.select.side_effect = lambda state: iter([unittest.mock.Mock(
                number=4, failure="exit 1\nTraceback …\nUnpicklingError: Weights only load failed\n")])
            with unittest.mock.patch("sys.stderr", io.StringIO()) as said:
                self.assertIs(follow_search(experiment, None, False), experiment)
            return said.getvalue()
        self.assertEqual(ended(COMPLETED=5), "")
        self.assertEqual(ended(COMPLETED=5, FAILED=2), "hpsearch: warning: 2 of 7 trials failed and have no part in the result. "
                         "Trial 4: UnpicklingError: Weights only load failed\n")

    def test_gpus_that_are_not_there(self):  # Issue 46: the trials ran on processors.
        def tune(told, resources, slots=None, on="local", **variables):
            for name in ("hpsearch", "hpsearchd", "hpsearch-worker", "hpsearch-shim"):
                (self.folder / name).write_text("#!/bin/sh\necho '{}'\n".format(json.dumps(told)))
                (self.folder / name).chmod(0o755)
            with unittest.mock.patch.dict(os.environ, dict(HPSEARCH_BIN=str(self.folder), **variables)):
                check_gpus(resources, on, slots)

        class Cluster(hp.Client):
            def __init__(self, *kinds):
                self.kinds = kinds

            def workers(self):
                return [{"slot_kind": kind, "pool": "default", "present": True} for kind in self.kinds]

        none, one = {"devices": [], "problem": "NVML cannot be loaded"}, {"devices": [{"uuid": "GPU-1"}]}
        for told, resources, more, words in (
                (none, {"gpus": 1}, {}, r"^resources has 1 GPUs for each trial, and this machine has none \(NVML cannot be loaded\); "
                 r'leave "gpus" out to run on processors, or say how many slots a trial takes: resources=\{"slots": 1\}'),
                (one, {"gpus": 2}, {}, "this machine has 1;"), (one, {"gpus": 1}, {"CUDA_VISIBLE_DEVICES": ""}, "CUDA_VISIBLE_DEVICES is ''"),
                (one, {"gpus": 1}, {"slots": "cpu:2"}, "slots is 'cpu:2'"),
                ({"devices": [{"uuid": "GPU-1", "whole_in_mig_mode": True}]}, {"gpus": 1}, {}, "this machine has none"),
                (one, {"gpus": 1}, {"on": Cluster("cpu", "cpu")}, "none of the 2 workers of the pool default has any")):
            with self.subTest(words), self.assertRaisesRegex(ValueError, words):
                tune(told, resources, **more)
        for told, resources, more in ((one, {"gpus": 1}, {}), (none, {"gpus": 0}, {}), (none, {"slots": 2}, {}), (none, None, {}),
                                      (one, {"gpus": 2}, {"slots": "auto*2"}), (one, {"gpus": 1}, {"CUDA_VISIBLE_DEVICES": "0"}),
                                      (none, {"gpus": 1}, {"on": Cluster("cpu", "gpu")}), (none, {"gpus": 1}, {"on": Cluster()})):
            tune(told, resources, **more)
        with unittest.mock.patch("hpsearch._tune.check_gpus", side_effect=ValueError("asked")), self.assertRaisesRegex(ValueError, "asked"):
            hp.tune(objective, {"x": hp.uniform(0, 1)}, resources={"gpus": 1})

    def test_slots_that_are_none(self):
        with tempfile.TemporaryDirectory() as home, unittest.mock.patch.dict(os.environ, {"HPSEARCH_STATE_HOME": home}), \
                unittest.mock.patch("hpsearch._search_directory.programs", lambda: pathlib.Path("/nowhere")):
            for slots in (0, -1, True, ""):
                with self.subTest(slots), self.assertRaisesRegex(ValueError, "slots is .*; it must be a number of at least 1"):
                    hp.tune(objective, {"x": 1}, slots=slots)
                with self.subTest(slots), self.assertRaisesRegex(ValueError, "slots is .*; it must be a number of at least 1"):
                    hp.local(slots=slots)
            self.assertEqual([path.name for path in pathlib.Path(home).glob("*/*")], [])


if __name__ == "__main__":
    unittest.main()
