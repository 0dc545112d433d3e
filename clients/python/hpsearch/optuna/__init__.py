"""Optuna: objectives of studies as functions of hpsearch.tune(), and results in both directions.

    import hpsearch as hp

    experiment = hp.tune(hp.optuna.objective(f, {"x": hp.uniform(-10, 10)}), max_trials=50)
    study = hp.optuna.to_study(experiment)
    earlier = hp.optuna.import_study("sqlite:///studies.db", "first")

objective() does not need Optuna; the others import it.
"""

from __future__ import annotations

from ._export import to_study
from ._import import import_study
from ._objective import Objective, OptunaTrial, objective

__all__ = ["Objective", "OptunaTrial", "import_study", "objective", "to_study"]
