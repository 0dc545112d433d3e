"""A script for nothing in particular: it takes arguments and prints."""

import sys

learning_rate = float(sys.argv[sys.argv.index("--lr") + 1])
for epoch in range(1, 10):
    print(f"epoch {epoch} loss {abs(learning_rate - 0.01) + 1 / epoch:.4f}")
