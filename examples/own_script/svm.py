"""Classifies handwritten digits with a support vector machine."""

import argparse

from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

parser = argparse.ArgumentParser()
parser.add_argument("--C", type=float, default=1.0)
parser.add_argument("--gamma", type=float, default=0.01)
parser.add_argument("--kernel", default="rbf")
args = parser.parse_args()

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
model = make_pipeline(StandardScaler(), SVC(C=args.C, gamma=args.gamma, kernel=args.kernel))
model.fit(X_train, y_train)
print("Training score: %.3f" % model.score(X_train, y_train))
print("Test accuracy: %.3f" % accuracy_score(y_test, model.predict(X_test)))
