"""What the Python package makes without a daemon: spaces, experiments, contexts, columns, tables."""

import array
import enum
import io
import json
import math
import os
import pathlib
import random
import shutil
import struct
import sys
import tarfile
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))

import hpsearch as hp
from hpsearch._client import frames as _frames
from hpsearch._checkpoint import unpack
from hpsearch._client.columns import python_values, read_columns
from hpsearch._client.context import IgnoreRules, pack_context
from hpsearch._functions.snapshot import Snapshot
from hpsearch._local.programs import how_to_get_library, libraries


class Space(unittest.TestCase):
    def test_bounds_are_values(self):
        self.assertEqual(hp.loguniform(1e-4, 1e-1), {"type": "double", "minval": 1e-4, "maxval": 0.1, "scale": "log"})
        self.assertEqual(hp.uniform(0, 1, count=5), {"type": "double", "minval": 0, "maxval": 1, "count": 5})
        self.assertEqual(hp.quniform(0, 1, 0.1), {"type": "double", "minval": 0, "maxval": 1, "step": 0.1})
        self.assertEqual(hp.int(16, 256, log=True), {"type": "int", "minval": 16, "maxval": 256, "scale": "log"})
        self.assertEqual(hp.choice("a", 3, None), {"type": "categorical", "vals": ["a", 3, None]})
        self.assertEqual(hp.choice(["a", "b"], ordered=True), {"type": "categorical", "vals": ["a", "b"], "ordered": True})
        self.assertEqual(hp.const({"type": "adam"}, when={"x": 1}),
                         {"type": "const", "val": {"type": "adam"}, "when": {"x": 1}})

    def test_what_is_no_range_is_refused(self):
        for make, word in ((lambda: hp.loguniform(-4, -1), "above 0"), (lambda: hp.uniform(1, 1), "above low"),
                           (lambda: hp.uniform("a", 1), "low is 'a'"), (lambda: hp.uniform(0, math.inf), "finite"),
                           (lambda: hp.int(True, 3), "must be a number"), (lambda: hp.choice([]), "no option")):
            with self.assertRaisesRegex((TypeError, ValueError), word):
                make()

    def test_a_list_is_neither_a_choice_nor_a_constant(self):
        for given in ([1, 2], (1, 2), range(2), {1, 2}, []):
            for space, path in (({"x": given}, "space.x"), ({"net": {"x": given}}, "space.net.x"),
                                ({"net": {"when": {"y": 1}, "x": given}}, "space.net.x")):
                with self.subTest(space), self.assertRaisesRegex(TypeError, r"^{} is .* hpsearch.choice\(\[.*hpsearch.const\(\[".format(path)):
                    hp.experiment(["true"], space=space, searcher={})
        space = {"x": hp.const((1, 2)), "net": {"when": {"y": [1, 2]}, "z": hp.choice([1, 2])}}
        self.assertEqual(hp.experiment(["true"], space=space, searcher={})["hyperparameters"], {
            "x": {"type": "const", "val": [1, 2]},
            "net": {"when": {"y": [1, 2]}, "z": {"type": "categorical", "vals": [1, 2]}}})

    def test_frozen_distributions_of_scipy_are_distributions(self):
        try:
            import numpy
            from scipy import stats
        except ImportError:
            self.skipTest("no SciPy here")
        made = hp.experiment(["true"], searcher={}, space={
            "a": stats.uniform(1, 3), "b": stats.loguniform(1e-4, 1), "c": stats.randint(1, 9), "d": stats.randint(3, 4),
            "net": {"e": stats.uniform()}})["hyperparameters"]
        self.assertEqual(made, {
            "a": {"type": "double", "minval": 1, "maxval": 4}, "b": {"type": "double", "minval": 1e-4, "maxval": 1, "scale": "log"},
            "c": {"type": "int", "minval": 1, "maxval": 8}, "d": {"type": "const", "val": 3},
            "net": {"e": {"type": "double", "minval": 0, "maxval": 1}}})
        for given in (stats.norm(0, 1), stats.uniform, stats.uniform([0, 1], 2), stats.loguniform(1, 10, loc=3)):
            with self.assertRaisesRegex(TypeError, "space.x is the distribution .*; a search can draw from uniform, loguniform"):
                hp.experiment(["true"], space={"x": given}, searcher={})
        with self.assertRaisesRegex(TypeError, r"space.x is array\(\[1, 2\]\); write hpsearch.choice"):
            hp.experiment(["true"], space={"x": numpy.array([1, 2])}, searcher={})

    def test_the_distribution_and_the_line_of_a_log_have_different_names(self):
        with unittest.mock.patch("sys.stdout", io.StringIO()) as said:
            self.assertIsNone(hp.log_line("half way"))
        self.assertEqual(said.getvalue(), "hpsearch: half way\n")
        with self.assertRaisesRegex(AttributeError, r"loguniform\(low, high\).*report\(step.*log_line\(text\)"):
            hp.log
        self.assertFalse(hasattr(hp.FunctionTrial, "log"))

    def test_an_experiment_is_what_the_file_says(self):
        self.assertEqual(
            hp.experiment(["python3", pathlib.PurePosixPath("train.py"), "{lr}"], name="lr",
                          space={"lr": hp.loguniform(1e-4, 1e-1), "net": {"width": hp.int(1, 4), "depth": 3}},
                          searcher=hp.asha(metric="loss", max_length={"epochs": 9}, max_trials=8, divisor=3),
                          resources={"slots_per_trial": 2}),
            {"entrypoint": ["python3", "train.py", "{lr}"], "name": "lr",
             "hyperparameters": {"lr": {"type": "double", "minval": 1e-4, "maxval": 0.1, "scale": "log"},
                                 "net": {"width": {"type": "int", "minval": 1, "maxval": 4}, "depth": 3}},
             "searcher": {"name": "adaptive_asha", "metric": "loss", "max_length": {"epochs": 9}, "max_trials": 8,
                          "divisor": 3, "smaller_is_better": True},
             "resources": {"slots_per_trial": 2}})

    def test_values_of_libraries_become_plain(self):
        class Scalar:
            def tolist(self):
                return 3

        class Kind(enum.Enum):
            SMALL = "small"

        made = hp.experiment("x", space={"a": Scalar(), "b": hp.const((1, 2)), "c": pathlib.PurePosixPath("d"), "e": Kind.SMALL},
                             searcher={})
        self.assertEqual(made["hyperparameters"], {"a": 3, "b": {"type": "const", "val": [1, 2]}, "c": "d", "e": "small"})
        for value, word in ((object(), "space.a is a object"), ({1: 2}, "must be texts"), (math.nan, "finite")):
            with self.assertRaisesRegex((TypeError, ValueError), word):
                hp.experiment("x", space={"a": value}, searcher={})

    def test_scalars_of_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no NumPy here")
        self.assertEqual(hp.choice(numpy.array([1, 2]))["vals"], [1, 2])
        made = json.dumps(hp.uniform(numpy.float32(0.5), numpy.int64(2)))
        self.assertEqual(json.loads(made), {"type": "double", "minval": 0.5, "maxval": 2})


