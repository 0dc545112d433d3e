"""The sweeper: Hydra finds it under the name hpsearch."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from hydra.errors import CompactHydraException
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf

from . import config as _registered  # noqa: F401
from .config import HpsearchSweeperConf


class HpsearchSweeper(Sweeper):
    """Runs each trial as a process of its own under a worker of hpsearch, not by a launcher."""

    def __init__(self, **settings: Any) -> None:
        plain: Dict[str, Any] = {name: OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value
                                 for name, value in settings.items()}
        self.settings = HpsearchSweeperConf(**plain)
        self.config: Optional[DictConfig] = None
        self.hydra_context: Optional[HydraContext] = None

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """CompactHydraException: hydra/launcher is another than basic."""
        launcher = config.hydra.runtime.choices.get("hydra/launcher", "basic")
        if launcher != "basic":
            raise CompactHydraException(
                "hydra/launcher is {!r}; beside hydra/sweeper=hpsearch it must be 'basic', because workers of hpsearch "
                "start the trials, each as soon as a slot is free, and a launcher would wait for the slowest of a batch. "
                "To run several at once, set hydra.sweeper.n_jobs; to run on a cluster, hydra.sweeper.on".format(launcher))
        self.hydra_context = hydra_context
        self.config = config

    def sweep(self, arguments: List[str]) -> Any:
        """Returns the best value.

        CompactHydraException: an override or a setting is wrong, the daemon refuses the sweep or doesn't answer, or the
        search failed. Hydra prints its text without a traceback.
        """
        import hpsearch as hp

        from ._search import Search
        assert self.config is not None and self.hydra_context is not None
        try:
            search = Search(self.settings, self.config, self.hydra_context.config_loader, arguments)
            search.check_composition(self.validate_batch_is_legal)
            return search.run()
        except (ValueError, hp.Problem, hp.ExperimentFailed) as error:
            raise CompactHydraException(str(error)) from error
