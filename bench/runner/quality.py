"""Normalised regret of the searchers, with confidence intervals."""

import os
import pathlib
import random
import shutil
import tempfile
import time

from .elsewhere import COMPARED, compared_table
from .races import BUDGETS, SHOWN_BUDGETS, csv_rows, raced
from .regret_plot import quality_plot
from .report import BUILD, PLOTS, build, markdown_table, provenance, replace_section

SHORT = "one instance, two seeds: does it run?"
SEEDS = 30  # With ten, the interval of random search is 0.06 wide at ten trainings.
FIRST = 10  # Shown beside, for comparison with benches of ten seeds.
PLOTTED = {  # method: (what the legend says, colour)
    "random": ("random search", "#777777"),
    "asha_4_from_1": ("ASHA, divisor 4 from epoch 1", "#d95f02"),
    "asha_3_from_3": ("ASHA, divisor 3 from epoch 3", "#1b9e77"),
    "adaptive_standard": ("adaptive_asha standard", "#3366cc"),
    "adaptive_aggressive": ("adaptive_asha aggressive", "#7b3fa0"),
}


def add_arguments(verb):
    verb.add_argument("--data", default=os.environ.get("HPSEARCH_LCBENCH_DIR"),
                      help="directory of the LCBench surrogate (or HPSEARCH_LCBENCH_DIR); without it synthetic curves, "
                           "and docs/benchmarks.md stays as it is")


def run(arguments):
    program = build("quality_bench") / "bin" / "quality_bench"
    made_by = provenance("scripts/bench quality --data DIR")
    # The page shows the whole bench on the surrogate; a smaller run only checks that it works.
    publishes = bool(arguments.data) and not arguments.short
    with tempfile.TemporaryDirectory() as scratch:
        summary = pathlib.Path(scratch) / "quality.csv"
        runs = BUILD / "quality_runs.csv" if publishes else pathlib.Path(scratch) / "runs.csv"
        options = ["--budgets", ",".join(map(str, BUDGETS)),
                   "--seeds", 2 if arguments.short else SEEDS]
        if arguments.data:
            options += ["--data", arguments.data] + (["--instances", "167168"] if arguments.short else [])
        started = time.monotonic()
        said, by_method = raced(program, summary, runs, *options)
        minutes = (time.monotonic() - started) / 60
        if publishes:
            PLOTS.mkdir(exist_ok=True)
            shutil.copy(summary, PLOTS / "quality.csv")
        seeds = min(FIRST, 2 if arguments.short else SEEDS)
        first = regret_of_first(runs, seeds)
    all_seeds = {method: points for method, (_, points) in by_method.items()}
    text = quality_section(by_method, said, minutes) + first_section(first, seeds)
    if arguments.data:
        text += compared_section(all_seeds, first, seeds)
    if not publishes:
        print("\n".join(said) + "\n" + text)
        print("bench: " + ("a short run" if arguments.short else "no data of the LCBench surrogate (--data)")
              + "; docs/benchmarks.md is as it was")
        return
    (PLOTS / "quality.svg").write_text(quality_plot(all_seeds, PLOTTED), encoding="utf-8")
    replace_section("quality", made_by + text)


def quality_section(by_method, said, minutes):
    """The table and the plot. `said` begins with what the bench says of itself."""
    rows = []
    for method, (about, points) in by_method.items():
        cells = ["{:.3f} [{:.3f}, {:.3f}]".format(*points[budget]) for budget in SHOWN_BUDGETS]
        rows.append([f"`{method}`", about, *cells])
    titles = ["method", "what it is", *(f"at {budget}" for budget in SHOWN_BUDGETS)]
    return (f"- took: {minutes:.0f} min\n- on: {said[0]}; {said[1]}\n\n"
            "Mean normalised regret after so many full trainings of work, [95 % bootstrap interval over seeds]; "
            "0 is the best known configuration, 1 the median of random ones trained to the end.\n\n"
            + markdown_table(titles, rows, right_from=2)
            + "\n![Normalised regret over full trainings of work](benchmarks/quality.svg)\n\n"
            "All budgets and methods: [quality.csv](benchmarks/quality.csv).\n")


def regret_of_first(runs, seeds):
    """Of the first seeds alone, method: {budget: (mean, low, high)}: means over instances, then seeds."""
    regrets = {}  # (method, budget, seed): regrets on each instance
    for row in csv_rows(runs):
        if int(row["seed"]) <= seeds and float(row["budget"]) in SHOWN_BUDGETS:
            regrets.setdefault((row["method"], float(row["budget"]), int(row["seed"])), []).append(float(row["regret"]))
    chance = random.Random(1)
    found = {}
    for method in dict.fromkeys(key[0] for key in regrets):
        for budget in SHOWN_BUDGETS:
            means = [sum(regrets[method, budget, seed]) / len(regrets[method, budget, seed])
                     for seed in range(1, seeds + 1)]
            drawn = sorted(sum(chance.choices(means, k=seeds)) / seeds for _ in range(2000))
            found.setdefault(method, {})[budget] = (sum(means) / seeds, drawn[50], drawn[1949])
    return found


def first_section(first, seeds):
    """The table of the first seeds alone."""
    rows = [[f"`{method}`", *("{:.3f} [{:.3f}, {:.3f}]".format(*points[budget]) for budget in SHOWN_BUDGETS)]
            for method, points in first.items()]
    titles = ["method", *(f"at {budget}" for budget in SHOWN_BUDGETS)]
    return f"\nOf these runs, seeds 1 to {seeds} alone:\n\n" + markdown_table(titles, rows)


def compared_section(all_seeds, first, seeds):
    """Ours beside what others measured: once of all seeds, once of the first."""
    return (COMPARED + " All our seeds:\n\n" + compared_table(all_seeds)
            + f"\nSeeds 1 to {seeds}:\n\n" + compared_table(first))
