"""The fields of hydra.sweeper.

Hydra loads this file before it is in sys.modules, so dataclasses could not resolve postponed annotations.
"""

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

from hydra.core.config_store import ConfigStore

SAMPLERS = ("random", "model", "tpe", "anneal")


@dataclass
class HpsearchSweeperConf:
    """Fields with the names of the Optuna sweeper mean what they mean there."""

    _target_: str = "hydra_plugins.hpsearch_sweeper.sweeper.HpsearchSweeper"
    defaults: List[Any] = field(default_factory=lambda: ["_self_", {"sampler": None}])  # For hydra/sweeper/sampler=tpe.
    metric: str = "value"  # The metric's name. The return value of the task function is reported under it.
    direction: Any = "minimize"  # Or "maximize".
    study_name: Optional[str] = None  # The name of a sweep to return to; without one, of the command.
    n_trials: int = 20
    n_jobs: Optional[int] = None  # Trials at once; without it, what the workers have room for.
    params: Optional[Dict[str, Any]] = None  # Overrides, as {"lr": "interval(0.1, 1)"}; those of the command line win.
    max_length: Any = 1  # The longest training of a trial, in epochs, or as {"steps": 500}.
    searcher: Any = None  # A name, or the section of the experiment file. Without it, by max_length.
    sampler: Any = None  # One of SAMPLERS; also an object of the Optuna sweeper, which has groups of the same names.
    seed: Optional[int] = None
    resources: Optional[Dict[str, Any]] = None  # The section `resources` of the experiment file, for each trial.
    on: str = "local"  # Or "slurm", or the address of a daemon.
    sbatch: List[Any] = field(default_factory=list)  # With on=slurm: arguments for sbatch.
    queue: Dict[str, Any] = field(default_factory=dict)  # With on=slurm: options of `hpsearch run --on slurm`, as {"time_limit": "8h"}.
    token_file: Optional[str] = None  # For a daemon that asks for a token.
    slots: Any = None  # How many trials this machine, or a job of Slurm, runs at once; here if not n_jobs. Without both, sweeps share slots.
    gpu_free: Optional[int] = None  # Without slots: GPUs with less free memory, in percent, are left out. 90 if missing.
    fields: Dict[str, Any] = field(default_factory=dict)  # All other fields of the experiment file.


def _register() -> None:
    store = ConfigStore.instance()
    store.store(group="hydra/sweeper", name="hpsearch", node=HpsearchSweeperConf, provider="hpsearch_sweeper")
    known = store.repo.get("hydra", {}).get("sweeper", {}).get("sampler", {})
    for name in SAMPLERS:
        if name + ".yaml" not in known:  # The Optuna sweeper needs its own.
            store.store(group="hydra/sweeper/sampler", name=name, node={"sampler": name}, package="hydra.sweeper",
                        provider="hpsearch_sweeper")


_register()
