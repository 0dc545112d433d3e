"""The package installs: a wheel is built, installed into a fresh environment, and used there from another directory."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

PACKAGE = pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"


def available(module):
    return subprocess.run([sys.executable, "-c", "import " + module], capture_output=True).returncode == 0


class PackageTest(unittest.TestCase):
    def setUp(self):
        for module in ("pip", "setuptools", "wheel"):
            if not available(module):
                raise unittest.SkipTest("no {0} here (Debian: python3-{0}); the wheel was not built".format(module))
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hpsearch-package-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_quietly(self, *command, **more):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=200, cwd=self.folder,
                              env=environment, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_a_wheel_is_built_installed_and_used(self):
        source = shutil.copytree(PACKAGE, self.folder / "source")  # Building leaves files there.
        # With what is installed: a test does not ask the network.
        self.run_quietly(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index",
                         "--wheel-dir", self.folder, source)
        wheels = list(self.folder.glob("hpsearch_client-*.whl"))
        self.assertEqual(len(wheels), 1)
        with zipfile.ZipFile(wheels[0]) as wheel:
            names = wheel.namelist()
            metadata = next(wheel.read(name).decode() for name in names if name.endswith("METADATA"))
        for name in ("hpsearch/__init__.py", "hpsearch/py.typed", "hpsearch/callbacks/xgboost.py", "hpsearch/wandb.py",
                     "hpsearch/run_function.py", "hpsearch/_client/client.py", "hpsearch/aio.py",
                     "hpsearch/mcp/SKILL.md", "hpsearch/mcp/api.json", "hpsearch/mcp/server.py", "hpsearch/mirrors/mlflow.py",
                     "hpsearch/sklearn/_folds.py",
                     "hpsearch/stand_in/wandb/__init__.py"):
            self.assertIn(name, names)
        self.assertIn("Requires-Python: >=3.8", metadata)
        self.assertEqual([line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line],
                         [], "nothing is needed but for an extra")
        target = self.folder / "installed"
        self.run_quietly(sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target", target,
                         wheels[0])
        said = self.run_quietly(sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import hpsearch; "
                                "print(hpsearch.__file__, hpsearch.params({'lr': 1}))", target)
        self.assertIn(str(target), said)
        self.assertIn("{'lr': 1}", said)


if __name__ == "__main__":
    unittest.main()
