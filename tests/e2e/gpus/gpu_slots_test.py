"""Slots that are GPUs, with a driver's library that says what this test writes into a file: who gets which device, shares of
one, a device that breaks under a training, one that does not let go of a program that has ended, and a driver that hangs.
"""

import json
import os
import pathlib
import signal
import sys
import unittest
import urllib.request

import harness

LIBRARY = harness.BIN / "fake_nvml.so"

PROGRAM = """
import json, os, sys, time
with open(sys.argv[1], "a") as ledger:
    names = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "HPSEARCH_SLOT_IDS", "HPSEARCH_ATTEMPT")
    ledger.write(json.dumps({name: os.environ.get(name) for name in names} | {"pid": os.getpid()}) + "\\n")
while len(sys.argv) > 2 and not os.path.exists(sys.argv[2]):
    time.sleep(0.02)
print('HPSEARCH {"step": 1, "loss": 0.5}', flush=True)
"""


class GpuSlots(harness.Case):
    def setUp(self):
        super().setUp()
        self.gpus = self.folder / "gpus"
        self.go = self.folder / "go"
        self.program = self.folder / "program.py"
        self.program.write_text(PROGRAM)

    def driver_says(self, *lines):
        new = self.folder / "gpus.new"
        new.write_text("".join(line + "\n" for line in lines))
        new.rename(self.gpus)

    def begin(self, slots, *more, deadline=20):
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.start_worker(slots, *more, deadline=deadline)

    def start_worker(self, slots, *more, deadline=20):
        self.worker = self.start("hpsearch-worker", "--daemon", self.cluster.workers, "--state-dir", self.folder / "worker",
                                 "--slots", slots, "--name", "worker", "--device-check", 0.1, "--device-deadline", deadline, *more,
                                 log="worker.log",
                                 extra={"HPSEARCH_NVML_LIBRARY": str(LIBRARY), "FAKE_NVML": str(self.gpus)})

    def submit(self, trials, wait=False, **resources):
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": {"epochs": 1}, "max_trials": trials,
                                                     "max_concurrent_trials": 0}, max_restarts=0)
        tree["entrypoint"] = ["/usr/bin/python3", "-IS", str(self.program), str(self.ledger_path)] + [str(self.go)] * wait
        tree["resources"] = resources
        return self.cluster.submit(tree)

    def lines(self):
        return self.ledger.lines

    def shown(self):
        return self.cluster.get("/api/v1/workers")["workers"][0]

    def wait_for_starts(self, number):
        harness.wait_for(lambda: len(self.lines()) >= number, f"{number} programs", self.worker.said)
        return self.lines()

    def test_metrics_of_the_worker_show_the_device_of_each_slot(self):
        self.driver_says("uuid=GPU-bbbb bus=7 memory=2048 free=2000", "uuid=GPU-aaaa bus=3 memory=1024 free=24 ecc=2")
        port = harness.free_port()
        self.begin("auto*2", "--metrics", port)

        def shown():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
                    lines = answer.read().decode().splitlines()
            except OSError:
                return {}
            return dict(line.rsplit(" ", 1) for line in lines if line.startswith("hpsearch_worker_device_"))

        harness.wait_for(shown, "a look at the devices", self.worker.said)
        found = shown()
        of = lambda name, slot, uuid: float(found[f'hpsearch_worker_device_{name}{{slot="{slot}",uuid="GPU-{uuid}"}}'])
        self.assertEqual([of("healthy", 0, "aaaa"), of("healthy", 3, "bbbb")], [0, 1])
        self.assertEqual(of("memory_total_bytes", 2, "aaaa"), 1024 * 2**20)
        self.assertEqual(of("memory_used_bytes", 2, "aaaa"), 1000 * 2**20)
        self.assertEqual([of("utilization_ratio", 1, "bbbb"), of("temperature_celsius", 1, "bbbb")], [0.25, 41])
        self.assertEqual(len(found), 5 * 4)

    def test_each_trial_has_its_device_and_people_see_which(self):
        self.driver_says("uuid=GPU-bbbb name=Fake bus=7 memory=2048 free=2000", "uuid=GPU-aaaa name=Fake bus=3 memory=1024 free=1000")
        self.begin("auto", "--pool", "big", "--label", "zone=b")
        experiment = self.submit(2, wait=True, resource_pool="big", labels={"zone": "b"})
        lines = self.wait_for_starts(2)
        self.assertEqual(sorted(line["CUDA_VISIBLE_DEVICES"] for line in lines), ["0", "1"])
        self.assertEqual(sorted(line["HPSEARCH_SLOT_IDS"] for line in lines), ["0", "1"])
        worker = self.shown()
        self.assertEqual([(device["uuid"], device["index"], device["memory_bytes"] >> 20) for device in worker["devices"]],
                         [("GPU-aaaa", 0, 1024), ("GPU-bbbb", 1, 2048)])
        self.assertEqual((worker["slot_kind"], worker["pool"], worker["labels"]), ("gpu", "big", {"zone": "b"}))
        table = self.run_cli("workers", "--devices", "--server", self.cluster.server).stdout
        self.assertIn("2 x Fake", table)
        self.assertIn("worker worker: slot 1 is GPU 1, Fake, 2048 MiB, GPU-bbbb", table)
        elsewhere = self.submit(1)
        shown = self.run_cli("show", elsewhere, "--server", self.cluster.server).stdout
        self.assertIn('no worker in resource pool "default" is connected', shown)
        self.go.touch()
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        self.assertIn("has left its devices: GPU 1: 2000 of 2048 MiB free", self.worker.said())

    def test_eight_trials_share_two_devices(self):
        self.driver_says("uuid=GPU-aaaa name=Fake bus=1", "uuid=GPU-bbbb name=Fake bus=2")
        self.begin("auto*4")
        experiment = self.submit(8, wait=True)
        devices = harness.count(line["CUDA_VISIBLE_DEVICES"] for line in self.wait_for_starts(8))
        self.assertEqual(dict(devices), {"0": 4, "1": 4})
        self.go.touch()
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        self.ledger_path.unlink()
        experiment = self.submit(1, slots_per_trial=2)
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual(self.lines()[0]["CUDA_VISIBLE_DEVICES"], "0,1", "two slots are of different devices")
        experiment = self.submit(1, slots_per_trial=3)
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual(self.lines()[1]["CUDA_VISIBLE_DEVICES"], "0,1", "a device is named once")

    def test_a_device_that_breaks_ends_its_training_which_is_not_its_failure(self):
        self.driver_says("uuid=GPU-aaaa bus=1", "uuid=GPU-bbbb bus=2")
        self.begin("auto")
        experiment = self.submit(2, wait=True)
        self.wait_for_starts(2)
        self.driver_says("uuid=GPU-aaaa bus=1", "uuid=GPU-bbbb bus=2 ecc=3")
        harness.wait_for(lambda: self.shown()["slots_withdrawn"] == 1, "the slot to be out of use", self.worker.said)
        self.assertIn("3 uncorrectable memory errors", self.shown()["withdrawn"][0]["why"])
        harness.wait_for(lambda: any(trial["state"] == "PENDING" for trial in self.cluster.trials(experiment)),
                         "its trial to wait", self.worker.said)
        self.go.touch()
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", "the other device trains both, max_restarts 0")
        trials = self.cluster.trials(experiment)
        self.assertEqual([trial["restarts"] for trial in trials], [0, 0])
        self.assertEqual(self.lines()[2]["CUDA_VISIBLE_DEVICES"], "0")
        table = self.run_cli("workers", "--server", self.cluster.server).stdout
        self.assertIn("out of use until it is healthy, or until hpsearch release", table)
        self.driver_says("uuid=GPU-aaaa bus=1", "uuid=GPU-bbbb bus=2")
        harness.wait_for(lambda: self.shown()["slots_withdrawn"] == 0, "the slot to be used again", self.worker.said)

    def test_a_slot_waits_until_its_device_has_let_go(self):
        self.driver_says("uuid=GPU-aaaa bus=1 memory=1000 free=1000")
        self.begin("auto")
        experiment = self.submit(2, wait=True)
        pid = self.wait_for_starts(1)[0]["pid"]
        self.driver_says(f"uuid=GPU-aaaa bus=1 memory=1000 free=700 process={pid}:300 process={os.getpid()}:10")
        self.wait_for_looks()
        self.go.touch()
        harness.wait_for(lambda: harness.start_time(pid) is None, "the first program to end")
        self.wait_for_looks()
        self.assertEqual(len(self.lines()), 1, "the driver lists its process still")
        self.driver_says(f"uuid=GPU-aaaa bus=1 memory=1000 free=990 process={os.getpid()}:10")
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", "a stranger's process hinders nobody")
        self.assertIn("990 of 1000 MiB free", self.worker.said())
        self.assertIn(f"process {os.getpid()} (", self.worker.said())

    def test_a_slot_waits_for_its_device_also_when_the_shim_has_died(self):
        self.driver_says("uuid=GPU-aaaa bus=1")
        self.begin("auto")
        experiment = self.submit(1, wait=True)
        pid = self.wait_for_starts(1)[0]["pid"]
        self.driver_says(f"uuid=GPU-aaaa bus=1 process={pid}:300")
        self.wait_for_looks()
        shim = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[1])
        os.kill(shim, signal.SIGKILL)
        harness.wait_for(lambda: harness.start_time(pid) is None, "its program to end with it")
        self.go.touch()
        self.wait_for_looks()
        self.assertEqual(len(self.lines()), 1, "the driver lists its process still")
        self.driver_says("uuid=GPU-aaaa bus=1")
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")

    def test_slots_keep_their_devices_when_the_agent_is_started_again(self):
        self.driver_says("uuid=GPU-aaaa bus=1", "uuid=GPU-bbbb bus=2")
        self.begin("auto")
        experiment = self.submit(2, wait=True)
        pids = {line["CUDA_VISIBLE_DEVICES"]: line["pid"] for line in self.wait_for_starts(2)}
        started = harness.start_time(pids["1"])
        self.worker.end(signal.SIGKILL)
        self.driver_says("uuid=GPU-bbbb bus=2")
        self.start_worker("auto")
        harness.wait_for(lambda: harness.start_time(pids["0"]) is None, "the one whose device is gone to end",
                         self.worker.said)
        harness.wait_for(lambda: self.shown()["slots_withdrawn"] == 1, "its slot to be out of use", self.worker.said)
        self.assertEqual([device["uuid"] for device in self.shown()["devices"]], ["GPU-aaaa", "GPU-bbbb"])
        self.assertEqual(harness.start_time(pids["1"]), started, "what trains on the other device trains on")
        self.go.touch()
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", "the other device trains both, max_restarts 0")
        self.assertEqual(len(self.lines()), 3)
        self.assertEqual(self.lines()[2]["HPSEARCH_SLOT_IDS"], "1")

    def looks(self):
        """How often the driver was asked: its library notes it."""
        notes = pathlib.Path(f"{self.gpus}.asked")
        return notes.stat().st_size if notes.exists() else 0

    def wait_for_looks(self):
        """Until one that began after now has surely ended."""
        before = self.looks()
        harness.wait_for(lambda: self.looks() > before + 2, "the driver to be asked again", self.worker.said)

    def test_a_driver_that_hangs_stops_neither_the_agent_nor_what_trains(self):
        self.driver_says("uuid=GPU-aaaa bus=1", "uuid=GPU-bbbb bus=2")
        self.begin("auto", deadline=1)
        experiment = self.submit(1, wait=True)
        self.wait_for_starts(1)
        self.driver_says("hang=1")
        harness.wait_for(lambda: self.shown()["slots_withdrawn"] == 2, "both slots to be out of use", self.worker.said)
        self.assertIn("did not answer within", self.shown()["withdrawn"][0]["why"])
        self.go.touch()
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual(len(self.lines()), 1, "it trained on")
        waiting = self.submit(1)
        shown = self.run_cli("show", waiting, "--server", self.cluster.server).stdout
        self.assertIn("0 of 2 slots are free, 2 out of use", shown)
        self.run_cli("release", "worker", "--server", self.cluster.server)
        self.assertEqual(self.cluster.wait_until_over(waiting), "COMPLETED", "an operator wants it used")

    def test_slots_that_cannot_be_are_refused_with_what_there_is(self):
        self.driver_says("uuid=GPU-aaaa bus=1")
        self.begin("0,3")
        self.assertEqual(self.worker.popen.wait(timeout=harness.PATIENCE), 2)
        self.assertIn('"3" names no GPU of this worker (0 = GPU-aaaa)', self.worker.said())


if __name__ == "__main__":
    if not LIBRARY.exists():
        sys.exit(harness.skipped("the driver's library for tests is not built"))
    unittest.main()
