"""For lightgbm.train and lightgbm's scikit-learn classes."""

# pyright: reportAttributeAccessIssue=false
# Pyright also looks for a library in this directory, and takes this package or module for the one of its name.

from __future__ import annotations

import pathlib
from typing import Any, Dict, Optional

import hpsearch

from . import _common

_FILE = "model.txt"
_TRAINING = ("train", "training")


class LightGBMCallback:
    """Reports after each boosting round; steps are rounds.

        callback = LightGBMCallback(rounds=27)     # for runs by hand; in a trial the search ends the training
        booster = lightgbm.train(params, train, num_boost_round=callback.rounds, valid_sets=[valid],
                                 valid_names=["valid"], init_model=callback.init_model, callbacks=[callback])

    A metric is named DATA.METRIC, "valid.l2" for instance; those of the training data (named train or training)
    are kept apart as training.METRIC.
    """

    #: What LightGBM asks of callbacks: after the round, before its own early stopping.
    before_iteration = False
    order = 25

    def __init__(self, checkpoints: bool = True, rounds: Optional[int] = None) -> None:
        self._checkpoints = checkpoints
        self.rounds = _common.most(rounds, "LightGBMCallback(rounds=27)")

    @property
    def init_model(self) -> Optional[str]:
        """For lightgbm.train or fit; None on a fresh start."""
        path = _common.saved_file(_FILE)
        return str(path) if path else None

    def __call__(self, env: Any) -> None:
        step = int(env.iteration) + 1
        training: Dict[str, float] = {}
        validation: Dict[str, float] = {}
        for data, name, value, *_ in env.evaluation_result_list or []:
            apart = data in _TRAINING
            (training if apart else validation)[name if apart else data + "." + name] = float(value)
        if training:
            hpsearch.report_training(step, training)
        if not validation:
            return

        def write(directory: pathlib.Path) -> None:
            env.model.save_model(str(directory / _FILE), num_iteration=-1)

        saves = self._checkpoints and hasattr(env.model, "save_model")
        directive = _common.report_and_save(step, validation, write if saves else None)
        if directive is not hpsearch.CONTINUE:
            import lightgbm  # A stop is an exception of its own there.

            best = [(data, name, value, better) for data, name, value, better, *_ in env.evaluation_result_list]
            raise lightgbm.callback.EarlyStopException(int(env.iteration), best)
