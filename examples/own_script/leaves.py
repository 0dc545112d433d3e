"""A LightGBM regressor with early stopping switched off and its evaluation logged."""

import argparse

import lightgbm as lgb
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--learning_rate", type=float, default=0.1)
parser.add_argument("--num_leaves", type=int, default=31)
args = parser.parse_args()

rng = np.random.default_rng(2)
features = rng.normal(size=(1200, 6))
target = np.where(features[:, 0] > 0, features[:, 1], -features[:, 2]) + 0.2 * rng.normal(size=1200)
train = lgb.Dataset(features[:900], label=target[:900])
valid = lgb.Dataset(features[900:], label=target[900:], reference=train)
params = {"objective": "regression", "metric": "l2", "learning_rate": args.learning_rate,
          "num_leaves": args.num_leaves, "verbosity": -1, "num_threads": 1}
lgb.train(params, train, num_boost_round=30, valid_sets=[valid], callbacks=[lgb.log_evaluation(period=1)])
