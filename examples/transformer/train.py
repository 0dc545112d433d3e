"""Trains a small transformer to write Python, byte by byte, from the sources of Python's own standard library.

It needs PyTorch, and a GPU to be quick about it. By itself (`python3 train.py`) it trains with the defaults below; as a
trial of a search it takes its hyperparameters and its length from the search, reports after every 50 batches, and saves
and resumes where the search asks for it.
"""

import pathlib
import sysconfig

import torch
from torch import nn

import hpsearch

DEFAULTS = {"learning_rate": 1e-3, "width": 256, "layers": 4, "heads": 4, "dropout": 0.1, "weight_decay": 0.01}
CONTEXT, BATCH, BATCHES_PER_STEP = 256, 64, 50
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def sources(megabytes=16):
    """Training and validation text as bytes: every tenth file of the standard library is held out."""
    parts, room = ([], []), megabytes << 20
    for number, path in enumerate(sorted(pathlib.Path(sysconfig.get_path("stdlib")).rglob("*.py"))):
        if "site-packages" not in path.parts and "dist-packages" not in path.parts and room > 0:
            text = path.read_bytes()
            room -= len(text)
            parts[number % 10 == 0].append(text)
    return tuple(torch.frombuffer(bytearray(b"".join(part)), dtype=torch.uint8).to(DEVICE) for part in parts)


def batch(text, generator):
    starts = torch.randint(len(text) - CONTEXT - 1, (BATCH, 1), generator=generator).to(DEVICE)
    window = text[starts + torch.arange(CONTEXT + 1, device=DEVICE)].long()
    return window[:, :-1], window[:, 1:]


class Writer(nn.Module):
    def __init__(self, params):
        super().__init__()
        width = params["width"]
        self.bytes, self.places = nn.Embedding(256, width), nn.Embedding(CONTEXT, width)
        layer = nn.TransformerEncoderLayer(width, params["heads"], 4 * width, params["dropout"], "gelu",
                                           batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, params["layers"], enable_nested_tensor=False)
        self.next = nn.Linear(width, 256)
        self.register_buffer("past", nn.Transformer.generate_square_subsequent_mask(CONTEXT), persistent=False)

    def forward(self, x):
        x = self.bytes(x) + self.places(torch.arange(CONTEXT, device=x.device))
        return self.next(self.layers(x, mask=self.past, is_causal=True))


def loss_on(model, pair):
    with torch.autocast(DEVICE, torch.bfloat16):
        return nn.functional.cross_entropy(model(pair[0]).flatten(0, 1), pair[1].flatten())


@torch.no_grad()
def validate(model, text):
    """Bits per byte on the same 20 batches each time."""
    model.eval()
    generator = torch.Generator().manual_seed(0)
    loss = torch.stack([loss_on(model, batch(text, generator)) for _ in range(20)]).mean()
    model.train()
    return float(loss) / 0.6931471805599453


def main():
    params = hpsearch.params(DEFAULTS)
    seed = hpsearch.seed() % 2**31
    torch.manual_seed(seed)
    train_text, validation_text = sources()
    model = Writer(params).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=params["learning_rate"], weight_decay=params["weight_decay"])
    step = 0
    if hpsearch.latest_checkpoint():
        saved = torch.load(hpsearch.latest_checkpoint() / "model.pt", map_location=DEVICE)
        step = saved["step"]
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])

    directive = hpsearch.CONTINUE
    while directive is hpsearch.CONTINUE:
        if step < hpsearch.length(9):
            step += 1
            generator = torch.Generator().manual_seed(seed + step)  # Whoever resumes trains as if never interrupted.
            for _ in range(BATCHES_PER_STEP):
                optimizer.zero_grad()
                loss_on(model, batch(train_text, generator)).backward()
                optimizer.step()
        bits = validate(model, validation_text)
        print(f"step {step:3}  bits per byte {bits:.4f}", flush=True)
        if step >= hpsearch.length(9):  # The decision may be to pause or to train on: save before it.
            torch.save({"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()},
                       hpsearch.checkpoint_dir() / "model.pt")
            hpsearch.checkpoint(hpsearch.checkpoint_dir(), step)
        directive = hpsearch.report(step, bits_per_byte=bits)


if __name__ == "__main__":
    main()
