"""Finished trials of a study of Optuna, as results that a search may begin with."""

# pyright: reportAttributeAccessIssue=false
# Pyright also looks for a library in this directory, and takes this package or module for the one of its name.

from __future__ import annotations

import json
import math
import os
from typing import Any, Dict, List, Optional, Tuple

from ._space import place

MOST = 2000  # Results of one search.


class EarlierResults(List[Dict[str, Any]]):
    """Results as searcher.prior takes them: {"hparams": {…}, "length": 9, "metric": 0.31}."""

    def write(self, path: "os.PathLike[str] | str") -> None:
        """Writes them as JSON lines; an experiment file names the file, which ends with .jsonl."""
        with open(path, "w", encoding="utf-8") as file:
            for one in self:
                file.write(json.dumps(one) + "\n")


def import_study(study: Any, name: Optional[str] = None, *, most: Optional[int] = MOST) -> EarlierResults:
    """The finished trials of a study, for the field `prior` of a searcher with a sampler that learns.

    `study` is the URL of a storage, a storage, or a Study. Complete trials count with their value, pruned ones with
    the last value that they reported; a length is the last step reported, counted from 1, and else 1. In a study of to_study(),
    its own trials keep their lengths, and trials that Optuna added and that reported nothing have the longest one. Names with dots
    become nested. Of more than `most` results (None: any number) the better half are the best ones, and the others are
    taken evenly from the rest.

    ImportError: Optuna is not installed. KeyError: there is no such study. ValueError: the study has several objectives.
    """
    import optuna

    loaded = study if isinstance(study, optuna.Study) else optuna.load_study(study_name=name, storage=study)
    if len(loaded.directions) != 1:
        raise ValueError("the study {!r} has {} objectives; a search has one".format(loaded.study_name, len(loaded.directions)))
    states = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
    trials = loaded.get_trials(deepcopy=False, states=states)
    full = int(loaded.user_attrs.get("max_length", 1)) if "experiment" in loaded.user_attrs else 1
    from_zero = any(0 in trial.intermediate_values for trial in trials if _exported_length(trial) is None)
    found = [one for one in (_result(trial, from_zero, full) for trial in trials) if one is not None]
    if most is not None and len(found) > most:
        found = _some(found, most, loaded.direction == optuna.study.StudyDirection.MINIMIZE)
    return EarlierResults(found)


def _exported_length(trial: Any) -> Optional[int]:
    """How far a trial of to_study() had come, whose steps are counted from 1. One that Optuna has run since is no such trial."""
    state = {"COMPLETED": "COMPLETE", "STOPPED": "PRUNED"}.get(trial.user_attrs.get("state"))
    reached = trial.user_attrs.get("reached")
    return reached if state == trial.state.name and isinstance(reached, int) and reached > 0 else None


def _result(trial: Any, from_zero: bool, full: int) -> Optional[Dict[str, Any]]:
    reported = [(step, value) for step, value in trial.intermediate_values.items() if math.isfinite(value)]
    last: Optional[Tuple[int, float]] = max(reported) if reported else None
    value = trial.value if trial.state.name == "COMPLETE" else last[1] if last else None
    if value is None or not math.isfinite(value) or not trial.params:
        return None
    hparams: Dict[str, Any] = {}
    for name, chosen in trial.params.items():
        place(hparams, tuple(name.split(".")), chosen)
    reported_length = max(last[0] + (1 if from_zero else 0), 1) if last else full if trial.state.name == "COMPLETE" else 1
    length = _exported_length(trial) or reported_length
    return {"hparams": hparams, "length": length, "metric": float(value)}


def _some(found: List[Dict[str, Any]], most: int, smaller_is_better: bool) -> List[Dict[str, Any]]:
    order = sorted(range(len(found)), key=lambda at: found[at]["metric"], reverse=not smaller_is_better)
    best, rest = order[:(most + 1) // 2], order[(most + 1) // 2:]
    wanted = most - len(best)
    chosen = best + [rest[at * len(rest) // wanted] for at in range(wanted)]
    return [found[at] for at in sorted(chosen)]
