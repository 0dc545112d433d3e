"""Normalised regret of the samplers, on four kinds of tasks."""

import os
import pathlib
import sys
import tempfile

from .elsewhere import COMPARED, compared_table
from .races import BUDGETS, SHOWN_BUDGETS, csv_rows, raced
from .regret_plot import quality_plot
from .report import (BUILD, MODEL_PAGE, PAGE, PLOTS, ROOT, TPE_PAGE, build, markdown_table, provenance, replace_section,
                     run_quietly)

SHORT = "one instance, one seed, to the terminal: does it run?"
SEEDS = {"development": 10, "unseen": 5, "formulas": 10, "recorded": 10}  # Parts, and seeds of each.
FIRST_SEED = 901  # No sampler was tuned on these.
METHODS = ("random", "random_model", "random_tpe", "random_anneal", "asha_3_from_3", "asha_3_from_3_stop",
                    "asha_3_from_3_model", "asha_3_from_3_tpe", "asha_3_from_3_anneal", "asha_3_from_3_stop_model",
                    "adaptive_standard", "adaptive_standard_model")
HALVING = {  # As the pages of the samplers show them, all in the bracket of asha_3_from_3.
    "`sampler: random`": "asha_3_from_3",
    "`sampler: model`": "asha_3_from_3_model",
    "`sampler: tpe`": "asha_3_from_3_tpe",
    "`sampler: anneal`": "asha_3_from_3_anneal",
}
UNSEEN = "126029,146212,167104,167149,167161,167184,167190,167201"
FORMULAS = {  # name: what the table says
    "noise": "results are noise",
    "needle": "a needle in two dimensions",
    "sparse20": "20 parameters, 2 matter",
    "half_fails": "half of the space has NaN",
    "late_nan": "a quarter has NaN from a third of the length on",
    "crossing": "curves cross",
    "diverging": "some trainings diverge",
    "power": "power laws",
}
RECORDED = {
    "`name: random`": "random",
    **{f"`async_halving`, {text}": method for text, method in HALVING.items()},
}
PLOTTED = {
    "random": ("random search", "#777777"),
    "asha_3_from_3": ("ASHA, sampler random", "#1b9e77"),
    "asha_3_from_3_tpe": ("ASHA, sampler tpe", "#3366cc"),
    "asha_3_from_3_model": ("ASHA, sampler model", "#d95f02"),
    "random_model": ("every trial to the end, sampler model", "#7b3fa0"),
}
ELSEWHERE = {
    "Syne Tune BOHB": ("Syne Tune BOHB", "#3366cc"),
    "MOBSTER": ("MOBSTER", "#d95f02"),
    "Optuna, GP": ("Optuna, GP", "#7b3fa0"),
}


def add_arguments(verb):
    verb.add_argument("--data", default=os.environ.get("HPSEARCH_LCBENCH_DIR"),
                      help="directory of the LCBench surrogate (or HPSEARCH_LCBENCH_DIR)")
    verb.add_argument("--only", action="append", choices=SEEDS,
                      help="a part; can be repeated (default: all). recorded trains small networks for a quarter of an "
                           "hour first, once")


def run(arguments):
    parts = arguments.only or list(SEEDS)
    if not arguments.data and {"development", "unseen"} & set(parts):
        sys.exit("bench: the parts development and unseen need the data of the LCBench surrogate (--data)")
    program = build("quality_bench") / "bin" / "quality_bench"
    made_by = {part: provenance(f"scripts/bench samplers --data DIR --only {part}") for part in parts}
    for part in parts:
        with tempfile.TemporaryDirectory() as scratch:
            races = Races(program, pathlib.Path(scratch), 1 if arguments.short else SEEDS[part], arguments)
            written = PARTS[part](races, made_by[part])
        for (page, name), text in written.items():
            if arguments.short:
                print(f"\n{page.relative_to(ROOT)}, {name or 'all of it'}: {len(text)} bytes\n\n{text if name else ''}")
            elif name:
                replace_section(name, text, page=page)
            else:
                page.write_text(text, encoding="utf-8")
                print(f"bench: wrote {page.relative_to(ROOT)}")
    if arguments.short:
        print("bench: a short run; the pages are as they were")


