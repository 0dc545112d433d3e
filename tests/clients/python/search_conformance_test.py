"""hpsearch.Search decides as the conformance tables say: the traces of tests/conformance, replayed through the C library.

A search gives work to every free slot at once. So a case counts if its lines do that too; the others need a searcher that
is asked when the test likes, which is conformance_test.
"""

import fractions
import json
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "clients" / "python"))
LIBRARY = pathlib.Path(os.environ["E2E_BIN_DIR"]).parent / "lib" / "libhpsearch.so.0"
if not LIBRARY.exists():
    print(f"there is no {LIBRARY}; the programs are not built\nOK (skipped=1)")
    sys.exit(0)
os.environ["HPSEARCH_LIBRARY"] = str(LIBRARY)

import hpsearch
from hpsearch.search import Search

TABLES = ROOT / "tests" / "conformance"
KINDS = ("int", "double", "log", "categorical", "const")
ENDS = {"errored": "failed", "invalid_hp": "invalid_hyperparameters", "user_canceled": "canceled", "user_stopped": "stopped"}
FIGURES, OF_RULES = ("bracket", "rung", "rank", "size", "keep", "cutoff"), ("at", "value", "detail")
REALS = ("cutoff", "value")
RULES = ("rule", "percentile", "least_trials", "after", "every", "patience", "min_delta")  # Fields of searcher.stopping.
BY_PERSONS = ("max_trials", "max_concurrent_trials")  # A search in a program has no such changes.


class Case:
    """One case of a table: its settings, and its (line, words, answer)."""

    def __init__(self, name):
        self.name, self.lines = name, []

    def config(self):
        space, searcher = {}, {"metric": "m"}
        for _, words, _ in self.lines:
            fields = {field: value for field, _, value in (word.partition("=") for word in words if "=" in word)}
            fields = {field: json.loads(value) for field, value in fields.items()}
            if words[0] == "search":
                stopping = {field: fields.pop(field) for field in RULES if field in fields}
                searcher.update(fields, name=words[1], **({"stopping": stopping} if stopping else {}))
            elif words[0] in KINDS:
                space[words[1]] = dict(fields, type=words[0])
            elif words[0] == "when":
                space[words[1]]["when"] = fields
            elif words[0] == "given":
                searcher.setdefault("points_to_evaluate", []).append(fields)
        seed = searcher.pop("seed", 0)
        space = space or {"x": {"type": "double", "minval": 0, "maxval": 1}}
        return {"hyperparameters": space, "searcher": searcher, "max_restarts": 0, "reproducibility": {"experiment_seed": seed}}

    def slots(self):
        """How many pieces of work are out whenever something is told; None if some slot is left free."""
        out, most, waits = set(), 0, False
        free = []
        for _, words, answer in self.lines:
            if words[0] in BY_PERSONS:
                return None
            if words[0] == "next":
                if answer.split()[0] in ("create", "promote"):
                    out.add(answer.split()[1])
                    most = max(most, len(out))
                else:
                    waits = True
            elif words[0] in ("report", "exit", "step"):
                if words[1] not in out:
                    return None  # It is over, or waits: only a person could end it.
                if not waits:
                    free.append(len(out))
                if words[0] == "exit" or answer is not None and not answer.startswith("train on"):
                    out.discard(words[1])
                    waits = False
        return most if most and all(busy == most for busy in free) else None


def read(folder):
    cases = []
    for table in sorted((TABLES / folder).glob("*.txt")):
        for number, line in enumerate(table.read_text().splitlines(), 1):
            asked, arrow, answer = line.partition("#")[0].partition(" ->")
            words = asked.split()
            if words and words[0] == "case":
                cases.append(Case(f"{table.stem}: {words[1]}"))
            elif words:
                cases[-1].lines.append((f"{table.name}:{number}", words, " ".join(answer.split()) if arrow else None))
    return cases


def words_of(reason):
    """A reason as the tables write it: `promoted bracket 0 rung 1 rank 0 of 3 keep 1 cutoff 0.25`."""
    words = [reason["why"]]
    for figure in FIGURES + (OF_RULES if reason["why"] in ("worse_than_others", "no_improvement") else ()):
        if reason.get(figure) is not None:
            words += ["of" if figure == "size" else figure, str(float(reason[figure]) if figure in REALS else reason[figure])]
    return " ".join(words)