class Context(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hpsearch-context-"))
        self.addCleanup(shutil.rmtree, str(self.folder), ignore_errors=True)

    def write(self, name, text="x", mode=0o644):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def names(self, **more):
        with tarfile.open(fileobj=io.BytesIO(pack_context(self.folder, **more).archive)) as archive:
            return {member.name: member for member in archive}

    def test_equal_contents_have_equal_digests(self):
        self.write("b/train.py")
        self.write("a.sh", mode=0o755)
        first = pack_context(self.folder)
        os.utime(str(self.folder / "a.sh"), (1, 1))
        self.assertEqual(pack_context(self.folder).digest, first.digest)
        names = self.names()
        self.assertEqual(list(names), ["a.sh", "b", "b/train.py"])
        self.assertEqual((names["a.sh"].mode, names["b/train.py"].mode, names["b"].mtime), (0o755, 0o644, 0))

    def test_what_is_left_out(self):
        for name in ("train.py", ".git/HEAD", "pkg/__pycache__/x.pyc", "venv/bin/python", ".env", "key.pem", "data/big.bin",
                     "data/keep.bin", "state/lock", "state/worker.json", ".hpsearch/run/run.json"):
            self.write(name)
        self.write(".hpsearchignore", "data/*\n!data/keep.bin\n!.env\n# a comment\n")
        self.assertEqual([name for name, member in self.names().items() if member.isreg()],
                         [".env", ".hpsearchignore", "train.py", "data/keep.bin"])

    def test_links_lead_to_the_same(self):
        self.write("a/x")
        for name, target in (("inside", "a/x"), ("absolute", str(self.folder / "a/x")), ("out", "../elsewhere")):
            (self.folder / name).symlink_to(target)
        links = {name: member.linkname for name, member in self.names().items() if member.issym()}
        self.assertEqual(links, {"inside": "a/x", "absolute": "a/x", "out": str(self.folder.parent / "elsewhere")})

    def test_a_context_that_is_too_large_names_its_largest_files(self):
        self.write("large.bin", "x" * 1_500_000)
        with self.assertRaisesRegex(hp.BadRequest, r"large.bin \(1.5 MB\)"):
            pack_context(self.folder, 1)
        with self.assertRaisesRegex(hp.BadRequest, "no directory"):
            pack_context(self.folder / "none")

    def test_patterns(self):
        for pattern, path, is_directory, expected in (
                ("*.bin", "a/b.bin", False, True), ("/*.bin", "a/b.bin", False, False), ("out/", "out", True, True),
                ("out/", "out", False, False), ("a/**/c", "a/c", False, True), ("a/**/c", "a/b/b/c", False, True),
                ("x[0-9]", "x5", False, True), ("x[!0-9]", "x5", False, False), ("a?c", "a/c", False, False),
                ("**/log", "a/log", False, True), ("a.c", "abc", False, False)):
            self.assertEqual(IgnoreRules(pattern).ignores(path, is_directory), expected, pattern + " " + path)

    def test_an_archive_stays_in_its_directory(self):
        def archive(*members):
            out = io.BytesIO()
            with tarfile.open(fileobj=out, mode="w") as opened:
                for name, kind, link in members:
                    member = tarfile.TarInfo(name)
                    member.type, member.linkname, member.size = kind, link, 1 if kind == tarfile.REGTYPE else 0
                    opened.addfile(member, io.BytesIO(b"x"))
            return io.BytesIO(out.getvalue())

        file, link, hard = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
        unpack(archive(("d", tarfile.DIRTYPE, ""), ("d/a", file, ""), ("l", link, "d/a")), self.folder / "good")
        self.assertEqual((self.folder / "good" / "l").read_text(), "x")
        for number, members in enumerate((
                [("../a", file, "")], [("/a", file, "")], [("a//b", file, "")], [("l", link, "../x")],
                [("l", link, "/etc")], [("l", link, "."), ("l/a", file, "")], [("h", hard, "x")], [("p", tarfile.FIFOTYPE, "")])):
            target = self.folder / "bad{}".format(number)
            target.mkdir()
            with self.subTest(members), self.assertRaisesRegex(ValueError, "the archive has"):
                unpack(archive(*members), target)


def encoded(fields, columns, chunk, **more):
    """The format as docs/http-api.md describes it."""
    sizes = {"f64": "d", "i64": "q", "u32": "I", "u16": "H", "u8": "B"}
    rows = len(columns[0]) if columns else 0
    header = json.dumps({"lsn": 9, "rows": rows, "total": rows + 1, "chunk_rows": chunk, "fields": fields, **more}).encode()
    out = header + b" " * (-(len(header) + 1) % 8) + b"\n"
    for first in range(0, rows, chunk):
        for field, column in zip(fields, columns):
            part = column[first:first + chunk]
            packed = struct.pack("<{}{}".format(len(part), sizes[field["type"]]), *part)
            out += packed + b"\0" * (-len(packed) % 8)
    return out


class Columns(unittest.TestCase):
    FIELDS = [{"name": "trial", "type": "u32"}, {"name": "state", "type": "u8", "words": ["RUNNING", "COMPLETED"]},
              {"name": "metric", "type": "f64"}, {"name": "hparams.k", "type": "u16", "words": ["a", 3, None, [1]]},
              {"name": "hparams.lr", "type": "f64"}]

    def test_all_sizes_are_read(self):
        rng = random.Random(5)
        for rows in (0, 1, 7, 8, 9, 50):
            for chunk in (1, 8, 16384):
                columns = [[rng.choice([rng.randrange(1000), 2**32 - 1]) for _ in range(rows)],
                           [rng.choice([0, 1, 255]) for _ in range(rows)],
                           [rng.choice([0.5, math.nan]) for _ in range(rows)],
                           [rng.choice([0, 1, 2, 3, 65535]) for _ in range(rows)], [rng.random() for _ in range(rows)]]
                read = read_columns(encoded(self.FIELDS, columns, chunk))
                self.assertEqual((read.lsn, read.rows, read.total), (9, rows, rows + 1))
                values = [python_values(column) for column in read.columns]
                words = {255: None, 0: "RUNNING", 1: "COMPLETED"}
                kinds = {0: "a", 1: 3, 2: None, 3: [1], 65535: None}
                self.assertEqual(values, [[None if v == 2**32 - 1 else v for v in columns[0]], [words[v] for v in columns[1]],
                                          [None if math.isnan(v) else v for v in columns[2]],
                                          [kinds[v] for v in columns[3]], columns[4]])

    def test_without_numpy_they_are_arrays(self):
        with unittest.mock.patch.dict(sys.modules, {"numpy": None}):
            read = read_columns(encoded(self.FIELDS, [[1, 2], [0, 1], [0.5, 1], [0, 1], [1, 2]], 1))
        self.assertIsInstance(read.columns[0].values, array.array)
        self.assertEqual(read.columns[0].values.tolist(), [1, 2])

    def test_what_is_cut_off_is_refused(self):
        whole = encoded(self.FIELDS, [[1, 2], [0, 1], [0.5, 1], [0, 1], [1, 2]], 2)
        for end in (0, 5, len(whole) - 8, len(whole) - 16):
            with self.assertRaises(ValueError):
                read_columns(whole[:end])

    def test_a_frame_without_pandas_is_a_list(self):
        read = read_columns(encoded(self.FIELDS, [[1], [1], [math.nan], [3], [0.25]], 8))
        with unittest.mock.patch.dict(sys.modules, {"pandas": None}):
            self.assertEqual(_frames.frame_of(read, False), [
                {"trial": 1, "state": "COMPLETED", "metric": None, "hparams.k": [1], "hparams.lr": 0.25}])
        with unittest.mock.patch.dict(sys.modules, {"polars": None}), self.assertRaisesRegex(ImportError, "pip install"):
            _frames.frame_of(read, True)

    def test_curves_are_one_long_table(self):
        rows = _frames.curve_rows([{"metric": "loss", "group": "training", "trials": [
            {"trial": 3, "step": [1, 3], "last": [0.5, 0.25], "nonfinite": [[2, "nan"]]}]}])
        self.assertEqual((rows["trial"], rows["step"], rows["metric"]), ([3, 3, 3], [1, 2, 3], ["training.loss"] * 3))
        self.assertTrue(math.isnan(rows["value"][1]))


class Snapshots(unittest.TestCase):
    def test_metrics_that_are_not_finite(self):
        for word, value in (("nan", math.nan), ("+inf", math.inf), ("-inf", -math.inf)):
            best = Snapshot({"id": 1, "state": "ACTIVE", "best": {"trial": 2, "metric": {"class": word}, "step": 3}}).best
            self.assertEqual(repr(best.metric), repr(value))


class Programs(unittest.TestCase):
    def test_they_are_looked_for_in_order(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="hpsearch-programs-"))
        self.addCleanup(shutil.rmtree, str(folder), ignore_errors=True)
        for place in ("named", "path"):
            (folder / place).mkdir()
            for name in ("hpsearch", "hpsearchd", "hpsearch-worker", "hpsearch-shim"):
                (folder / place / name).write_text("#!/bin/sh\n")
                (folder / place / name).chmod(0o755)
        no_build = unittest.mock.patch("hpsearch._local.programs._built", lambda: [])
        with no_build, unittest.mock.patch.dict(os.environ, {"PATH": str(folder / "path"), "HPSEARCH_BIN": ""}):
            self.assertEqual(hp.programs(), folder / "path")
            os.environ["HPSEARCH_BIN"] = str(folder / "named")
            self.assertEqual(hp.programs(), folder / "named")
            os.environ["HPSEARCH_BIN"] = str(folder)
            with self.assertRaisesRegex(FileNotFoundError, "HPSEARCH_BIN is"):
                hp.programs()
            os.environ.update(HPSEARCH_BIN="", PATH="")
            with self.assertRaisesRegex(FileNotFoundError, "were not found; .*, or set HPSEARCH_BIN"):
                hp.programs()

    def test_the_library_is_looked_for_beside_them(self):
        clone = pathlib.Path(__file__).resolve().parents[3]
        built = [clone / "build" / preset / "lib" / "libhpsearch.so.0" for preset in ("release", "dev")]
        unset = {"HPSEARCH_BIN": "", "HPSEARCH_LIBRARY": "", "PATH": ""}
        with unittest.mock.patch.dict(os.environ, unset), unittest.mock.patch("hpsearch._local.programs._installed", lambda: []):
            self.assertEqual(libraries(), built)
            os.environ["HPSEARCH_LIBRARY"] = "/own.so"
            self.assertEqual(libraries(), [pathlib.Path("/own.so")] + built)
            os.environ.update(HPSEARCH_LIBRARY="", HPSEARCH_BIN="/named/bin")
            self.assertEqual(libraries(), [pathlib.Path("/named/lib/libhpsearch.so.0")])

    def test_advice_for_a_machine_without_them_is_a_command_of_the_clone(self):
        clone = pathlib.Path(tempfile.mkdtemp(prefix="hpsearch-clone-"))
        self.addCleanup(shutil.rmtree, str(clone), ignore_errors=True)
        with unittest.mock.patch.dict(os.environ, {"HPSEARCH_BIN": ""}), unittest.mock.patch(
                "hpsearch._local.programs._clone", lambda: clone):
            self.assertEqual(how_to_get_library(), "in {}, run: scripts/setup build && cmake --preset release && cmake --build "
                             "build/release --target hpsearch_c".format(clone))
            (clone / "build" / "dev").mkdir(parents=True)
            (clone / "build" / "dev" / "build.ninja").touch()
            self.assertEqual(how_to_get_library(), "in {}, run: cmake --build build/dev --target hpsearch_c".format(clone))
        with unittest.mock.patch.dict(os.environ, {"HPSEARCH_BIN": ""}), unittest.mock.patch(
                "hpsearch._local.programs._clone", lambda: None):
            self.assertIn("the wheels that scripts/wheel builds", how_to_get_library())


if __name__ == "__main__":
    unittest.main()
