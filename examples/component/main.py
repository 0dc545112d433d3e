"""A PAI component's program: counts the words of its input channel and writes a report to its output channel."""

import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--min_length", type=int, required=True)
parser.add_argument("--lower", action="store_true")
args = parser.parse_args()

words = []
for name in sorted(os.listdir(os.environ["PAI_INPUT_TEXTS"])):
    with open(os.path.join(os.environ["PAI_INPUT_TEXTS"], name)) as file:
        words += file.read().split()
words = [word.lower() if args.lower else word for word in words if len(word) >= args.min_length]

with open(os.path.join(os.environ["PAI_OUTPUT_REPORT"], "words.txt"), "w") as file:
    file.write("\n".join(sorted(set(words))) + "\n")
print(f"input {os.environ['PAI_INPUT_TEXTS']}")
print(f"output {os.environ['PAI_OUTPUT_REPORT']}")
print(f"distinct={len(set(words))}")
