"""How a search with a name knows that its function and its data are the same as before."""

import functools
import io
import json
import os
import pathlib
import sys
import textwrap
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))

from hpsearch._functions.confirmation import Confirmation
from hpsearch._functions.function_file import FunctionFile
from hpsearch._local.local import make_private
from hpsearch._local.search_directory import SearchDirectory
from hpsearch._local.search_record import differences, parts_of
from hpsearch._functions.stable_digest import NoStableForm, value_digest
from script_folder import ScriptFolder

SCALE = 3


class Net:
    def __init__(self, width):
        self.width = width


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


class Digests(ScriptFolder):
    """Same name, same data."""

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
        self.assertEqual(differences(first, self.digests(make(2, Net(2)))), ["value (offset)"])
        self.assertEqual(differences(first, self.digests(make(1, Net(3)))), ["value (net)"])
        self.assertEqual(differences(first, self.digests(lambda t: t["x"])), ["function", "value (net, offset)"])

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
        self.assertEqual(differences(self.digests(make(1)), self.digests(make(2))), ["value (number)"])

    def test_globals_of_functions_that_are_called(self):
        first = self.digests(objective)
        with unittest.mock.patch.object(sys.modules[__name__], "SCALE", {"a": Net(4)}):
            changed = self.digests(objective)
        self.assertEqual(differences(first, changed), ["value (SCALE)"])

    def test_every_process_has_the_same(self):
        text = """
            import collections, dataclasses, enum, functools
            from hpsearch._functions.stable_digest import FunctionDigest
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
        config = {"entrypoint": ["true"], "hyperparameters": {"x": 1},
                  "searcher": {"name": "random", "metric": "loss", "max_length": {"epochs": 1}, "max_trials": 3}}
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
                directory._recorded(dict(json.loads(json.dumps(config)), **fields), written, own, True, Confirmation(False, False))
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
            config = {"name": "mine", "hyperparameters": {}, "searcher": {}}
            written = FunctionFile(objective_of_data, ["t"], {"data": value})
            with self.assertRaisesRegex(TypeError, word):
                parts_of(config, written, True)
            self.assertEqual(sorted(parts_of(config, written, False)), ["function", "searcher", "space"])
        with self.assertRaisesRegex(NoStableForm, "the data.file is a TextIOWrapper, which cannot be pickled"):
            value_digest(Open(), "the data")
        # A module that is imported in the trial may have a lock.
        self.assertEqual(self.digests(textwrap.dedent)["argument"], {})


if __name__ == "__main__":
    unittest.main()
