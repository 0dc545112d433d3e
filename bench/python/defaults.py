"""What tune() does where the caller names neither searcher nor sampler, beside other settings and Optuna's default.

    HPSEARCH_LIBRARY=build/release/lib/libhpsearch.so.0 python3 bench/python/defaults.py six [--record]
    HPSEARCH_LIBRARY=build/release/lib/libhpsearch.so.0 python3 bench/python/defaults.py epochs
    HPSEARCH_LIBRARY=build/release/lib/libhpsearch.so.0 python3 bench/python/defaults.py numbers

`six` has the formulas of tests/clients/python/tune/six_functions.py, and --record writes Optuna's results for the test. `epochs` and
`numbers` train models of scikit-learn on its small data sets: `epochs` with the same number of epochs for each setting, on four slots,
`numbers` with the same number of full trainings, one after another. Each prints a table for docs/benchmarks.md. The searches run in this
process, with the section that tune() writes.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import pathlib
import platform
import statistics
import sys
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "clients" / "python"), str(ROOT / "tests" / "clients" / "python" / "tune")]

import hpsearch as hp
import six_functions
from hpsearch._functions.file_space import file_space
from hpsearch._functions.searcher_section import searcher_section

LONGEST, SLOTS = 27, 4  # Epochs; trials at once.
TRIALS = 40  # In `numbers`.
RANDOM_POINTS = 10  # Full trainings of random configurations, whose median is a normalised regret of 1.


# --- ten trainings ---

@functools.lru_cache(maxsize=None)
def data_of(name):
    """Training and validation part, standardized."""
    import numpy
    from sklearn import datasets
    X, y = {"digits": datasets.load_digits, "breast cancer": datasets.load_breast_cancer, "wine": datasets.load_wine,
            "iris": datasets.load_iris, "diabetes": datasets.load_diabetes}[name](return_X_y=True)
    order = numpy.random.RandomState(0).permutation(len(y))[:600]
    X, y = X[order], y[order].astype(float if name == "diabetes" else int)
    X = (X - X.mean(0)) / (X.std(0) + 1e-9)
    y = (y - y.mean()) / y.std() if name == "diabetes" else y
    half = len(y) * 2 // 3
    return X[:half], y[:half], X[half:], y[half:]


class Training:
    """A model in training; epoch() trains one more and returns the validation loss."""

    def __init__(self, data, kind, params, seed):
        from sklearn import ensemble, linear_model, neural_network
        self.X, self.y, self.X_test, self.y_test = data_of(data)
        self.regresses = data == "diabetes"
        params = dict(params)
        self.kind = kind
        if kind == "network":
            made = neural_network.MLPRegressor if self.regresses else neural_network.MLPClassifier
            width, depth = params.pop("width"), params.pop("depth")
            self.model = made(hidden_layer_sizes=(width,) * depth, random_state=seed, **params)
        elif kind == "linear":
            made = linear_model.SGDRegressor if self.regresses else linear_model.SGDClassifier
            self.model = made(random_state=seed, learning_rate="invscaling",
                              loss="squared_error" if self.regresses else "log_loss", **params)
        else:
            made = ensemble.GradientBoostingRegressor if self.regresses else ensemble.GradientBoostingClassifier
            self.model = made(n_estimators=1, warm_start=True, random_state=seed, **params)
        self.epochs = 0

    def epoch(self):
        import numpy
        self.epochs += 1
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                if self.kind == "boosting":
                    self.model.n_estimators = self.epochs
                    self.model.fit(self.X, self.y)
                elif self.regresses:
                    self.model.partial_fit(self.X, self.y)
                else:
                    self.model.partial_fit(self.X, self.y, classes=numpy.unique(self.y))
                if self.regresses:
                    loss = float(((self.model.predict(self.X_test) - self.y_test) ** 2).mean())
                else:
                    chances = self.model.predict_proba(self.X_test)[numpy.arange(len(self.y_test)), self.y_test]
                    loss = float(-numpy.log(numpy.clip(chances, 1e-9, 1)).mean())
            except ValueError:  # The weights are infinite.
                return math.nan
        return loss if math.isfinite(loss) and loss < 1e6 else math.nan


NETWORK = {"learning_rate_init": hp.loguniform(1e-4, 1e-1), "alpha": hp.loguniform(1e-6, 1), "width": hp.int(4, 64, log=True),
           "depth": hp.int(1, 2), "batch_size": hp.choice(16, 32, 64, 128), "beta_1": hp.uniform(0.5, 0.99),
           "activation": hp.choice("relu", "tanh", "logistic")}
LINEAR = {"alpha": hp.loguniform(1e-7, 1), "eta0": hp.loguniform(1e-4, 1), "power_t": hp.uniform(0.05, 0.9),
          "penalty": hp.choice("l2", "l1", "elasticnet")}
BOOSTING = {"learning_rate": hp.loguniform(1e-2, 1), "max_depth": hp.int(1, 6), "subsample": hp.uniform(0.3, 1),
            "max_features": hp.uniform(0.1, 1), "min_samples_leaf": hp.int(1, 30, log=True)}
TEN = {(data, kind): space for data, kind, space in (
    ("digits", "network", NETWORK), ("digits", "linear", LINEAR), ("breast cancer", "network", NETWORK), ("breast cancer", "boosting", BOOSTING),
    ("wine", "network", NETWORK), ("wine", "boosting", BOOSTING), ("iris", "network", NETWORK), ("iris", "linear", LINEAR),
    ("diabetes", "network", NETWORK), ("diabetes", "boosting", BOOSTING))}


@functools.lru_cache(maxsize=None)
def full_loss(task, params, seed):
    """The validation loss after a full training."""
    training = Training(*task, dict(params), seed)
    losses = [training.epoch() for _ in range(LONGEST)]
    return losses[-1]


def by_epochs(task, section, seed, full_trainings):
    """The full loss of the best trial when the epochs of so many full trainings are spent."""
    search = hp.Search(config(TEN[task], section, seed), slots=SLOTS)
    left, trainings, out, best = full_trainings * LONGEST, {}, [], (math.inf, {})
    while left > 0:
        while len(out) < SLOTS and (work := search.ask()) is not None:
            if work.trial not in trainings:
                trainings[work.trial] = Training(*task, work.params, seed)
            out.append(work)
        if not out:
            break
        for work in list(out):
            loss = trainings[work.trial].epoch()
            left -= 1
            if loss < best[0]:
                best = (loss, dict(work.params))
            if search.report(work, trainings[work.trial].epochs, loss) is not hp.CONTINUE:
                out.remove(work)
    return full_loss(task, tuple(best[1].items()), seed) if best[1] else math.nan


def config(space, section, seed):
    return {"hyperparameters": file_space(space), "searcher": section, "reproducibility": {"experiment_seed": seed}}


def by_numbers(call, space, section, seed):
    """The least value of a search that calls a function once for each trial."""
    search = hp.Search(config(space, section, seed))
    while (work := search.ask()) is not None:
        search.report(work, 1, call(**work.params))
    return search.best.metric


def by_optuna(call, space, trials, seed):
    """The same by Optuna's default."""
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial):
        drawn = {}
        for name, one in space.items():
            if one["type"] == "categorical":
                drawn[name] = trial.suggest_categorical(name, one["vals"])
            else:
                suggest = trial.suggest_int if one["type"] == "int" else trial.suggest_float
                drawn[name] = suggest(name, one["minval"], one["maxval"], log=one.get("scale") == "log")
        return call(**drawn)

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=trials)
    return study.best_value


