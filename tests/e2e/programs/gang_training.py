"""One process of a training on several workers: every step is taken by all of them together.

gang_training.py sockets: rank 0 is the meeting point itself. gang_training.py torch: torch.distributed with gloo.
What it did stands in the ledger GANG_LEDGER. Before step 3 of its first attempt the last rank waits until GANG_GATE holds
a file "open"; the others are in the middle of that step then, and wait for it.
"""

import json
import os
import pathlib
import socket
import sys
import time

ENV = os.environ
RANK, WORLD = int(ENV["RANK"]), int(ENV["WORLD_SIZE"])
ATTEMPT = int(ENV["HPSEARCH_ATTEMPT"])
MASTER = ENV["MASTER_ADDR"], int(ENV["MASTER_PORT"])
LENGTH = int(ENV["HPSEARCH_LENGTH"])
HELD_STEP = 3


def began(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[19])


def note(what, **more):
    line = json.dumps({"what": what, "trial": 0, "attempt": ATTEMPT, "rank": RANK, **more}) + "\n"
    ledger = os.open(ENV["GANG_LEDGER"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(ledger, line.encode())
    os.close(ledger)


class Sockets:
    """Each sends a number to rank 0, which sends the sum back."""

    def __init__(self):
        if RANK == 0:
            listener = socket.create_server(MASTER)
            self.peers = [listener.accept()[0].makefile("rw") for _ in range(WORLD - 1)]
            return
        while True:
            try:
                self.peers = [socket.create_connection(MASTER).makefile("rw")]
                return
            except OSError:
                time.sleep(0.05)

    def add(self, number):
        if RANK > 0:
            self.peers[0].write(f"{number}\n")
            self.peers[0].flush()
            return float(self.peers[0].readline())  # An empty line when rank 0 is gone: this fails, as it should.
        total = number + sum(float(peer.readline()) for peer in self.peers)
        for peer in self.peers:
            peer.write(f"{total}\n")
            peer.flush()
        return total


class Torch:
    def __init__(self):
        import torch
        import torch.distributed
        self.torch = torch
        torch.distributed.init_process_group("gloo")

    def add(self, number):
        tensor = self.torch.tensor([float(number)])
        self.torch.distributed.all_reduce(tensor)
        return tensor.item()


def tell(message):
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.connect(ENV["HPSEARCH_SOCKET"])
        stream = daemon.makefile("rw")
        stream.write(json.dumps(message) + "\n")
        stream.flush()
        return json.loads(stream.readline())


def main():
    latest = ENV.get("HPSEARCH_LATEST_CHECKPOINT", "")
    done = int(pathlib.Path(latest, "step").read_text()) if latest else 0
    note("start", local_rank=int(ENV["LOCAL_RANK"]), node=int(ENV["GROUP_RANK"]), world=WORLD, pid=os.getpid(),
         parent=os.getppid(), began=began(os.getpid()), socket="HPSEARCH_SOCKET" in ENV, **{"from": done},
         worker=pathlib.Path(ENV["HPSEARCH_PARAMS_FILE"]).parts[-4])
    print(f"rank {RANK} of {WORLD}")
    group = Torch() if sys.argv[1] == "torch" else Sockets()
    for step in range(done + 1, LENGTH + 1):
        if ATTEMPT == 1 and step == HELD_STEP:
            note("meets")
            while RANK == WORLD - 1 and not pathlib.Path(ENV["GANG_GATE"], "open").exists():
                time.sleep(0.05)
        total = group.add(step * (RANK + 1))
        assert total == step * WORLD * (WORLD + 1) / 2, total
        note("step", step=step)
        if RANK == 0:
            pathlib.Path(ENV["HPSEARCH_CHECKPOINT_DIR"], "step").write_text(str(step))
            tell({"type": "checkpoint", "step": step})
            tell({"type": "report", "step": step, "metrics": {"loss": 1.0 / step}})
    group.add(0)  # Nobody leaves while another still needs it.


if __name__ == "__main__":
    main()
