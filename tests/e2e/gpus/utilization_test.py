"""What an attempt uses of its machine: while it runs, after its worker was killed and started again, and after its end."""

import signal
import sys
import unittest

import harness

sys.path.insert(0, str(harness.ROOT / "clients" / "python"))

import hpsearch as hp

PROGRAM = """
import os, sys
held = b"x" * 200_000_000
print("holds", len(held), flush=True)
while not os.path.exists(sys.argv[1]):
    sum(range(100_000))
print('HPSEARCH {"step": 1, "loss": 0.5}', flush=True)
"""
HELD = 200_000_000


class Utilization(harness.Case):
    def setUp(self):
        super().setUp()
        self.go = self.folder / "go"
        (self.folder / "program.py").write_text(PROGRAM)
        (self.folder / "gpus").write_text("uuid=GPU-aaaa bus=3 memory=2048 free=2000\n")
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.start_worker()

    def start_worker(self):
        self.worker = self.cluster.start_worker("auto", "worker", "--device-check", 0.1, extra={
            "HPSEARCH_NVML_LIBRARY": str(harness.BIN / "fake_nvml.so"), "FAKE_NVML": str(self.folder / "gpus"),
            "HPSEARCH_UTILIZATION_INTERVAL": "0.5"})

    def read(self, attempt=1):
        status, answer = self.cluster.call("GET", f"/api/v1/experiments/1/trials/0/attempts/{attempt}/utilization")
        return answer if status == 200 else None

    def wait_for_figures(self, rows):
        """The answer, when there are more rows than that, with all figures in the last ones."""
        found = {}

        def seen():
            found.update(self.read() or {"at": [], "devices": []})
            return (len(found["at"]) > rows and found["devices"] and found["devices"][0]["memory_bytes"][-1] is not None
                    and found["memory_bytes"][-1] >= HELD and max(cores or 0 for cores in found["cores"][rows:]) > 0.1)

        harness.wait_for(seen, "figures of the attempt", lambda: f"{found}\n{self.worker.said()}")
        return dict(found)

    def check(self, used):
        self.assertEqual((used["attempt"], used["worker"], used["workers"], used["why_none"]), (1, 1, [1], None))
        rows = len(used["at"])
        device = used["devices"][0]
        self.assertEqual({len(column) for column in (used["seconds"], used["cores"], used["memory_bytes"], device["utilization"],
                                                     device["memory_bytes"])}, {rows})
        self.assertEqual(used["at"], sorted(set(used["at"])))
        self.assertTrue(all(memory < 2 * HELD for memory in used["memory_bytes"]), used)
        # It has one thread. What a loaded machine delays is not worth more than this.
        busy = sum((cores or 0) * seconds for cores, seconds in zip(used["cores"], used["seconds"]))
        self.assertLess(busy, 2 * sum(used["seconds"]) + 5)
        for percent in device["utilization"]:
            self.assertAlmostEqual(25 if percent is None else percent, 25, delta=2)
        self.assertEqual({memory for memory in device["memory_bytes"] if memory is not None}, {48 * 2**20})

    def test_is_seen_while_it_runs_and_kept_after_its_end(self):
        self.cluster.submit({
            "entrypoint": ["/usr/bin/python3", "-IS", str(self.folder / "program.py"), str(self.go)],
            "hyperparameters": {"x": 1}, "searcher": {"name": "single", "metric": "loss", "max_length": 1}})
        live = self.wait_for_figures(0)
        self.check(live)
        loads = lambda: self.cluster.get("/api/v1/workers")["workers"][0]["loads"]
        harness.wait_for(lambda: any(load["memory_bytes"] >= HELD for load in loads()), "a beat with figures", self.worker.said)
        load = loads()[0]
        self.assertEqual((load["experiment"], load["trial"], load["attempt"], load["devices"][0]["index"]), (1, 0, 1, 0))

        live = self.read()
        self.worker.end(signal.SIGKILL)
        self.start_worker()
        again = self.wait_for_figures(len(live["at"]))
        self.assertEqual(again["at"][:len(live["at"])], live["at"], "the next worker goes on with the series")
        self.check(again)

        self.go.touch()
        self.assertEqual(self.cluster.wait_until_over(1), "COMPLETED")
        self.worker.end()
        kept = self.read(attempt=0)
        self.check(kept)
        self.assertGreaterEqual(len(kept["at"]), len(again["at"]))
        shown = self.run_cli("show", "--trial", "0", "--server", self.cluster.server).stdout
        self.assertRegex(shown, r"\nattempt 1 on worker used \d\.\d cores on average, at most \d+\.\d MB of memory, "
                                r"GPU 0 busy 2\d\.\d % of the time with at most 50\.3 MB\n")
        document = self.run_cli("show", "--trial", "0", "--server", self.cluster.server, "--output", "json")
        (used,) = document["attempts_made"][0]["utilization"]
        self.assertEqual((used["worker"], used["memory_bytes"]), ("worker", max(kept["memory_bytes"])))
        rows = hp.Client(self.cluster.server).experiment(1).trials[0].utilization()
        self.assertEqual([row["at"] for row in rows], kept["at"])
        self.assertEqual(rows[-1]["devices"][0]["memory_bytes"], kept["devices"][0]["memory_bytes"][-1])
        self.assertEqual(rows[-1]["memory_bytes"], kept["memory_bytes"][-1])


if __name__ == "__main__":
    unittest.main()
