"""The package's type hints hold: mypy --strict. Skipped, and said so, where there is no mypy (HPSEARCH_MYPY names one)."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"


class Types(unittest.TestCase):
    def test_mypy_is_content(self):
        mypy = os.environ.get("HPSEARCH_MYPY") or shutil.which("mypy")
        if not mypy:
            self.skipTest("no mypy here")
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run([mypy, "--cache-dir", cache], cwd=str(PACKAGE), capture_output=True, text=True, timeout=250)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
