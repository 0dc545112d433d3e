"""docs/python/python.md: every block of Python on it runs as it stands, with a daemon and a worker beside it. With the packages of this
clone; tests/wheel/page_test.py runs it with the built ones."""

import os
import re
import subprocess
import sys
import unittest

import harness
import python_package

PAGE = harness.ROOT / "docs" / "python" / "python.md"
BLOCK = re.compile(r"^```(python|yaml)\n(.*?)^```$|^#+ (.*?)$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (\S+\.(?:py|yaml))\n")


def blocks():
    """(heading, file name or None, text) of each block of the page."""
    heading = ""
    for kind, text, title in BLOCK.findall(PAGE.read_text()):
        if title:
            heading = title
            continue
        name = FILE.match(text)
        yield heading, name and name[1], text


class Page(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.variables = python_package.variables(self.folder) | {"HPSEARCH_SERVER": self.cluster.server}
        self.cluster.start_worker(2, "worker", extra=python_package.for_trials())

    def run_python(self, *arguments, python=python_package.PYTHON):
        done = subprocess.run([python, *map(str, arguments)], cwd=self.folder / "work", text=True, capture_output=True,
                              env=self.variables, timeout=harness.PATIENCE, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def run_blocks(self, wanted, python=python_package.PYTHON):
        """Runs the blocks whose heading is `wanted`, after writing all files of the page."""
        (self.folder / "work").mkdir(exist_ok=True)
        for _, name, text in blocks():
            if name:
                (self.folder / "work" / name).write_text(text)
        out = []
        for heading, name, text in blocks():
            if heading == wanted and (name is None or '__name__ == "__main__"' in text):
                script = self.folder / "work" / (name or f"block{len(out)}.py")
                script.write_text(text)
                out.append(self.run_python(script, python=python))
        self.assertTrue(out, f"no block below {wanted}")
        return out


class PythonPage(Page):
    def test_every_block_is_in_a_test(self):
        tested = {"Python", "Search with a function", "Trials that train", "Slow imports", "Client", "Experiments without a file", "Results", "Pictures",
                  "Errors", "asyncio", "A daemon of your own", "Earlier searches", "Functions of milliseconds", "Callbacks"}
        self.assertEqual({heading for heading, *_ in blocks()}, tested)

    def test_the_first_lines(self):
        self.assertRegex(self.run_blocks("Python")[0], r"^\{'x': .*, 'y': .*\} \d")

    def test_functions(self):
        first, _ = self.run_blocks("Search with a function")
        self.assertIn("{'x': ", first)
        self.assertIn("'width'", self.run_blocks("Trials that train")[0])
        self.assertIn("{'x': ", self.run_blocks("Slow imports")[0])
        self.assertRegex(self.run_blocks("Functions of milliseconds")[0], r"'y': .*} 200\n$")
        self.assertRegex(self.run_blocks("Callbacks")[0], r"(?s)^best .*\n0 COMPLETED .*is 0.001 or better\n$")
        self.assertRegex(self.run_blocks("Earlier searches")[0], r"(?ms)^square COMPLETED .*^{'x': ")
        self.run_python("-c", "from train import train; import hpsearch as hp; "
                              "train(hp.FunctionTrial({'lr': 0.1, 'width': 4}, length=3))")

    def test_client(self):
        self.assertIn("COMPLETED", self.run_blocks("Client")[0])
        self.assertTrue((self.folder / "work" / "best" / "step").exists())
        self.run_blocks("Experiments without a file")
        self.assertRegex(self.run_blocks("Results")[0], r"epoch \d")
        self.assertIn("searcher.max_trials is 0", self.run_blocks("Errors")[0])
        self.assertIn("COMPLETED", self.run_blocks("asyncio")[0])

    def test_a_daemon_of_your_own(self):
        self.assertIn("{'lr': ", self.run_blocks("A daemon of your own")[0])


class Pictures(Page):
    def test_pictures(self):
        python = os.environ.get("HPSEARCH_MATPLOTLIB_PYTHON", python_package.PYTHON)
        if subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode != 0:
            print(f"no matplotlib in {python}; the pictures of {PAGE} were not drawn", file=sys.stderr)
            return
        self.run_blocks("Client")
        self.run_blocks("Pictures", python)
        self.assertGreater((self.folder / "work" / "history.png").stat().st_size, 1000)


if __name__ == "__main__":
    unittest.main()
