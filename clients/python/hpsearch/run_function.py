"""The program of a trial of hpsearch.tune(): python -m hpsearch.run_function, in the directory with the function."""

from __future__ import annotations

import math
import os
import pathlib
import sys
import traceback
import types
from typing import Any, Mapping, Optional

from . import _in_trial as now
from ._functions.function_trial import FunctionTrial, NotFinite, Pause, Stop
from ._functions.loaded_function import LoadedFunction
from ._functions.main_module import take_main
from ._functions.spare import become_trial, is_spare
from ._trial import metric_number

LOADING = "HPSEARCH_LOADS_FUNCTION"
_MISSING = object()


def main() -> int:
    """Runs the function for this trial; returns the exit status."""
    if is_spare():
        become_trial()
    os.environ[LOADING] = "1"  # A module that calls tune() when it is imported would search without end.
    loaded = LoadedFunction(pathlib.Path.cwd(), take_main())
    del os.environ[LOADING]
    trial = FunctionTrial()
    try:
        returned = loaded.call(trial)
        if trial.reports == 0:
            _report(trial, returned)
    except (Stop, Pause):
        return 0
    except NotFinite as end:
        print("hpsearch: {}".format(end), file=sys.stderr)
        return 1
    except Exception as error:
        traceback.print_exception(type(error), error, _own_part(error.__traceback__))
        return 1
    return 0


def _own_part(trace: Optional[types.TracebackType]) -> Optional[types.TracebackType]:
    """Without the frames of this package above the function: the end of the log, which people see first, has few lines."""
    here = str(pathlib.Path(__file__).parent)
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(here):
        trace = trace.tb_next
    return trace


def _report(trial: FunctionTrial, returned: Any) -> None:
    """What a function returns that reports nothing is its result at full length."""
    if trial._step >= trial.length and returned is None:
        return  # load() has reported what an earlier attempt had trained.
    if returned is None:
        raise TypeError("the function returned None and reported nothing; return a number, or call trial.report(step, {}"
                         "=…)".format(now.metric() or "loss"))
    wanted = now.metric() or "value"
    metrics = returned if isinstance(returned, Mapping) else {wanted: returned}
    value = _found(metrics, wanted)
    if value is not _MISSING and not math.isfinite(metric_number(wanted, value)):
        raise NotFinite(value, wanted)
    if now.in_trial() and value is _MISSING:  # It would report this for ever.
        raise TypeError("the function returned {}, without {!r}, the metric of the search; return it, or give tune() "
                        "another metric=".format(", ".join(sorted(map(repr, metrics))) or "an empty dict", wanted))
    while now.report(trial.length, metrics) is now.CONTINUE:
        pass


def _found(metrics: Mapping[str, Any], name: str) -> Any:
    """The metric of this name, which may be that of a group and a metric: val.loss. _MISSING: there is none."""
    group, _, rest = name.partition(".")
    within = metrics.get(group)
    return metrics[name] if name in metrics else _found(within, rest) if rest and isinstance(within, Mapping) else _MISSING


if __name__ == "__main__":
    sys.exit(main())
