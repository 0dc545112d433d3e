"""The options of `hpsearch run` that say where trials run."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence, Union

from .local import worker_options


def run_options(on: Any, slots: Union[None, int, str], sbatch: Sequence[str], queue: Optional[Mapping[str, Any]],
                gpu_free: Optional[int] = None) -> List[str]:
    """Also for a client, which has none. TypeError, ValueError: an argument is none of them."""
    if gpu_free is not None and on != "local":
        raise ValueError('gpu_free is {!r}; it needs on="local", whose searches share the GPUs of this machine'.format(gpu_free))
    if on != "slurm":
        if sbatch or queue:
            raise ValueError('{} needs on="slurm"'.format("sbatch" if sbatch else "queue"))
        return worker_options(slots, gpu_free)
    if isinstance(sbatch, str) or not isinstance(sbatch, Sequence) or not all(isinstance(word, str) for word in sbatch):
        raise TypeError('sbatch is {!r}; it must be a list of words, as ["-p", "gpu", "--gres=gpu:1"]'.format(sbatch))
    if queue is not None and not isinstance(queue, Mapping):
        raise TypeError('queue is {!r}; it must be a dict, as {{"time_limit": "8h", "max_workers": 4}}'.format(queue))
    words = ["--on", "slurm"] + worker_options(slots, None)
    for name, value in (queue or {}).items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words.append("{}={}".format(option, value))
    return words + ["--"] + list(sbatch)
