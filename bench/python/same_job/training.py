"""The training that each program of this folder searches: a network learns handwritten digits."""

import warnings

import numpy
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

X, X_TEST, Y, Y_TEST = train_test_split(*load_digits(return_X_y=True), random_state=0)


class Training:
    def __init__(self, lr, width):
        self.net = MLPClassifier([width], solver="sgd", learning_rate_init=lr, random_state=0)

    def epoch(self):
        """Trains one epoch and returns the share of digits that it reads wrong."""
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            self.net.partial_fit(X, Y, classes=range(10))
            return 1 - self.net.score(X_TEST, Y_TEST)
