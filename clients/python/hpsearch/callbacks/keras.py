"""For Keras 3, and for tf.keras of TensorFlow 2."""

# pyright: reportAttributeAccessIssue=false
# Pyright also looks for a library in this directory, and takes this package or module for the one of its name.

from __future__ import annotations

import pathlib
from typing import Any, Dict, Optional

import hpsearch

from . import _common

try:
    import keras
except ImportError:  # TensorFlow brings its own where the package `keras` is missing.
    from tensorflow import keras  # type: ignore[no-redef]

_FILE = "model.keras"


class KerasCallback(keras.callbacks.Callback):  # type: ignore[misc, name-defined]
    """Reports at the end of each epoch.

        callback = KerasCallback(epochs=27)        # for runs by hand; in a trial the search ends the training
        model = callback.load() or build_model(hpsearch.params())
        model.fit(..., epochs=callback.epochs, initial_epoch=callback.initial_epoch, callbacks=[callback])

    What Keras names val_NAME goes to the searcher under that name; the rest is training.NAME. Steps are epochs,
    batches or records, as the experiment counts.
    """

    def __init__(self, checkpoints: bool = True, epochs: Optional[int] = None) -> None:
        super().__init__()
        self._checkpoints = checkpoints
        self.epochs = _common.most(epochs, "KerasCallback(epochs=27)")
        self._batches = 0
        self._records = 0
        params = hpsearch.params()
        self._batch_size = int(params.get("global_batch_size") or params.get("batch_size") or 1)

    @property
    def initial_epoch(self) -> int:
        """Epochs that the checkpoint to start from has behind it."""
        path = _common.saved_file("epoch.txt")
        return int(path.read_text()) if path else 0

    @staticmethod
    def load(**how: Any) -> Optional[Any]:
        """The model of the checkpoint to start from, optimizer and all; None on a fresh start."""
        path = _common.saved_file(_FILE)
        return keras.models.load_model(str(path), **how) if path else None

    def on_train_begin(self, logs: Optional[Dict[str, Any]] = None) -> None:
        start = _common.saved_step()
        self._batches = start if hpsearch.unit() == "batches" else 0
        self._records = start if hpsearch.unit() == "records" else 0

    def on_train_batch_end(self, batch: int, logs: Optional[Dict[str, Any]] = None) -> None:
        self._batches += 1
        self._records += self._batch_size

    def on_epoch_end(self, epoch: int, logs: Optional[Dict[str, Any]] = None) -> None:
        step = {"batches": self._batches, "records": self._records}.get(hpsearch.unit(), epoch + 1)
        numbers = _common.numbers_of(logs)
        training = {name: value for name, value in numbers.items() if not name.startswith("val_")}
        validation = {name: value for name, value in numbers.items() if name.startswith("val_")}
        if training:
            hpsearch.report_training(step, training)
        if not validation:
            return  # This epoch was not validated (validation_freq).

        def write(directory: pathlib.Path) -> None:
            self.model.save(str(directory / _FILE))
            (directory / "epoch.txt").write_text(str(epoch + 1))

        directive = _common.report_and_save(step, validation, write if self._checkpoints else None)
        if directive is not hpsearch.CONTINUE:
            self.model.stop_training = True
