"""FSDP: each rank has a part of the parameters, gradients and optimizer, and writes its part of each checkpoint."""

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.functional import cross_entropy

import hpsearch
import spirals
from search_loop import follow_search

DEFAULTS = {"learning_rate": 0.01, "width": 32, "batch_size": 128}


def main():
    params = hpsearch.params(DEFAULTS)
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(hpsearch.seed())  # All ranks begin with the same weights.
    model = spirals.network(params["width"])
    mesh = init_device_mesh("cpu", (ranks,))
    for layer in model:
        if isinstance(layer, torch.nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=params["learning_rate"])

    def train_epoch(step):
        for x, y in spirals.batches(params["batch_size"], hpsearch.seed() + step, rank, ranks):
            optimizer.zero_grad()
            cross_entropy(model(x), y).backward()  # FSDP averages the gradients over the ranks.
            optimizer.step()

    @torch.no_grad()
    def validate():
        x, y = (part[rank::ranks] for part in spirals.VALIDATION)
        loss = cross_entropy(model(x), y)
        dist.all_reduce(loss)
        return float(loss) / ranks

    def state(step):
        model_state, optimizer_state = get_state_dict(model, optimizer)
        return {"model": model_state, "optimizer": optimizer_state, "step": step}

    def save(directory, step):
        dcp.save(state(step), checkpoint_id=directory)

    step = 0
    if hpsearch.latest_checkpoint():
        saved = state(step)
        dcp.load(saved, checkpoint_id=hpsearch.latest_checkpoint())
        set_state_dict(model, optimizer, model_state_dict=saved["model"], optim_state_dict=saved["optimizer"])
        step = saved["step"]
    print(f"rank {rank} of {ranks} begins after epoch {step}, seed {hpsearch.seed()}", flush=True)
    follow_search(step, train_epoch, validate, save)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
