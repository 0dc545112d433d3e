"""Cost of a trial in hpsearch.Search and in Optuna, in one process, in the same run.

    HPSEARCH_LIBRARY=build/release/lib/libhpsearch.so.0 build/python-genuine/bin/python3 bench/python/engine.py

Prints a table; processor time hardly depends on what else runs on the machine. Objectives cost nothing, so all of the time
is the search's. hpsearch runs adaptive_asha that stops trials
(stop_once), with one slot; Optuna SuccessiveHalvingPruner and RandomSampler with the study in memory. Both have the same
space, divisor and lengths, and metrics that follow from the drawn values.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))

import hpsearch as hp

LENGTH, DIVISOR = 27, 3
SPACE = {"lr": hp.loguniform(1e-4, 1e-1), "width": hp.int(16, 256), "kind": hp.choice("sgd", "adam")}


def loss(lr, width, kind, step):
    return abs(lr - 0.01) * 10 + width / 256 + (kind == "sgd") + 1 / step


def now():
    return time.perf_counter(), time.process_time()


def since(begin):
    """(wall seconds, processor seconds)"""
    return tuple(end - start for start, end in zip(begin, now()))


def with_hpsearch(trials):
    """(wall seconds, processor seconds, reports)"""
    reports = 0
    search = hp.Search({"hyperparameters": SPACE, "searcher": hp.asha(
        metric="loss", max_length=LENGTH, max_trials=trials, divisor=DIVISOR, stop_once=True),
        "reproducibility": {"experiment_seed": 1}})
    begin = now()
    while True:
        work = search.ask()
        if work is None:
            break
        directive = hp.CONTINUE
        while directive is hp.CONTINUE:
            step = work.length  # The searcher decides there; what lies between costs neither side anything.
            directive = search.report(work, step, loss(**work.params, step=step))
            reports += 1
    seconds = since(begin)
    assert search.finished, search.state()
    return (*seconds, reports)


def with_random(trials):
    """(wall seconds, processor seconds, reports): each trial is one ask and one report."""
    search = hp.Search({"hyperparameters": SPACE, "searcher": hp.random(metric="loss", max_length=LENGTH, max_trials=trials),
                        "reproducibility": {"experiment_seed": 1}})
    begin = now()
    for _ in range(trials):
        work = search.ask()
        search.report(work, work.length, loss(**work.params, step=work.length))
    return (*since(begin), trials)


def with_optuna(trials):
    """(wall seconds, processor seconds, reports)"""
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1), pruner=optuna.pruners.SuccessiveHalvingPruner(
        min_resource=1, reduction_factor=DIVISOR))
    reports = 0
    begin = now()
    for _ in range(trials):
        trial = study.ask()
        params = {"lr": trial.suggest_float("lr", 1e-4, 1e-1, log=True), "width": trial.suggest_int("width", 16, 256),
                  "kind": trial.suggest_categorical("kind", ["sgd", "adam"])}
        step = 1
        while True:
            value = loss(**params, step=step)
            trial.report(value, step)
            reports += 1
            if step == LENGTH:
                study.tell(trial, value)
                break
            if trial.should_prune():
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                break
            step *= DIVISOR
    return (*since(begin), reports)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--trials", type=int, default=100_000, help="of hpsearch")
    parser.add_argument("--optuna-trials", type=int, default=2_000)
    options = parser.parse_args()
    rows = [("hpsearch, random: ask and report", options.trials, *with_random(options.trials)),
            ("hpsearch, adaptive_asha", options.optuna_trials, *with_hpsearch(options.optuna_trials)),
            ("hpsearch, adaptive_asha", options.trials, *with_hpsearch(options.trials))]
    print("{}, {} processors, load {:.1f}, Python {}".format(
        platform.machine(), os.cpu_count(), os.getloadavg()[0], platform.python_version()), end="")
    try:
        import optuna
    except ImportError:
        print("; Optuna is not installed, and was not measured", end="")
    else:
        print(", Optuna", optuna.__version__, end="")
        rows.append(("Optuna, SuccessiveHalvingPruner", options.optuna_trials, *with_optuna(options.optuna_trials)))
    print("\n\n| search | trials | reports | wall s | processor s | processor µs per trial |\n|---|---:|---:|---:|---:|---:|")
    for name, trials, wall, processor, reports in rows:
        print(f"| {name} | {trials:,} | {reports:,} | {wall:.2f} | {processor:.2f} | {processor / trials * 1e6:,.1f} |")


if __name__ == "__main__":
    main()
