"""On a machine with NVIDIA GPUs: eight trials train with CUDA, all at once on shares of one GPU and then one after the
other, and after each the GPU's memory is free again, also when the training leaves a process behind that holds it and the
agent is killed meanwhile. Without a GPU it is skipped.

    GPU_RECORD=FILE python3 tests/e2e/run.py gpu_real      also writes what was seen, in Markdown, for docs/operating/gpu.md
"""

import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import harness

# With torch a small network learns on the GPU; without, memory is taken through the driver's own library and a kernel of
# its (memset) runs over it.
PROGRAM = """
import ctypes, json, os, sys, time
started = time.monotonic()
try:
    import torch
    assert torch.cuda.is_available()
except (ImportError, AssertionError):
    torch = None
epochs = 3
if torch:
    model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 1)).cuda()
    data = torch.randn(8192, 512, device="cuda")
    target = data.sum(1, keepdim=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=float(os.environ["PAI_HPS_LR"]))
    def epoch():
        for _ in range(50):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(data), target)
            loss.backward()
            optimizer.step()
        return float(loss)
    how = f"torch {torch.__version__}, {torch.cuda.get_device_name()}, {torch.cuda.device_count()} visible"
else:
    cuda = ctypes.CDLL("libcuda.so.1")
    def check(code, what):
        if code != 0:
            sys.exit(f"{what} gives {code}")
    check(cuda.cuInit(0), "cuInit")
    number, device, context, memory = ctypes.c_int(), ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    check(cuda.cuDeviceGetCount(ctypes.byref(number)), "cuDeviceGetCount")
    check(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    check(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device), "cuCtxCreate")
    size = 512 << 20
    check(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(size)), "cuMemAlloc")
    def epoch():
        for value in range(200):
            check(cuda.cuMemsetD32_v2(memory, value, ctypes.c_size_t(size // 4)), "cuMemsetD32")
        check(cuda.cuCtxSynchronize(), "cuCtxSynchronize")
        return 1.0
    how = f"libcuda, {size >> 20} MiB, {number.value} visible"
with open(sys.argv[1], "a") as ledger:
    ledger.write(json.dumps({"device": os.environ["CUDA_VISIBLE_DEVICES"], "how": how, "what": "start", "at": started}) + "\\n")
for step in range(1, epochs + 1):
    print("HPSEARCH " + json.dumps({"step": step, "loss": epoch()}), flush=True)
with open(sys.argv[1], "a") as ledger:
    ledger.write(json.dumps({"what": "end", "at": time.monotonic()}) + "\\n")
"""

# Leaves a process behind, in a session of its own, that holds 2 GiB of the GPU until somebody ends it.
LEAVES_A_HOLDER = """
import json, os, subprocess, sys
HOLDER = '''
import ctypes, time
cuda = ctypes.CDLL("libcuda.so.1")
device, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
for code in (cuda.cuInit(0), cuda.cuDeviceGet(ctypes.byref(device), 0), cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device),
             cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(2 << 30))):
    assert code == 0, code
print("held", flush=True)
time.sleep(1_000_000)
'''
holder = subprocess.Popen([sys.executable, "-c", HOLDER], start_new_session=True, stdout=subprocess.PIPE, text=True)
assert holder.stdout.readline() == "held\\n"
with open(sys.argv[1], "a") as ledger:
    ledger.write(json.dumps({"what": "held", "pid": holder.pid, "trial": os.environ["HPSEARCH_TRIAL_ID"]}) + "\\n")
for step in (1, 2, 3):
    print("HPSEARCH " + json.dumps({"step": step, "loss": 1.0}), flush=True)
"""


def driver():
    """What the driver says, or None."""
    done = subprocess.run([str(harness.BIN / "hpsearch-worker"), "--list-devices"], capture_output=True, text=True, timeout=120)
    seen = json.loads(done.stdout)
    return seen if not seen["problem"] and seen["devices"] else None


