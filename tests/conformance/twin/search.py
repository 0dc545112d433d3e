"""Every searcher once more, as plainly as its rules can be said: sort and scan everything at every question."""

import math
from fractions import Fraction

import plans
import rules
import spaces

WORST = math.inf


class Trial:
    def __init__(self):
        self.state = "training"  # waiting, ending, closable, ended
        self.rung = 0
        self.trained = 0


class Result:
    def __init__(self, trial, score, alive):
        self.trial, self.score, self.alive = trial, score, alive
        self.spent = False  # It was promoted, or will never be.


class Schedule:
    """How many trials, and which go on. Trials are numbered from 0 within the schedule."""

    replaces_invalid = True

    def __init__(self, trials):
        self.limit = trials
        self.trials = []
        self.invalid = self.replacements = 0
        self.no_more = False
        self.before = Fraction(0)

    def counting(self):
        return len(self.trials) - self.invalid

    def needs_more(self):
        return not self.no_more and self.counting() < self.limit

    def planned(self):
        return self.counting() if self.no_more else max(self.limit, self.counting())

    def open(self):
        return sum(trial.state != "ended" for trial in self.trials)

    def outstanding(self):
        return sum(trial.state == "training" for trial in self.trials)

    def over(self):
        return self.open() == 0 and not self.needs_more()

    def next(self):
        if self.needs_more():
            why = "replacement" if self.replacements < self.invalid else "new_trial"
            return ("create", self.first_length(), why)
        return ("over",) if self.over() else ("nothing",)

    def created(self):
        if self.replacements < self.invalid:
            self.replacements += 1
        self.trials.append(Trial())
        self.settle()

    def closed(self, number):
        self.trials[number].state = "ended"
        self.settle()

    def settle(self, reporter=None):
        pass

    def reopen(self):
        pass

    def progress(self):
        if self.over():
            return Fraction(1)
        return self.note_progress()

    def note_progress(self):
        """After every event: it never falls."""
        self.before = max(self.before, min(self.now(), Fraction(1)))
        return self.before


class Flat(Schedule):
    """single, random and grid: every trial to the full length."""

    def __init__(self, trials, max_length, replaces_invalid):
        super().__init__(trials)
        self.max_length, self.replaces_invalid = max_length, replaces_invalid

    def first_length(self):
        return self.max_length

    def stepped(self, number, step):
        self.trials[number].trained = max(self.trials[number].trained, step)

    def reported(self, number, score):
        self.stepped(number, self.max_length)
        self.trials[number].state = "ending"

    def verdict(self, number):
        return ("stop", None, "max_length", "")

    def exited(self, number, reason):
        if reason == "invalid_hp" and self.replaces_invalid:
            self.invalid += 1
        self.trials[number].state = "ended"

    def now(self):
        under_way = sum(trial.trained for trial in self.trials if trial.state != "ended")
        return (self.counting() - self.open() + Fraction(under_way, self.max_length)) / self.planned()


class Halving(Schedule):
    """What both ways of asynchronous successive halving share."""

    def __init__(self, rung_lengths, divisor, trials, sign):
        super().__init__(trials)
        self.lengths, self.divisor, self.sign = rung_lengths, divisor, sign
        self.rungs = [[] for _ in rung_lengths]
        self.top = len(rung_lengths) - 1
        self.out = 0  # Rungs below are closed out: once, and again only when results left or more trials are wanted.

    def reopen(self):
        self.out = 0

    def first_length(self):
        return self.lengths[0]

    def stepped(self, number, step):
        pass

    def place(self, number, rung):
        return [result.trial for result in self.order(rung)].index(number)

    def numbers(self, number, why):
        """The reason of the trial's standing where its latest result is."""
        rung = self.trials[number].rung
        order = self.order(rung)
        text = f" rung {rung} rank {self.place(number, rung)} of {len(order)}"
        if why != "max_length":
            keep = self.keep(rung)
            text += f" keep {keep}"
            if keep > 0 and order[keep - 1].score != WORST:
                text += f" cutoff {self.sign * order[keep - 1].score!r}"
        return text

    def promoted(self, number):
        for result in self.rungs[self.trials[number].rung]:
            if result.trial == number:
                result.spent = True
        self.trials[number].rung += 1
        self.trials[number].state = "training"
        self.settle()

    def exited(self, number, reason):
        trial = self.trials[number]
        if reason == "invalid_hp":
            self.rungs = [[r for r in rung if r.trial != number] for rung in self.rungs]
            self.invalid += 1
            self.reopen()
        else:
            rung = [r for r in self.rungs[trial.rung] if r.trial != number]
            self.rungs[trial.rung] = rung + [Result(number, WORST, alive=False)]
        trial.state = "ended"
        self.settle()

    def now(self):
        reported = len(self.rungs[0])
        now = Fraction(reported * 10, 12 * self.planned())
        if reported == self.planned():
            now = max(now, Fraction(self.counting() - self.open(), self.planned()))
        return now


