"""Points of two spirals, and a small network that tells them apart."""

import math

import torch
from torch import nn


def points(count, seed):
    generator = torch.Generator().manual_seed(seed)
    label = torch.arange(count) % 2
    radius = torch.rand(count, generator=generator).sqrt()
    angle = 3 * math.pi * radius + math.pi * label
    place = torch.stack((radius * angle.cos(), radius * angle.sin()), 1)
    return place + 0.02 * torch.randn(count, 2, generator=generator), label


TRAINING, VALIDATION = points(2048, seed=1), points(512, seed=2)


def batches(batch_size, seed, rank, ranks):
    """This rank's part of each batch of an epoch. The batches are the same for any number of ranks."""
    order = torch.randperm(len(TRAINING[0]), generator=torch.Generator().manual_seed(seed))
    for start in range(0, len(order), batch_size):
        chosen = order[start:start + batch_size][rank::ranks]
        yield TRAINING[0][chosen], TRAINING[1][chosen]


def network(width):
    return nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))
