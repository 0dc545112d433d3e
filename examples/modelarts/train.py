"""A ModelArts boot file: places and hyperparameters come as --name=value, the platform may add more of them."""

import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--data_url", required=True)
parser.add_argument("--train_url", required=True)
parser.add_argument("--learning_rate", type=float, default=0.1)
args, _ = parser.parse_known_args()

with open(os.path.join(args.data_url, "points.csv")) as file:
    points = [tuple(float(cell) for cell in line.split(",")) for line in file if line.strip()]

slope = 0.0
for epoch in range(1, 9):
    gradient = sum(2 * x * (slope * x - y) for x, y in points) / len(points)
    slope -= args.learning_rate * gradient
    error = sum((slope * x - y) ** 2 for x, y in points) / len(points)
    print(f"Epoch: {epoch}, mse: {error:.8f}")

with open(os.path.join(args.train_url, "slope.txt"), "w") as file:
    file.write(f"{slope}\n")
