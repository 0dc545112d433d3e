"""A small disk of the daemon's own fills up under a running search, and is freed again.

The disk is an ext4 image on a loop device, or a tmpfs where there is no loop device; both want root. Judged by the
trainings' own ledger: nothing they reported is lost or doubled, and none of them is disturbed.
"""

import os
import signal
import subprocess
import unittest

import harness

SIZE_MIB = 16


def mount_small_disk(image, point):
    """What is mounted there now, or None when this machine does not let us."""
    point.mkdir()
    if os.geteuid() != 0:
        return None
    with open(image, "wb") as file:
        file.truncate(SIZE_MIB * 2**20)
    for command in (["sh", "-c", f"mkfs.ext4 -q -F {image} && mount -o loop {image} {point}"],
                    ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MIB}m", "tmpfs", str(point)]):
        try:
            if subprocess.run(command, capture_output=True).returncode == 0:
                return "ext4 on a loop device" if command[0] == "sh" else "tmpfs"
        except OSError:
            pass
    return None


def fill(disk, smallest=4096):
    """Takes what room is left, in pieces down to `smallest`; blocks of a small disk have 1,024 bytes."""
    with open(disk / "filler", "ab", buffering=0) as file:
        for size in (2**20, 4096, smallest):
            try:
                while True:
                    file.write(b"x" * size)
                    os.fsync(file.fileno())
            except OSError:
                pass


class FullDisk(harness.Case):
    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        self.kind = mount_small_disk(self.folder / "image", self.disk)
        if self.kind is None:
            self.skipTest("no small disk can be mounted here (root, and a loop device or tmpfs, are needed)")
        print(f"the disk is {self.kind}, {SIZE_MIB} MiB", flush=True)

    def test_the_disk_has_a_journal(self):
        # A skip is told loudly: a tmpfs is less than was to be tested.
        if self.kind == "tmpfs":
            self.skipTest("no loop device here: a tmpfs stands in for the disk")

    def clean_up(self):
        for process in reversed(self.processes):
            if process.popen.poll() is None:
                process.end()
        subprocess.run(["umount", str(self.disk)], capture_output=True)
        super().clean_up()

    def test_a_daemon_that_was_killed_on_a_full_disk_starts_again(self):
        cluster = harness.Cluster(self)
        cluster.state = self.disk / "daemon"
        cluster.start_daemon()
        cluster.wait_until_up()
        harness.wait_for((cluster.state / "reserve").exists, "the daemon to set room aside", cluster.daemon.said)
        fill(self.disk, 1024)
        cluster.daemon.end(signal.SIGKILL)
        fill(self.disk, 1024)
        cluster.start_daemon()
        cluster.wait_until_up()

    def test_everything_is_there_when_there_is_room_again(self):
        cluster = harness.Cluster(self)
        cluster.state = self.disk / "daemon"
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(2)
        searcher = {"name": "random", "max_length": 100, "max_trials": 4}
        tree = harness.experiment(self.ledger_path, searcher, fake={"STEP_SECONDS": 0.1})
        experiment = cluster.submit(tree)
        harness.wait_for(lambda: len(self.ledger.of("step")) > 5, "the search to get going", cluster.daemon.said)
        for round_number in range(2):
            fill(self.disk)
            health = lambda: cluster.try_call("GET", "/healthz")
            harness.wait_for(lambda: health()["status"] == "degraded", "the daemon to notice", cluster.daemon.said)
            status, answer = cluster.call("POST", "/api/v1/experiments", {"config": tree, "name": "late"})
            self.assertEqual(status, 507, answer)
            self.assertIn(str(cluster.state), answer["error"]["message"])
            done = self.run_cli("submit", self.write_experiment(tree), "--server", cluster.server, expect=74)
            self.assertIn(str(cluster.state), done.stderr)
            steps = len(self.ledger.of("step"))
            harness.wait_for(lambda: len(self.ledger.of("step")) > steps + 10, "the trainings to go on all the same",
                             cluster.daemon.said)
            self.assertIsNone(cluster.daemon.popen.poll(), cluster.daemon.said())
            (self.disk / "filler").unlink()
            harness.wait_for(lambda: health()["status"] == "ok", "the daemon to take everything again",
                             cluster.daemon.said)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        cluster.daemon.end(signal.SIGKILL)
        cluster.start_daemon()
        cluster.wait_until_up()

        ledger = self.ledger
        starts = harness.count((line["trial"], line["attempt"]) for line in ledger.of("start"))
        self.assertEqual(starts, {(trial, 1): 1 for trial in range(4)}, "a training was disturbed")
        final = ledger.final_lengths()
        self.assertEqual(final, dict.fromkeys(range(4), 100))
        for trial in range(4):
            metrics = cluster.metrics(experiment, trial)
            self.assertEqual([report["step"] for report in metrics], list(range(1, 101)), f"reports of trial {trial}")
        self.assertEqual(len(cluster.experiments()), 1, "a refused experiment came to be")


if __name__ == "__main__":
    unittest.main()
