"""A training that prints without end: what is kept is bounded, and printing costs about what writing to a file costs.

E2E_FLOOD_BYTES (256 MiB; `scripts/soak` takes 2 GB). The times are printed, not judged.
"""

import json
import os
import sys
import unittest

import harness

BYTES = int(os.environ.get("E2E_FLOOD_BYTES", str(256 * 1024 * 1024)))
KEPT = 5 * 10 * 1024 * 1024  # docs/operating/worker.md

FLOOD = """
import json, os, sys, time
block = (b"step 12345 of 99999: loss 0.123456 accuracy 0.987654\\n" * 1200)
blocks = int(sys.argv[2]) // len(block)
def flood(to):
    begin = time.monotonic()
    for _ in range(blocks):
        left = block
        while left:
            left = left[os.write(to, left):]
    return time.monotonic() - begin
times = {"file": [], "pipe": []}
for _ in range(2):
    plain = os.open(sys.argv[1] + ".plain", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    times["file"].append(flood(plain))
    os.close(plain)
    os.unlink(sys.argv[1] + ".plain")
    times["pipe"].append(flood(1))
open(sys.argv[1], "w").write(json.dumps(times))
print('HPSEARCH {"step": 1, "loss": 1}', flush=True)
"""


class LogFlood(harness.Case):
    def test_disk_is_bounded(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(1)
        program = self.folder / "flood.py"
        program.write_text(FLOOD)
        times = self.folder / "times"
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 1, "max_trials": 1})
        tree["entrypoint"] = ["/usr/bin/python3", "-IS", str(program), str(times), str(BYTES)]
        experiment = cluster.submit(tree)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        logs = list((self.folder / "worker" / "attempts" / "1-0-1").glob("stdout.log*"))
        kept = sum(path.stat().st_size for path in logs)
        measured = {name: min(values) for name, values in json.loads(times.read_text()).items()}
        print(f"{BYTES / 1e6:.0f} MB printed: {measured['pipe']:.2f} s, written to a file {measured['file']:.2f} s; "
              f"{kept / 1e6:.1f} MB kept in {len(logs)} files", file=sys.stderr)
        self.assertLessEqual(kept, KEPT + 1024 * 1024)
        self.assertGreaterEqual(kept, min(BYTES, 10 * 1024 * 1024))


if __name__ == "__main__":
    unittest.main()
