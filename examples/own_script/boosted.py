"""Gradient boosting with XGBoost, as its introduction shows it: parameters in a dictionary, a watch list, a booster."""

import argparse

import numpy as np
import xgboost as xgb

parser = argparse.ArgumentParser()
parser.add_argument("--eta", type=float, default=0.3)
parser.add_argument("--max_depth", type=int, default=6)
args = parser.parse_args()

rng = np.random.default_rng(1)
X = rng.uniform(-1, 1, size=(1000, 5))
y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.1 * rng.normal(size=1000)
dtrain = xgb.DMatrix(X[:700], label=y[:700])
dvalid = xgb.DMatrix(X[700:], label=y[700:])
params = {"eta": args.eta, "max_depth": args.max_depth, "objective": "reg:squarederror", "nthread": 1}
bst = xgb.train(params, dtrain, num_boost_round=20, evals=[(dtrain, "train"), (dvalid, "valid")])
bst.save_model("model.json")