# --- settings ---

def sections(max_length, trials):
    """Name, section: what tune() writes, and others."""
    def made(searcher=None, sampler=None, **more):
        section = searcher_section(searcher, sampler, "value", max_length, trials, True)
        return dict(section, **more)
    if max_length == 1:
        return {"default": made(), "random": made(sampler="random"), "tpe": made(sampler="tpe")}
    aggressive = {"mode": "aggressive", "divisor": 3, "max_rungs": 4}
    return {"default": made(), "standard, model": made("asha", "model"), "aggressive, random": made("asha", "random", **aggressive),
            "standard, random (before)": made("asha", "random"), "full trainings, model": made("random", "model")}


def table(regrets, columns, per):
    """`regrets` has the normalised regret of each column by row."""
    print("| {} | {} |".format(per, " | ".join(columns)))
    print("|---|{}".format("---:|" * len(columns)))
    for task, row in regrets.items():
        print("| {} | {} |".format(task, " | ".join("{:.3f}".format(row[column]) for column in columns)))
    print("| **mean** | {} |".format(" | ".join("**{:.3f}**".format(statistics.mean(row[column] for row in regrets.values()))
                                                for column in columns)), flush=True)


def ten(mode, seeds, only, trainings):
    """The table of `epochs` or `numbers`: 0 is the best that any run found, 1 the median of random full trainings."""
    rows, started = {}, time.process_time()
    for task, space in TEN.items():
        if only and only not in " ".join(task):
            continue
        drawn = hp.Search(config(space, searcher_section("random", None, "value", 1, RANDOM_POINTS, True), 12345), slots=RANDOM_POINTS)
        points = [full_loss(task, tuple(drawn.ask().params.items()), 0) for _ in range(RANDOM_POINTS)]
        typical = statistics.median(value if math.isfinite(value) else math.inf for value in points)
        found = {}
        if mode == "epochs":
            for name, section in sections(LONGEST, 400).items():
                found[name] = [by_epochs(task, section, seed, trainings) for seed in range(seeds)]
        else:
            def call(seed, **params):
                return full_loss(task, tuple(params.items()), seed)
            for name, section in sections(1, TRIALS).items():
                found[name] = [by_numbers(functools.partial(call, seed), space, section, seed) for seed in range(seeds)]
            found["Optuna"] = [by_optuna(functools.partial(call, seed), space, TRIALS, seed) for seed in range(seeds)]
        found = {name: [value if math.isfinite(value) else typical for value in values] for name, values in found.items()}
        least = min(min(values) for values in found.values())
        rows[", ".join(task)] = {name: statistics.mean((min(value, typical) - least) / (typical - least) for value in values)
                                 for name, values in found.items()}
        print("# {}: {:.0f} s of processor time so far".format(", ".join(task), time.process_time() - started), file=sys.stderr, flush=True)
    table(rows, list(next(iter(rows.values()))), "training")


