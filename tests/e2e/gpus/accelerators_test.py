"""Slots that are devices of other kinds than NVIDIA's: each trial gets its device in the variable of its kind, and no two
trials have one device at the same time. AMD's driver is a tree of files, Ascend's npu-smi a script that prints texts of this
test; no real device of these kinds has been seen.
"""

import json
import os
import signal
import sys
import unittest

import harness

LIBRARY = harness.BIN / "fake_nvml.so"
NAMES = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
         "ASCEND_RT_VISIBLE_DEVICES", "TPU_VISIBLE_CHIPS", "HPSEARCH_SLOT_IDS")

PROGRAM = f"""
import json, os, sys, time
began = time.monotonic()
with open(sys.argv[1], "a") as ledger:
    seen = {{name: os.environ.get(name) for name in {NAMES!r}}}
    ledger.write(json.dumps(seen | {{"pid": os.getpid(), "began": began}}) + "\\n")
while not os.path.exists(sys.argv[2]):
    time.sleep(0.02)
time.sleep(0.1)
with open(sys.argv[1], "a") as ledger:
    ledger.write(json.dumps({{"pid": os.getpid(), "ended": time.monotonic()}}) + "\\n")
print('HPSEARCH {{"step": 1, "loss": 0.5}}', flush=True)
"""

MAPPING = """\tNPU ID                         Chip ID                        Chip Logic ID                  Chip Name
\t0                              0                              0                              Ascend 910B3
\t0                              1                              -                              Mcu
\t1                              0                              1                              Ascend 910B3
"""
TABLE = """| npu-smi 25.5.1                   Version: 25.5.1                                               |
| 0     910B3               | OK            | 102.8       45                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3445 / 65536         |
| 1     910B3               | OK            | 100.8       44                0    / 0             |
| 0                         | 0000:02:00.0  | 12          0    / 0          1000 / 65536         |
"""


