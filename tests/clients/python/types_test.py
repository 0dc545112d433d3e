"""The package's type hints hold: mypy --strict and pyright. Skipped, and said so, where they are not: HPSEARCH_MYPY and
HPSEARCH_PYRIGHT name them, `scripts/setup python` installs them into build/type-checkers."""

import functools
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "clients" / "python"
INSTALLED = ROOT / "build" / "type-checkers" / "bin"


@functools.lru_cache(maxsize=None)
def checker(name):
    """The program, or None: also if it cannot run, as Pyright without the program of Node.js that it fetches."""
    places = [os.environ.get("HPSEARCH_" + name.upper()), str(INSTALLED / name), shutil.which(name)]
    found = next((place for place in places if place and os.access(place, os.X_OK)), None)
    try:
        works = found and subprocess.run([found, "--version"], capture_output=True, timeout=100).returncode == 0
    except subprocess.TimeoutExpired:
        works = False
    return found if works else None


class Types(unittest.TestCase):
    def check(self, name, *options):
        program = checker(name)
        if not program:
            self.skipTest(f"no {name} here; scripts/setup python installs it")
        with tempfile.TemporaryDirectory() as cache:
            words = [cache if option == "CACHE" else option for option in options]
            done = subprocess.run([program, *words], cwd=str(PACKAGE), capture_output=True, text=True, timeout=250)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_mypy_is_content(self):
        self.check("mypy", "--cache-dir", "CACHE")

    def test_pyright_is_content(self):
        self.check("pyright", "--warnings")

    def test_a_mistake_in_the_types_is_found(self):
        paths = dict(os.environ, MYPYPATH=str(PACKAGE), PYTHONPATH=str(PACKAGE))
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "wrong.py").write_text("import hpsearch as hp\n\nnumber: str = hp.length(3)\n")
            for name, options in (("mypy", ["--strict", "--cache-dir", os.devnull]), ("pyright", [])):
                program = checker(name)
                if not program:
                    self.skipTest(f"no {name} here")
                done = subprocess.run([program, *options, "wrong.py"], cwd=folder, env=paths, capture_output=True, text=True,
                                      timeout=250)
                self.assertNotEqual(done.returncode, 0, name)
                self.assertRegex(done.stdout, r"wrong.py:3:.*int")


if __name__ == "__main__":
    unittest.main()
