"""A training job as users of Alibaba PAI write them: nothing in it knows hpsearch."""

import argparse
import json
import os


def main():
    with open(os.path.join(os.environ["PAI_CONFIG_DIR"], "hyperparameters.json")) as file:
        hyperparameters = json.load(file)

    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--learning_rate", type=float, required=True)
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()

    # Both ways say the same.
    assert int(hyperparameters["batch-size"]) == args.batch_size
    assert float(hyperparameters["learning_rate"]) == args.learning_rate

    loss = 1.0
    for epoch in range(1, args.epochs + 1):
        loss = abs(args.learning_rate - 0.01) * 10 + 1 / (epoch * args.batch_size)
        print(f"epoch {epoch} loss {loss:.6f}")

    with open(os.path.join(os.environ["PAI_OUTPUT_MODEL"], "model.json"), "w") as file:
        json.dump({"learning_rate": args.learning_rate, "loss": loss}, file)


main()
