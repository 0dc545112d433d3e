"""Wall time of HpsearchCV and of scikit-learn's HalvingRandomSearchCV for the same candidates' space, number and resources.

    HPSEARCH_LIBRARY=build/release/lib/libhpsearch.so.0 python3 bench/python/halving.py --jobs 8 --seeds 10

Prints a table for docs/benchmarks.md. Fits of "uneven sleeps" sleep, so their wall time is that of a machine with as many
cores as workers; the others need the machine for themselves, with a core for each worker. Each search has a process with workers of its own, and they take turns seed by seed, so
that other work on the machine slows both. Scores are of the best estimator on a quarter of the data that no search saw. With
--jobs 1, processor seconds are right too, also on a busy machine.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import multiprocessing
import os
import pathlib
import platform
import statistics
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))
os.environ["PYTHONPATH"] = os.pathsep.join([sys.path[0], str(pathlib.Path(__file__).resolve().parent), os.environ.get("PYTHONPATH", "")])
os.environ["PYTHONWARNINGS"] = "ignore"

TRIALS, LONGEST, SHORTEST, FOLDS = 27, 27, 3, 3


def problem(name, seed):
    """Data, estimator, space, resource."""
    from scipy.stats import loguniform, randint, uniform
    from sklearn.datasets import load_digits, make_classification
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.neural_network import MLPClassifier

    if name == "uneven sleeps":
        from sleeping import Sleeper
        return (make_classification(200, 5, random_state=7), Sleeper(),
                {"rate": loguniform(1e-4, 1), "cost": uniform(0.2, 1.8)}, "rounds")
    if name == "digits, forest":
        return (load_digits(return_X_y=True), RandomForestClassifier(random_state=seed),
                {"max_features": uniform(0.02, 0.9), "max_depth": randint(2, 16), "criterion": ["gini", "entropy"]}, "n_estimators")
    if name == "synthetic, boosting":
        return (make_classification(1000, 20, n_informative=8, random_state=7), GradientBoostingClassifier(random_state=seed),
                {"learning_rate": loguniform(1e-2, 1), "max_depth": randint(1, 9), "subsample": uniform(0.3, 0.7)}, "n_estimators")
    return (make_classification(1200, 30, n_informative=10, n_classes=4, random_state=8), MLPClassifier(random_state=seed),
            {"hidden_layer_sizes": [(8,), (32,), (128,), (128, 64)], "learning_rate_init": loguniform(1e-4, 1e-1),
             "alpha": loguniform(1e-6, 1e-1), "batch_size": [16, 64, 200]}, "max_iter")


PROBLEMS = ("uneven sleeps", "digits, forest", "synthetic, boosting", "synthetic, network")


def measure(method, name, seed, jobs):
    """(wall seconds, processor seconds of this process, score)"""
    warnings.simplefilter("ignore")
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingRandomSearchCV, train_test_split

    from hpsearch.sklearn import HpsearchCV

    (X, y), estimator, space, resource = problem(name, seed)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=seed)
    common = {"resource": resource, "cv": FOLDS, "n_jobs": jobs, "random_state": seed}
    if method == "HpsearchCV":
        search = HpsearchCV(estimator, space, max_resource=LONGEST, min_resource=SHORTEST, max_trials=TRIALS, **common)
    else:
        search = HalvingRandomSearchCV(estimator, space, max_resources=LONGEST, min_resources=SHORTEST, n_candidates=TRIALS, **common)
    wall, processor = time.perf_counter(), time.process_time()
    search.fit(X, y)
    return time.perf_counter() - wall, time.process_time() - processor, search.score(X_test, y_test)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", choices=PROBLEMS, help="one of the problems")
    given = parser.parse_args()
    import sklearn

    methods = ("HpsearchCV", "HalvingRandomSearchCV")
    spawn = multiprocessing.get_context("spawn")
    places = {method: concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) for method in methods}
    before = os.getloadavg()[0]
    unit = "processor s" if given.jobs == 1 else "wall s"
    print(f"| data, estimator | HpsearchCV, {unit} | HalvingRandomSearchCV, {unit} | ratio | score | score of halving |")
    print("|---|---:|---:|---:|---:|---:|", flush=True)
    ratios = []
    for name in [given.only] if given.only else PROBLEMS:
        found = {method: [] for method in methods}
        for seed in range(-1, given.seeds):  # The first starts workers, and isn't counted.
            for method in methods if seed % 2 else reversed(methods):
                measured = places[method].submit(measure, method, name, max(seed, 0), given.jobs).result()
                if seed >= 0:
                    found[method].append(measured)
        times = {method: statistics.mean(each[given.jobs == 1] for each in found[method]) for method in methods}
        scores = {method: statistics.mean(each[2] for each in found[method]) for method in methods}
        ours, theirs = methods
        ratios.append(times[ours] / times[theirs])
        print(f"| {name} | {times[ours]:.2f} | {times[theirs]:.2f} | {ratios[-1]:.2f} | {scores[ours]:.3f} | {scores[theirs]:.3f} |", flush=True)
    print(f"\nMean ratio {statistics.mean(ratios):.2f}; {given.seeds} seeds, {given.jobs} workers, {os.cpu_count()} cores, load {before:.1f} before and "
          f"{os.getloadavg()[0]:.1f} after; scikit-learn {sklearn.__version__}, Python {platform.python_version()}")


if __name__ == "__main__":
    main()
