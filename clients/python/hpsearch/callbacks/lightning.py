"""For PyTorch Lightning: the package `lightning`, or the older `pytorch_lightning`."""

from __future__ import annotations

import pathlib
from typing import Any, Optional

import hpsearch

from . import _common

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback  # type: ignore[no-redef]

_FILE = "lightning.ckpt"


class LightningCallback(Callback):  # type: ignore[misc, valid-type]
    """Reports after each validation.

        callback = LightningCallback(epochs=27)    # for runs by hand; in a trial the search ends the training
        trainer = Trainer(max_epochs=-1, callbacks=[callback])      # the search ends the training
        trainer.fit(model, data, ckpt_path=callback.ckpt_path)

    Everything logged counts, as the trainer's callback_metrics have it; names that begin with "train" are kept
    apart as training.NAME. Steps are epochs, or optimizer steps where the experiment counts batches.
    With several processes the first one reports, and all follow.
    """

    def __init__(self, checkpoints: bool = True, epochs: Optional[int] = None) -> None:
        self._checkpoints = checkpoints
        _common.most(epochs, "LightningCallback(epochs=27)")
        self._validated = False

    @property
    def ckpt_path(self) -> Optional[str]:
        """For Trainer.fit; None on a fresh start."""
        path = _common.saved_file(_FILE)
        return str(path) if path else None

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        if getattr(trainer, "sanity_checking", False):
            return
        if hpsearch.unit() in ("batches", "records"):
            self._report(trainer, int(trainer.global_step))
        else:
            self._validated = True  # The epoch is over, and can be saved as such, in on_train_epoch_end.

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        if self._validated:
            self._validated = False
            self._report(trainer, int(trainer.current_epoch) + 1)

    def _report(self, trainer: Any, step: int) -> None:
        if hpsearch.unit() == "records":
            size = hpsearch.params().get("global_batch_size") or 1
            step *= int(size)
        numbers = _common.numbers_of(trainer.callback_metrics)
        training = {name: value for name, value in numbers.items() if name.startswith("train")}
        validation = {name: value for name, value in numbers.items() if not name.startswith("train")}
        first = bool(trainer.is_global_zero)
        # Writing a checkpoint of several processes needs all of them, so all must know whether one is due: only the
        # first one speaks for the trial, and knows.
        asks = bool(_shared(trainer, hpsearch.in_trial() and _common.at_length(step)))
        if asks and self._checkpoints:
            self._save(trainer, step, first)
        directive = hpsearch.CONTINUE
        if first:
            if training:
                hpsearch.report_training(step, training)
            if validation:
                directive = hpsearch.report(step, validation)
        directive = hpsearch.Directive(_shared(trainer, directive.value))
        if directive is hpsearch.PAUSE and not asks and self._checkpoints:
            self._save(trainer, step, first)
        if directive is not hpsearch.CONTINUE:
            trainer.should_stop = True

    @staticmethod
    def _save(trainer: Any, step: int, first: bool) -> None:
        def write(directory: pathlib.Path) -> None:
            trainer.save_checkpoint(str(directory / _FILE))

        if first:
            _common.save(step, write)
        else:
            write(hpsearch.checkpoint_dir())


def _shared(trainer: Any, value: Any) -> Any:
    """What the first process has, in all of them."""
    return trainer.strategy.broadcast(value) if getattr(trainer, "world_size", 1) > 1 else value
