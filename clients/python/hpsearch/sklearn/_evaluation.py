"""Candidates from the engine, fits by workers, and scores back in an order that is the same for any number of workers."""

from __future__ import annotations

import heapq
from typing import Any, Callable, Dict, List, Sequence, Tuple

from .._trial import Directive
from ..search import Search, Work
from ._folds import FoldFit, Folds, fit_fold
from ._space import Space
from ._warm import Warm
from ._workers import Result, Workers

# Candidates that are trained at the same time in model time, for any number of workers: the more, the fewer are promoted too
# early; the fewer, the sooner promotions begin.
CONCURRENT = 16


class Evaluation:
    """A candidate that was trained to a length."""

    __slots__ = ("fits", "length", "params", "trial")

    def __init__(self, trial: int, params: Dict[str, Any], length: int, fits: List[FoldFit]) -> None:
        self.trial = trial
        self.params = params
        self.length = length
        self.fits = fits


class _Running:
    """A candidate whose fits are under way."""

    __slots__ = ("length", "results", "work")

    def __init__(self, work: Work, results: List[Result]) -> None:
        self.work = work
        self.length = work.length
        self.results = results


def evaluate(search: Search, space: Space, folds: Folds, workers: Workers,
             score: Callable[[Sequence[FoldFit]], float]) -> List[Evaluation]:
    """Trains what the engine asks for until it is done; in the order of the reports. The engine gets the `score` of the fits.

    The engine sees a model time, in which a fit lasts as long as the units of the resource that it trains. A score that is
    there before its time waits; workers go on with other fits meanwhile. So decisions depend on scores only, and not on how
    many workers there are or how fast they are.
    """
    params: Dict[int, Dict[str, Any]] = {}
    kept: Dict[Tuple[int, int], Any] = {}
    running: List[Tuple[int, int, _Running]] = []
    done: List[Evaluation] = []

    def start(work: Work, begun: int, now: int) -> None:
        keep = folds.warm is not Warm.NO
        last = not keep or work.length >= folds.longest
        results = [workers.submit(fold, params[work.trial], begun, work.length, kept.pop((work.trial, fold), None), not last,
                                  workers.apart) for fold in range(len(folds.splits))]
        heapq.heappush(running, (now + work.length - (begun if keep else 0), work.trial, _Running(work, results)))

    now = 0
    while True:
        while (work := search.ask()) is not None:
            params.setdefault(work.trial, space.values(work.params))
            start(work, work.start, now)
        if not running:
            return done
        now, trial, first = heapq.heappop(running)
        evaluation = Evaluation(trial, params[trial], first.length, [each.result() for each in first.results])
        done.append(evaluation)
        for fold, fit in enumerate(evaluation.fits):
            if fit.model is not None:
                kept[trial, fold] = fit.model
                fit.model = None
        directive = search.report(first.work, first.length, score(evaluation.fits))
        if directive is Directive.CONTINUE:
            start(first.work, first.length, now)
        elif directive is Directive.STOP:
            for fold in range(len(folds.splits)):
                kept.pop((trial, fold), None)


def run(folds: Folds, *arguments: Any) -> FoldFit:
    """What workers call."""
    return fit_fold(folds, *arguments)
