"""The program of a custom component: shows everything it is given, fits a line, fills its output channels."""

import argparse
import json
import os

parser = argparse.ArgumentParser()
parser.add_argument("--param1", type=int, required=True, help="steps")
parser.add_argument("--param2", type=float, required=True, help="learning rate")
parser.add_argument("--param3", choices=("mean", "sum"), required=True, help="how errors are put together")
parser.add_argument("--param4", type=bool, default=False, help="whether checkpoints are written")
for channel in ("train", "test", "model", "checkpoints"):
    parser.add_argument(f"--{channel}", required=True)
args = parser.parse_args()

print("arguments:")
for name, value in sorted(vars(args).items()):
    print(f"  {name}={value}")
print("environment:")
for name, value in sorted(os.environ.items()):
    if name.startswith("PAI_") or name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "NPROC_PER_NODE"):
        print(f"  {name}={value}")
print("hyperparameters.json:")
with open(os.path.join(os.environ["PAI_CONFIG_DIR"], "hyperparameters.json")) as file:
    for name, value in sorted(json.load(file).items()):
        print(f"  {name}={value!r}")
print("channels:")
files = [os.path.join(args.train, name) for name in sorted(os.listdir(args.train))] + [args.test]
points = {}
for path in files:
    with open(path) as file:
        points[path] = [tuple(map(float, line.split(","))) for line in file]
    print(f"  {path}: {len(points[path])} points")

train = [point for path in files[:-1] for point in points[path]]
test = points[args.test]
slope = 0.0
for step in range(1, args.param1 + 1):
    gradient = sum(2 * x * (slope * x - y) for x, y in train) / sum(x * x for x, _ in train)
    slope -= args.param2 * gradient / (1 if args.param3 == "mean" else 2)
    if args.param4:
        with open(os.path.join(args.checkpoints, f"{step}.json"), "w") as file:
            json.dump({"step": step, "slope": slope}, file)
with open(os.path.join(args.model, "model.json"), "w") as file:
    json.dump({"slope": slope}, file)
print(f"mse={sum((slope * x - y) ** 2 for x, y in test) / len(test)}")
