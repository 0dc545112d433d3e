"""The package's tests pass under Python 3.8: HPSEARCH_PYTHON38, or one of pyenv, or python3.8 of the PATH. Skipped
without one."""

import os
import pathlib
import subprocess
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class Python38(unittest.TestCase):
    def setUp(self):
        of_pyenv = sorted(pathlib.Path.home().glob(".pyenv/versions/3.8.*/bin/python3"))
        self.python = os.environ.get("HPSEARCH_PYTHON38") or (str(of_pyenv[0]) if of_pyenv else "python3.8")
        try:
            version = subprocess.run([self.python, "--version"], capture_output=True, text=True).stdout
        except OSError:
            version = ""
        if not version.startswith("Python 3.8."):
            self.skipTest("no Python 3.8 here")

    def test_the_others_pass_there(self):
        for test in ("client_test.py", "integrations/callbacks_test.py", "values_test.py", "requests_test.py", "function_test.py",
                     "local_search_test.py", "stable_digest_test.py", "integrations/mirrors_test.py"):
            done = subprocess.run([self.python, "-B", str(HERE / test)], capture_output=True, text=True, timeout=200)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
