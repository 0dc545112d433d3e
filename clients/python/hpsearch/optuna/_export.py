"""An experiment as a study of Optuna, in memory."""

# pyright: reportAttributeAccessIssue=false
# Pyright also looks for a library in this directory, and takes this package or module for the one of its name.

from __future__ import annotations

import datetime
import json
import math
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional

from .._client.experiment import Experiment
from .._client.files import user_attrs_of
from ._space import Range, hashable

if TYPE_CHECKING:
    import optuna

_MOST_POINTS = 2000  # In a curve.


def to_study(experiment: Experiment) -> "optuna.Study":
    """The experiment as it is now, as a Study in memory: Optuna's plots and importances work with it.

    Trials have the same numbers. Completed ones are COMPLETE with their best metric, stopped ones PRUNED; failed and
    canceled ones, and completed ones without a finite metric, are FAIL; waiting and paused ones are WAITING. Reports of
    the searcher's metric are intermediate values. user_attrs have what the function gave to set_user_attr(), and the trial's
    state, length and reached length; those of the study the experiment's ID, the metric's name and the longest length.
    import_study() reads lengths from them. ImportError: Optuna is not installed.
    """
    import optuna

    head, *trials = (json.loads(line) for line in experiment.export_raw("optuna").splitlines())
    curves = _curves(experiment)
    attrs = user_attrs_of(experiment._transport, experiment.id)
    distributions = _distributions(head["distributions"], trials)
    study = optuna.create_study(study_name=head["study_name"], direction=head["direction"])
    study.set_user_attr("experiment", experiment.id)
    study.set_user_attr("metric", head["metric"])
    study.set_user_attr("max_length", _max_length(experiment.config))
    if hasattr(study, "set_metric_names"):  # Optuna 3.2 and newer.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # It is experimental there.
            study.set_metric_names([head["metric"]])
    study.add_trials([_trial(fields, distributions, curves.get(fields["number"], {}), attrs.get(fields["number"], {}))
                      for fields in trials])
    return study


def _max_length(config: Mapping[str, Any]) -> int:
    return int(next(iter(config["searcher"]["max_length"].values())))


def _curves(experiment: Experiment) -> Dict[int, Dict[int, float]]:
    out: Dict[int, Dict[int, float]] = {}
    for answer in experiment.curves_raw("all", points=_MOST_POINTS):
        for curve in answer["trials"]:
            of_trial = out.setdefault(int(curve["trial"]), {})
            of_trial.update((int(step), float(value)) for step, value in zip(curve["step"], curve["last"]) if value is not None)
            of_trial.update((int(step), float(word)) for step, word in curve["nonfinite"])
    return out


def _distributions(described: Mapping[str, Any], trials: List[Mapping[str, Any]]) -> Dict[str, Any]:
    """Ranges are widened to what was tried: points to evaluate and rounding lie beyond them."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    out: Dict[str, Any] = {}
    for name, fields in described.items():
        about = fields["attributes"]
        tried = [trial["params"][name] for trial in trials if name in trial["params"]]
        if fields["name"] == "CategoricalDistribution":
            choices = [hashable(one) for one in about["choices"]]
            seen = {(type(one), one) for one in choices}
            choices += [one for kind, one in {(type(hashable(one)), hashable(one)) for one in tried} if (kind, one) not in seen]
            out[name] = CategoricalDistribution(choices)
            continue
        low, high, step, log = min([about["low"], *tried]), max([about["high"], *tried]), about["step"], about["log"]
        if fields["name"] == "IntDistribution":
            steps = step if not log and all((one - low) % step == 0 for one in (*tried, high)) else 1
            out[name] = IntDistribution(int(low), int(high), log=log, step=steps)
            continue
        on_steps = step is not None and not log and all(Range(low, high, step=step).holds(one) for one in (*tried, high))
        out[name] = FloatDistribution(low, high, log=log, step=step if on_steps else None)
    return out


def _trial(fields: Mapping[str, Any], distributions: Mapping[str, Any], curve: Dict[int, float],
           attrs: Mapping[str, Any]) -> "optuna.trial.FrozenTrial":
    from optuna.trial import FrozenTrial, TrialState

    params = {name: hashable(value) for name, value in fields["params"].items()}
    state, value = TrialState[fields["state"]], _finite(fields["value"])
    if state is TrialState.COMPLETE and value is None:
        state = TrialState.FAIL
    if state is TrialState.PRUNED:  # As Optuna has it: the last value that was reported.
        value = next((curve[step] for step in sorted(curve, reverse=True) if math.isfinite(curve[step])), value)
    elif state is not TrialState.COMPLETE:
        value = None
    start, end = _time(fields["datetime_start"]), _time(fields["datetime_complete"])
    if state is TrialState.WAITING:
        start = None
    elif start is None:
        start = end or datetime.datetime.now()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FrozenTrial(
            number=fields["number"], trial_id=fields["number"], state=state, value=value, datetime_start=start,
            datetime_complete=(end or start) if state.is_finished() else None, params=params,
            distributions={name: distributions[name] for name in params}, user_attrs=dict(attrs, **fields["user_attrs"]), system_attrs={},
            intermediate_values=curve)


def _finite(value: Any) -> Optional[float]:
    """The number; None for what is none, as {"class": "nan"}."""
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def _time(seconds: Optional[float]) -> Optional[datetime.datetime]:
    return None if seconds is None else datetime.datetime.fromtimestamp(seconds)
