"""What the job of a trial returned: a callback of Hydra records it, because Hydra drops what callbacks raise."""

from __future__ import annotations

from typing import Any

from hydra.core.utils import JobReturn
from hydra.experimental.callback import Callback

is_composed = False  # The configuration could be composed.
returned: Any = None  # By the task function.


class RecordJob(Callback):
    """The callback hydra.callbacks.hpsearch of each trial."""

    def on_run_start(self, config: Any, **kwargs: Any) -> None:
        global is_composed
        is_composed = True

    def on_job_end(self, config: Any, job_return: JobReturn, **kwargs: Any) -> None:
        global returned
        returned = job_return._return_value  # `return_value` raises what the task function raised; Hydra does that too.