def values_of(params, group=""):
    """Hyperparameters as the tables write them: `lr=0.5 net.kind="a"`."""
    return " ".join(values_of(value, group + name + ".") if isinstance(value, dict) else "{}{}={}".format(
        group, name, json.dumps(value, separators=(",", ":"), ensure_ascii=False)) for name, value in params.items())


class Course:
    """A search that is told what a case's lines say."""

    def __init__(self, case, slots):
        self.search = Search(case.config(), slots)
        self.shows_values = any(words[0] in KINDS for _, words, _ in case.lines)
        self.lengths = {}

    def answer(self, words):
        return getattr(self, words[0])(*words[1:])

    def next(self):
        work = self.search.ask()
        if work is None:
            return "finished" if self.search.finished else "nothing"
        text = "{} {} to {} {}".format("promote" if work.trial in self.lengths else "create", work.trial, work.length,
                                       words_of(self.search.explain(work.trial)["reason"]))
        self.lengths[work.trial] = work.length
        return text + (" " + values_of(work.params) if self.shows_values and text.startswith("create") else "")

    def report(self, trial, metric):
        trial = int(trial)
        work = hpsearch.search.Work({"trial": trial, "hparams": {}, "from": 0, "length": self.lengths[trial], "seed": 0})
        directive = self.search.report(work, work.length, float(metric))
        why = words_of(self.search.explain(trial)["reason"])
        if directive is hpsearch.CONTINUE:
            self.lengths[trial] = work.length
            return f"train on to {work.length} {why}"
        return f"{directive.value} {why}"

    def progress(self):
        return self.search.state()["progress"]

    def step(self, trial, length, metric="nan"):
        directive = self.search.report(int(trial), int(length), float(metric))
        return "train on" if directive is hpsearch.CONTINUE else f"{directive.value} {words_of(self.search.explain(int(trial))['reason'])}"

    def exit(self, trial, reason):
        self.search.tell(int(trial), ENDS[reason])


class Traces(unittest.TestCase):
    def follow(self, case, slots):
        course = Course(case, slots)
        for where, words, answer in case.lines:
            if words[0] in ("search", "given", "when", "close") or words[0] in KINDS:
                continue  # Settings; and a search closes what can be closed by itself.
            got = course.answer(words)
            if words[0] == "progress":
                self.assertAlmostEqual(got, float(fractions.Fraction(answer)), 12, where)
            elif answer is not None:
                self.assertEqual(got, answer.replace(" with a problem", ""), where)

    def run_tables(self, folder, at_least):
        ran = 0
        for case in read(folder):
            slots = case.slots()
            if slots is None:
                continue
            with self.subTest(case.name):
                self.follow(case, slots)
            ran += 1
        print(f"{folder}: {ran} cases")
        self.assertGreaterEqual(ran, at_least, "of too few cases all slots are used")

    def test_cases_made_by_hand_run_as_the_table_says(self):
        self.run_tables("traces", 30)

    def test_random_courses_run_as_the_table_says(self):
        self.run_tables("random_traces", 90)


def integers_in(tree):
    """Of a configuration; at least 0."""
    children = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return [tree if isinstance(tree, int) else 0] + [number for child in children for number in integers_in(child)]


class Draws(unittest.TestCase):
    def test_drawn_values_are_those_of_the_tables(self):
        draws = 0
        for case in read("spaces"):
            for where, words, answer in case.lines:
                if words[0] == "draw":
                    seed, trial = map(int, words[1:])
                    config = dict(case.config(), reproducibility={"experiment_seed": seed})
                    if seed >= 2**31 or trial > 1000 or max(integers_in(config)) >= 2**63:
                        continue  # No experiment file can have it.
                    config["searcher"].update(name="random", max_length=1, max_trials=trial + 1)
                    with self.subTest(where), Search(config, trial + 1) as search:
                        works = [search.ask() for _ in range(trial + 1)]
                        self.assertEqual(values_of(works[trial].params), answer)
                    draws += 1
        self.assertGreater(draws, 60)


if __name__ == "__main__":
    unittest.main()
