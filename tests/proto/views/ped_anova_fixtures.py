"""Writes ped_anova.txt: results of made-up studies, and the importances that Optuna's PedAnovaImportanceEvaluator computes for them.

    pip install optuna && python3 tests/proto/views/ped_anova_fixtures.py > tests/proto/views/ped_anova.txt

The C++ test compares its own shares with these."""

import math
import random

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

optuna.logging.set_verbosity(optuna.logging.ERROR)

FLOAT, LOG, INT, CAT = "float", "log", "int", "cat"
NEAR = "near"  # A float with most values near the middle, as from a sampler that learned.
STUDIES = [
    ("one_matters", 120, True, {"a": (FLOAT, 0, 1), "b": (FLOAT, 0, 1), "c": (FLOAT, -5, 5)},
     lambda p, r: (p["a"] - 0.3) ** 2 + 0.01 * p["b"] + 0.01 * r.random()),
    ("logarithmic", 150, True, {"lr": (LOG, 1e-5, 1e-1), "decay": (LOG, 1e-6, 1e-2), "momentum": (FLOAT, 0, 1)},
     lambda p, r: (math.log10(p["lr"]) + 3) ** 2 + 0.2 * (math.log10(p["decay"]) + 4) ** 2 + 0.1 * r.random()),
    ("whole_numbers", 100, False, {"layers": (INT, 1, 12), "width": (INT, 8, 512), "few": (INT, 0, 1)},
     lambda p, r: p["layers"] - abs(p["width"] - 200) / 50 + p["few"] + r.random()),
    ("categories", 90, True, {"kind": (CAT, 4), "other": (CAT, 2), "x": (FLOAT, 0, 10)},
     lambda p, r: [0, 0.5, 2, 3][p["kind"]] + 0.1 * p["other"] + 0.05 * p["x"] + 0.3 * r.random()),
    ("nothing_matters", 200, True, {"a": (FLOAT, 0, 1), "b": (INT, 0, 20), "c": (CAT, 3)}, lambda p, r: r.random()),
    ("mixed", 160, False, {"lr": (LOG, 1e-4, 1), "depth": (INT, 2, 9), "act": (CAT, 3), "drop": (FLOAT, 0, 0.6)},
     lambda p, r: -abs(math.log10(p["lr"]) + 2) + [0, 1, 0.2][p["act"]] - p["drop"] + 0.05 * p["depth"] + 0.2 * r.random()),
    ("drawn_by_a_model", 150, True, {"a": (NEAR, 0, 1), "b": (NEAR, 0, 1), "c": (FLOAT, 0, 1)},
     lambda p, r: (p["a"] - 0.45) ** 2 + 0.1 * (p["b"] - 0.5) ** 2 + 0.002 * r.random()),
]


def distribution(spec):
    if spec[0] == CAT:
        return CategoricalDistribution(list(range(spec[1])))
    if spec[0] == INT:
        return IntDistribution(spec[1], spec[2])
    return FloatDistribution(spec[1], spec[2], log=spec[0] == LOG)


def drawn(spec, chance):
    if spec[0] == CAT:
        return chance.randrange(spec[1])
    if spec[0] == INT:
        return chance.randint(spec[1], spec[2])
    if spec[0] == LOG:
        return math.exp(chance.uniform(math.log(spec[1]), math.log(spec[2])))
    if spec[0] == NEAR and chance.random() < 0.9:
        return spec[1] + (spec[2] - spec[1]) * min(1, max(0, chance.gauss(0.5, 0.03)))
    return chance.uniform(spec[1], spec[2])


def main():
    print("# made by ped_anova_fixtures.py with optuna", optuna.__version__)
    for name, count, smaller, space, objective in STUDIES:
        chance = random.Random(name)
        study = optuna.create_study(direction="minimize" if smaller else "maximize")
        print("study", name, "minimize" if smaller else "maximize")
        for key, spec in space.items():
            print("parameter", key, *(FLOAT if word == NEAR else word for word in spec))
        for _ in range(count):
            params = {key: drawn(spec, chance) for key, spec in space.items()}
            value = objective(params, chance)
            study.add_trial(optuna.trial.create_trial(
                params=params, distributions={key: distribution(spec) for key, spec in space.items()}, value=value))
            print("result", repr(value), *(repr(params[key]) for key in space))
        shares = optuna.importance.get_param_importances(
            study, evaluator=optuna.importance.PedAnovaImportanceEvaluator())
        for key in space:
            print("share", key, f"{shares[key]:.6f}")


if __name__ == "__main__":
    main()
