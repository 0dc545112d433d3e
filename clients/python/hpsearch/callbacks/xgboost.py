"""For xgboost.train and xgboost's scikit-learn classes."""

from __future__ import annotations

import pathlib
from typing import Any, Dict, Optional

from xgboost.callback import TrainingCallback

import hpsearch

from . import _common

_FILE = "model.json"
_TRAINING = ("train", "training", "dtrain")


class XGBoostCallback(TrainingCallback):  # type: ignore[misc]
    """Reports after each boosting round; steps are rounds.

        callback = XGBoostCallback(rounds=27)      # for runs by hand; in a trial the search ends the training
        booster = xgboost.train(params, train, num_boost_round=callback.rounds, evals=[(valid, "valid")],
                                xgb_model=callback.xgb_model, callbacks=[callback])

    A metric is named DATA.METRIC, "valid.rmse" for instance; those of data named train, training or dtrain are
    kept apart as training.METRIC.
    """

    def __init__(self, checkpoints: bool = True, rounds: Optional[int] = None) -> None:
        super().__init__()
        self._checkpoints = checkpoints
        self.rounds = _common.most(rounds, "XGBoostCallback(rounds=27)")

    @property
    def xgb_model(self) -> Optional[str]:
        """For xgboost.train or fit; None on a fresh start."""
        path = _common.saved_file(_FILE)
        return str(path) if path else None

    def after_iteration(self, model: Any, epoch: int, evals_log: Dict[str, Dict[str, Any]]) -> bool:
        # `epoch` begins at 0 again when training goes on from a model.
        step = int(model.num_boosted_rounds()) if hasattr(model, "num_boosted_rounds") else epoch + 1
        training: Dict[str, float] = {}
        validation: Dict[str, float] = {}
        for data, metrics in evals_log.items():
            apart = data in _TRAINING
            for name, values in metrics.items():
                last = values[-1]
                mean = last[0] if isinstance(last, tuple) else last  # xgboost.cv gives mean and deviation.
                (training if apart else validation)[name if apart else data + "." + name] = float(mean)
        if training:
            hpsearch.report_training(step, training)
        if not validation:
            return False

        def write(directory: pathlib.Path) -> None:
            model.save_model(str(directory / _FILE))

        saves = self._checkpoints and hasattr(model, "save_model")  # The many models of xgboost.cv are not saved.
        directive = _common.report_and_save(step, validation, write if saves else None)
        return directive is not hpsearch.CONTINUE