class Accelerators(harness.Case):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "root"
        self.go = self.folder / "go"
        self.program = self.folder / "program.py"
        self.program.write_text(PROGRAM)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def add_amd(self, number=2):
        self.write("dev/kfd", "")
        self.kfd = "sys/class/kfd/kfd"
        for node in range(number):
            at = f"{self.kfd}/topology/nodes/{node + 1}"
            self.write(f"{at}/gpu_id", f"{100 + node}\n")
            self.write(f"{at}/properties", f"simd_count 440\nunique_id {7 + node}\ndrm_render_minor {128 + node}\n")
            card = f"sys/class/drm/renderD{128 + node}/device"
            self.write(f"{card}/mem_info_vram_total", f"{2**36}\n")
            self.write(f"{card}/mem_info_vram_used", f"{2**20}\n")
            self.write(f"{card}/product_name", "AMD Instinct MI300X\n")

    def add_ascend(self):
        self.write("dev/davinci0", "")
        self.write("map", MAPPING)
        self.write("table", TABLE)
        self.write("npu-smi", f'#!/bin/sh\n[ "$2" = -m ] && exec cat {self.root}/map\n'
                   f"printf . >> {self.root}/asked\nexec cat {self.root}/table\n")
        (self.root / "npu-smi").chmod(0o755)

    def begin(self, *arguments):
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.start_worker(*arguments)

    def start_worker(self, *arguments, daemon=None, **variables):
        self.worker = self.start("hpsearch-worker", "--daemon", daemon or self.cluster.workers, "--state-dir",
                                 self.folder / "worker", "--name", "worker", "--device-check", 0.1, *arguments, log="worker.log",
                                 extra={"HPSEARCH_DEVICE_ROOT": str(self.root), "HPSEARCH_NPU_SMI": str(self.root / "npu-smi"),
                                        "HPSEARCH_NVML_LIBRARY": str(LIBRARY) if (self.root / "gpus").exists() else "/none",
                                        "FAKE_NVML": str(self.root / "gpus"), "HIP_VISIBLE_DEVICES": "0,1"} | variables)

    def refused(self, words, *arguments, **variables):
        """A worker with these arguments and variables doesn't start, and says so."""
        self.start_worker(*arguments, daemon="tcp://127.0.0.1:9", **variables)
        self.assertNotEqual(self.worker.popen.wait(timeout=harness.PATIENCE), 0)
        self.assertIn(words, self.worker.said())

    def submit(self, trials):
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": {"epochs": 1}, "max_trials": trials,
                                                     "max_concurrent_trials": 0}, max_restarts=0)
        tree["entrypoint"] = ["/usr/bin/python3", "-IS", str(self.program), str(self.ledger_path), str(self.go)]
        return self.cluster.submit(tree)

    def begun(self):
        return [line for line in self.ledger.lines if "began" in line]

    def search(self, variable, devices, others):
        """Six trials: the variable has one of the devices in each, the others have these values, and no two have one at
        the same time."""
        experiment = self.submit(6)
        harness.wait_for(lambda: len(self.begun()) >= len(devices), "the first programs", self.worker.said)
        self.assertEqual(sorted(line[variable] for line in self.begun()), devices, "each has another device")
        self.go.touch()
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        ended = {line["pid"]: line["ended"] for line in self.ledger.lines if "ended" in line}
        begun = sorted(self.begun(), key=lambda line: line["began"])
        self.assertEqual(len(begun), 6)
        for place, line in enumerate(begun):
            self.assertIn(line[variable], devices)
            self.assertEqual({name: line[name] for name in others}, others)
            for earlier in begun[:place]:
                if earlier[variable] == line[variable]:
                    self.assertLess(ended[earlier["pid"]], line["began"], "two trials had one device")

    def shown(self):
        return self.cluster.get("/api/v1/workers")["workers"][0]

    def test_amd(self):
        self.add_amd()
        self.begin()
        self.search("ROCR_VISIBLE_DEVICES", ["0", "1"],
                    {"CUDA_VISIBLE_DEVICES": None, "HIP_VISIBLE_DEVICES": None, "ASCEND_RT_VISIBLE_DEVICES": ""})
        worker = self.shown()
        self.assertEqual((worker["slot_kind"], [device["uuid"] for device in worker["devices"]]),
                         ("gpu", ["GPU-0000000000000007", "GPU-0000000000000008"]))
        table = self.run_cli("workers", "--devices", "--server", self.cluster.server).stdout
        self.assertIn("slot 1 is GPU 1, AMD Instinct MI300X, 65536 MiB, GPU-0000000000000008", table)
        self.assertIn("has left its devices: GPU 1: 65535 of 65536 MiB free", self.worker.said())

    def test_ascend(self):
        self.add_ascend()
        self.begin()
        self.search("ASCEND_RT_VISIBLE_DEVICES", ["0", "1"], {"CUDA_VISIBLE_DEVICES": "", "ROCR_VISIBLE_DEVICES": ""})
        self.assertEqual(self.shown()["slot_kind"], "npu")
        table = self.run_cli("workers", "--devices", "--server", self.cluster.server).stdout
        self.assertIn("slot 0 is NPU 0, Ascend 910B3, 65536 MiB, NPU-0-0", table)

    def test_generic(self):
        self.add_amd()  # It isn't even looked for.
        self.begin("--devices", "4,left,6", "--device-env", "TPU_VISIBLE_CHIPS", "--slots", "left,6")
        self.search("TPU_VISIBLE_CHIPS", ["6", "left"],
                    {"CUDA_VISIBLE_DEVICES": None, "ROCR_VISIBLE_DEVICES": None, "HIP_VISIBLE_DEVICES": "0,1"})
        self.assertEqual(self.shown()["slot_kind"], "device")
        table = self.run_cli("workers", "--devices", "--server", self.cluster.server).stdout
        self.assertIn("slot 0 is device 1, generic, left\n", table)

    def test_machine_with_several_kinds_needs_a_choice(self):
        self.add_amd()
        self.write("gpus", "uuid=GPU-aaaa bus=1\n")
        self.begin()
        self.assertEqual(self.worker.popen.wait(timeout=harness.PATIENCE), 2)
        self.assertIn("this machine has devices of several kinds (nvidia, amd), and a worker has slots of one kind: choose "
                      "with --slots nvidia, --slots amd, or --slots cpu", self.worker.said())
        self.start_worker("--slots", "amd:gpu1")
        self.search("ROCR_VISIBLE_DEVICES", ["1"], {"CUDA_VISIBLE_DEVICES": None})

    def test_devices_that_slurm_gives_and_no_driver_shows_are_refused_with_the_reason(self):
        slurm = {"SLURM_JOB_GPUS": "0,1"}
        given = "Slurm gave this job GPUs (0,1), but none can be used: "
        self.refused(given + "nvidia: NVML cannot be loaded", **slurm)
        self.add_amd()
        self.refused(given + 'ROCR_VISIBLE_DEVICES is "4", HIP_VISIBLE_DEVICES is "0,1", which leaves none of 2 GPUs',
                     ROCR_VISIBLE_DEVICES="4", **slurm)
        (self.root / "dev/kfd").unlink()
        self.refused("; amd: " + str(self.root / "dev/kfd") + " cannot be opened: No such file", **slurm)
        self.refused("--slots names amd devices, and this worker can use none: " + str(self.root / "dev/kfd"), "--slots", "amd")
        self.add_ascend()
        (self.root / "npu-smi").write_text("#!/bin/sh\nexit 1\n")
        self.refused("this machine has NPUs, but they cannot be asked: " + str(self.root / "npu-smi") + ": it failed with exit "
                     "code 1. Repair the driver, or use --slots cpu", **slurm)
        (self.root / "dev/davinci0").unlink()
        self.refused("--slots names ascend devices, and this worker can use none: there is no device file", "--slots", "ascend")

    def npus_list(self, *processes):
        rows = "".join(f"| 0       0                 | {pid:<13} | python3                  | 286                     |\n"
                       for pid in processes)
        new = self.root / "table.new"
        new.write_text(TABLE + rows)
        new.rename(self.root / "table")

    def wait_for_looks(self):
        """Until a look that began after now has surely ended: the script notes each."""
        asked = self.root / "asked"
        count = lambda: asked.stat().st_size if asked.exists() else 0
        before = count()
        harness.wait_for(lambda: count() > before + 2, "npu-smi to be asked again", self.worker.said)

    def test_slot_waits_for_a_process_that_its_npu_still_lists(self):
        self.add_ascend()
        self.begin("--slots", "ascend:1")
        experiment = self.submit(2)
        harness.wait_for(self.begun, "the first program", self.worker.said)
        pid = self.begun()[0]["pid"]
        self.npus_list(pid, os.getpid())
        self.wait_for_looks()
        self.go.touch()
        harness.wait_for(lambda: harness.start_time(pid) is None, "the first program to end")
        self.wait_for_looks()
        self.assertEqual(len(self.begun()), 1, "the driver lists its process still")
        self.npus_list(os.getpid())
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", "processes of others don't matter")

    def test_kind_stays_while_the_worker_holds_attempts(self):
        self.add_amd()
        self.begin()
        experiment = self.submit(2)
        harness.wait_for(lambda: len(self.begun()) == 2, "the programs", self.worker.said)
        self.worker.end(signal.SIGKILL)
        self.start_worker("--devices", "a", "--device-env", "TPU_VISIBLE_CHIPS")
        self.assertEqual(self.worker.popen.wait(timeout=harness.PATIENCE), 1)
        self.assertIn("this worker still runs trials on its amd devices", self.worker.said())
        self.start_worker()
        self.go.touch()
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual(len(self.begun()), 2)


if __name__ == "__main__":
    if not LIBRARY.exists():
        sys.exit(harness.skipped("the driver's library for tests is not built"))
    unittest.main()
