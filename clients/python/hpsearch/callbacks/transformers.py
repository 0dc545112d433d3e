"""For the Hugging Face Trainer."""

from __future__ import annotations

import os
import shutil
from typing import Any, Dict, Optional

from transformers import TrainerCallback

import hpsearch

from . import _common


class TransformersCallback(TrainerCallback):  # type: ignore[misc]
    """Reports after each evaluation.

        callback = TransformersCallback()
        trainer = Trainer(..., callbacks=[callback])
        trainer.train(resume_from_checkpoint=callback.resume_from_checkpoint)

    What evaluate() returns goes to the searcher under its own names (eval_loss, …); what the Trainer logs while
    it trains is training.NAME. Steps are epochs, or optimizer steps where the experiment counts batches. Give
    num_train_epochs more than the search will ask for: it says when it is enough. The Trainer's own checkpoints
    are handed over as they are written, and one more is asked for where a decision may need it. With several
    processes the first one reports, and all obey.
    """

    def __init__(self, checkpoints: bool = True) -> None:
        self._checkpoints = checkpoints

    @property
    def resume_from_checkpoint(self) -> Optional[str]:
        """For Trainer.train(); None on a fresh start."""
        directory = hpsearch.latest_checkpoint()
        folders = sorted(directory.glob("checkpoint-*")) if directory else []
        return str(folders[-1]) if folders else None

    @staticmethod
    def _step(args: Any, state: Any) -> int:
        if hpsearch.unit() == "batches":
            return int(state.global_step)
        if hpsearch.unit() == "records":
            return int(state.global_step) * int(args.train_batch_size) * int(args.world_size) * int(
                args.gradient_accumulation_steps)
        return int(round(state.epoch or 0))

    def on_log(self, args: Any, state: Any, control: Any, logs: Optional[Dict[str, Any]] = None,
               **more: Any) -> None:
        numbers = {name: value for name, value in _common.numbers_of(logs).items()
                   if not name.startswith("eval_") and name not in ("epoch", "step")}
        if numbers and state.is_world_process_zero:
            hpsearch.report_training(self._step(args, state), numbers)

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Optional[Dict[str, Any]] = None,
                    **more: Any) -> None:
        step = self._step(args, state)
        numbers = {name: value for name, value in _common.numbers_of(metrics).items() if name != "epoch"}
        directive = hpsearch.CONTINUE
        if state.is_world_process_zero and numbers:
            directive = hpsearch.report(step, numbers)
        directive = hpsearch.Directive(_shared(directive.value))
        if directive is hpsearch.CONTINUE:
            return
        control.should_training_stop = True
        if directive is hpsearch.PAUSE and self._checkpoints:
            control.should_save = True  # The Trainer saves right after evaluating.

    def on_save(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        folder = os.path.join(args.output_dir, "checkpoint-{}".format(state.global_step))
        if not (self._checkpoints and state.is_world_process_zero and os.path.isdir(folder)):
            return
        # With its folder's name: the Trainer reads from it how far it was.
        target = hpsearch.checkpoint_dir() / os.path.basename(folder)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder, target)
        hpsearch.checkpoint(step=self._step(args, state))


def _shared(word: str) -> str:
    """What the first process has, in all of them."""
    try:
        import torch.distributed as distributed
    except ImportError:
        return word
    if not (distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1):
        return word
    box = [word]
    distributed.broadcast_object_list(box, src=0)
    return box[0]