class Promotion(Halving):
    def order(self, rung):
        return sorted(self.rungs[rung], key=lambda result: result.score)

    def keep(self, rung):
        return plans.part_of(len(self.rungs[rung]), self.divisor)

    def promotable(self, rung, alive=True):
        for result in self.order(rung)[: self.keep(rung)]:
            if result.alive == alive and not result.spent:
                return result
        return None

    def next(self):
        for rung in reversed(range(self.top)):
            if best := self.promotable(rung):
                return ("promote", best.trial, self.lengths[rung + 1], self.numbers(best.trial, "promoted"))
        return super().next()

    def reported(self, number, score):
        trial = self.trials[number]
        self.rungs[trial.rung].append(Result(number, score, alive=True))
        trial.state = "ending" if trial.rung == self.top else "waiting"
        self.settle(number)

    def verdict(self, number):
        trial = self.trials[number]
        if trial.rung == self.top:
            return ("stop", None, "max_length", self.numbers(number, "max_length"))
        if trial.state == "waiting" and self.place(number, trial.rung) < self.keep(trial.rung):
            return ("train on", self.lengths[trial.rung + 1], "promoted", self.numbers(number, "promoted"))
        return ("pause" if trial.state == "waiting" else "stop", None, *self.standing(number))

    def standing(self, number):
        why = "waits_at_rung" if self.trials[number].state == "waiting" else "rung_closed"
        return why, self.numbers(number, why)

    def settle(self, reporter=None):
        for rung in range(self.top):  # The dead among the best are passed up, as worst.
            while dead := self.promotable(rung, alive=False):
                dead.spent = True
                self.rungs[rung + 1].append(Result(dead.trial, WORST, alive=False))
        if self.needs_more():
            return
        for rung in range(self.out, self.top):
            comes_more = any(trial.state == "training" and trial.rung <= rung for trial in self.trials)
            if comes_more or any(self.promotable(below) for below in range(rung)):
                return
            for place, result in enumerate(self.order(rung)):
                if result.spent or result.alive and place < self.keep(rung):
                    continue
                result.spent = True
                if result.alive:
                    self.trials[result.trial].state = "ending" if result.trial == reporter else "closable"
            self.out = rung + 1


class Stopping(Halving):
    def __init__(self, *settings):
        super().__init__(*settings)
        self.decided = {}

    def order(self, rung):
        return sorted(reversed(self.rungs[rung]), key=lambda result: result.score)

    def keep(self, rung):
        return max(plans.part_of(len(self.rungs[rung]), self.divisor), 1)

    def reported(self, number, score):
        trial = self.trials[number]
        self.rungs[trial.rung].append(Result(number, score, alive=True))
        if trial.rung == self.top:
            trial.state = "ending"
            self.decided[number] = ("stop", None, "max_length", self.numbers(number, "max_length"))
        elif self.place(number, trial.rung) < self.keep(trial.rung):
            trial.state = "waiting"
            self.decided[number] = ("train on", self.lengths[trial.rung + 1], "promoted",
                                    self.numbers(number, "promoted"))
        else:
            trial.state = "ending"
            self.decided[number] = ("stop", None, "below_cutoff", self.numbers(number, "below_cutoff"))

    def verdict(self, number):
        return self.decided[number]


