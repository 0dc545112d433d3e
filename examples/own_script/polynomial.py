"""Fits a cubic polynomial to a sine with gradient descent, in plain NumPy."""

import math
import os

import numpy as np

learning_rate = float(os.environ.get("LEARNING_RATE", 1e-6))
rng = np.random.default_rng(0)
x = np.linspace(-math.pi, math.pi, 2000)
y = np.sin(x)
a, b, c, d = rng.normal(size=4)

for epoch in range(1, 31):
    for _ in range(20):
        prediction = a + b * x + c * x**2 + d * x**3
        loss = np.square(prediction - y).sum()
        gradient = 2.0 * (prediction - y)
        a -= learning_rate * gradient.sum()
        b -= learning_rate * (gradient * x).sum()
        c -= learning_rate * (gradient * x**2).sum()
        d -= learning_rate * (gradient * x**3).sum()
    print(f"Epoch [{epoch}/30], Loss: {loss:.4f}")

print(f"Result: y = {a:.3f} + {b:.3f} x + {c:.3f} x^2 + {d:.3f} x^3")
