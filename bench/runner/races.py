"""Races of searchers: runs quality_bench and reads what it measured."""

import csv

from .report import output_of

BUDGETS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
SHOWN_BUDGETS = (10, 30, 100)


def raced(program, summary, runs, *options):
    """Runs quality_bench with eight workers; returns what it printed, in lines, and
    {method: (what it is, {budget: (mean, low, high)})}. `runs` gets every run."""
    printed = output_of(program, "--workers", "8", "--summary", summary, "--csv", runs, *options)
    by_method = {}
    for row in csv_rows(summary):
        points = by_method.setdefault(row["method"], (row["about"], {}))[1]
        points[float(row["budget"])] = (float(row["mean"]), float(row["low"]), float(row["high"]))
    return printed.strip().splitlines(), by_method


def csv_rows(path):
    """The rows of a CSV file with titles; lines that begin with # are comments."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))
