"""The notebooks of examples/notebooks, executed in a real kernel. Skipped, and said so, unless HPSEARCH_NOTEBOOK_PYTHON (else python3)
has nbclient, ipykernel and matplotlib; those with other packages are skipped where these are missing."""

import json
import os
import re
import subprocess
import unittest

import harness
import python_package

NOTEBOOKS = harness.ROOT / "examples" / "notebooks"
EXECUTE = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(notebook, timeout=float(sys.argv[3])).execute()
nbformat.write(notebook, sys.argv[2])
"""

# Executes two cells of one kernel, the first of which is interrupted when the file exists; prints what each showed.
INTERRUPT = """
import os, sys, time, jupyter_client, jupyter_client.manager
manager, client = jupyter_client.manager.start_new_kernel(kernel_name="python3")
def show(cell, interrupts):
    said = []
    ident = client.execute(cell)
    while True:
        if interrupts and os.path.exists(sys.argv[1]):
            interrupts = False
            manager.interrupt_kernel()
        try:
            message = client.get_iopub_msg(timeout=0.1)
        except Exception:
            continue
        if message["parent_header"].get("msg_id") != ident:
            continue
        content = message["content"]
        if message["msg_type"] == "stream":
            said.append(content["text"])
        elif message["msg_type"] == "error":
            said.append(content["ename"])
        elif message["msg_type"] == "status" and content["execution_state"] == "idle":
            return print("".join(said), flush=True)
try:
    show(open(sys.argv[2]).read(), True)
    time.sleep(2)  # What threads of the first cell still say, they say now.
    show(open(sys.argv[3]).read(), False)
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
"""


class Notebook(harness.Case):
    def setUp(self):
        super().setUp()
        self.python = os.environ.get("HPSEARCH_NOTEBOOK_PYTHON", python_package.PYTHON)
        needs = "import nbclient, ipykernel, matplotlib"
        if subprocess.run([self.python, "-c", needs], capture_output=True).returncode != 0:
            self.skipTest(f"{self.python} has not all of nbclient, ipykernel and matplotlib")

    def execute(self, name, to):
        """The outputs of its cells."""
        done = subprocess.run([self.python, "-c", EXECUTE, str(NOTEBOOKS / name), str(self.folder / to), str(harness.PATIENCE)],
                              cwd=self.folder, env=python_package.variables(self.folder), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        cells = json.loads((self.folder / to).read_text())["cells"]
        return {cell["id"]: cell.get("outputs", []) for cell in cells}

    def test_it_runs_and_runs_again_after_a_restart(self):
        first = self.execute("training.ipynb", "first.ipynb")
        card = "".join(first["search"][0]["data"]["text/html"])
        self.assertIn("COMPLETED", card)
        self.assertIn("notebook", card)
        self.assertIn("image/png", first["pictures"][-1]["data"])
        self.assertIn("trial 0:", "".join(first["why"][0]["data"]["text/plain"]))
        again = self.execute("training.ipynb", "again.ipynb")
        self.assertEqual(again["best"][0]["data"], first["best"][0]["data"], "restart and run all searched anew")

    def shown(self, name, *packages):
        """The texts that the last output of each cell shows, by the cell's id."""
        if subprocess.run([self.python, "-c", "import " + ", ".join(packages or ("nbclient",))], capture_output=True).returncode != 0:
            self.skipTest(f"{self.python} has not all of {', '.join(packages)}")
        outputs = self.execute(name, "out.ipynb")
        return {cell: "".join(shown[-1].get("data", {}).get("text/plain", "")) for cell, shown in outputs.items() if shown}

    def test_a_first_search_is_read_as_a_table(self):
        shown = self.shown("first_search.ipynb", "sklearn", "pandas")
        self.assertIn("learning_rate", shown["best"])
        self.assertEqual(shown["same"], "True", "the best trial is found by its exact value")

    def test_an_objective_of_optuna_becomes_a_study(self):
        shown = self.shown("optuna.ipynb", "sklearn", "optuna")
        self.assertIn("alpha", shown["study"])
        self.assertEqual(shown["study"].count("'COMPLETE'") + shown["study"].count("'PRUNED'"), 12, shown["study"])
        self.assertIn("penalty", shown["importance"])

    def test_a_search_runs_in_the_kernel(self):
        shown = self.shown("ask_and_tell.ipynb")
        self.assertIn("Best(trial=", shown["best"])
        trained, most = (int(number) for number in re.findall(r"\d+", shown["epochs"]))
        self.assertLess(trained, most, "bad trials stop early")

    def test_an_interrupted_cell_pauses_its_search(self):  # It trained on, and the cell run again began another.
        ledger = self.folder / "ledger"
        (self.folder / "first").write_text(f"""
import hpsearch as hp
def slow(x):
    import time
    open({str(ledger)!r}, "a").write("x")
    time.sleep(2)
    return x
hp.tune(slow, {{"x": hp.uniform(0, 1)}}, max_trials=50, slots=1)
""")
        (self.folder / "second").write_text(f"""
from hpsearch._local.local import process_with_lock, state_home
import threading
before = open({str(ledger)!r}).read()
print("running", [lock for lock in state_home().glob("*/search/run.lock") if process_with_lock(lock) is not None])
time = __import__("time"); time.sleep(3)
print("grows", open({str(ledger)!r}).read() != before, threading.active_count() < 50)
""")
        done = subprocess.run([self.python, "-c", INTERRUPT, str(ledger), str(self.folder / "first"), str(self.folder / "second")],
                              cwd=self.folder, env=python_package.variables(self.folder), capture_output=True, text=True,
                              timeout=harness.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.assertIn("interrupted; the search is paused, and its trials save checkpoints and end. The same call with name='slow-", done.stdout)
        self.assertIn("KeyboardInterrupt", done.stdout)
        self.assertIn("running []\ngrows False True", done.stdout)
        self.assertNotIn("Exception in thread", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
