"""An estimator for halving.py whose fits sleep: its wall time does not depend on the machine's cores and other load."""

import math
import time

from sklearn.base import BaseEstimator, ClassifierMixin

UNIT = 0.05  # Seconds.


class Sleeper(ClassifierMixin, BaseEstimator):
    """A fit lasts as long as its rounds times its cost; the score depends on the rate and the rounds."""

    def __init__(self, rate=0.1, cost=1.0, rounds=27, warm_start=False):
        self.rate = rate
        self.cost = cost
        self.rounds = rounds
        self.warm_start = warm_start

    def fit(self, X, y):
        done = getattr(self, "done_", 0) if self.warm_start else 0
        time.sleep(UNIT * self.cost * max(0, self.rounds - done))
        self.done_ = self.rounds
        self.classes_ = sorted(set(y))
        return self

    def predict(self, X):
        return [self.classes_[0]] * len(X)

    def score(self, X, y, sample_weight=None):
        return -abs(math.log10(self.rate) + 2) - 1 / self.done_