def six(seeds, record):
    """The table of the formulas: 0 is the minimum, 1 the mean of random draws. Optuna's results are the recorded ones, or are recorded."""
    recorded = ROOT / "tests" / "clients" / "python" / "tune" / "optuna_default.json"
    stored = {} if record else json.loads(recorded.read_text())["best"]
    rows = {}
    for name, (call, space, least) in six_functions.FUNCTIONS.items():
        found = {label: [by_numbers(call, space, section, seed) - least for seed in range(seeds)]
                 for label, section in sections(1, six_functions.TRIALS).items()}
        if record:
            stored[name] = [by_optuna(call, space, six_functions.TRIALS, seed) for seed in range(seeds)]
        found["Optuna"] = [value - least for value in stored[name][:seeds]]
        rows[name] = {label: statistics.mean(values) / statistics.mean(found["random"]) for label, values in found.items()}
        print("# " + name, file=sys.stderr, flush=True)
    table(rows, ["default", "tpe", "random", "Optuna"], "function")
    if record:
        import optuna
        recorded.write_text(json.dumps({
            "optuna": optuna.__version__, "sampler": "TPESampler, the default of create_study()", "trials": six_functions.TRIALS, "best": stored}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("six", "epochs", "numbers"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--only", default="", help="part of the name of a training")
    parser.add_argument("--trainings", type=int, default=8, help="epochs: how many full trainings each search may cost")
    given = parser.parse_args()
    if given.what == "six":
        six(given.seeds, given.record)
    else:
        ten(given.what, given.seeds, given.only, given.trainings)
    print("\n{} seeds, Python {}".format(given.seeds, platform.python_version()))


if __name__ == "__main__":
    main()
