"""DeepSpeed: ZeRO splits the gradients and the optimizer, and each rank writes its part of each checkpoint."""

import deepspeed
import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy

import hpsearch
import spirals
from search_loop import follow_search

DEFAULTS = {"learning_rate": 0.01, "width": 32, "batch_size": 128}
TAG = "state"  # The directory in a checkpoint.


def main():
    params = hpsearch.params(DEFAULTS)
    deepspeed.init_distributed("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(hpsearch.seed())
    model = spirals.network(params["width"])
    engine, *_ = deepspeed.initialize(
        model=model, optimizer=torch.optim.AdamW(model.parameters(), lr=params["learning_rate"]),
        config={"train_batch_size": params["batch_size"],  # DeepSpeed divides it among the ranks.
                "gradient_clipping": 0.0,  # Else DeepSpeed clips gradients to a norm of 1.
                "zero_optimization": {"stage": 2}})

    def train_epoch(step):
        for x, y in spirals.batches(params["batch_size"], hpsearch.seed() + step, rank, ranks):
            engine.backward(cross_entropy(engine(x), y))
            engine.step()

    @torch.no_grad()
    def validate():
        x, y = (part[rank::ranks] for part in spirals.VALIDATION)
        loss = cross_entropy(engine(x), y)
        dist.all_reduce(loss)
        return float(loss) / ranks

    def save(directory, step):
        engine.save_checkpoint(str(directory), tag=TAG, client_state={"step": step})

    step = 0
    if hpsearch.latest_checkpoint():
        path, saved = engine.load_checkpoint(str(hpsearch.latest_checkpoint()), tag=TAG)
        if path is None:  # DeepSpeed only warns.
            raise SystemExit(f"{hpsearch.latest_checkpoint()} has no checkpoint of DeepSpeed")
        step = saved["step"]
    print(f"rank {rank} of {ranks} begins after epoch {step}, seed {hpsearch.seed()}", flush=True)
    follow_search(step, train_epoch, validate, save)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
