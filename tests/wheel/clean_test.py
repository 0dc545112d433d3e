#!/usr/bin/python3
"""The packages in clean virtual environments of each Python of this machine: no compiler on PATH, no index, and a search
that runs to its end: clean_test.py DIST"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from built import Built, environment, interpreters, plain_environment, write_search

BUILT = Built(sys.argv.pop(1))


class Clean(unittest.TestCase):
    def search(self, version, python):
        with tempfile.TemporaryDirectory(prefix="hpsearch-wheel-") as scratch:
            folder = pathlib.Path(scratch)
            scripts = environment(python, folder / "venv", BUILT)
            surroundings = plain_environment(folder / "home", scripts)
            search = write_search(folder / "search")
            run = subprocess.run([scripts / "hpsearch", "run", "search.yaml", "-o", "json"], cwd=search, env=surroundings,
                                 capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual(run.returncode, 0, f"Python {version}: {run.stdout}{run.stderr}")
            self.assertIn("COMPLETED", run.stdout, f"Python {version}")
            asked = subprocess.run([scripts / "python3", "-c", "import hpsearch; print(hpsearch.__version__)"], env=surroundings,
                                   capture_output=True, text=True, check=True)
            said = subprocess.run([scripts / "hpsearch", "--version"], env=surroundings, capture_output=True, text=True, check=True)
            self.assertIn(asked.stdout.strip(), said.stdout)

    def test_a_search_ends_in_each_python(self):
        found = interpreters()
        self.assertTrue(found)
        print("Pythons:", ", ".join(found))
        for version, python in found.items():
            with self.subTest(python=version):
                self.search(version, python)


if __name__ == "__main__":
    unittest.main()
