"""Values whose large parts lie in files of their own: arguments of functions, and values that functions use."""

import array
import importlib.util
import json
import os
import pathlib
import shutil
import sys
import types
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[4] / "clients" / "python"), str(pathlib.Path(__file__).resolve().parents[1])]

from hpsearch._functions.function_file import FunctionFile
from hpsearch._functions.large_parts import LARGE
from hpsearch._functions.loaded_function import LoadedFunction
from hpsearch._functions.stable_digest import value_digest
from script_folder import ScriptFolder


def array_of_bytes(size):
    return bytearray(os.urandom(size))


class LargeParts(ScriptFolder):
    """Arguments, and values around the function, whose large parts lie in files of their own."""

    def travelled(self, function, params, arguments):
        place = self.folder / "context"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        FunctionFile(function, list(params), arguments).write(place)
        return LoadedFunction(place, types.ModuleType("__main__")).call(params)

    def sizes(self):
        return sorted(path.stat().st_size for path in (self.folder / "arguments").iterdir())

    def test_they_are_stored_once_for_all_functions(self):
        blob, array = os.urandom(LARGE + 5), array_of_bytes(LARGE + 9)
        first = FunctionFile(lambda t, data, view: 0, ["x"], {"data": blob, "view": memoryview(array)})
        second = FunctionFile(lambda t, data, more: 0, ["x"], {"data": {"nested": [blob]}, "more": 1})
        for number, written in enumerate((first, second)):
            place = self.folder / str(number)
            place.mkdir()
            written.write(place, self.folder / "arguments")
        self.assertEqual(self.sizes(), [LARGE + 5, LARGE + 9])
        loaded = LoadedFunction(self.folder / "0", types.ModuleType("__main__"))._arguments
        self.assertEqual((loaded["data"], loaded["view"]), (blob, array))
        again = LoadedFunction(self.folder / "1", types.ModuleType("__main__"))._arguments
        self.assertEqual(again, {"data": {"nested": [blob]}, "more": 1})

    def test_changes_of_a_trial_are_its_own(self):
        array = array_of_bytes(LARGE + 9)
        arguments = {"view": memoryview(array), "fixed": memoryview(bytes(array)), "own": bytearray(array)}
        FunctionFile(lambda t, view, fixed, own: 0, ["x"], arguments).write(self.folder, self.folder / "arguments")
        before, other = (LoadedFunction(self.folder, types.ModuleType("__main__"))._arguments for _ in range(2))
        before["view"][0] = before["own"][0] = 77
        self.assertEqual((before["view"][0], other["view"][0], other["own"][0]), (77, array[0], array[0]))
        later = LoadedFunction(self.folder, types.ModuleType("__main__"))._arguments
        self.assertEqual((later["view"][0], bytes(later["fixed"])), (array[0], bytes(array)))
        with self.assertRaises(TypeError):
            before["fixed"][0] = 77

    def test_a_large_pickle_is_a_file_too(self):
        words = ["word %d" % number for number in range(LARGE // 8)]
        FunctionFile(lambda t, words: 0, ["x"], {"words": words}).write(self.folder, self.folder / "arguments")
        self.assertEqual(len(self.sizes()), 1)
        self.assertLess(sum(path.stat().st_size for path in self.folder.iterdir() if path.is_file()), 20000)
        self.assertEqual(LoadedFunction(self.folder, types.ModuleType("__main__"))._arguments, {"words": words})

    def test_without_a_shared_directory_they_travel_with_the_function(self):
        blob = os.urandom(LARGE + 5)
        self.assertEqual(self.travelled(lambda x, data: len(data) + x, {"x": 1}, {"data": blob}), LARGE + 6)

    def test_views_keep_their_shape(self):
        numbers = array.array("d", range(LARGE // 4))
        for view in (memoryview(numbers), memoryview(numbers).cast("B").cast("d", (2, LARGE // 8)), memoryview(numbers)[::2],
                     memoryview(b"few")):
            loaded = self.travelled(lambda x, data: data, {"x": 1}, {"data": view})
            self.assertEqual((loaded.format, loaded.shape, loaded.tolist()), (view.format, view.shape, view.tolist()))

    def test_a_script_without_cloudpickle_has_them_as_values(self):
        said = self.run_script("""
            import pathlib
            from hpsearch._functions.function_file import FunctionFile
            TABLE = bytes(range(256)) * 5000
            def train(x): return x + len(TABLE) + TABLE[3]
            if __name__ == "__main__":
                place = pathlib.Path("c"); place.mkdir()
                written = FunctionFile(train, ["x"], {}); written.write(place, pathlib.Path("a").absolute())
                print(written.kind, [file.stat().st_size for file in pathlib.Path("a").iterdir()])
            """)
        self.assertEqual(said.strip(), "source [1280000]")
        self.assertEqual(self.called_in_another_process(self.folder / "c", {"x": 5}), "1280008")

    def test_tables_arrays_and_tensors_are_mapped(self):
        """Those that are installed: each has about 3 MB, which is all that the files have."""
        made = {}
        if importlib.util.find_spec("numpy"):
            import numpy
            made["array"] = numpy.arange(400_000, dtype="f8").reshape(1000, 400)
            made["turned"] = made["array"].T[::2]
            made["dict"] = {"inside": [made["array"] + 1]}
        if importlib.util.find_spec("pandas"):
            import pandas
            made["table"] = pandas.DataFrame({"a": range(200_000), "b": [0.5] * 200_000})
            made["column"] = pandas.Series(range(400_000), name="s")
        if importlib.util.find_spec("polars"):
            import polars
            made["frame"] = polars.DataFrame({"a": range(200_000), "b": [0.5] * 200_000})
        if importlib.util.find_spec("torch"):
            import torch
            made["tensor"] = torch.arange(800_000, dtype=torch.float32).reshape(1000, 800)
            made["half"] = torch.ones(1000, 1000, dtype=torch.bfloat16, requires_grad=True)
        for name, value in made.items():
            with self.subTest(name):
                place = self.folder / name
                place.mkdir()
                FunctionFile(lambda t, data: 0, ["x"], {"data": value}).write(place, place / "arguments")
                self.assertLess((place / "arguments.pickle").stat().st_size, 10_000)
                record = json.loads((place / "function.json").read_text())["arguments"]
                self.assertEqual(bool(record["buffers"]), name != "frame")  # polars pickles itself as bytes.
                self.assertIsNone(record["file"])
                sizes = [path.stat().st_size for path in (place / "arguments").iterdir()]
                self.assertTrue(sizes)
                self.assertLess(sum(sizes), 3_300_000)
                loaded = LoadedFunction(place, types.ModuleType("__main__"))._arguments["data"]
                self.assertEqual(type(loaded), type(value))
                self.assertEqual(value_digest(loaded, name), value_digest(value, name))
                if name in ("array", "turned"):
                    loaded[0, 0] = 7
                    self.assertNotEqual(value[0, 0], 7)


if __name__ == "__main__":
    unittest.main()
