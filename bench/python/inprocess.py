"""Cost of a trial in hpsearch.tune(on="inprocess") and in Optuna with its study in memory, in the same run.

    HPSEARCH_LIBRARY=build/release/lib/libhpsearch.so.0 build/python-genuine/bin/python3 bench/python/inprocess.py

The function is x * x + y, which costs less than a microsecond, so all of the time is the search's. Prints processor time, which hardly
depends on what else runs on the machine; the engine alone is hpsearch.Search, in a loop of ask() and report().
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))

import hpsearch as hp

SPACE = {"x": hp.uniform(-1, 1), "y": hp.uniform(0, 1)}


def function(x, y):
    return x * x + y


def in_process(trials, sampler, **more):
    searcher = hp.random(metric="value", max_length=1, max_trials=trials, sampler=sampler)
    hp.tune(function, SPACE, max_trials=trials, searcher=searcher, on="inprocess", seed=1, progress=False, **more)


def engine(trials, sampler):
    search = hp.Search({"hyperparameters": SPACE, "reproducibility": {"experiment_seed": 1}, "searcher": hp.random(
        metric="value", max_length=1, max_trials=trials, sampler=sampler)})
    while True:
        work = search.ask()
        if work is None:
            return
        search.report(work, 1, function(**work.params))


def with_optuna(trials, sampler):
    import optuna
    optuna.logging.disable_default_handler()
    made = optuna.samplers.RandomSampler(seed=1) if sampler == "random" else optuna.samplers.TPESampler(seed=1)
    study = optuna.create_study(sampler=made)
    study.optimize(lambda trial: function(trial.suggest_float("x", -1, 1), trial.suggest_float("y", 0, 1)), n_trials=trials)


def microseconds(run, trials, *arguments, **named):
    begin = time.process_time()
    run(trials, *arguments, **named)
    return 1e6 * (time.process_time() - begin) / trials


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--model-trials", type=int, default=500)
    options = parser.parse_args()
    rows = [("tune(on=\"inprocess\"), random", options.trials, in_process, ("random",), {}),
            ("the same with a callback", options.trials, in_process, ("random",), {"callbacks": [lambda experiment, trial: None]}),
            ("the engine alone, random", options.trials, engine, ("random",), {}),
            ("Optuna, RandomSampler", options.trials // 10, with_optuna, ("random",), {}),
            ("tune(on=\"inprocess\"), model", options.model_trials, in_process, ("model",), {}),
            ("tune(on=\"inprocess\"), tpe", options.model_trials, in_process, ("tpe",), {}),
            ("Optuna, TPESampler", options.model_trials, with_optuna, ("tpe",), {})]
    print("| search | trials | processor µs per trial |\n|---|---:|---:|")
    for name, trials, run, arguments, named in rows:
        if run is with_optuna:
            try:
                import optuna  # noqa: F401
            except ImportError:
                continue
        run(10, *arguments, **named)  # The first call imports modules, which would count.
        print("| {} | {:,} | {:.0f} |".format(name, trials, microseconds(run, trials, *arguments, **named)), flush=True)


if __name__ == "__main__":
    main()
