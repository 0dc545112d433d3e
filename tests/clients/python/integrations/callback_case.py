"""What the tests of the callbacks share."""

import importlib
import os
import pathlib
import sys
import unittest
import warnings

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parents[2] / "clients" / "python")]

import hpsearch
import hpsearch.callbacks
from fake_worker import TrialTest

SEED = 1797


def real(name):
    """The library itself, or a skipped test; HPSEARCH_REAL_LIBRARIES=1 makes it a failed one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError:
        if os.environ.get("HPSEARCH_REAL_LIBRARIES"):
            raise
        raise unittest.SkipTest(
            "{0} is not installed here; only its documented interface was tested (pip install {0})".format(name))


def fresh(name):
    """The callback's class, made anew from whatever library there is now."""
    for place in [place for place in sys.modules if place.startswith("hpsearch.callbacks.") and "_common" not in place]:
        del sys.modules[place]
    return getattr(hpsearch.callbacks, name)


class CallbackTest(TrialTest):
    def decide(self, *at_lengths):
        """Directives for reports at the length, in order; the length doubles with each CONTINUE. Others go on."""
        decisions = list(at_lengths)
        state = {"length": 2}

        def answer(message):
            asks = message["type"] == "report" and "group" not in message and message["step"] >= state["length"]
            directive = decisions.pop(0) if asks else "continue"
            if asks and directive == "continue":
                state["length"] *= 2
            return {"directive": directive, "length": state["length"]}

        return self.in_trial(answer, LENGTH="2")

    def handed_over(self, worker):
        """The kinds and steps of what was said, in order, without training reports."""
        return [(message["type"], message["step"]) for message in worker.heard if "group" not in message]

    def stand_in(self, **modules):
        """Modules instead of the real ones."""
        for name, module in modules.items():
            name = name.replace("__", ".")
            before = sys.modules.get(name)
            sys.modules[name] = module
            self.addCleanup(lambda name=name, before=before: sys.modules.pop(name) if before is None
                            else sys.modules.__setitem__(name, before))
