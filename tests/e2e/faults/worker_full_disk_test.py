"""The disk of a worker's state directory fills up, before trainings start and while they run, and is freed again.

The worker takes no trial while nothing can be written, no trial is to blame for it, and it goes on by itself. The disk
is that of full_disk_test.
"""

import subprocess
import unittest

import full_disk_test
import harness


class WorkerFullDisk(harness.Case):
    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        kind = full_disk_test.mount_small_disk(self.folder / "image", self.disk)
        if kind is None:
            self.skipTest("no small disk can be mounted here (root, and a loop device or tmpfs, are needed)")
        print(f"the disk is {kind}, {full_disk_test.SIZE_MIB} MiB", flush=True)

    def make_room(self):
        (self.disk / "filler").unlink(missing_ok=True)

    def clean_up(self):
        self.make_room()  # A worker waits with the ends of its programs until they can be written down.
        for process in reversed(self.processes):
            if process.popen.poll() is None:
                process.end()
        subprocess.run(["umount", str(self.disk)], capture_output=True)
        super().clean_up()

    def withdrawn(self):
        workers = self.cluster.get("/api/v1/workers")["workers"]
        return sum(worker["slots_withdrawn"] for worker in workers)

    def wait_for_withdrawn(self, slots):
        harness.wait_for(lambda: self.withdrawn() == slots, f"{slots} slots out of use", self.worker.said)

    def test_no_trial_is_to_blame(self):
        self.cluster = cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        self.worker = cluster.start_worker(2, "disk/worker")
        harness.wait_for(lambda: len(cluster.get("/api/v1/workers")["workers"]) == 1, "the worker", self.worker.said)
        full_disk_test.fill(self.disk, 1024)  # Else the spool of one trial may still have room, and it starts.
        # Long enough that what is reported does not fit into the last blocks of files.
        searcher = {"name": "random", "max_length": 400, "max_trials": 4}
        tree = harness.experiment(self.ledger_path, searcher, fake={"STEP_SECONDS": 0.03}, max_restarts=0)
        experiment = cluster.submit(tree)
        self.wait_for_withdrawn(2)
        self.assertEqual(self.ledger.of("start"), [])
        self.make_room()
        harness.wait_for(lambda: len(self.ledger.of("step")) > 5, "the search to get going", self.worker.said)
        self.assertEqual(self.withdrawn(), 0)

        full_disk_test.fill(self.disk)
        self.wait_for_withdrawn(2)
        self.assertEqual(self.ledger.of("end"), [], "a training that runs was ended; all it does is wait with its reports")
        self.make_room()
        self.wait_for_withdrawn(0)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual({trial["state"] for trial in cluster.trials(experiment)}, {"COMPLETED"})
        starts = harness.count(line["trial"] for line in self.ledger.of("start"))
        self.assertEqual(starts, dict.fromkeys(range(4), 1), "a training was disturbed")
        self.assertEqual(self.ledger.final_lengths(), dict.fromkeys(range(4), 400))


if __name__ == "__main__":
    unittest.main()
