#!/usr/bin/python3
"""Trains small networks on four data sets that come with scikit-learn, every combination of five hyperparameters for 52
epochs, and writes the learning curves as tables for `hpsearch simulate --curves` and `quality_bench --recorded`.

    bench/quality/record_curves.py DIR          a quarter of an hour on one core; a table that is there is left alone

The network has one hidden layer and is trained by stochastic gradient descent with momentum. The metric is minus the
loss on the validation part, cross-entropy or squared error, larger is better: accuracies of so few examples have ties.
A training that diverges has a NaN. The same seed gives the same tables, to the last bits on the same processor.
"""

import csv
import importlib.util
import itertools
import os
import pathlib
import sys

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # Matrices this small lose by threads.
    os.environ[variable] = "1"
import numpy as np  # noqa: E402

EPOCHS = 52
GRID = {
    "activation": ["relu", "tanh", "sigmoid"],
    "hidden": [8, 16, 32, 64, 128],
    "learning_rate": [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1],
    "momentum": [0, 0.8, 0.95],
    "weight_decay": [0, 0.0001, 0.01],
}
ACTIVATIONS = {  # name: (function, its slope in terms of its own value)
    "relu": (lambda x: np.maximum(x, 0), lambda y: y > 0),
    "tanh": (np.tanh, lambda y: 1 - y * y),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), lambda y: y * (1 - y)),
}
# file, rows of its header, where the target is, number of classes (0: a number), batch size
TASKS = {
    "digits": ("digits.csv.gz", 0, 10, 32),
    "breast_cancer": ("breast_cancer.csv", 1, 2, 16),
    "wine": ("wine_data.csv", 1, 3, 8),
    "diabetes": ("diabetes_data_raw.csv.gz", 0, 0, 16),
}


def data_of(task):
    """(inputs, targets) to train with and to validate with; inputs and numeric targets have mean 0 and deviation 1."""
    name, header, classes, _ = TASKS[task]
    package = importlib.util.find_spec("sklearn")
    if package is None:
        sys.exit("the data sets are part of scikit-learn: apt-get install python3-sklearn")
    folder = pathlib.Path(package.submodule_search_locations[0], "datasets", "data")
    if classes:
        table = np.loadtxt(folder / name, delimiter=",", skiprows=header)
        inputs, labels = table[:, :-1], table[:, -1].astype(int)
        targets = np.eye(classes)[labels]
    else:
        inputs = np.loadtxt(folder / name)
        targets = np.loadtxt(folder / "diabetes_target.csv.gz").reshape(-1, 1)
        targets = (targets - targets.mean()) / targets.std()
    inputs = (inputs - inputs.mean(axis=0)) / np.maximum(inputs.std(axis=0), 1e-9)
    order = np.random.default_rng(0).permutation(len(inputs))
    inputs, targets = inputs[order].astype(np.float32), targets[order].astype(np.float32)
    held = len(inputs) * 3 // 10
    return inputs[:-held], targets[:-held], inputs[-held:], targets[-held:]


def outputs_of(network, inputs, activate):
    hidden = activate(inputs @ network[0] + network[1])
    return hidden, hidden @ network[2] + network[3]


def softmax(logits):
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def curve(data, classes, batch_size, hparams, seed):
    """Minus the validation loss after each epoch."""
    inputs, targets, held_inputs, held_targets = data
    activate, slope = ACTIVATIONS[hparams["activation"]]
    rate, momentum, decay = (np.float32(hparams[name]) for name in ("learning_rate", "momentum", "weight_decay"))
    rng = np.random.default_rng(seed)
    width, outs = inputs.shape[1], targets.shape[1]
    network = [rng.normal(0, width ** -0.5, (width, hparams["hidden"])).astype(np.float32),
               np.zeros(hparams["hidden"], np.float32),
               rng.normal(0, hparams["hidden"] ** -0.5, (hparams["hidden"], outs)).astype(np.float32),
               np.zeros(outs, np.float32)]
    velocity = [np.zeros_like(array) for array in network]
    for _ in range(EPOCHS):
        order = rng.permutation(len(inputs))
        for start in range(0, len(order), batch_size):
            batch = order[start:start + batch_size]
            hidden, out = outputs_of(network, inputs[batch], activate)
            error = ((softmax(out) if classes else out) - targets[batch]) / np.float32(len(batch))
            below = error @ network[2].T * slope(hidden)
            for array, moved, gradient in zip(network, velocity, (inputs[batch].T @ below, below.sum(axis=0),
                                                                  hidden.T @ error, error.sum(axis=0))):
                moved *= momentum
                moved -= rate * (gradient + decay * array)
                array += moved
        _, out = outputs_of(network, held_inputs, activate)
        if classes:
            chosen = (softmax(out) * held_targets).sum(axis=1)
            yield float(np.log(np.maximum(chosen, 1e-7)).mean())
        else:
            yield -float(((out - held_targets) ** 2).mean())


def record(task, path):
    _, _, classes, batch_size = TASKS[task]
    data = data_of(task)
    combinations = [dict(zip(GRID, values)) for values in itertools.product(*GRID.values())]
    unfinished = path.with_suffix(".part")
    with open(unfinished, "w", newline="", encoding="utf-8") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow([f"hparams.{name}" for name in GRID] + ["length", "metric"])
        for number, hparams in enumerate(combinations):
            for epoch, metric in enumerate(curve(data, classes, batch_size, hparams, number), start=1):
                table.writerow([*hparams.values(), epoch, f"{metric:.6g}"])
    os.replace(unfinished, path)
    print(f"{path}: {len(combinations)} configurations, {EPOCHS} epochs", flush=True)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    np.seterr(all="ignore")  # Some rates are too high; the metric says so.
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for task in TASKS:
        path = folder / f"{task}.csv"
        if not path.exists():
            record(task, path)


if __name__ == "__main__":
    main()
