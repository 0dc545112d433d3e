"""GET /metrics of a real search: counters agree with the log to the unit, also after the daemon was killed."""

import re
import unittest

import harness

SAMPLE = re.compile(r'^([a-z_]+)(?:\{(.*)\})? (\S+)$')


def samples(text):
    """{(name, labels): value} of a page in Prometheus' text format; fails on a line that is none of it."""
    found, families = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in families, f"{name} has two heads"
            families[name] = kind
        elif not line.startswith("# HELP "):
            name, labels, value = SAMPLE.match(line).groups()
            family = name if name in families else re.sub("_(bucket|sum|count)$", "", name)
            assert families.get(family) == "histogram" or family == name, f"{line} has no head"
            assert (name, labels or "") not in found, f"{line} is there twice"
            assert families[family] != "counter" or name.endswith("_total"), name
            found[name, labels or ""] = float(value)
    return found, families


class Metrics(harness.Case):
    def scrape(self, cluster):
        connection = cluster.connection()
        try:
            connection.request("GET", "/metrics")
            answer = connection.getresponse()
            self.assertEqual(answer.status, 200)
            return samples(answer.read().decode())
        finally:
            connection.close()

    def counted(self, cluster):
        """What the samples must be, from the events themselves."""
        events, after = [], 0
        while True:
            page = cluster.get(f"/api/v1/events?after={after}&limit=1000")
            if not page["events"]:
                break
            events += page["events"]
            after = page["last_lsn"]
        of = lambda kind: [e for e in events if e["type"] == kind]
        ended = lambda state: sum(e["state"] == state for e in of("trial_ended"))
        return {
            ("hpsearch_trials_created_total", ""): len(of("trial_created")),
            ("hpsearch_trials_ended_total", 'outcome="COMPLETED"'): ended("COMPLETED"),
            ("hpsearch_trials_ended_total", 'outcome="STOPPED"'): ended("STOPPED"),
            ("hpsearch_trials_ended_total", 'outcome="FAILED"'): ended("FAILED"),
            ("hpsearch_attempts_started_total", ""): len(of("attempt_started")),
            ("hpsearch_promotions_total", 'searcher="async_halving"'): len(of("trial_promoted")),
            ("hpsearch_pauses_total", 'searcher="async_halving"'): len(of("trial_paused")),
            ("hpsearch_reports_total", ""): len(of("report_taken")),
            ("hpsearch_schedule_wait_seconds_count", ""): len(of("lease_granted")),
            ("hpsearch_lease_to_start_seconds_count", ""): len(of("attempt_started")),
        }

    def test_counters_agree_with_the_log_and_continue_after_a_crash(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(3)
        experiment = cluster.submit(harness.experiment(
            self.ledger_path, {"name": "async_halving", "max_length": 9, "num_rungs": 3, "divisor": 3, "max_trials": 12,
                               "max_concurrent_trials": 3}, fake={"STEP_SECONDS": 0.02}))
        harness.wait_for(lambda: len(cluster.trials(experiment)) >= 4, "some trials run")
        before, _ = self.scrape(cluster)
        cluster.kill_daemon()
        cluster.start_daemon()
        cluster.wait_until_up()
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        after, families = self.scrape(cluster)
        for key, wanted in self.counted(cluster).items():
            self.assertEqual(after[key], wanted, key)
            self.assertGreater(wanted, 0 if "FAILED" not in key[1] else -1, key)
        counters_of_the_log = ("trials_", "attempts_", "promotions_", "pauses_", "stops_", "reports_total")
        for (name, labels), value in before.items():
            if name.removeprefix("hpsearch_").startswith(counters_of_the_log) and name.endswith("_total"):
                self.assertGreaterEqual(after[name, labels], value, name)
        self.assertEqual(after["hpsearch_experiments", 'state="COMPLETED"'], 1)
        self.assertEqual(after["hpsearch_trials", 'state="RUNNING"'], 0)
        self.assertEqual(sum(v for (n, _), v in after.items() if n == "hpsearch_trials"), 12)
        self.assertEqual(after["hpsearch_workers", 'state="connected"'], 1)
        self.assertEqual(after["hpsearch_slots", 'state="idle",kind="cpu",pool="default"'], 3)
        self.assertGreater(after["hpsearch_slot_seconds_total", ""], 0)
        self.assertGreater(after["hpsearch_store_commit_seconds_count", ""], 0)
        self.assertGreater(after["process_resident_memory_bytes", ""], 1e6)
        served = {labels for name, labels in after if name == "hpsearch_http_requests_total"}
        self.assertIn('route="/api/v1/experiments/#",method="GET",status="2xx"', served)
        described = self.described()
        self.assertEqual(described, families, "docs/metrics.md has every family, and no other")

    def described(self):
        rows = (harness.ROOT / "docs" / "metrics.md").read_text().splitlines()
        cells = [row.strip("| ").split(" | ") for row in rows if row.startswith("| `")]
        return {cell[0].strip("`"): cell[1] for cell in cells}


if __name__ == "__main__":
    unittest.main()
