#!/usr/bin/python3
"""Trains every configuration of model.yaml with train.py's own functions and writes their learning curves as a table for
`hpsearch simulate`:

    examples/digits/record_curves.py curves.csv     five minutes of one core; gzip -9n made curves.csv.gz of it

The table has the losses at four lengths, for rungs. The same processor gives the same table.
"""

import csv
import functools
import itertools
import multiprocessing
import os
import pathlib
import sys

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # Matrices this small lose by threads.
    os.environ[variable] = "1"
import numpy as np  # noqa: E402
import yaml  # noqa: E402

import train  # noqa: E402

LENGTHS = (1, 3, 9, 27)
TITLES = ("dropout", "hidden", "init_scale", "learning_rate", "momentum", "weight_decay")
SEARCH = yaml.safe_load(pathlib.Path(__file__).with_name("model.yaml").read_text(encoding="utf-8"))
digits = functools.cache(train.load_digits)


def configurations():
    values = [SEARCH["hyperparameters"][name]["vals"] for name in TITLES]
    constants = {name: value for name, value in SEARCH["hyperparameters"].items() if name not in TITLES}
    for number, chosen in enumerate(itertools.product(*values)):
        yield number, train.DEFAULTS | constants | dict(zip(TITLES, chosen))


def curve(job):
    """The losses at LENGTHS, as a trial of its own seed would report them."""
    seed, hparams = job
    np.seterr(all="ignore")
    images, labels, held_images, held_labels = digits()
    few = hparams["few_images"]
    network = train.fresh_network(hparams, seed)
    velocity = {name: np.zeros_like(array) for name, array in network.items()}
    losses = []
    for epoch in range(1, LENGTHS[-1] + 1):
        rng = np.random.default_rng([seed, epoch])
        train.train_one_epoch(network, velocity, images[:few], labels[:few], hparams, rng)
        if epoch in LENGTHS:
            losses.append(train.validated(network, held_images, held_labels, hparams["activation"])["val_loss"])
    return hparams, losses


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    path = pathlib.Path(sys.argv[1])
    unfinished = path.with_suffix(".part")
    with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool, \
            open(unfinished, "w", newline="", encoding="utf-8") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow([f"hparams.{name}" for name in TITLES] + ["length", "metric"])
        for hparams, losses in pool.imap(curve, configurations(), chunksize=16):
            for length, loss in zip(LENGTHS, losses):
                table.writerow([*(f"{hparams[name]:g}" for name in TITLES), length, f"{loss:.4g}"])
    os.replace(unfinished, path)


if __name__ == "__main__":
    main()
