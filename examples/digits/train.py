#!/usr/bin/python3
"""Trains a small neural network to read handwritten digits, epoch by epoch.

By itself (`/usr/bin/python3 train.py`) it trains with the defaults below. As a trial of a search it finds its
hyperparameters and its length in the environment, reports every epoch over a socket, and does what the answer
says. That conversation is the class Search, which a program of your own can copy as it is.
"""

import importlib.util
import json
import os
import pathlib
import socket

import numpy as np

DEFAULTS = {"hidden": 48, "learning_rate": 0.1, "momentum": 0.8, "activation": "relu", "batch_size": 32,
            "weight_decay": 0.0, "init_scale": 1.0,  # of the first weights: 1 keeps the spread of what passes through
            "dropout": 0.0,  # the share of an image's pixels that a step doesn't see
            "few_images": 0}  # train with so many images as they are; 0: with all, and with shifted copies of them
ACTIVATIONS = {  # name: (function, its slope in terms of its own value)
    "relu": (lambda x: np.maximum(x, 0), lambda y: y > 0),
    "tanh": (np.tanh, lambda y: 1 - y * y),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), lambda y: y * (1 - y)),
}


class Search:
    """The search that asked for this training; where there is none, a stand-in that always says "continue"."""

    def __init__(self):
        self.hparams = DEFAULTS | json.loads(os.environ.get("HPSEARCH_PARAMS") or "{}")
        self.seed = int(os.environ.get("HPSEARCH_TRIAL_SEED") or 0)
        self.length = int(os.environ.get("HPSEARCH_LENGTH") or 20)  # epochs in all, not epochs to go
        self.checkpoint_dir = os.environ.get("HPSEARCH_CHECKPOINT_DIR")
        self.latest_checkpoint = os.environ.get("HPSEARCH_LATEST_CHECKPOINT")
        self.stream = None
        if address := os.environ.get("HPSEARCH_SOCKET"):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(address)
            self.stream = connection.makefile("rw")

    def tell(self, kind, step, **more):
        """Says one thing and returns what to do now: continue, pause or stop."""
        if self.stream is None:
            return "continue"
        self.stream.write(json.dumps({"type": kind, "step": step, **more}) + "\n")
        self.stream.flush()
        answer = json.loads(self.stream.readline() or '{"error": "the worker is gone"}')
        if "error" in answer:
            raise SystemExit(f"the search refused {kind} at epoch {step}: {answer['error']}")
        self.length = int(answer.get("length", self.length))
        return answer["directive"]


def load_digits():
    """1297 images to train on and 500 to validate with, the same for every trial; 8x8 pixels from 0 to 1."""
    # The file comes with scikit-learn. To import scikit-learn for it would cost 1.3 s in every attempt, six
    # times what everything else before the first epoch takes, and start-up time is GPU time.
    package = importlib.util.find_spec("sklearn")
    if package is None:
        raise SystemExit("the digits are part of scikit-learn: apt-get install python3-sklearn")
    folder = pathlib.Path(package.submodule_search_locations[0], "datasets", "data")
    table = np.loadtxt(folder / "digits.csv.gz", delimiter=",", dtype=np.float32)
    table = table[np.random.default_rng(0).permutation(len(table))]
    images, labels = table[:, :64] / 16, table[:, 64].astype(int)
    return images[:-500], labels[:-500], images[-500:], labels[-500:]


