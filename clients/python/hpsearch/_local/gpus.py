"""Whether trials that need GPUs get some. A slot is a core where a worker has no GPUs."""

from __future__ import annotations

import json
import operator
import subprocess
from typing import Any, Mapping, Optional, Union

from .._client.client import Client
from .programs import programs

_PATIENCE = 60.0  # Seconds, for a driver that hangs.


def check_gpus(resources: Optional[Mapping[str, Any]], on: Union[str, Client], slots: Union[None, int, str]) -> None:
    """ValueError: `resources` asks for GPUs, and neither this machine nor any worker of the client has so many."""
    try:
        wanted = operator.index((resources or {}).get("gpus") or 0)
    except TypeError:
        return  # The daemon refuses it.
    if wanted <= 0 or on == "slurm":  # Slurm knows which nodes have GPUs.
        return
    cure = 'leave "gpus" out to run on processors, or say how many slots a trial takes: resources={{"slots": {}}}'.format(wanted)
    if isinstance(on, Client):
        pool = (resources or {}).get("resource_pool") or "default"
        workers = [one for one in on.workers() if one.get("present", True) and one.get("pool", pool) == pool]
        if workers and all(one["slot_kind"] != "gpu" for one in workers):
            raise ValueError("resources has {} GPUs for each trial, and none of the {} workers of the pool {} has any; {}".format(
                wanted, len(workers), pool, cure))
        return
    if str(slots).startswith("cpu"):
        raise ValueError("resources has {} GPUs for each trial, and slots is {!r}; {}".format(wanted, slots, cure))
    found, why = _gpus_here(slots)
    if found < (1 if "*" in str(slots) else wanted):  # Where slots share a GPU, a trial may have several of one.
        raise ValueError("resources has {} GPUs for each trial, and this machine has {}{}; {}".format(
            wanted, found or "none", " ({})".format(why) if why else "", cure))


def _gpus_here(slots: Union[None, int, str]) -> "tuple[int, str]":
    """How many GPUs a worker finds on this machine, and what kept it from looking."""
    answer: Mapping[str, Any] = {}
    try:
        said = subprocess.run([str(programs() / "hpsearch-worker"), "--list-devices", "--no-config", "--slots", str(slots or "auto")],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=_PATIENCE).stdout
        answer = json.loads(said)
    except (subprocess.TimeoutExpired, ValueError):
        return 0, "hpsearch-worker --list-devices does not answer"
    if len(answer.get("ambiguous") or []) > 1:
        return 0, "several kinds of devices: choose with slots=\"{}\"".format(answer["ambiguous"][0])
    why = str(answer.get("problem") or answer.get("restrictions") or "")
    if answer.get("slot_kind") != "gpu":
        return 0, why  # NPUs and the like are slots, and no GPUs.
    return len(answer.get("usable") or []), why
