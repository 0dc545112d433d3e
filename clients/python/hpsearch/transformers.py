"""trainer.hyperparameter_search(backend="hpsearch"), once this module is imported.

    import hpsearch.transformers

    best = trainer.hyperparameter_search(backend="hpsearch", n_trials=20, direction="minimize")
    print(best.hyperparameters)

Trials run one after another in this process, as the Trainer's other backends run them; model_init makes the model of each. The
engine is the C library, as for hpsearch.Search. To run trials at the same time, or on a cluster, use hpsearch.tune() with
hpsearch.callbacks.TransformersCallback.
"""

# pyright: reportAttributeAccessIssue=false
# Pyright also looks for a library in this directory, and takes this package or module for the one of its name.

from __future__ import annotations

import gc
import math
import os
import sys
from typing import Any, Callable, Dict, List, Mapping, Optional, Set, Tuple, cast

from transformers import TrainerCallback
from transformers.hyperparameter_search import ALL_HYPERPARAMETER_SEARCH_BACKENDS, HyperParamSearchBackendBase
from transformers.trainer_utils import BestRun, HPSearchBackend, number_of_arguments

from ._functions.function_trial import FunctionTrial
from ._trial import Directive
from .optuna._dry_run import space_of
from .optuna._objective import OptunaTrial
from .optuna._space import file_space
from .search import Search, Work

__all__ = ["HpsearchBackend"]


class HpsearchBackend(HyperParamSearchBackendBase):  # type: ignore[misc]
    """A backend of the Trainer's hyperparameter_search().

    n_trials, direction ("minimize" or "maximize"), compute_objective, hp_name: as for the backend "optuna".
    hp_space: a function of a trial as for the backend "optuna", or a dict of fields of TrainingArguments and distributions
        ({"learning_rate": hpsearch.loguniform(1e-6, 1e-4)}). Default: learning_rate, per_device_train_batch_size and seed.
    sampler: "model" if missing; also "random", "tpe" and "anneal".
    searcher: more fields of the section `searcher` of an experiment file, as {"divisor": 3}.
    seed: of all draws, from 0 to 2^31 - 1; drawn at random if missing.

    If the Trainer evaluates after each epoch (eval_strategy="epoch") and hp_space doesn't set num_train_epochs, a trial that
    compares badly ends early, by asynchronous halving. Other trials are trained to their end, and their last evaluation
    counts. A trial that raises an exception has failed, with a line on standard error, and the search goes on.

    Returns a BestRun; its run_summary lists all trials. The Trainer's arguments are what they were before.

    ValueError: direction or hp_space is wrong, or SearchError: the searcher's fields are. NotImplementedError: the Trainer has several
    processes, or uses DeepSpeed. If every trial fails, the exception of the last one is raised.
    """

    name = "hpsearch"

    @staticmethod
    def is_available() -> bool:
        """Always."""
        return True

    def default_hp_space(self, trial: Any) -> Dict[str, Any]:
        """That of the backend "optuna", but for the epochs: the search decides how long to train."""
        return {"learning_rate": trial.suggest_float("learning_rate", 1e-6, 1e-4, log=True),
                "per_device_train_batch_size": trial.suggest_categorical("per_device_train_batch_size", [4, 8, 16, 32, 64]),
                "seed": trial.suggest_int("seed", 1, 40)}

    def run(self, trainer: Any, n_trials: int, direction: str, sampler: str = "model", searcher: Optional[Mapping[str, Any]] = None,
            seed: Optional[int] = None) -> Any:
        """Searches."""
        if direction not in ("minimize", "maximize"):
            raise ValueError("direction is {!r}; it must be \"minimize\" or \"maximize\". A search has one objective".format(direction))
        if trainer.args.world_size > 1 or trainer.is_deepspeed_enabled:
            raise NotImplementedError('backend="hpsearch" trains in one process, without DeepSpeed. Search with hpsearch.tune() or '
                                      "`hpsearch run`: each trial launches its processes, with TransformersCallback")
        trainer.hp_search_backend = None  # The Trainer knows what to do for its own backends only.
        space, fields = _space(trainer.hp_space)
        stops = str(getattr(trainer.args.eval_strategy, "value", trainer.args.eval_strategy)) == "epoch" and (
            trainer.args.max_steps <= 0 and "num_train_epochs" not in fields)
        longest = max(1, math.ceil(trainer.args.num_train_epochs)) if stops else 1
        section = {"name": "adaptive_asha" if longest > 1 else "random", "metric": "objective", "max_trials": n_trials,
                   "max_length": longest, "smaller_is_better": direction == "minimize", "sampler": sampler}
        if longest > 1:
            section.update(mode="aggressive", stop_once=True)  # No checkpoint of a trial is kept to go on from.
        config: Dict[str, Any] = {"hyperparameters": space, "searcher": {**section, **(searcher or {})}, "max_restarts": 0}
        if seed is not None:
            config["reproducibility"] = {"experiment_seed": seed}
        with Search(config) as search:
            return _Trials(trainer, search, space, longest > 1).run()


class TrainerTrial(OptunaTrial, Dict[str, Any]):
    """What hp_space, model_init and hp_name get: a dict of what was drawn, with the calls of optuna.Trial."""

    def __init__(self, work: Work, space: Mapping[str, Any]) -> None:
        super().__init__(FunctionTrial(work.params), space)
        self.number = work.trial
        self.update(work.params)


