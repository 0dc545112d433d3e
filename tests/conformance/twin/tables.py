"""The files of tests/conformance: what a line asks, and what the twin answers."""

import json

import plans
import search
import spaces

ARROW = " ->"


def value_of(word):
    return json.loads(word)


def text_of(value):
    return json.dumps(value, separators=(",", ":"))


def assignments(words):
    return {path: value_of(value) for path, value in (word.split("=", 1) for word in words)}


def flat_text(configuration):
    return " ".join(f"{path}={text_of(value)}" for path, value in configuration.items())


def fraction_text(fraction):
    return str(fraction)


class Case:
    """One case of a table: settings line by line, then questions."""

    def __init__(self):
        self.space = {}
        self.search_name, self.settings = None, None
        self.points = []
        self.running = None

    def tell(self, words):
        """A line without an arrow."""
        kind = words[0]
        if kind in ("int", "double", "log", "categorical", "const"):
            self.space[words[1]] = {"type": kind, **assignments(words[2:])}
        elif kind == "when":
            self.space[words[1]]["when"] = {
                path: value if isinstance(value, list) else [value] for path, value in assignments(words[2:]).items()
            }
        elif kind == "search":
            self.search_name, self.settings = words[1], assignments(words[2:])
            if "mode" in self.settings:
                self.settings["mode"] = str(self.settings["mode"])
        elif kind == "given":
            self.points.append(assignments(words[1:]))
        elif kind == "step":
            self.play().step(int(words[1]), int(words[2]))
        elif kind == "exit":
            self.expect_all_closed()
            self.play().exit(int(words[1]), words[2])
        elif kind == "max_trials":
            self.play().want(int(words[1]))
        elif kind == "max_concurrent_trials":
            self.play().share(int(words[1]))
        else:
            raise ValueError(f"what is {words}?")

    def play(self):
        if self.running is None:
            space = self.space or {"x": {"type": "double", "minval": 0, "maxval": 1}}
            self.running = search.Search(self.search_name, {**self.settings, "points": self.points}, space)
        return self.running

    def answer(self, words):
        """What stands behind the arrow."""
        kind = words[0]
        if kind == "grid":
            return str(spaces.grid_size(self.space))
        if kind == "values":
            return str(spaces.cardinality(self.space))
        if kind == "point":
            return flat_text(spaces.grid_point(self.space, int(words[1])))
        if kind == "draw":
            return flat_text(spaces.sample(self.space, int(words[1]), int(words[2])))
        if kind == "rungs":
            return " ".join(map(str, plans.lengths(**assignments(words[1:]))))
        if kind == "shares":
            return " ".join(map(str, plans.shares(**assignments(words[1:]))))
        if kind in ("brackets", "finals"):
            plan = self.plan()
            if kind == "brackets":
                return " ".join(f"{trials}x{text_of(rung_lengths)}" for rung_lengths, trials in plan)
            counts = plans.final_counts(plan, self.settings.get("divisor", 4))
            return " ".join(f"{length}:{count}" for length, count in counts.items())
        play = self.play()
        if kind in ("next", "report", "step"):
            self.expect_all_closed()
        if kind == "next":
            work = play.next()
            if isinstance(work, str):
                return work
            text, hparams = work
            return text + (" " + flat_text(hparams) if self.space else "")
        if kind == "step":
            return play.measure(int(words[1]), int(words[2]), float(words[3]))
        if kind == "report":
            return play.report(int(words[1]), float(words[2]))
        if kind == "close":
            return play.close()
        if kind == "progress":
            return fraction_text(play.progress())
        raise ValueError(f"what is {words}?")

    def expect_all_closed(self):
        assert not self.play().closable(), "an experiment first closes what can be closed"

    def plan(self):
        settings = self.settings
        return plans.brackets(settings.get("mode", "standard"), settings.get("max_rungs", 5),
                              settings.get("divisor", 4), settings["max_length"], settings["max_trials"],
                              settings.get("bracket_rungs"))


def answered(text):
    """The table with every answer worked out afresh; comments and blank lines stay."""
    lines, case = [], None
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("#")[0]
        question = code.split(ARROW)[0].strip()
        words = question.split()
        try:
            if not words:
                lines.append(line)
            elif words[0] == "case":
                case = Case()
                lines.append(line)
            elif ARROW in code:
                comment = line[len(code):]
                lines.append(f"{question}{ARROW} {case.answer(words)}".rstrip() + (" " + comment if comment else ""))
            else:
                case.tell(words)
                lines.append(line)
        except Exception as error:
            raise SystemExit(f"line {number}: {line}: {error!r}")
    return "\n".join(lines) + "\n"
