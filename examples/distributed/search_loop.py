"""Keeps the ranks of a trial in step: rank 0 speaks with the search, and all ranks follow its answer."""

import torch.distributed as dist

import hpsearch


def from_rank_0(call):
    """Calls it in rank 0 and returns its result in all ranks, which wait here for it."""
    box = [call() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(box, src=0)
    return box[0]


def follow_search(step, train_epoch, validate, save):
    """Trains until the search pauses or stops the trial.

    step: epochs that are trained already. train_epoch(step) and validate() run in all ranks; validate() returns the loss
    over all of them. save(directory, step) runs in all ranks, too: each writes what it has into the same directory.
    """
    def checkpoint():
        save(hpsearch.checkpoint_dir(), step)
        dist.barrier()  # The checkpoint is complete when the last rank has written its part.
        if dist.get_rank() == 0:
            hpsearch.checkpoint(step=step)

    directive, length = hpsearch.CONTINUE, from_rank_0(lambda: hpsearch.length(9))
    while directive is hpsearch.CONTINUE:
        if step < length:  # Else it was interrupted between checkpoint and report.
            step += 1
            train_epoch(step)
        loss = validate()
        is_saved = step >= length
        if is_saved:  # The decision may be to pause or to train on: save before it.
            checkpoint()
        directive, length = from_rank_0(lambda: (hpsearch.report(step, val_loss=loss), hpsearch.length()))
        if directive is hpsearch.PAUSE and not is_saved:
            checkpoint()