class Search:
    """A searcher as an experiment sees it: brackets that share the slots, and configurations."""

    def __init__(self, name, settings, space):
        self.space = space
        self.seed = settings.get("seed", 0)
        self.sign = 1 if settings.get("smaller_is_better", True) else -1
        self.points = settings.get("points", [])
        max_length = settings["max_length"]
        divisor = settings.get("divisor", 4)
        trials = 1 if name == "single" else settings.get("max_trials", 0)
        self.replaceable = None if name in ("single", "grid") else trials
        self.is_grid = name == "grid"
        if self.is_grid:
            trials = spaces.grid_size(space)
        halving = Stopping if settings.get("stop_once", False) else Promotion
        if name in ("single", "random", "grid"):
            self.brackets = [Flat(trials, max_length, name == "random")]
        elif name == "async_halving":
            rung_lengths = plans.lengths(max_length, divisor, settings["num_rungs"])
            self.brackets = [halving(rung_lengths, divisor, trials, self.sign)]
        else:
            plan = plans.brackets(settings.get("mode", "standard"), settings.get("max_rungs", 5), divisor,
                                  max_length, trials, settings.get("bracket_rungs"))
            self.brackets = [halving(rung_lengths, divisor, n, self.sign) for rung_lengths, n in plan]
        self.rules = rules.Rules(settings, self.sign)
        self.has_brackets = name == "adaptive_asha"
        self.shares = plans.shares(settings.get("max_concurrent_trials", 16), len(self.brackets))
        self.pulls = [0] * len(self.brackets)
        self.members = []  # trial -> (bracket, number in it)
        self.invalid = 0

    def gave_up(self):
        return self.replaceable is not None and self.invalid > self.replaceable

    def pick(self):
        """The bracket that gets the next free slot, and its work."""
        works = [bracket.next() for bracket in self.brackets]
        busy = [bracket.outstanding() for bracket in self.brackets]
        able = [b for b, work in enumerate(works) if work[0] in ("create", "promote")]
        if not able:
            return None, "over" if all(work[0] == "over" for work in works) else "nothing"
        if self.shares[0] == 0:
            chosen = min(able, key=lambda b: self.pulls[b])
        else:
            chosen = min(able, key=lambda b: max(busy[b] - self.shares[b], -1))
        return chosen, works[chosen]

    def bracket_text(self, bracket):
        return f" bracket {bracket}" if self.has_brackets else ""

    def next(self):
        """What is decided, told to the search, and its text."""
        if self.gave_up():
            return "finished with a problem"
        chosen, work = self.pick()
        if chosen is None:
            return {"over": "finished", "nothing": "nothing"}[work]
        bracket = self.brackets[chosen]
        self.pulls[chosen] += 1
        where = self.bracket_text(chosen)
        if work[0] == "promote":
            _, number, length, numbers = work
            trial = self.members.index((chosen, number))
            bracket.promoted(number)
            return f"promote {trial} to {length} promoted{where}{numbers}"
        _, length, why = work
        trial = len(self.members)
        if trial < len(self.points):
            hparams, why = self.points[trial], "given_point"
        elif self.is_grid:
            hparams = spaces.grid_point(self.space, trial)
        else:
            hparams = spaces.sample(self.space, self.seed, trial)
        self.members.append((chosen, len(bracket.trials)))
        bracket.created()
        rung = " rung 0" if isinstance(bracket, Halving) else ""
        return f"create {trial} to {length} {why}{where}{rung}", hparams

    def of(self, trial):
        bracket, number = self.members[trial]
        return bracket, self.brackets[bracket], number

    def step(self, trial, step):
        _, bracket, number = self.of(trial)
        bracket.stepped(number, step)
        bracket.note_progress()

    def measure(self, trial, step, metric):
        """A report before its length; if a rule stops the trial, told to the search, and its text."""
        self.step(trial, step)
        why = self.rules.measured(trial, step, metric)
        if why is None:
            return "train on"
        _, bracket, number = self.of(trial)
        bracket.closed(number)
        bracket.note_progress()
        return f"stop {why}"

    def report(self, trial, metric):
        """The verdict, told to the search, and its text."""
        index, bracket, number = self.of(trial)
        assert bracket.trials[number].state == "training", "only a trial that trains reports"
        bracket.reported(number, self.sign * metric if math.isfinite(metric) else WORST)
        bracket.note_progress()
        action, length, why, numbers = bracket.verdict(number)
        if action == "train on":
            bracket.promoted(number)
        elif action == "stop":
            bracket.closed(number)
        to = f" to {length}" if length else ""
        return f"{action}{to} {why}{self.bracket_text(index)}{numbers}"

    def exit(self, trial, reason):
        _, bracket, number = self.of(trial)
        assert bracket.trials[number].state in ("training", "waiting"), "it has ended already"
        bracket.exited(number, reason)
        bracket.note_progress()
        self.invalid += reason == "invalid_hp"
        if reason == "invalid_hp":
            self.rules.invalid.add(trial)

    def want(self, trials):
        """So many trials in all from now on; how brackets share them anew is beyond the twin."""
        assert len(self.brackets) == 1
        if self.gave_up():
            return
        if self.replaceable is not None:
            self.replaceable = max(trials, self.invalid)
            self.brackets[0].limit = trials
            self.brackets[0].reopen()
            self.brackets[0].settle()
            self.brackets[0].note_progress()

    def share(self, slots):
        """So many slots are shared from now on."""
        self.shares = plans.shares(slots, len(self.brackets))

    def closable(self):
        return [trial for trial, (bracket, number) in enumerate(self.members)
                if self.brackets[bracket].trials[number].state == "closable"]

    def close(self):
        """Closes the first trial that nothing can promote any more."""
        closable = self.closable()
        if not closable:
            return "none"
        index, bracket, number = self.of(closable[0])
        why, numbers = bracket.standing(number)
        bracket.closed(number)
        bracket.note_progress()
        return f"{closable[0]} {why}{self.bracket_text(index)}{numbers}"

    def progress(self):
        if self.gave_up():
            return Fraction(1)
        return sum(bracket.progress() for bracket in self.brackets) / len(self.brackets)
