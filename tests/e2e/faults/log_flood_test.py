"""A training that prints without end: what is kept is bounded, no metric in it is missed, and printing costs at most a
tenth more than writing to a file does.

E2E_FLOOD_BYTES (256 MiB; `scripts/soak` takes 2 GB). The training prints and writes to a file by turns, and what is judged
is the median of the ratios of neighbours: both meet the same machine. Below 2 GB the ratio is printed only. It is that of
a program without `metrics` in its experiment; with them each line is matched against patterns, which a pipe waits for.
"""

import json
import os
import statistics
import sys
import threading
import unittest

import harness

BYTES = int(os.environ.get("E2E_FLOOD_BYTES", str(256 * 1024 * 1024)))
KEPT = 5 * 10 * 1024 * 1024  # docs/operating/worker.md
BESIDE = 16 * 1024 * 1024  # Journal, spool, one log file more while they are rotated.
ROUNDS = int(os.environ.get("E2E_FLOOD_ROUNDS", "3"))
MOST_SLOWED = 1.10
JUDGED_FROM = 2_000_000_000  # Bytes; less is over before it means anything.
METRICS = 25  # Of each round, in the thick of it.

FLOOD = """
import json, os, subprocess, sys, time
block = (b"step 12345 of 99999: loss 0.123456 accuracy 0.987654\\n" * 1200)
times, size, rounds, metrics = sys.argv[1], *map(int, sys.argv[2:])
blocks = size // len(block)
def write(to, left):
    while left:
        left = left[os.write(to, left):]
def flood(to, first):
    begin = time.monotonic()
    for number in range(blocks):
        write(to, block)
        if number % (blocks // metrics) == 0 and number // (blocks // metrics) < metrics:
            write(to, b'HPSEARCH {"step": %d, "loss": 1}\\n' % (first + number // (blocks // metrics)))
    return time.monotonic() - begin
measured = {"file": [], "pipe": [], "log": []}
for number in range(rounds):
    plain = os.open(times + ".plain", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    measured["file"].append(flood(plain, 1))
    os.close(plain)
    os.unlink(times + ".plain")
    reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    measured["pipe"].append(flood(reader.stdin.fileno(), 1))
    reader.communicate()
    measured["log"].append(flood(1, 1 + number * metrics))
with open(times, "w") as file:
    json.dump(measured, file)
"""


class Size:
    """What a directory takes on the disk, at most, while this is entered."""

    def __init__(self, folder):
        self.folder, self.most, self.looks = folder, 0, 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.over.wait(0.02):
            taken = 0
            for path in self.folder.rglob("*"):
                try:
                    taken += path.lstat().st_blocks * 512
                except OSError:
                    pass  # Rotated away.
            self.most = max(self.most, taken)
            self.looks += taken > 0

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *failure):
        self.over.set()
        self.thread.join()


class LogFlood(harness.Case):
    def test_disk_is_bounded_and_no_metric_is_missed(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(1)
        program = self.folder / "flood.py"
        program.write_text(FLOOD)
        times = self.folder / "times"
        length = ROUNDS * METRICS
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": length, "max_trials": 1})
        tree["entrypoint"] = ["/usr/bin/python3", "-IS", str(program), str(times), str(BYTES), str(ROUNDS), str(METRICS)]
        experiment = cluster.submit(tree)
        with Size(self.folder / "worker" / "attempts" / "1-0-1") as size:
            self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        metrics = cluster.metrics(experiment, 0)
        self.assertEqual([report["step"] for report in metrics], list(range(1, length + 1)))
        logs = list((self.folder / "worker" / "attempts" / "1-0-1").glob("stdout.log*"))
        kept = sum(path.stat().st_size for path in logs)
        measured = json.loads(times.read_text())
        medians = {name: statistics.median(values) for name, values in measured.items()}
        ratios = {name: statistics.median(log / other for log, other in zip(measured["log"], measured[name]))
                  for name in ("file", "pipe")}
        print(f"{BYTES / 1e6:.0f} MB, medians of {ROUNDS}: printed in {medians['log']:.2f} s, written to a file in "
              f"{medians['file']:.2f} s, piped into cat in {medians['pipe']:.2f} s; printed compared with each: {ratios} "
              f"(all: {measured}); "
              f"{kept / 1e6:.1f} MB kept in {len(logs)} files, {size.most / 1e6:.1f} MB at most in all files of the attempt in "
              f"{size.looks} looks; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
              file=sys.stderr)
        if BYTES >= JUDGED_FROM:
            self.assertLessEqual(ratios["file"], MOST_SLOWED, f"printing slows a training down: {measured}")
        self.assertLessEqual(kept, KEPT + 1024 * 1024)
        self.assertGreater(size.looks, 10)
        self.assertLessEqual(size.most, KEPT + BESIDE)
        self.assertGreaterEqual(kept, min(BYTES, 10 * 1024 * 1024))


if __name__ == "__main__":
    unittest.main()