def shifted(images):
    """The images and their copies moved by one pixel to all eight sides: nine times the handwriting."""
    framed = np.pad(images.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
    return np.concatenate([framed[:, y:y + 8, x:x + 8].reshape(-1, 64) for y in range(3) for x in range(3)])


def fresh_network(hparams, seed):
    rng = np.random.default_rng([seed, 0])
    hidden, scale = hparams["hidden"], hparams["init_scale"]
    network = {"w1": rng.normal(0, scale * 64 ** -0.5, (64, hidden)), "b1": np.zeros(hidden),
               "w2": rng.normal(0, scale * hidden ** -0.5, (hidden, 10)), "b2": np.zeros(10)}
    return {name: array.astype(np.float32) for name, array in network.items()}


def train_one_epoch(network, velocity, images, labels, hparams, rng):
    """Stochastic gradient descent with momentum on the cross-entropy; changes network and velocity."""
    activate, slope = ACTIVATIONS[hparams["activation"]]
    rate, momentum, decay, dropout = (np.float32(hparams[name])
                                      for name in ("learning_rate", "momentum", "weight_decay", "dropout"))
    order = rng.permutation(len(images))
    for start in range(0, len(order), hparams["batch_size"]):
        batch = order[start:start + hparams["batch_size"]]
        x = images[batch]
        if dropout:
            x *= (rng.random(x.shape, np.float32) >= dropout) / (1 - dropout)
        y = activate(x @ network["w1"] + network["b1"])
        logits = y @ network["w2"] + network["b2"]
        error = np.exp(logits - logits.max(axis=1, keepdims=True))
        error /= error.sum(axis=1, keepdims=True)  # the softmax …
        error[np.arange(len(batch)), labels[batch]] -= 1  # … and the gradient of the cross-entropy
        error /= len(batch)
        below = error @ network["w2"].T * slope(y)
        gradients = {"w1": x.T @ below, "b1": below.sum(axis=0), "w2": y.T @ error, "b2": error.sum(axis=0)}
        for name, gradient in gradients.items():
            velocity[name] *= momentum
            velocity[name] -= rate * (gradient + decay * network[name])
            network[name] += velocity[name]


def validated(network, images, labels, activation):
    """Accuracy, and the loss: the mean cross-entropy."""
    hidden = ACTIVATIONS[activation][0](images @ network["w1"] + network["b1"])
    logits = hidden @ network["w2"] + network["b2"]
    below_best = logits - logits.max(axis=1, keepdims=True)
    losses = np.log(np.exp(below_best).sum(axis=1)) - below_best[np.arange(len(labels)), labels]
    return {"val_accuracy": float((logits.argmax(axis=1) == labels).mean()), "val_loss": float(losses.mean())}


def save_checkpoint(search, epoch, network, velocity):
    if search.checkpoint_dir:
        arrays = {f"velocity_{name}": array for name, array in velocity.items()}
        np.savez(pathlib.Path(search.checkpoint_dir, "network.npz"), epoch=epoch, **network, **arrays)
        search.tell("checkpoint", epoch)


def main():
    search = Search()
    hparams = search.hparams
    np.seterr(all="ignore")  # A learning rate that is too high overflows; the accuracy says so well enough.
    train_images, train_labels, images, labels = load_digits()
    if few := hparams["few_images"]:
        train_images, train_labels = train_images[:few], train_labels[:few]
    else:
        train_images, train_labels = shifted(train_images), np.tile(train_labels, 9)

    epoch = 0
    network = fresh_network(hparams, search.seed)
    velocity = {name: np.zeros_like(array) for name, array in network.items()}
    if search.latest_checkpoint:
        with np.load(pathlib.Path(search.latest_checkpoint, "network.npz")) as saved:
            epoch = int(saved["epoch"])
            network = {name: saved[name] for name in network}
            velocity = {name: saved[f"velocity_{name}"] for name in velocity}

    directive = "continue"
    while directive == "continue":
        if epoch < search.length:  # Else it was cut off between checkpoint and report; only that is missing.
            epoch += 1
            # What is drawn depends on nothing but seed and epoch: a resumed training goes on as if never interrupted.
            rng = np.random.default_rng([search.seed, epoch])
            train_one_epoch(network, velocity, train_images, train_labels, hparams, rng)
        metrics = validated(network, images, labels, hparams["activation"])
        print(f"epoch {epoch:3}  val_accuracy {metrics['val_accuracy']:.4f}  val_loss {metrics['val_loss']:.4f}", flush=True)
        at_length = epoch >= search.length
        if at_length:  # The checkpoint comes first: a pause or a promotion at this report needs it.
            save_checkpoint(search, epoch, network, velocity)
        directive = search.tell("report", epoch, metrics=metrics)
        if directive == "pause" and not at_length:
            save_checkpoint(search, epoch, network, velocity)
        if epoch >= search.length:  # Asked for no more than what is done.
            break


if __name__ == "__main__":
    main()
