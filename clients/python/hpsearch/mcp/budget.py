"""How much an agent may start: limits of a server, and what its experiments have used or may still use of them.

An experiment counts by its label and workspace, so a server that starts again counts what earlier ones submitted. Of an
experiment that has not ended counts what it may still become: all trials that its search plans, and its whole
budget.max_slot_hours.
"""

from __future__ import annotations

import math
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

from .._client.client import Client
from .._functions.snapshot import ENDED
from .._problems import BadRequest

_ROUNDING = 1e-9  # Slot hours; sums of fractions.


class Limits(NamedTuple):
    """The limits of a server, over all experiments with its label in its workspace."""

    experiments: int
    trials: int
    slot_hours: float


class Share(NamedTuple):
    """How much of the limits one experiment takes."""

    trials: int
    slot_hours: float  #: math.inf: it has no budget.max_slot_hours.


class Budget:
    """The limits, and what is left of them by the daemon's own account."""

    def __init__(self, client: Client, limits: Limits, workspace: str, label: str) -> None:
        self._client = client
        self.limits = limits
        self.workspace = workspace
        self.label = label

    def shares(self) -> Dict[int, Share]:
        """Number of each experiment that counts → its share."""
        found = self._client.experiments(workspace=self.workspace, label=self.label, archived="all")
        return {one.id: self.share_of(one.id) for one in found}

    def share_of(self, number: int) -> Share:
        """The share of an experiment of the daemon."""
        experiment = self._client.experiment(number)
        now = experiment.now()
        trials, used = int(now.raw["trials_total"]), float(now.raw["slot_seconds"]) / 3600
        if now.state in ENDED:
            return Share(trials, used)
        planned = self.share_of_config(experiment.config)
        return Share(max(trials, planned.trials), max(used, planned.slot_hours))

    def share_of_config(self, config: Mapping[str, Any]) -> Share:
        """The share of an experiment with this file. BadRequest: it has mistakes."""
        hours = (config.get("budget") or {}).get("max_slot_hours")
        try:
            preview = self._client.preview(config)
            trials = int(preview["trials"]) + int(preview["repeats"])
        except BadRequest:
            # A search whose points were changed may have more of them than trials; its file is none to submit again.
            most = (config.get("searcher") or {}).get("max_trials")
            if not isinstance(most, int):
                raise
            trials = most
        return Share(trials, math.inf if hours is None else float(hours))

    def refusal(self, share: Share, number: Optional[int] = None) -> str:
        """Why an experiment with this share can't be created, or experiment `number` can't become so; "" if it can."""
        shares = self.shares()
        is_new = number not in shares
        others = [one for key, one in shares.items() if key != number]
        wrong: List[str] = []
        if is_new and len(others) >= self.limits.experiments:
            wrong.append("{} of {} experiments are used".format(len(others), self.limits.experiments))
        left = self.limits.trials - sum(one.trials for one in others)
        if share.trials > left:
            wrong.append("it has {} trials, and {} of {} are left; lower searcher.max_trials".format(
                share.trials, max(left, 0), self.limits.trials))
        hours = self.limits.slot_hours - sum(one.slot_hours for one in others)
        if math.isinf(share.slot_hours):
            wrong.append("it has no budget.max_slot_hours; set it to at most {}, what is left of {}".format(
                _hours(hours), _hours(self.limits.slot_hours)))
        elif share.slot_hours > hours + _ROUNDING:
            wrong.append("its budget.max_slot_hours is {}, and {} of {} are left".format(
                _hours(share.slot_hours), _hours(hours), _hours(self.limits.slot_hours)))
        if not wrong:
            return ""
        return "the budget of this server doesn't allow it: {}. {}".format("; ".join(wrong), self._counted(shares))

    def report(self) -> Dict[str, Any]:
        """Limits, what is used, and what is left."""
        shares = self.shares()
        used = Limits(len(shares), sum(one.trials for one in shares.values()), sum(one.slot_hours for one in shares.values()))
        return {"workspace": self.workspace, "label": self.label,
                "experiments": {"limit": self.limits.experiments, "used": used.experiments,
                                "left": max(0, self.limits.experiments - used.experiments)},
                "trials": {"limit": self.limits.trials, "used": used.trials, "left": max(0, self.limits.trials - used.trials)},
                "slot_hours": {"limit": self.limits.slot_hours, "used": _number(used.slot_hours),
                               "left": _number(max(0.0, self.limits.slot_hours - used.slot_hours))},
                "counted": [{"experiment": number, "trials": one.trials, "slot_hours": _number(one.slot_hours)}
                            for number, one in shares.items()]}

    def _counted(self, shares: Mapping[int, Share]) -> str:
        where = "the label {!r} in the workspace {!r}".format(self.label, self.workspace)
        if not shares:
            return "No experiment has {} yet".format(where)
        endless = [str(number) for number, one in shares.items() if math.isinf(one.slot_hours)]
        text = "Experiments with {} count: {}".format(where, ", ".join(map(str, shares)))
        return text + ("; without budget.max_slot_hours: {}".format(", ".join(endless)) if endless else "")


def _number(hours: float) -> Optional[float]:
    """As JSON has it: no number is infinite there."""
    return None if math.isinf(hours) else round(hours, 4)


def _hours(hours: float) -> str:
    return "{:.4g}".format(max(0.0, hours))
