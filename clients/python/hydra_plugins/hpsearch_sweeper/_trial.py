"""The program of a trial of a sweep: runs the application once, with the overrides that the search has drawn.

    python -m hydra_plugins.hpsearch_sweeper._trial

The experiment's data has what to run; see _search.py.
"""

from __future__ import annotations

import math
import os
import pathlib
import runpy
import sys
from typing import Any, List, Mapping

import hpsearch as hp
from hpsearch._functions.function_trial import NotFinite
from hpsearch._trial import Directive
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from . import _job
from ._space import overrides_of

DATA = "hydra_sweep"  # The member of the experiment's data.


def main() -> int:
    """Runs the application; returns the exit status."""
    sweep = hp.data()[DATA]
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then raises what is wrong, instead of ending the process.
    reports = _count_reports()
    _link_attempt(pathlib.Path(sweep["directory"], str(hp.trial().trial_number)))
    try:
        _run(sweep["application"], _arguments(sweep))
    except (HydraException, OmegaConfBaseException) as error:
        if _job.is_composed:
            raise
        hp.invalid_hyperparameters("the configuration cannot be composed: {}".format(str(error).strip()))
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    if not reports:
        _report(_job.returned)
    return 0


def _arguments(sweep: Mapping[str, Any]) -> List[str]:
    number = hp.trial().trial_number
    place = pathlib.Path(sweep["directory"])
    override: List[str] = list(sweep["fixed"]) + overrides_of(hp.params(), sweep["keys"], sweep["texts"])
    own = {"hydra.mode": "RUN", "hydra.sweep.dir": _quoted(str(place)), "hydra.job.num": str(number),
           "hydra.job.id": str(number), "hydra.run.dir": "${hydra.sweep.dir}/${hydra.sweep.subdir}",
           "+hydra.callbacks.hpsearch._target_": RECORD}
    return list(sweep["flags"]) + override + ["{}={}".format(key, value) for key, value in own.items()]


RECORD = "hydra_plugins.hpsearch_sweeper._job.RecordJob"


def _run(application: Mapping[str, str], arguments: List[str]) -> None:
    """As `python app.py ARGUMENTS` or `python -m app ARGUMENTS` does, in this process."""
    print("hpsearch: {} {}".format(application.get("module") or application["file"], " ".join(arguments)), flush=True)
    sys.argv = [application["file"]] + arguments
    if "module" in application:
        sys.path[0] = os.getcwd()
        runpy.run_module(application["module"], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(application["file"]))
        runpy.run_path(application["file"], run_name="__main__")


def _link_attempt(place: pathlib.Path) -> None:
    """The link `attempt` leads to the directory of the latest attempt."""
    file = os.environ.get("HPSEARCH_PARAMS_FILE")
    if not file:
        return
    place.mkdir(parents=True, exist_ok=True)
    link = place / "attempt"
    if link.is_symlink():
        link.unlink()
    link.symlink_to(pathlib.Path(file).parent)


def _count_reports() -> List[int]:
    """A list that gets the step of each report of this process."""
    steps: List[int] = []
    in_trial = hp._in_trial._current()
    before = in_trial.report

    def report(step: Any, metrics: Mapping[str, Any], group: str) -> Directive:
        if group == "validation":
            steps.append(step)
        return before(step, metrics, group)

    setattr(in_trial, "report", report)
    return steps


def _report(value: Any) -> None:
    """What a task function returns that reports nothing is its result at full length."""
    name = hp.metric() or "value"
    if isinstance(value, Mapping):
        metrics = dict(value)
    else:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise TypeError("the task function returned {!r} and reported nothing; it must return a number, or call "
                            "hpsearch.report(step, {}=…)".format(value, name)) from None
        metrics = {name: number}
    measured = metrics.get(name)
    if isinstance(measured, float) and not math.isfinite(measured):
        sys.exit("hpsearch: {}".format(NotFinite(measured, name)))
    while hp.report(hp.length(1), metrics) is hp.CONTINUE:
        pass


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


if __name__ == "__main__":
    sys.exit(main())
