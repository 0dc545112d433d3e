"""Which Python and which hpsearch the tests of pages and notebooks run: those of this clone, or, if HPSEARCH_INSTALLED_PYTHON
is the Python of an environment that the built packages are installed in, that one (tests/wheel/page_test.py)."""

import os

import harness

INSTALLED = os.environ.get("HPSEARCH_INSTALLED_PYTHON", "")
PYTHON = INSTALLED or "/usr/bin/python3"
PACKAGE = harness.ROOT / "clients" / "python"


def for_trials():
    """Variables of a worker whose trials import hpsearch."""
    return {} if INSTALLED else {"PYTHONPATH": str(PACKAGE)}


def variables(folder):
    """The environment of a process that starts searches; what they leave is in `folder`."""
    searches = {"HPSEARCH_STATE_HOME": str(folder / "state"), "PYTHONDONTWRITEBYTECODE": "1"}
    return harness.environment() | for_trials() | searches | ({} if INSTALLED else {"HPSEARCH_BIN": str(harness.BIN)})
