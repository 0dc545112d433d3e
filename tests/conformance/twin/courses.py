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
    def __init__(self, chance, name, stop_once):
        self.chance = chance
        self.lines = []
        self.case = tables.Case()
        settings = settings_text(chance, name, stop_once)
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
        elif self.running[trial] > 1 and chance.below(8) == 0:
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
    kinds = [("random", False, 6), ("async_halving", False, 30), ("async_halving", True, 20),
             ("adaptive_asha", False, 30), ("adaptive_asha", True, 15)]
    for name, stop_once, count in kinds:
        file = name + ("_stop_once" if stop_once else "")
        text = [f"# Random courses of {name}{', stop_once' if stop_once else ''}, made by the twin."]
        for seed in range(1, count + 1):
            text += ["", f"case Seed{seed}"]
            text += Course(Chance(f"{file} {seed}"), name, stop_once).play()
        yield f"random_traces/{file}.txt", "\n".join(text) + "\n"
