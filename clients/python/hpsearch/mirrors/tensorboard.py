"""Trials as runs of TensorBoard: LOGDIR/RUN has a file of events per attempt.

A file that begins with a purge replaces all that earlier ones have from its step on, so the curve is the one that the
trial's checkpoint belongs to. torch.utils.tensorboard writes with the same package.
"""

from __future__ import annotations

import glob
import importlib
import os
import pathlib
import time
from typing import Any, Dict, Optional, Sequence

from ._options import check_options, package
from ._tracker import FAILED, INVALID, PAUSED, End, Identity, Point, Tracker, flat


class TensorBoardTracker(Tracker):
    """Readers take files in the order of their names, which begin with the second in which they were made."""

    name = "tensorboard"

    def __init__(self, options: Dict[str, Any]) -> None:
        check_options(self.name, options, ("logdir",))
        self._files = package("tensorboard.summary.writer.event_file_writer", "tensorboard")
        self._events = importlib.import_module("tensorboard.compat.proto.event_pb2")
        self._summaries = importlib.import_module("tensorboard.compat.proto.summary_pb2")
        self._tensors = importlib.import_module("tensorboard.util.tensor_util")
        self._texts = importlib.import_module("tensorboard.plugins.text.metadata")
        hparams = "tensorboard.plugins.hparams."
        self._starts = importlib.import_module(hparams + "summary_v2")
        self._sessions = importlib.import_module(hparams + "plugin_data_pb2")
        self._session_metadata = importlib.import_module(hparams + "metadata")
        self._session_statuses = importlib.import_module(hparams + "api_pb2")
        # Now, because a program may change its current directory.
        self._logdir = pathlib.Path(options.get("logdir") or "tensorboard").absolute()
        self._trial: Optional[Identity] = None
        self._writer: Any = None
        self._has_begun = False

    def open(self, trial: Identity) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        directory = self._logdir / trial.run
        while any(name.rsplit("tfevents.", 1)[-1].startswith("{:010d}.".format(int(time.time())))
                  for name in glob.glob(glob.escape(str(directory)) + "/events.out.tfevents.*")):
            time.sleep(0.05)  # Its name would not say that it is the later one.
        # Early: its thread cannot be started while the interpreter of some versions ends.
        self._writer = self._files.EventFileWriter(os.fspath(directory))
        self._trial = trial
        self._has_begun = False

    def write(self, points: Sequence[Point]) -> None:
        if not self._has_begun:
            self._begin(points[0].step)
        for point in points:
            values = [self._summaries.Summary.Value(tag=name, simple_value=value)
                      for name, value in point.metrics.items()]
            self._add(self._summaries.Summary(value=values), point.step, point.seconds)
        self._writer.flush()

    def close(self, end: End) -> None:
        self._add_text("hpsearch/status", "{}: {}".format(end.status, end.reason), end.step)
        if end.status != PAUSED:
            self._end_session(end)
        self._writer.close()

    def _begin(self, step: int) -> None:
        """What earlier attempts wrote at this step and later ones is replaced."""
        trial = self._trial
        assert trial is not None
        log = self._events.SessionLog(status=self._events.SessionLog.START)
        self._writer.add_event(self._events.Event(wall_time=time.time(), step=step, session_log=log))
        known = {name: value if isinstance(value, (bool, int, float, str)) else str(value)
                 for name, value in flat(trial.hyperparameters)}
        self._add(self._starts.hparams_pb(known, trial_id=trial.run), step)
        self._add_text("hpsearch/trial", "trial {} of {}, attempt {}, seed {}".format(
            trial.trial, trial.experiment, trial.attempt, trial.seed), step)
        self._has_begun = True

    def _end_session(self, end: End) -> None:
        statuses = self._session_statuses
        status = statuses.STATUS_FAILURE if end.status in (FAILED, INVALID) else statuses.STATUS_SUCCESS
        data = self._sessions.HParamsPluginData(
            session_end_info=self._sessions.SessionEndInfo(status=status, end_time_secs=time.time()))
        known = self._session_metadata
        value = self._summaries.Summary.Value(
            tag=known.SESSION_END_INFO_TAG, tensor=known.NULL_TENSOR,
            metadata=known.create_summary_metadata(hparams_plugin_data_pb=data))
        self._add(self._summaries.Summary(value=[value]), end.step)

    def _add_text(self, tag: str, text: str, step: int) -> None:
        value = self._summaries.Summary.Value(
            tag=tag, tensor=self._tensors.make_tensor_proto(text.encode(), shape=[]),
            metadata=self._texts.create_summary_metadata(display_name=tag, description=""))
        self._add(self._summaries.Summary(value=[value]), step)

    def _add(self, summary: Any, step: int, seconds: Optional[float] = None) -> None:
        self._writer.add_event(self._events.Event(
            wall_time=time.time() if seconds is None else seconds, step=step, summary=summary))
