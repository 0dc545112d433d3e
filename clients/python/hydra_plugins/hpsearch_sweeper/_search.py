"""A sweep as an experiment: made, begun or continued, followed, and its result written."""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import pathlib
import re
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence

import hpsearch as hp
from hpsearch._local.gpus import check_gpus
from hpsearch._local.local import Local, check_platform, checked_name, environment, make_private, process_with_lock, state_home
from hpsearch._local.run_options import run_options
from hpsearch._local.search_directory import SearchDirectory
from hpsearch._functions.searcher_section import BAD_TRIALS, searcher_section
from hpsearch._functions.tune import _config, _is_installed
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf

from ._space import OverrideSpace
from ._trial import DATA
from .config import SAMPLERS, HpsearchSweeperConf

_log = logging.getLogger(__name__)
_OPEN = ("PENDING", "RUNNING", "PAUSED")
_LIMITS = ("max_trials", "max_concurrent_trials")
_PATIENCE = 90.0  # Seconds, for the daemon of a killed sweep to end.


class Search:
    """One sweep of an application."""

    def __init__(self, settings: HpsearchSweeperConf, config: DictConfig, config_loader: Any,
                 arguments: Sequence[str]) -> None:
        """ValueError: an override or a setting is wrong."""
        if settings.on.startswith("slurm:"):
            raise ValueError("hydra.sweeper.on is {!r}; it must be slurm, with arguments as hydra.sweeper.sbatch=[-p,gpu]".format(
                settings.on))
        self.slots = settings.slots or (settings.n_jobs if settings.on == "local" and not settings.resources else None)
        self.options = run_options(settings.on, self.slots, [str(word) for word in settings.sbatch], settings.queue, settings.gpu_free)
        self.settings = settings
        self.config_loader = config_loader
        params = ["{}={}".format(key, value) for key, value in (settings.params or {}).items()]
        self.space = OverrideSpace(OverridesParser.create(config_loader=config_loader), params + list(arguments))
        self.directory = str(pathlib.Path(config.hydra.sweep.dir).absolute())
        self.application = _application()
        hydra = [str(one) for one in config.hydra.overrides.hydra]
        self.file = self._file([one for one in hydra if not _is_of_sweep(one)], config)
        command = [self.application, os.getcwd(), params, list(arguments), [one for one in hydra if "sweep.dir" not in one]]
        self.is_named = settings.study_name is not None
        self.name = settings.study_name or "{}-{}".format(
            re.sub(r"\W+", "_", str(config.hydra.job.name)), _digest(command))
        self.file["name"] = self.name

    def check_composition(self, check: Callable[[Sequence[Sequence[str]]], None]) -> None:
        """Raises what Hydra raises when no configuration can be composed. That of a single trial is checked in it.

        ValueError: an option of a config group cannot be composed with the first values of the others, nor with the last.
        """
        failed = self._failure(check, {})
        if failed is not None:
            raise failed
        for name, key in self.space.keys.items():
            if not self.config_loader.get_group_options(key.lstrip("+").split("@")[0]):
                continue
            for option in self.space.space[name]["vals"]:
                failed = self._failure(check, {name: option})
                if failed is not None:
                    raise ValueError("{} is searched, and cannot be composed: {}".format(
                        self.space.override(name, option), str(failed).strip())) from failed

    def _failure(self, check: Callable[[Sequence[Sequence[str]]], None], values: Mapping[str, Any]) -> Optional[Exception]:
        """Composes `values` with the first and the last values of all others. None if one of both works."""
        errors: List[Exception] = []
        for at in (0, -1):
            try:
                check([self.space.fixed + self.space.corner(at, values)])
                return None
            except Exception as error:  # Hydra's, OmegaConf's, or of a resolver of the application.
                errors.append(error)
        return errors[0]

    def run(self) -> float:
        """Begins the sweep or goes on with it; returns the best value when it has ended."""
        if self.settings.on == "slurm":
            return self._run_on_slurm()
        if self.settings.on != "local":
            token = self.settings.token_file
            with hp.Client(self.settings.on, token_file=token) as client:
                check_gpus(self.settings.resources, client, None)
                return self._run(client)
        check_platform("hydra.sweeper.on=local")
        check_gpus(self.settings.resources, "local", self.settings.slots)
        state = state_home() / checked_name("hydra-" + self.name)
        make_private(state)
        lock = _lock(state, self.name)
        try:
            _await_end(state)
            with Local(state, self.slots, self.settings.gpu_free) as client:
                return self._run(client)
        finally:
            os.close(lock)

    def _run_on_slurm(self) -> float:
        seed = [] if self.settings.seed is None else ["--seed", str(self.settings.seed)]
        directory = SearchDirectory("hydra-slurm-" + self.name, pathlib.Path.cwd())
        experiment = directory.run_file(self._with_limits, seed + self.options, again=not self.is_named)
        try:
            pathlib.Path(self.directory).mkdir(parents=True, exist_ok=True)
            _log.info("sweep %s runs in jobs of Slurm; output: %s", self.name, self.directory)
            self._follow(experiment)
            return self._write_results(experiment)
        finally:
            directory.end_runner()
            directory.release()

    def _with_limits(self, known: Optional[Dict[str, Any]]) -> Dict[str, Any]:
        """The experiment that was begun, with the present limits. ValueError: it is another sweep."""
        if known is None:
            return self.file
        self._take_over(known)
        for limit in _LIMITS:
            if limit in self.file["searcher"]:
                known["searcher"][limit] = self.file["searcher"][limit]
        return known

    def _take_over(self, known: Mapping[str, Any]) -> None:
        """ValueError: it is another sweep."""
        data = known["data"].get(DATA) or {}
        if data.get("digest") != self.file["data"][DATA]["digest"]:
            raise ValueError("the sweep {!r} was begun with other overrides, another searcher or another application; "
                             "give it another hydra.sweeper.study_name".format(self.name))
        self.directory = data["directory"]

    def _run(self, client: hp.Client) -> float:
        experiment = self._begun(client)
        if experiment is None:
            pathlib.Path(self.directory).mkdir(parents=True, exist_ok=True)
            # One key for each time: of two processes that begin it at once, one gets the experiment of the other.
            times = sum(known.name == self.name for known in client.experiments())
            key = "hydra:{}:{}:{}".format(self.name, self.file["data"][DATA]["digest"], times)
            experiment = client.submit(self.file, context=os.getcwd(), seed=self.settings.seed, key=key)
            _log.info("sweep %s is experiment %d of %s; output: %s", self.name, experiment.id, client.address,
                      self.directory)
        else:
            _log.info("sweep %s goes on; output: %s", self.name, self.directory)
        self._follow(experiment)
        return self._write_results(experiment)

    def _begun(self, client: hp.Client) -> Optional[hp.Experiment]:
        """The experiment of this sweep, if there is one to go on with. ValueError: it is another sweep."""
        for known in self._same_name(client):
            if not self.is_named and known.now().ended:
                continue
            self._take_over(known.config)
            present = known.config["searcher"]
            limits = {limit: self.file["searcher"][limit] for limit in _LIMITS if limit in self.file["searcher"]}
            changed = {limit: value for limit, value in limits.items() if present.get(limit) != value}
            now = known.now()
            grows = limits.get("max_trials", 0) > present.get("max_trials", 0)
            if changed and (grows or not now.ended):
                known.set(**changed)
            if now.state == "PAUSED":
                known.resume()
            return known
        return None

    def _same_name(self, client: hp.Client) -> Iterator[hp.Experiment]:
        for known in reversed(client.experiments()):
            if known.name == self.name and known.state not in ("CANCELED", "FAILED"):
                yield client.experiment(known.id)

    def _file(self, hydra: List[str], config: DictConfig) -> Dict[str, Any]:
        settings = self.settings
        fields = {**BAD_TRIALS, **settings.fields}
        searcher: Any = dict(settings.searcher) if isinstance(settings.searcher, dict) else settings.searcher
        chosen = searcher_section(searcher, None, settings.metric, settings.max_length, settings.n_trials,
                                  _smaller_is_better(settings.direction))
        out = _config(self.space.space, chosen, settings.resources, fields)
        section = out["searcher"]
        if settings.sampler:
            section["sampler"] = _sampler(settings.sampler)
        if settings.n_jobs and section["name"] != "single":
            section["max_concurrent_trials"] = settings.n_jobs
        out["entrypoint"] = [sys.executable, "-m", "hydra_plugins.hpsearch_sweeper._trial"]
        out["source"] = "in_place"
        flags = _flags(sys.argv[1:])
        what = [self.application, flags, self.space.space, self.space.keys, self.space.fixed, hydra,
                {field: value for field, value in section.items() if field not in _LIMITS}]
        out["data"] = dict(fields.get("data") or {}, **{DATA: {
            "application": self.application, "flags": flags, "fixed": hydra + self.space.fixed, "keys": self.space.keys,
            "texts": self.space.texts, "directory": self.directory, "digest": _digest(what)}})
        variables = out["environment"].setdefault("environment_variables", {})
        if _is_installed():
            return out
        variables["PYTHONPATH"] = environment()["PYTHONPATH"]
        return out

    def _follow(self, experiment: hp.Experiment) -> None:
        shown = None
        try:
            for change in experiment.watch():
                ended = sum(change.trials.values()) - sum(change.trials.get(state, 0) for state in _OPEN)
                if ended != shown:
                    _log.info("%d %s ended%s", ended, "trial" if ended == 1 else "trials", "" if change.best is None else "; best {:.6g} (trial {})".format(
                        change.best.metric, change.best.trial))
                    shown = ended
                experiment.raise_if_failed(change)
        except KeyboardInterrupt:
            _log.warning("interrupted; %s. The same command continues the sweep", "it goes on at its daemon"
                         if self.settings.on not in ("local", "slurm") else "running trials save checkpoints")
            raise

    def _write_results(self, experiment: hp.Experiment) -> float:
        best = experiment.best
        params = {self.space.keys[name]: value for name, value in best.params.items() if name in self.space.keys}
        assert best.metric is not None
        _log.info("Best parameters: %s", params)
        _log.info("Best value: %s", best.metric)
        OmegaConf.save(OmegaConf.create({"name": "hpsearch", "best_params": params, "best_value": best.metric}),
                       str(pathlib.Path(self.directory, "optimization_results.yaml")))
        return best.metric


