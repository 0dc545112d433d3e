"""Accelerate: each rank has the whole model and a part of each batch."""

import json

import torch
from accelerate import Accelerator, DataLoaderConfiguration
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

import hpsearch
import spirals
from search_loop import follow_search

DEFAULTS = {"learning_rate": 0.01, "width": 32, "batch_size": 128}


def main():
    params = hpsearch.params(DEFAULTS)
    # Without split_batches each rank gets batches of the given size: twice as much in all with two ranks.
    accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(
        split_batches=True, use_seedable_sampler=True, data_seed=hpsearch.seed()))
    torch.manual_seed(hpsearch.seed())
    model = spirals.network(params["width"])
    model, optimizer, training, validation = accelerator.prepare(
        model, torch.optim.AdamW(model.parameters(), lr=params["learning_rate"]),
        DataLoader(TensorDataset(*spirals.TRAINING), batch_size=params["batch_size"], shuffle=True),
        DataLoader(TensorDataset(*spirals.VALIDATION), batch_size=len(spirals.VALIDATION[0])))

    def train_epoch(step):
        training.set_epoch(step)  # A trial that goes on shuffles as if it had not stopped.
        for x, y in training:
            optimizer.zero_grad()
            accelerator.backward(cross_entropy(model(x), y))
            optimizer.step()

    @torch.no_grad()
    def validate():
        (x, y), = validation
        return float(accelerator.reduce(cross_entropy(model(x), y), "mean"))

    def save(directory, step):
        accelerator.save_state(str(directory / "state"))  # In all ranks: each writes its random state.
        if accelerator.is_main_process:
            (directory / "step.json").write_text(json.dumps(step))

    step = 0
    if hpsearch.latest_checkpoint():
        accelerator.load_state(str(hpsearch.latest_checkpoint() / "state"))
        step = json.loads((hpsearch.latest_checkpoint() / "step.json").read_text())
    print(f"rank {accelerator.process_index} of {accelerator.num_processes} begins after epoch {step}, seed {hpsearch.seed()}", flush=True)
    follow_search(step, train_epoch, validate, save)
    accelerator.end_training()


if __name__ == "__main__":
    main()