class Races:
    """Runs quality_bench for the parts of `samplers`."""

    def __init__(self, program, scratch, seeds, arguments):
        self.summary = scratch / "summary.csv"
        self._program, self._runs, self._seeds, self._arguments = program, scratch / "runs.csv", seeds, arguments

    def run(self, methods, budgets, *options):
        """What it said in its second line, and {method: (what it is, {budget: (mean, low, high)})}."""
        said, by_method = raced(self._program, self.summary, self._runs, "--seeds", self._seeds, "--first-seed",
                                FIRST_SEED, "--methods", ",".join(methods), "--budgets",
                                ",".join(map(str, budgets)), *options)
        return said[1], by_method

    def by_task(self):
        """Of the latest run, (task, method, budget): the mean over seeds."""
        found = {}
        for row in csv_rows(self._runs):
            found.setdefault((row["instance"], row["method"], float(row["budget"])), []).append(float(row["regret"]))
        return {key: sum(regrets) / len(regrets) for key, regrets in found.items()}

    def surrogate(self, instances=None):
        """The options for the surrogate; a short run has one instance."""
        chosen = "167168" if self._arguments.short else instances
        return ["--data", self._arguments.data, "--lcbench", *(["--instances", chosen] if chosen else [])]

    def recorded(self):
        """The tables of recorded curves, made where they are not there yet."""
        folder = BUILD / "recorded"
        run_quietly("/usr/bin/python3", str(ROOT / "bench" / "quality" / "record_curves.py"), str(folder))
        return ["--recorded", str(folder)]


def short(regret):
    """".204"."""
    return f"{regret:.3f}".removeprefix("0")


def with_interval(point):
    mean, low, high = map(short, point)
    return f"{mean} [{low}, {high}]"


def in_one_line(made_by):
    """What `provenance` says, but for the machine: quality does not depend on it."""
    command, _, built, date = (line.partition(": ")[2] for line in made_by.splitlines())
    return f"By {command}, {built.rpartition(', ')[2]}, {date}:\n\n"


def halving_table(by_method, texts, cell):
    """A row for each of `texts`, the methods of one bracket."""
    rows = [[text, *(cell(by_method[method][1][budget]) for budget in SHOWN_BUDGETS)] for text, method in texts.items()]
    return markdown_table(["rungs 3, 9, 27, 52, divisor 3", f"{SHOWN_BUDGETS[0]} full trainings",
                           *SHOWN_BUDGETS[1:]], rows)


def development_part(races, made_by):
    said, by_method = races.run(METHODS, BUDGETS, *races.surrogate())
    points = {method: found for method, (_, found) in by_method.items()}
    rows = [[f"`{method}`", about, *("{:.3f} [{:.3f}, {:.3f}]".format(*found[budget]) for budget in SHOWN_BUDGETS)]
            for method, (about, found) in by_method.items()]
    text = (f"{made_by}- on: LCBench surrogate; {said}\n\n"
            + markdown_table(["method", "what it is", *(f"at {budget}" for budget in SHOWN_BUDGETS)], rows, right_from=2)
            + "\n![Normalised regret of the samplers over full trainings of work](benchmarks/samplers.svg)\n\n"
            "All budgets: [samplers.csv](benchmarks/samplers.csv).\n"
            + COMPARED + "\n\n" + compared_table(points, only_ours=True))
    shown = in_one_line(made_by) + halving_table(by_method, HALVING, with_interval)
    return {(PAGE, "samplers"): text, (MODEL_PAGE, "measured"): shown, (TPE_PAGE, "measured"): shown,
            (PLOTS / "samplers.svg", None): quality_plot(points, PLOTTED, ELSEWHERE),
            (PLOTS / "samplers.csv", None): races.summary.read_text(encoding="utf-8")}


def unseen_part(races, made_by):
    texts = {text: method for text, method in HALVING.items() if "anneal" not in method}
    _, by_method = races.run(texts.values(), SHOWN_BUDGETS, *races.surrogate(UNSEEN))
    return {(MODEL_PAGE, "unseen"): in_one_line(made_by) + halving_table(by_method, texts, with_interval)}


def formulas_part(races, made_by):
    methods, budgets, found = list(HALVING.values())[:3], (5, 15, 50), {}
    for kind in ("--adversarial", "--synthetic"):
        races.run(methods, budgets, kind)
        found |= races.by_task()
    rows = [[text, *(" ".join(short(found[task, method, budget]) for budget in budgets) for method in methods)]
            for task, text in FORMULAS.items()]
    return {(MODEL_PAGE, "formulas"): in_one_line(made_by) + markdown_table(["task", "random", "model", "tpe"], rows)}


def recorded_part(races, made_by):
    budgets = (5, 10, 30)
    _, by_method = races.run(RECORDED.values(), budgets, *races.recorded())
    rows = [[text, *(with_interval(by_method[method][1][budget]) for budget in budgets)]
            for text, method in RECORDED.items()]
    return {(MODEL_PAGE, "recorded"): in_one_line(made_by) + markdown_table(
        ["mean of four tasks", f"{budgets[0]} full trainings", *budgets[1:]], rows)}


PARTS = {"development": development_part, "unseen": unseen_part, "formulas": formulas_part,
                  "recorded": recorded_part}