class _Trials:
    """The trials of a search in one Trainer."""

    def __init__(self, trainer: Any, search: Search, space: Mapping[str, Any], stops: bool) -> None:
        self._trainer = trainer
        self._search = search
        self._space = space
        self._report = _Report(trainer.compute_objective, search, stops)
        self._given: Dict[str, Any] = {}  # Arguments of the Trainer that trials change.
        self._done: List[Dict[str, Any]] = []

    def run(self) -> Any:
        failure: Optional[Exception] = None
        self._trainer.add_callback(self._report)
        self._keep("output_dir")
        try:
            while True:
                work = self._search.ask()
                if work is None:
                    break
                failure = self._run_one(work) or failure
        finally:
            self._trainer.remove_callback(self._report)
            self._restore()
        best = self._search.best
        if best is None:
            raise failure or RuntimeError("no trial has an objective that is a number")
        values = next(one["hyperparameters"] for one in self._done if one["number"] == best.trial)
        return BestRun(str(best.trial), best.metric, values, self._done)

    def _run_one(self, work: Work) -> Optional[Exception]:
        own = TrainerTrial(work, self._space)
        record: Dict[str, Any] = {"number": work.trial, "objective": None, "hyperparameters": {}}
        self._done.append(record)
        self._report.begin(work)
        try:
            record["hyperparameters"] = self._apply(own)
            self._train(own)
            record["objective"] = self._report.objective
            return None
        except Exception as error:
            # Also one for lack of memory: another configuration may need less.
            print("hpsearch: trial {} failed: {}: {}".format(work.trial, type(error).__name__, error), file=sys.stderr, flush=True)
            if not self._report.ended:
                self._search.tell(work, "failed", "{}: {}".format(type(error).__name__, error))
            return error
        finally:
            self._trainer.model_wrapped = self._trainer.optimizer = self._trainer.lr_scheduler = None
            gc.collect()
            self._trainer.accelerator.free_memory()

    def _train(self, own: TrainerTrial) -> None:
        trainer, report = self._trainer, self._report
        trainer._train_batch_size = trainer.args.train_batch_size
        trainer.create_accelerator_and_postprocess()
        given = trainer.model_init
        if number_of_arguments(given) == 1:
            trainer.model_init = lambda: given(own)  # The Trainer's argument `trial` is for its own backends only.
        try:
            trainer.train()
        finally:
            trainer.model_init = given
        if not report.ended:
            if report.objective is None:
                report.take(trainer.evaluate())
            report.end()

    def _apply(self, own: TrainerTrial) -> Dict[str, Any]:
        """Sets the Trainer's arguments of a trial, and returns them."""
        self._restore()
        trainer = self._trainer
        asked = trainer.hp_space
        values = dict(cast(Mapping[str, Any], asked(own))) if callable(asked) else dict(own)
        for name, value in values.items():
            self._keep(name)
            old = getattr(trainer.args, name)
            setattr(trainer.args, name, value if old is None else type(old)(value))
        folder = trainer.hp_name(own) if trainer.hp_name is not None else "run-{}".format(own.number)
        trainer.args.output_dir = os.path.join(trainer.args.output_dir, folder)
        return values

    def _keep(self, name: str) -> None:
        if not hasattr(self._trainer.args, name):
            raise ValueError("hp_space sets {!r}, which is no field of TrainingArguments".format(name))
        self._given.setdefault(name, getattr(self._trainer.args, name))

    def _restore(self) -> None:
        for name, value in self._given.items():
            setattr(self._trainer.args, name, value)


class _Report(TrainerCallback):  # type: ignore[misc]
    """Gives evaluations to the search, and ends the training when the search decides so."""

    def __init__(self, compute: Callable[[Dict[str, float]], float], search: Search, stops: bool) -> None:
        """`stops`: each epoch is reported; else only the end is."""
        self.objective: Optional[float] = None
        self.ended = False  # The search has decided.
        self._compute = compute
        self._search = search
        self._stops = stops
        self._work: Optional[Work] = None

    def begin(self, work: Work) -> None:
        self._work, self.objective, self.ended = work, None, False

    def take(self, metrics: Mapping[str, float]) -> float:
        self.objective = float(self._compute(dict(metrics)))
        return self.objective

    def end(self) -> None:
        """The training has ended by itself: the last objective is that of the full length."""
        assert self._work is not None and self.objective is not None
        while self._search.report(self._work, self._work.length, self.objective) is Directive.CONTINUE:
            pass
        self.ended = True

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Optional[Dict[str, float]] = None, **more: Any) -> None:
        if self._work is None or self.ended:
            return
        value = self.take(metrics or {})
        if self._stops and self._search.report(self._work, max(1, round(state.epoch or 0)), value) is not Directive.CONTINUE:
            self.ended = control.should_training_stop = True


def _space(asked: Any) -> Tuple[Dict[str, Any], Set[str]]:
    """What trials draw, and the fields of TrainingArguments that they set."""
    if isinstance(asked, Mapping):
        return file_space(asked), set(map(str, asked))
    if not callable(asked):
        raise ValueError("hp_space is {!r}; it must be a dict of distributions, or a function of a trial that returns a dict".format(asked))
    fields: Set[str] = set()


    def suggest(trial: Any) -> None:
        fields.update(cast(Mapping[str, Any], asked(trial)))
    try:
        return file_space(space_of(suggest)), fields
    except ValueError as error:
        raise ValueError("hp_space can be a dict of distributions, too. As a function: {}".format(error)) from error


def _register() -> None:
    """The Trainer takes names from an enumeration, and what they mean from a dict."""
    known: Dict[str, Any] = HPSearchBackend._value2member_map_
    if HpsearchBackend.name not in known:
        member = str.__new__(HPSearchBackend, HpsearchBackend.name)
        member._name_, member._value_ = "HPSEARCH", HpsearchBackend.name
        known[HpsearchBackend.name] = HPSearchBackend._member_map_["HPSEARCH"] = member
    ALL_HYPERPARAMETER_SEARCH_BACKENDS[HPSearchBackend(HpsearchBackend.name)] = HpsearchBackend


_register()
