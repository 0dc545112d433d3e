"""examples/notebook.ipynb, executed in a real kernel. Skipped, and said so, unless HPSEARCH_NOTEBOOK_PYTHON (else python3)
has nbclient, ipykernel and matplotlib."""

import json
import os
import subprocess
import unittest

import harness
import python_package

NOTEBOOK = harness.ROOT / "examples" / "notebook.ipynb"
EXECUTE = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(notebook, timeout=float(sys.argv[3])).execute()
nbformat.write(notebook, sys.argv[2])
"""


class Notebook(harness.Case):
    def setUp(self):
        super().setUp()
        self.python = os.environ.get("HPSEARCH_NOTEBOOK_PYTHON", python_package.PYTHON)
        needs = "import nbclient, ipykernel, matplotlib"
        if subprocess.run([self.python, "-c", needs], capture_output=True).returncode != 0:
            self.skipTest(f"{self.python} has not all of nbclient, ipykernel and matplotlib")

    def execute(self, to):
        done = subprocess.run([self.python, "-c", EXECUTE, str(NOTEBOOK), str(self.folder / to), str(harness.PATIENCE)],
                              cwd=self.folder, env=python_package.variables(self.folder), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        cells = json.loads((self.folder / to).read_text())["cells"]
        return {cell["id"]: cell.get("outputs", []) for cell in cells}

    def test_it_runs_and_runs_again_after_a_restart(self):
        first = self.execute("first.ipynb")
        card = "".join(first["search"][0]["data"]["text/html"])
        self.assertIn("COMPLETED", card)
        self.assertIn("notebook", card)
        self.assertIn("image/png", first["pictures"][-1]["data"])
        self.assertIn("trial 0:", "".join(first["why"][0]["data"]["text/plain"]))
        again = self.execute("again.ipynb")
        self.assertEqual(again["best"][0]["data"], first["best"][0]["data"], "restart and run all searched anew")


if __name__ == "__main__":
    unittest.main()
