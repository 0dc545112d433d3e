#!/usr/bin/python3
"""docs/python/python.md and the notebooks of examples/notebooks with the built packages: page_test.py DIST. The tests are those of tests/e2e; here
hpsearch is installed in a virtual environment, and no compiler is on PATH. The pictures and the notebooks need matplotlib,
nbclient and ipykernel from an index; without one they are skipped."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from built import ROOT, Built, environment, interpreters, plain_environment

BUILT = Built(sys.argv.pop(1))


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="hpsearch-wheel-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.scripts = environment(list(interpreters().values())[-1], cls.folder / "venv", BUILT)
        fetched = subprocess.run([cls.scripts / "pip", "install", "--quiet", "--disable-pip-version-check", "matplotlib", "nbclient",
                                  "ipykernel"], capture_output=True, text=True, check=False)
        cls.has_more = fetched.returncode == 0
        if not cls.has_more:
            print(f"skipped: the pictures and the notebooks: pip can't get their packages: {fetched.stderr[-200:]}")

    def run_test(self, name):
        python = self.scripts / "python3"
        surroundings = plain_environment(self.folder / "home", self.scripts)
        programs = subprocess.run([python, "-c", "import hpsearch; print(hpsearch.programs())"], env=surroundings, cwd=self.folder,
                                  capture_output=True, text=True, check=True).stdout.strip()
        self.assertTrue(programs.startswith(str(self.folder)), programs)
        more = {name: os.environ[name] for name in ("E2E_PATIENCE_SECONDS", "TMPDIR") if name in os.environ}
        run = subprocess.run(["/usr/bin/python3", "-B", ROOT / "tests" / "e2e" / "run.py", name],
                             env=surroundings | more | {"HPSEARCH_INSTALLED_PYTHON": str(python), "E2E_BIN_DIR": programs},
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stderr

    def test_every_block_of_the_page_runs(self):
        said = self.run_test("python_page")
        self.assertIn("\nOK", said)
        self.assertEqual("no matplotlib" in said, not self.has_more, said)

    def test_the_notebooks_run(self):
        if not self.has_more:
            self.skipTest("nbclient or ipykernel is missing")
        said = self.run_test("python_notebook")
        self.assertNotIn("nbclient, ipykernel", said)


if __name__ == "__main__":
    unittest.main()