def _application() -> Dict[str, str]:
    """How this process was started: `python FILE` or `python -m MODULE`."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    out = {"file": os.path.abspath(sys.argv[0])}
    if spec is not None:
        out["module"] = re.sub(r"\.__main__$", "", spec.name)
    return out


def _flags(arguments: Sequence[str]) -> List[str]:
    """The options of the command line that say where the configuration lies."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    names = (("--config-name", "-cn"), ("--config-path", "-cp"), ("--config-dir", "-cd"))
    for name in names:
        parser.add_argument(*name)
    given = vars(parser.parse_known_args(list(arguments))[0])
    return [word for name, _ in names if given[name[2:].replace("-", "_")] is not None
            for word in (name, given[name[2:].replace("-", "_")])]


def _is_of_sweep(override: str) -> bool:
    """Whether an override of `hydra` concerns the sweep, not its jobs."""
    key = override.split("=", 1)[0].lstrip("+~").split("@")[0]
    return key in ("hydra.mode", "hydra.sweep.dir", "hydra.run.dir", "hydra/launcher") or key.startswith(
        ("hydra.sweeper.", "hydra/sweeper"))


def _sampler(setting: Any) -> str:
    """Its name. Where the Optuna sweeper is installed too, hydra/sweeper/sampler=tpe is an object of Optuna."""
    name = setting if isinstance(setting, str) else re.sub("Sampler$", "", type(setting).__name__).lower()
    if name not in SAMPLERS:
        raise ValueError("hydra.sweeper.sampler is {!r}; it must be {} or {}".format(
            setting if isinstance(setting, str) else type(setting).__name__, ", ".join(SAMPLERS[:-1]), SAMPLERS[-1]))
    return name


def _smaller_is_better(direction: Any) -> bool:
    named = str(getattr(direction, "name", direction))
    if named not in ("minimize", "maximize"):
        raise ValueError("hydra.sweeper.direction is {!r}; it must be minimize or maximize. A search has one metric".format(
            direction))
    return named == "minimize"


def _digest(what: Any) -> str:
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:12]


def _lock(state: pathlib.Path, name: str) -> int:
    """WrongState: another process runs this sweep."""
    import fcntl
    descriptor = os.open(str(state / "sweep.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        os.close(descriptor)
        raise hp.WrongState("process {} runs the sweep {!r}; end that process, or set another hydra.sweeper.study_name"
                            .format(holder or "?", name)) from error
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, "{}\n".format(os.getpid()).encode(), 0)
    return descriptor


def _await_end(state: pathlib.Path) -> None:
    """Waits for the daemon and the worker of a sweep that was killed: they end by themselves, after checkpoints."""
    deadline = time.monotonic() + _PATIENCE
    while any(process_with_lock(state / part / "lock") is not None for part in ("worker", "daemon")):
        if time.monotonic() > deadline:
            raise hp.Unreachable("the daemon of an earlier sweep in {} does not end".format(state))
        time.sleep(0.05)
