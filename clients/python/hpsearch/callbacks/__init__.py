"""Callbacks that report for you. Each imports its library when it is asked for, never before.

    from hpsearch.callbacks import KerasCallback, LightningCallback, TransformersCallback
    from hpsearch.callbacks import XGBoostCallback, LightGBMCallback

All of them report after each validation, save a checkpoint before a report at the asked length and before a
pause, end the training when the search decides so, and hand over where to start from after an interruption. In a trial the search says
how long to train; a run by hand needs a length: rounds= of those that boost, epochs= of the others.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from .keras import KerasCallback
    from .lightgbm import LightGBMCallback
    from .lightning import LightningCallback
    from .transformers import TransformersCallback
    from .xgboost import XGBoostCallback

_PLACES = {
    "KerasCallback": "keras",
    "LightGBMCallback": "lightgbm",
    "LightningCallback": "lightning",
    "TransformersCallback": "transformers",
    "XGBoostCallback": "xgboost",
}
__all__ = ["KerasCallback", "LightGBMCallback", "LightningCallback", "TransformersCallback", "XGBoostCallback"]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError("hpsearch.callbacks has no {!r}; it has {}".format(name, ", ".join(__all__)))
    return getattr(importlib.import_module("." + _PLACES[name], __name__), name)


def __dir__() -> List[str]:
    return __all__
