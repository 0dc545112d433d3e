"""For the Hugging Face Trainer."""

from __future__ import annotations

import math
import os
import pathlib
import shutil
from typing import Any, Dict, Optional, Tuple

from transformers import TrainerCallback

import hpsearch

from . import _common


class TransformersCallback(TrainerCallback):  # type: ignore[misc]
    """Reports after each evaluation.

        callback = TransformersCallback(epochs=27)     # of a run by hand
        trainer = Trainer(..., callbacks=[callback])
        trainer.train(resume_from_checkpoint=callback.resume_from_checkpoint)

    What evaluate() returns goes to the searcher under its own names (eval_loss, …); what the Trainer logs while
    it trains is training.NAME. Steps are epochs, or optimizer steps where the experiment counts batches. Give
    num_train_epochs more than the search will ask for: the search ends the training. The Trainer's own checkpoints
    are handed over as they are written, and one more is asked for where a decision may need it: an evaluation at
    the asked length is reported when that is safe. With several processes the first one reports, and all follow.
    """

    def __init__(self, checkpoints: bool = True, epochs: Optional[int] = None) -> None:
        self._checkpoints = checkpoints
        _common.most(epochs, "TransformersCallback(epochs=27)")
        self._training = False
        self._ended = False  # By a directive.
        self._epoch_over = False
        self._waiting: Optional[Tuple[int, Dict[str, float]]] = None  # What is reported after the save.

    @property
    def resume_from_checkpoint(self) -> Optional[str]:
        """For Trainer.train(); None on a fresh start."""
        directory = hpsearch.latest_checkpoint()
        folders = list(directory.glob("checkpoint-*")) if directory else []
        return str(max(folders, key=_steps_of)) if folders else None

    def _step(self, args: Any, state: Any) -> int:
        if hpsearch.unit() == "batches":
            return int(state.global_step)
        if hpsearch.unit() == "records":
            return int(state.global_step) * int(args.train_batch_size) * int(args.world_size) * int(
                args.gradient_accumulation_steps)
        epochs = float(state.epoch or 0)
        # An epoch may end below its number, when gradient accumulation leaves a rest of its batches to the next one.
        return math.ceil(epochs) if self._epoch_over else math.floor(epochs)

    def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._training, self._ended = True, False

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._epoch_over = False

    def on_epoch_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        cut_short = 0 < args.max_steps <= state.global_step
        self._epoch_over = not cut_short

    def on_log(self, args: Any, state: Any, control: Any, logs: Optional[Dict[str, Any]] = None,
               **more: Any) -> None:
        numbers = {name: value for name, value in _common.numbers_of(logs).items()
                   if not name.startswith("eval_") and name not in ("epoch", "step")}
        if numbers and state.is_world_process_zero:
            hpsearch.report_training(self._step(args, state), numbers)

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Optional[Dict[str, Any]] = None,
                    **more: Any) -> None:
        if self._ended:
            return
        step = self._step(args, state)
        numbers = {name: value for name, value in _common.numbers_of(metrics).items() if name != "epoch"}
        # All processes save together, so all must know whether that is due; only the first speaks for the trial.
        asks = _shared(bool(numbers) and hpsearch.in_trial() and _common.at_length(step))
        if asks and self._checkpoints and self._training:
            self._waiting = step, numbers
            control.should_save = True  # The Trainer saves right after evaluating.
            return
        if self._report(step, numbers, state, control) is hpsearch.PAUSE and self._checkpoints:
            control.should_save = True

    def on_save(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        folder = os.path.join(args.output_dir, "checkpoint-{}".format(state.global_step))
        if self._checkpoints and state.is_world_process_zero and os.path.isdir(folder):
            # With its folder's name: the Trainer reads from it how far it was.
            target = hpsearch.checkpoint_dir() / os.path.basename(folder)
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(folder, target)
            hpsearch.checkpoint(step=self._step(args, state))
        self._report_waiting(state, control)

    def on_step_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._report_waiting(state, control)  # Where the Trainer did not save (save_strategy "best").

    def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._report_waiting(state, control)
        self._training = False

    def _report_waiting(self, state: Any, control: Any) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._report(*waiting, state, control)

    def _report(self, step: int, numbers: Dict[str, float], state: Any, control: Any) -> hpsearch.Directive:
        directive = hpsearch.CONTINUE
        if state.is_world_process_zero and numbers:
            directive = hpsearch.report(step, numbers)
        directive = hpsearch.Directive(_shared(directive.value))
        if directive is not hpsearch.CONTINUE:
            self._ended = control.should_training_stop = True
        return directive


def _steps_of(folder: pathlib.Path) -> int:
    """By its name, as the Trainer reads it."""
    steps = folder.name[len("checkpoint-"):]
    return int(steps) if steps.isdecimal() else -1


def _shared(value: Any) -> Any:
    """What the first process has, in all of them."""
    try:
        import torch.distributed as distributed
    except ImportError:
        return value
    if not (distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1):
        return value
    box = [value]
    distributed.broadcast_object_list(box, src=0)
    return box[0]
