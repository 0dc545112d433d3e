"""Time of hpsearch.optuna for 10,000 trials: to_study() of an experiment, and import_study() of that study.

    HPSEARCH_BIN=build/release/bin build/python-genuine/bin/python3 bench/python/optuna_bridge.py

The experiment is that of a store that make_store (target make_store of the same build) writes, with a report for each of
three epochs; that is not measured. Some of its trials failed or diverged, which import_study() leaves out. Prints a table.
"""

from __future__ import annotations

import argparse
import os
import time

from stored import daemon_with

import hpsearch as hp
import optuna

LENGTH = 3


def now():
    return time.perf_counter(), time.process_time()


def measure(experiment, trials):
    begin = now()
    study = hp.optuna.to_study(experiment)
    middle = now()
    found = hp.optuna.import_study(study, most=None)
    end = now()
    assert len(study.get_trials(deepcopy=False)) == trials
    reports = sum(len(trial.intermediate_values) for trial in study.get_trials(deepcopy=False))
    print("Optuna {}, {:,} trials with {:,} reports, load {:.1f}; {:,} earlier results\n".format(
        optuna.__version__, trials, reports, os.getloadavg()[0], len(found)))
    print("| step | wall s | processor s |\n|---|---:|---:|")
    for name, first, last in (("to_study", begin, middle), ("import_study", middle, end), ("both", begin, end)):
        print("| {} | {:.2f} | {:.2f} |".format(name, *(after - before for before, after in zip(first, last))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--trials", type=int, default=10_000)
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with daemon_with(options.trials, "--shape", "random", "--length", str(LENGTH)) as (_, experiment):
        measure(experiment, options.trials)


if __name__ == "__main__":
    main()
