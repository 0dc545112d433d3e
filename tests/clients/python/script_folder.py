"""Scripts of users in a folder of their own."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

from fake_worker import PACKAGE


class ScriptFolder(unittest.TestCase):
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
        loader = ("import sys, json, os\nfrom hpsearch._functions.loaded_function import LoadedFunction\nimport pathlib\n"
                  "from hpsearch._functions.main_module import take_main\nos.chdir(sys.argv[1])\n"
                  "print(LoadedFunction(pathlib.Path.cwd(), take_main()).call(json.loads(sys.argv[2])))\n")
        done = subprocess.run([sys.executable, "-B", "-c", loader, str(context), json.dumps(params)], capture_output=True,
                              text=True, timeout=100, env=dict(os.environ, PYTHONPATH=str(package)))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()
