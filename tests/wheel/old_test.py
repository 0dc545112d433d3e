#!/usr/bin/python3
"""What an older distribution sees: pip finds no wheel of the programs there, and the client works. old_test.py DIST"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from built import Built, interpreters

BUILT = Built(sys.argv.pop(1))
# Ubuntu 20.04's C library, as pip asks for it.
OLD = "import os\n_ask = os.confstr\nos.confstr = lambda name: 'glibc 2.31' if name == 'CS_GNU_LIBC_VERSION' else _ask(name)\n"


class Old(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="hpsearch-wheel-")
        self.addCleanup(self.scratch.cleanup)
        self.venv = pathlib.Path(self.scratch.name) / "venv"
        subprocess.run([next(iter(interpreters().values())), "-m", "venv", self.venv], check=True)
        packages = subprocess.run([self.venv / "bin" / "python3", "-c", "import site; print(site.getsitepackages()[0])"],
                                  capture_output=True, text=True, check=True).stdout.strip()
        (pathlib.Path(packages) / "sitecustomize.py").write_text(OLD, encoding="utf-8")

    def pip(self, *words):
        return subprocess.run([self.venv / "bin" / "pip", "install", "--disable-pip-version-check", "--no-index", *words],
                              capture_output=True, text=True, check=False)

    def test_pip_refuses_the_programs(self):
        refused = self.pip("--find-links", BUILT.directory, "hpsearch")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("No matching distribution found for hpsearch", refused.stderr + refused.stdout)

    def test_the_client_works(self):
        self.assertEqual(self.pip("--find-links", BUILT.directory, "hpsearch-client").returncode, 0)
        asked = subprocess.run([self.venv / "bin" / "python3", "-c", "import hpsearch; print(hpsearch.params({'x': 1.5}))"],
                               capture_output=True, text=True, check=False)
        self.assertEqual((asked.returncode, "1.5" in asked.stdout), (0, True), asked.stderr)


if __name__ == "__main__":
    unittest.main()
