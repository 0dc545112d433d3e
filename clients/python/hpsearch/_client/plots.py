"""Pictures of an experiment, by matplotlib."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence

from .columns import MEDIA_TYPE, python_values, read_columns

if TYPE_CHECKING:
    from .experiment import Experiment, TrialChoice

_QUIET = "#9aa5b1"
_STRONG = "#1f6feb"
_MOST_LINES = 2000  # In a parallel plot; more have one colour.


class Plots:
    """Pictures of one experiment. Each call takes `ax`, a matplotlib.axes.Axes, and returns the one it drew on.

    ImportError: matplotlib is not installed.
    """

    def __init__(self, experiment: "Experiment") -> None:
        self._experiment = experiment

    def history(self, ax: Any = None, *, x: str = "trials") -> Any:
        """The best metric over "trials" (ended), "time" (seconds) or "slot_seconds"."""
        fields = self._experiment.history()
        if x not in ("trials", "time", "slot_seconds"):
            raise ValueError('x is {!r}; it must be "trials", "time" or "slot_seconds"'.format(x))
        started = fields.get("started_at") or 0.0
        shift = started if x == "time" else 0.0
        places = [point[x] - shift for point in fields["points"]]
        values = [point["metric"] for point in fields["points"]]
        ax = _axes(ax)
        ax.plot(places, values, "o", color=_STRONG, markersize=4)
        end = (fields.get("end") or {}).get(x)
        if places and end is not None:
            places, values = places + [end - shift], values + [values[-1]]
        ax.step(places, values, where="post", color=_STRONG)
        return _labelled(ax, {"trials": "trials", "time": "time (s)", "slot_seconds": "slot time (s)"}[x],
                         "best " + str(fields["metric"]))

    def curves(self, ax: Any = None, *, trials: "TrialChoice" = None, metric: Optional[str] = None) -> Any:
        """Learning curves, the best ones above the others; dashed lines are cut-offs of rungs."""
        answers = self._experiment.curves_raw(trials, metric)
        ax = _axes(ax)
        drawn = [curve for answer in answers for curve in answer["trials"] if curve["step"]]
        sign = 1.0 if self._experiment.now().smaller_is_better else -1.0
        drawn.sort(key=lambda curve: min(sign * value for value in curve["last"]) if curve["last"] else math.inf)
        for place, curve in reversed(list(enumerate(drawn))):
            ax.plot(curve["step"], curve["last"], color=_STRONG if place < 3 else _QUIET,
                    alpha=1.0 if place < 3 else 0.6, linewidth=1.5 if place < 3 else 0.8)
        for rung in answers[0]["rungs"] if answers else []:
            ax.axvline(rung["length"], color=_QUIET, linewidth=0.5, linestyle="--")
        first = answers[0] if answers else {"unit": "", "metric": metric or ""}
        return _labelled(ax, str(first["unit"]), str(first["metric"]))

    def parallel(self, ax: Any = None, *, length: Optional[int] = None) -> Any:
        """A line for each trial through its hyperparameters and its metric, on the scales that the experiment declares.

        The metric is that of one length, which the last axis names: `length`, or the longest rung with enough results.
        Trials that did not get there have no line.
        """
        experiment = self._experiment
        answer = experiment._transport.ask("GET", experiment._path + "/columns", {"sample": _MOST_LINES, "length": length},
                                           accept=MEDIA_TYPE)
        read = read_columns(answer.body)
        columns = [column for column in read.columns if column.name == "result" or column.name.startswith("hparams.")]
        columns.sort(key=lambda column: column.name == "result")
        values = [python_values(column) for column in columns]
        rows = [row for row in zip(*values) if row[-1] is not None]
        ax = _axes(ax)
        space = experiment.config.get("hyperparameters") or {}
        scales = [_Scale([row[at] for row in rows], column.words is not None, _declared(space, column.name))
                  for at, column in enumerate(columns)]
        now = experiment.now()
        better = now.smaller_is_better
        rows.sort(key=lambda row: row[-1], reverse=better)
        import matplotlib
        colours = matplotlib.colormaps["Blues_r" if better else "Blues"]  # The best ones are dark, and above the others.
        for row in rows:
            places = [scale.place(value) for scale, value in zip(scales, row)]
            strength = scales[-1].place(row[-1])
            ax.plot(range(len(places)), places, color=colours(0.1 + 0.65 * strength if better else 0.25 + 0.65 * strength),
                    linewidth=1.5 if row in rows[-3:] else 0.8)
        for at, scale in enumerate(scales):
            ax.axvline(at, color=_QUIET, linewidth=0.5)
            for place, text in scale.marks():
                ax.annotate(text, (at, place), fontsize=8, xytext=(3, 0), textcoords="offset points", va="center",
                            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5})
        names = [column.name.replace("hparams.", "", 1) for column in columns[:-1]] + [
            "{} at {}".format(now.metric or "metric", _amount(read.length, now.unit))]
        tilted = len(names) > 6 or max(map(len, names)) > 12
        ax.set_xticks(range(len(columns)))
        ax.set_xticklabels(names, rotation=30 if tilted else 0, ha="right" if tilted else "center")
        ax.set_yticks([])
        ax.tick_params(axis="x", length=0)
        for side in ("top", "right", "left", "bottom"):
            ax.spines[side].set_visible(False)
        return ax

    def importance(self, ax: Any = None) -> Any:
        """How much each hyperparameter matters to being among the best tenth of a rung."""
        fields = self._experiment.importance()
        ax = _axes(ax)
        shares = sorted(fields["hyperparameters"], key=lambda one: one["share"] or 0.0)
        ax.barh([one["name"] for one in shares], [one["share"] or 0.0 for one in shares], color=_STRONG)
        if not shares and fields.get("reason"):
            ax.text(0.5, 0.5, fields["reason"], ha="center", va="center", transform=ax.transAxes)
        return _labelled(ax, "importance", "")

    def rungs(self, ax: Any = None) -> Any:
        """The results at each rung: promoted ones dark, others light; a mark at each cut-off."""
        fields = self._experiment.rungs()
        ax = _axes(ax)
        ladder = [rung for bracket in fields["brackets"] for rung in bracket["rungs"]]
        for rung in ladder:
            for state, colour in (("promoted", _STRONG), ("finished", _STRONG), ("", _QUIET)):
                values = [one["metric"] for one in rung["results"] if one["metric"] is not None and (
                    one["state"] == state if state else one["state"] not in ("promoted", "finished"))]
                ax.plot([rung["length"]] * len(values), values, "o", color=colour, markersize=4, alpha=0.7)
            if rung.get("cut_off") is not None:
                ax.plot([rung["length"]], [rung["cut_off"]], "_", color="black", markersize=16)
        lengths = sorted({int(rung["length"]) for rung in ladder})
        if len(lengths) > 1 and lengths[0] > 0:
            ax.set_xscale("log")
        ax.set_xticks(lengths)
        ax.set_xticklabels([str(length) for length in lengths])
        ax.minorticks_off()
        return _labelled(ax, self._experiment.now().unit, str(fields["metric"]))


class _Scale:
    """Where the values of one axis are, from 0 to 1: as the experiment declares it, else from the least to the largest."""

    def __init__(self, values: Sequence[Any], is_choice: bool, declared: Mapping[str, Any]) -> None:
        numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
        self._words: List[str] = []
        self._log = False
        if is_choice or len(numbers) < len([value for value in values if value is not None]):
            given = [str(value) for value in declared.get("vals") or []]
            self._words = given + sorted({str(value) for value in values} - set(given))
            self._low, self._high = 0.0, float(max(1, len(self._words) - 1))
            return
        self._low, self._high = (min(numbers), max(numbers)) if numbers else (0.0, 1.0)
        bounds: List[Any] = [declared.get("minval"), declared.get("maxval")]
        if declared.get("type") == "log" and None not in bounds:
            bounds = [float(declared.get("base", 10)) ** bound for bound in bounds]
        if None not in bounds:
            self._low, self._high = min(self._low, bounds[0]), max(self._high, bounds[1])
        self._log = (declared.get("type") == "log" or declared.get("scale") == "log") and self._low > 0
        if self._log:
            self._low, self._high = math.log10(self._low), math.log10(self._high)

    def place(self, value: Any) -> float:
        if self._words:
            number = float(self._words.index(str(value)))
        elif value is None:
            return -0.05  # A trial without this hyperparameter.
        else:
            number = math.log10(value) if self._log else float(value)
        return (number - self._low) / (self._high - self._low) if self._high > self._low else 0.5

    def marks(self) -> List[Any]:
        if self._words:
            return [(self.place(word), word) for word in self._words]
        ends = [10 ** end if self._log else end for end in (self._low, self._high)]
        return [(self.place(end), "{:.3g}".format(end)) for end in ends]


def _amount(length: Optional[int], unit: str) -> str:
    """As "9 epochs" and "1 epoch"."""
    return "{} {}".format(length, unit[:-1] if length == 1 and unit.endswith("s") else unit)


def _declared(space: Mapping[str, Any], column: str) -> Mapping[str, Any]:
    """What the experiment says of a column hparams.NAME; nothing of others."""
    found: Any = space
    for name in column.split(".")[1:]:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install matplotlib") from error
    return pyplot.subplots()[1]


def _labelled(ax: Any, x: str, y: str) -> Any:
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


