"""The rules of searcher.stopping once more: at every report, all reports of all trials are looked at again."""

import math

WORST = math.inf


class Rules:
    def __init__(self, settings, sign):
        max_length = settings["max_length"]
        tenth = max(max_length // 10, 1)
        rule = settings.get("rule", "none")
        self.percent = {"none": 0, "median": 50, "percentile": settings.get("percentile", 25)}[rule]
        self.least = settings.get("least_trials", 5)
        self.after = settings.get("after", tenth)
        self.lengths = list(range(self.after, max_length, settings.get("every", tenth))) if self.percent else []
        self.patience = settings.get("patience")
        self.min_delta = settings.get("min_delta", 0)
        self.sign = sign
        self.reports = {}  # trial -> [(step, score)], as they came
        self.invalid = set()

    def metric(self, score):
        return self.sign * score

    def results(self, trial):
        """The trial's best so far where it was compared: length -> score."""
        found, best, passed = {}, WORST, 0
        for step, score in self.reports.get(trial, []):
            best = min(best, score)
            reached = max((length for length in self.lengths if length <= step), default=0)
            if reached > passed:
                passed = reached
                found[reached] = best
        return found

    def measured(self, trial, step, metric):
        """Why the trial stops; None: it trains on."""
        before = self.results(trial)
        self.reports.setdefault(trial, []).append((step, self.sign * metric if math.isfinite(metric) else WORST))
        return self.compared(trial, before) or self.out_of_patience(trial)

    def compared(self, trial, before):
        new = [length for length in self.results(trial) if length not in before]
        if not new:
            return None
        own = self.results(trial)[new[0]]
        others = sorted(self.results(other)[new[0]] for other in self.reports
                        if other != trial and other not in self.invalid and new[0] in self.results(other))
        better = sum(score < own for score in others)
        keep = math.ceil(len(others) * self.percent / 100)
        if len(others) < self.least or better < keep:
            return None
        text = f"worse_than_others rank {better} of {len(others) + 1} keep {keep}"
        if others[keep - 1] != WORST:
            text += f" cutoff {self.metric(others[keep - 1])!r}"
        text += f" at {new[0]}"
        if own != WORST:
            text += f" value {self.metric(own)!r}"
        return text + f" detail {self.percent}"

    def out_of_patience(self, trial):
        reference, better_at = None, self.reports[trial][0][0]
        for step, score in self.reports[trial]:
            if score != WORST and (reference is None or score < reference - self.min_delta):
                reference, better_at = score, step
        step = self.reports[trial][-1][0]
        if self.patience is None or step < self.after or step - better_at < self.patience:
            return None
        text = "no_improvement"
        if reference is not None:
            text += f" cutoff {self.metric(reference - self.min_delta)!r}"
        text += f" at {better_at}"
        if reference is not None:
            text += f" value {self.metric(reference)!r}"
        return text + f" detail {self.patience}"
