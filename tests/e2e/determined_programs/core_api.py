"""A Core API script, written for a Determined cluster and nothing else: trains a parabola to its minimum."""

import json
import os
import pathlib
import sys
import time

import determined as det
from determined import core


def main():
    info = det.get_cluster_info()
    assert info is not None and info.trial is not None
    hparams = info.trial.hparams
    ledger = pathlib.Path(os.environ["TEST_LEDGER"])

    def note(what, **more):
        with ledger.open("a") as file:
            file.write(json.dumps({"what": what, "trial": info.trial.trial_id, "run": info.trial._trial_run_id,
                                   "pid": os.getpid(), **more}) + "\n")

    with core.init() as context:
        if hparams.get("impossible"):
            raise det.InvalidHP("x must be possible")
        steps = 0
        value = float(hparams["start"])
        if info.latest_checkpoint is not None:
            with context.checkpoint.restore_path(info.latest_checkpoint) as path:
                state = json.loads((path / "state.json").read_text())
            steps, value = state["steps"], state["value"]
            metadata = context.checkpoint.get_metadata(info.latest_checkpoint)
            assert metadata["steps_completed"] == steps, metadata
        note("start", steps=steps, checkpoint=info.latest_checkpoint)

        def save():
            with context.checkpoint.store_path({"steps_completed": steps}) as (path, uuid):
                (path / "state.json").write_text(json.dumps({"steps": steps, "value": value}))
            note("checkpoint", steps=steps, uuid=uuid)

        for operation in context.searcher.operations():
            while steps < operation.length:
                time.sleep(float(os.environ.get("TEST_STEP_SECONDS", "0")))
                value -= 0.1 * 2 * value
                steps += 1
                note("step", step=steps)
                context.train.report_training_metrics(steps_completed=steps, metrics={"loss": value * value + 1})
                operation.report_progress(steps)
                if steps == hparams.get("crash_at") and info.trial._trial_run_id == 1:
                    save()
                    note("crash")
                    os._exit(3)
                if context.preempt.should_preempt():
                    save()
                    note("end", why="preempted", steps=steps)
                    return
            loss = value * value
            context.train.report_validation_metrics(steps_completed=steps,
                                                    metrics={"loss": loss, "extra": {"twice": 2 * loss}})
            operation.report_completed(loss)
            save()
            note("operation", steps=steps)
        note("end", why="out of operations", steps=steps)


if __name__ == "__main__":
    sys.exit(main())
