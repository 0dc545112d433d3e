"""Six functions with known minima, for comparing how samplers of different packages choose configurations.

Each is a class with `space` (distributions of hpsearch), `least` (its minimum), `typical` (the median of random points), and a
call with the hyperparameters as arguments.
"""

from __future__ import annotations

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "clients" / "python"))

import hpsearch as hp

TRIALS = 80


def branin(x, y):
    return (y - 5.1 / (4 * math.pi ** 2) * x * x + 5 / math.pi * x - 6) ** 2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


_A = ((10, 3, 17, 3.5, 1.7, 8), (0.05, 10, 17, 0.1, 8, 14), (3, 3.5, 1.7, 10, 17, 8), (17, 8, 0.05, 10, 0.1, 14))
_P = ((0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886), (0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991),
      (0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650), (0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381))


def hartmann(**x):
    values = list(x.values())
    return -sum(c * math.exp(-sum(a * (value - p) ** 2 for a, p, value in zip(row, centre, values)))
                for c, row, centre in zip((1.0, 1.2, 3.0, 3.2), _A, _P))


def ackley(**x):
    values = list(x.values())
    count = len(values)
    return (20 + math.e - 20 * math.exp(-0.2 * math.sqrt(sum(value * value for value in values) / count))
            - math.exp(sum(math.cos(2 * math.pi * value) for value in values) / count))


def rosenbrock(**x):
    values = list(x.values())
    return sum(100 * (after - value * value) ** 2 + (1 - value) ** 2 for value, after in zip(values, values[1:]))


def levy(**x):
    w = [1 + (value - 1) / 4 for value in x.values()]
    inner = sum((value - 1) ** 2 * (1 + 10 * math.sin(math.pi * value + 1) ** 2) for value in w[:-1])
    return math.sin(math.pi * w[0]) ** 2 + inner + (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2)


def network(lr, width, optimizer, dropout):
    """Shaped as the loss of a small network: a valley of learning rates that depends on the optimizer and the width."""
    best = {"sgd": -1.2, "adam": -2.8, "rmsprop": -3.1}[optimizer] - 0.15 * math.log2(width / 64)
    offset = {"sgd": 0.06, "adam": 0.0, "rmsprop": 0.04}[optimizer]
    return 0.1 + offset + 0.08 * (math.log10(lr) - best) ** 2 + 0.02 * (math.log2(width / 128)) ** 2 + 0.5 * (dropout - 0.25) ** 2


def _box(count, low, high):
    return {"x{}".format(number): hp.uniform(low, high) for number in range(1, count + 1)}


# Each with its space and its minimum.
FUNCTIONS = {
    "Branin": (branin, {"x": hp.uniform(-5, 10), "y": hp.uniform(0, 15)}, 0.397887),
    "Hartmann 6": (hartmann, _box(6, 0, 1), -3.32237),
    "Ackley 4": (ackley, _box(4, -25, 40), 0.0),
    "Rosenbrock 3": (rosenbrock, _box(3, -2, 3), 0.0),
    "Levy 4": (levy, _box(4, -10, 10), 0.0),
    "network": (network, {"lr": hp.loguniform(1e-5, 1), "width": hp.int(16, 1024, log=True),
                          "optimizer": hp.choice("sgd", "adam", "rmsprop"), "dropout": hp.uniform(0, 0.8)}, 0.1),
}
