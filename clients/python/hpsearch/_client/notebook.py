"""The card of an experiment in a notebook: static HTML, renewed while the experiment runs. No widget package."""

from __future__ import annotations

import html
import importlib
import threading
from typing import TYPE_CHECKING, Any, List, Mapping

from .._problems import ExperimentFailed, Problem
from .._functions.snapshot import Snapshot

if TYPE_CHECKING:
    from .experiment import Experiment

_BETWEEN_DRAWINGS = 1.0  # Seconds.
_WIDTH, _HEIGHT = 240, 40  # Size of the line of the best metric, in pixels.
_COLOURS = {"ACTIVE": "#1f6feb", "COMPLETED": "#1a7f37", "FAILED": "#cf222e", "CANCELED": "#6e7781"}


def card_of(now: Snapshot, history: Mapping[str, Any]) -> str:
    """The card as HTML: state, progress, the best result, and how it became better."""
    counts = ", ".join("{} {}".format(count, state.lower()) for state, count in now.trials.items() if count)
    best = "no result yet" if now.best is None else "best {} <b>{:.6g}</b> (trial {}, at {} {})".format(
        html.escape(now.metric), now.best.metric, now.best.trial, now.best.step, html.escape(now.unit))
    answer = now.reason or now.waits_for
    more = "<div style='color:#6e7781'>{}</div>".format(html.escape(answer)) if answer else ""
    return (
        "<div style='font-family:sans-serif;font-size:13px;border-left:3px solid {colour};padding:4px 12px'>"
        "<div><b>{name}</b> · experiment {id} · <span style='color:{colour}'>{state}</span></div>"
        "<div style='background:#d0d7de;height:4px;width:{width}px;margin:6px 0'>"
        "<div style='background:{colour};height:4px;width:{done}px'></div></div>"
        "<div>{best}</div>{line}<div style='color:#6e7781'>{counts}</div>{more}</div>").format(
            colour=_COLOURS.get(now.state, "#9a6700"), name=html.escape(now.name), id=now.id, state=now.state,
            width=_WIDTH, done=round(_WIDTH * min(1.0, max(0.0, now.progress))), best=best,
            line=_line_of(history), counts=html.escape(counts), more=more)


def show_card(experiment: "Experiment") -> None:
    """Displays the card, and renews it at most once a second until the experiment ends. Only in IPython."""
    shown: Any = importlib.import_module("IPython.display")
    handle = shown.display(shown.HTML(experiment._repr_html_()), display_id=True)
    if handle is None or experiment.now().ended:
        return

    latest: List[Snapshot] = []
    has_news, is_over = threading.Event(), threading.Event()

    def follow() -> None:
        try:
            for change in experiment.watch():
                latest[:] = [change]
                has_news.set()
        except (ExperimentFailed, Problem):
            pass  # As of a search that Ctrl-C paused. Whoever waits for the search gets it, too.
        finally:
            is_over.set()
            has_news.set()

    def draw() -> None:
        try:
            if latest:
                handle.update(shown.HTML(card_of(latest[0], experiment.history())))
        except (ExperimentFailed, Problem):
            pass

    def renew() -> None:
        while not is_over.is_set():
            has_news.wait()
            has_news.clear()
            draw()
            is_over.wait(_BETWEEN_DRAWINGS)
        draw()

    # Two threads: a change that comes soon after a drawing is drawn too, also if none follows for hours.
    for work in (follow, renew):
        threading.Thread(target=work, name="hpsearch-card", daemon=True).start()


def _line_of(history: Mapping[str, Any]) -> str:
    """The best metric over time."""
    points: List[Any] = [point for point in history.get("points", []) if point["metric"] is not None]
    if len(points) < 2:
        return ""
    first = float(history.get("started_at") or points[0]["time"])
    last = max(points[-1]["time"], float((history.get("end") or {}).get("time") or 0.0))
    values = [point["metric"] for point in points]
    low, high = min(values), max(values)
    places: List[str] = []
    height = _HEIGHT / 2.0
    for point in points + [dict(points[-1], time=last)]:
        x = _WIDTH * min(1.0, (point["time"] - first) / max(1e-9, last - first))
        if places:
            places.append("{:.1f},{:.1f}".format(x, height))
        height = _HEIGHT * (1 - (point["metric"] - low) / (high - low)) if high > low else height
        places.append("{:.1f},{:.1f}".format(x, height))
    return ("<svg width='{}' height='{}' style='display:block;margin:6px 0;overflow:visible'>"
            "<polyline points='{}' fill='none' stroke='#1f6feb' stroke-width='1.5'/></svg>").format(
                _WIDTH, _HEIGHT, " ".join(places))
