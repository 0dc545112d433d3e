"""An MNIST-style PyTorchTrial on a few hundred made-up digits: four blobs in 8x8 pixels, told apart by a small net."""

import os
import time

import torch
from torch import nn

from determined import pytorch


def digits(count, seed):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 4, (count,), generator=generator)
    images = 0.3 * torch.randn(count, 1, 8, 8, generator=generator)
    for index, label in enumerate(labels.tolist()):
        row, column = 4 * (label // 2), 4 * (label % 2)
        images[index, 0, row:row + 4, column:column + 4] += 1
    return torch.utils.data.TensorDataset(images, labels)


class DigitsTrial(pytorch.PyTorchTrial):
    def __init__(self, context):
        self.context = context
        hidden = context.get_hparam("hidden")
        self.model = context.wrap_model(nn.Sequential(nn.Flatten(), nn.Linear(64, hidden), nn.ReLU(),
                                                      nn.Linear(hidden, 4)))
        self.optimizer = context.wrap_optimizer(
            torch.optim.SGD(self.model.parameters(), lr=context.get_hparam("learning_rate")))

    def build_training_data_loader(self):
        return pytorch.DataLoader(digits(256, 1), batch_size=self.context.get_per_slot_batch_size())

    def build_validation_data_loader(self):
        return pytorch.DataLoader(digits(64, 2), batch_size=self.context.get_per_slot_batch_size())

    def train_batch(self, batch, epoch_idx, batch_idx):
        time.sleep(float(os.environ.get("TEST_BATCH_SECONDS", "0")))
        images, labels = batch
        loss = nn.functional.cross_entropy(self.model(images), labels)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return {"loss": loss}

    def evaluate_batch(self, batch):
        images, labels = batch
        output = self.model(images)
        return {"validation_loss": nn.functional.cross_entropy(output, labels).item(),
                "accuracy": (output.argmax(dim=1) == labels).float().mean().item(),
                "processes": float(self.context.distributed.size)}
