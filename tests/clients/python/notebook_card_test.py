"""The card of an experiment in a notebook, with a display that keeps what it is given."""

import pathlib
import sys
import threading
import time
import types
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))

from hpsearch._client import notebook as _notebook
from hpsearch._functions.snapshot import Snapshot

PATIENCE = 60


def snapshot(state, completed):
    return Snapshot({"id": 3, "name": "a <b>", "state": state, "metric": "loss", "unit": "epochs", "progress": 0.5,
                     "trials": {"COMPLETED": completed}, "best": None, "smaller_is_better": True})


class Experiment:
    """Tells of its changes at once, then of none until the test lets it end."""

    def __init__(self, changes):
        self.changes, self.may_end = changes, threading.Event()

    def now(self):
        return snapshot("ACTIVE", 0)

    def history(self):
        return {"points": []}

    def _repr_html_(self):
        return _notebook.card_of(self.now(), self.history())

    def watch(self):
        yield from self.changes[:-1]
        self.may_end.wait(PATIENCE)
        yield self.changes[-1]


class Card(unittest.TestCase):
    def show(self, experiment):
        """Starts the card; the list that gets what is drawn."""
        drawn = []
        display = types.SimpleNamespace(HTML=lambda text: text, display=lambda html, display_id: (
            drawn.append(html), types.SimpleNamespace(update=drawn.append))[1])
        self.addCleanup(experiment.may_end.set)
        with unittest.mock.patch.dict(sys.modules, {"IPython": types.ModuleType("IPython"), "IPython.display": display}):
            _notebook.show_card(experiment)
        return drawn

    def wait_for(self, holds):
        deadline = time.monotonic() + PATIENCE
        while not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_the_last_change_before_a_long_silence_is_drawn(self):
        experiment = Experiment([snapshot("ACTIVE", number) for number in range(1, 501)] + [snapshot("COMPLETED", 500)])
        drawn = self.show(experiment)
        self.wait_for(lambda: "500 completed" in drawn[-1])
        self.assertLess(len(drawn), 100, "each change was drawn")
        self.assertIn("ACTIVE", drawn[-1])
        experiment.may_end.set()
        self.wait_for(lambda: "COMPLETED" in drawn[-1])

    def test_names_are_escaped(self):
        self.assertIn("a &lt;b&gt;", self.show(Experiment([snapshot("COMPLETED", 1)]))[0])


if __name__ == "__main__":
    unittest.main()