class RealGpu(harness.Case):
    def start_cluster(self, name):
        cluster = harness.Cluster(self)
        cluster.state = self.folder / name
        cluster.start_daemon()
        cluster.wait_until_up()
        return cluster

    def start_agent(self, cluster, slots, name):
        return cluster.start_worker(slots, name, "--device-check", 1)

    def submit(self, cluster, text, trials):
        program = self.folder / "program.py"
        program.write_text(text)
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": {"epochs": 3}, "max_trials": trials,
                                                     "max_concurrent_trials": 0}, max_restarts=0,
                                  hyperparameters={"lr": {"type": "double", "minval": 0.0001, "maxval": 0.001}})
        tree["entrypoint"] = [sys.executable, str(program), str(self.ledger_path)]
        return cluster.submit(tree)

    def train_eight(self, slots, at_once):
        self.ledger_path.unlink(missing_ok=True)
        before = driver()["devices"][0]
        cluster = self.start_cluster(f"daemon-{at_once}")
        worker = self.start_agent(cluster, slots, f"worker-{at_once}")
        experiment = self.submit(cluster, PROGRAM, trials=8)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED", worker.said())
        said = (self.folder / f"worker-{at_once}.log").read_text()
        left = re.findall(r"has left its devices: GPU \d+: (\d+) of (\d+) MiB free", said)
        self.assertEqual(len(left), 8, said)
        self.assertLessEqual(self.ledger.most_at_once(), at_once)
        after = driver()["devices"][0]
        # Others may use the GPU too; a training's own 512 MiB and more would show.
        self.assertGreater(after["free_bytes"], before["free_bytes"] - (256 << 20), said)
        if at_once == 1:
            for free, _ in left:
                self.assertGreater(int(free) << 20, before["free_bytes"] - (256 << 20), said)
        worker.end()
        cluster.daemon.end()
        starts = self.ledger.of("start")
        return {"slots": slots, "at once": self.ledger.most_at_once(), "program": starts[0]["how"],
                "CUDA_VISIBLE_DEVICES": starts[0]["device"], "MiB free before": before["free_bytes"] >> 20,
                "MiB free after each": ", ".join(free for free, _ in left), "MiB free at the end": after["free_bytes"] >> 20}

    def test_what_holds_the_gpu_ends_with_its_trial(self):
        first = driver()["devices"][0]
        cluster = self.start_cluster("daemon")
        worker = self.start_agent(cluster, first["uuid"], "worker")
        experiment = self.submit(cluster, LEAVES_A_HOLDER, trials=4)
        harness.wait_for(lambda: len(self.ledger.of("held")) >= 2, "a second trial that holds the GPU")
        worker.popen.kill()
        worker.popen.wait()
        worker = self.start_agent(cluster, first["uuid"], "worker")
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED", worker.said())
        held = self.ledger.of("held")
        self.assertEqual({line["trial"] for line in held}, {"1", "2", "3", "4"}, worker.said())
        for line in held:
            self.assertFalse(pathlib.Path(f"/proc/{line['pid']}").exists(), f"{line} still holds the GPU")
        self.assertGreater(driver()["devices"][0]["free_bytes"], first["free_bytes"] - (256 << 20), worker.said())
        print(f"4 trials left a process behind that held 2 GiB, the agent was killed at the second: all {len(held)} ended")

    def test_eight_trials_on_shares_and_one_after_the_other(self):
        seen = driver()
        first = seen["devices"][0]["uuid"]
        runs = [self.train_eight(f"{first}*8", 8), self.train_eight(first, 1)]
        lines = [f"GPU {device['index']}: {device['name']}, {device['memory_bytes'] >> 20} MiB, driver {seen['driver']}"
                 for device in seen["devices"]]
        lines += [""] + [f"- {name}: {value}" for run in runs for name, value in run.items()]
        print("\n".join(lines))
        if os.environ.get("GPU_RECORD"):
            pathlib.Path(os.environ["GPU_RECORD"]).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        sys.exit(harness.skipped("no CUDA driver on this machine (libcuda.so.1); nothing was tested on a GPU"))
    if driver() is None:
        sys.exit(harness.skipped("no GPU answers on this machine; nothing was tested on one"))
    unittest.main()
