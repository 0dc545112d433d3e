"""Random searches, played by the twin and written down as traces: settings, order and mishaps from a seed."""

import random

import tables


class Chance:
    """Only random(), whose numbers Python keeps the same from version to version."""

    def __init__(self, seed):
        self.random = random.Random(seed).random

    def below(self, bound):
        return int(self.random() * bound)

    def of(self, *choices):
        return choices[self.below(len(choices))]


def rules_text(chance):
    """Rules that stop trials; the lengths are those of max_length above 6."""
    words = [f'rule="{chance.of("none", "median", "percentile", "percentile")}"']
    words.append(f"least_trials={1 + chance.below(4)}")
    if chance.below(2) == 0:
        words.append(f"after={1 + chance.below(6)}")
    if chance.below(2) == 0:
        words.append(f"every={10 + chance.below(10)}")
    if chance.below(2) == 0:
        words.append(f"percentile={1 + chance.below(99)}")
    if chance.below(2) == 0:
        words.append(f"patience={1 + chance.below(9)}")
        words.append(f"min_delta={chance.of(0, 0.125, 1)}")
    return " ".join(words)


def settings_text(chance, name, stop_once):
    words = [f"search {name}", f"max_length={chance.of(1, 7, 16, 27, 81, 100, 1000)}"]
    if name != "single":
        words.append(f"max_trials={1 + chance.below(chance.of(4, 12, 24))}")
    if name == "async_halving":
        words.append(f"num_rungs={1 + chance.below(4)}")
    if name == "adaptive_asha":
        words.append(f'mode="{chance.of("standard", "conservative", "aggressive")}"')
        words.append(f"max_rungs={1 + chance.below(4)}")
        words.append(f"max_concurrent_trials={1 + chance.below(8)}")
    if name in ("async_halving", "adaptive_asha"):
        words.append(f"divisor={chance.of(2, 2, 3, 4, 1.5, 2.5)}")
        words.append(f"stop_once={str(stop_once).lower()}")
    words.append(f"smaller_is_better={chance.of('true', 'false')}")
    return " ".join(words)


class Course:
    def __init__(self, chance, name, stop_once, has_rules):
        self.chance = chance
        self.has_rules = has_rules
        self.trained = {}  # trial -> the step of its last report
        self.lines = []
        self.case = tables.Case()
        settings = settings_text(chance, name, stop_once) + (" " + rules_text(chance) if has_rules else "")
        self.tell(settings)
        self.slots = 1 + chance.below(6)
        for word in settings.split():
            if word.startswith("max_concurrent_trials="):
                self.slots = int(word.split("=")[1])
        self.running, self.waiting = {}, []  # trial -> what it trains to
        self.mishaps = chance.of(0, 0, 10, 25)
        self.metrics = chance.of(1, 3, 100, 100)

    def tell(self, line):
        self.case.tell(line.split())
        self.lines.append(line)

    def ask(self, line):
        answer = self.case.answer(line.split())
        self.lines.append(f"{line} -> {answer}")
        return answer

    def fill_slots(self):
        while len(self.running) < self.slots:
            answer = self.ask("next").split()
            if answer[0] not in ("create", "promote"):
                return answer[0] == "finished"
            trial = int(answer[1])
            if answer[0] == "promote":
                self.waiting.remove(trial)
            self.running[trial] = int(answer[3])
        return False

    def metric(self):
        if self.chance.below(12) == 0:
            return self.chance.of("nan", "inf", "-inf")
        return str(self.chance.below(self.metrics) / 8)

    def turn(self):
        chance = self.chance
        trial = sorted(self.running)[chance.below(len(self.running))]
        if chance.below(100) < self.mishaps:
            if self.waiting and chance.below(3) == 0:
                trial = self.waiting[chance.below(len(self.waiting))]
                self.waiting.remove(trial)
                self.tell(f"exit {trial} {chance.of('user_canceled', 'user_stopped', 'invalid_hp')}")
                return
            del self.running[trial]
            self.tell(f"exit {trial} {chance.of('errored', 'user_canceled', 'user_stopped', 'invalid_hp')}")
        elif self.has_rules and self.running[trial] > 1 and chance.below(5) != 0:
            before = self.trained.get(trial, 0)
            room = self.running[trial] - 1 - before
            step = before + 1 + chance.below(max(room // 4, 1)) if room > 0 else before
            self.trained[trial] = step
            if self.ask(f"step {trial} {step} {self.metric()}").startswith("stop"):
                del self.running[trial]
        elif not self.has_rules and self.running[trial] > 1 and chance.below(8) == 0:
            self.tell(f"step {trial} {1 + chance.below(self.running[trial] - 1)}")
        else:
            answer = self.ask(f"report {trial} {self.metric()}").split()
            if answer[0] == "train":
                self.running[trial] = int(answer[3])
            else:
                del self.running[trial]
                if answer[0] == "pause":
                    self.waiting.append(trial)

    def play(self):
        while not self.fill_slots():
            if self.chance.below(6) == 0:
                self.ask("progress")
            self.turn()
            while (closed := self.ask("close")) != "none":
                self.waiting.remove(int(closed.split()[0]))
            self.lines.pop()  # "none" goes without saying.
        self.ask("progress")
        return self.lines


def files():
    """(name, text) of every table the twin makes up by itself."""
    kinds = [("random", False, False, 6), ("random", False, True, 30), ("async_halving", False, False, 30),
             ("async_halving", True, False, 20), ("adaptive_asha", False, False, 30),
             ("adaptive_asha", True, False, 15)]
    for name, stop_once, has_rules, count in kinds:
        file = name + ("_stop_once" if stop_once else "") + ("_rules" if has_rules else "")
        more = (", stop_once" if stop_once else "") + (" with rules that stop trials" if has_rules else "")
        text = [f"# Random courses of {name}{more}, made by the twin."]
        for seed in range(1, count + 1):
            text += ["", f"case Seed{seed}"]
            text += Course(Chance(f"{file} {seed}"), name, stop_once, has_rules).play()
        yield f"random_traces/{file}.txt", "\n".join(text) + "\n"
