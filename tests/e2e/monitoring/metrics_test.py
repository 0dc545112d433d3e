"""GET /metrics of a real search: counters agree with the log to the unit, also after the daemon or a worker was killed.

What Prometheus itself says of the pages is checked where promtool is installed (scripts/setup test), and their
OpenMetrics form where its Python client is (python3-prometheus-client)."""

import http.client
import os
import pathlib
import re
import signal
import subprocess
import sys
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


sys.path.append(str(harness.ROOT / "tests" / "monitoring"))
import prometheus

PROMTOOL = os.environ.get("PROMTOOL") or prometheus.program("promtool")


def checked_by_promtool(case, text):
    if PROMTOOL is None:
        harness.skipped("no promtool (scripts/setup test): the metrics are not linted")
        return
    lint = subprocess.run([PROMTOOL, "check", "metrics"], input=text, capture_output=True, text=True)
    case.assertEqual((lint.returncode, lint.stdout + lint.stderr), (0, ""))


def families_by_openmetrics(text):
    """{family: samples} as Prometheus' own reader of OpenMetrics has it; None where that is not installed."""
    try:
        from prometheus_client.openmetrics import parser
    except ImportError:
        harness.skipped("no prometheus_client (Debian package python3-prometheus-client): OpenMetrics is not parsed")
        return None
    return {family.name: family.samples for family in parser.text_string_to_metric_families(text)}


def fetch(connection, path="/metrics", accept=None):
    """(status, type, text)"""
    try:
        connection.request("GET", path, headers={"Accept": accept} if accept else {})
        answer = connection.getresponse()
        return answer.status, answer.getheader("Content-Type"), answer.read().decode()
    finally:
        connection.close()


class Metrics(harness.Case):
    def scrape(self, cluster):
        status, _, text = fetch(cluster.connection())
        self.assertEqual(status, 200)
        checked_by_promtool(self, text)
        return samples(text)

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
        exits = [e["report"] for e in of("report_taken") if e["report"]["type"] == "exit"]
        caused = lambda cause: sum(e["cause"] == cause for e in exits)
        return {
            ("hpsearch_trials_created_total", ""): len(of("trial_created")),
            ("hpsearch_trials_ended_total", 'outcome="COMPLETED"'): ended("COMPLETED"),
            ("hpsearch_trials_ended_total", 'outcome="STOPPED"'): ended("STOPPED"),
            ("hpsearch_trials_ended_total", 'outcome="FAILED"'): ended("FAILED"),
            ("hpsearch_attempts_started_total", ""): len(of("attempt_started")),
            ("hpsearch_promotions_total", 'searcher="async_halving"'): len(of("trial_promoted")),
            ("hpsearch_pauses_total", 'searcher="async_halving"'): len(of("trial_paused")),
            ("hpsearch_reports_total", ""): len(of("report_taken")),
            ("hpsearch_attempts_ended_total", 'cause="lost"'): len(of("attempt_lost")) + caused("lost"),
            ("hpsearch_attempts_ended_total", 'cause="exited"'): caused("exited"),
            ("hpsearch_schedule_wait_seconds_count", 'pool="default"'): len(of("lease_granted")),
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
            self.assertGreater(wanted, 0 if "FAILED" not in key[1] and "lost" not in key[1] else -1, key)
        counters_of_the_log = ("trials_", "attempts_", "promotions_", "pauses_", "stops_", "reports_total")
        for (name, labels), value in before.items():
            if name.removeprefix("hpsearch_").startswith(counters_of_the_log) and name.endswith("_total"):
                self.assertGreaterEqual(after[name, labels], value, name)
        self.assertEqual(after["hpsearch_experiments", 'state="COMPLETED",workspace="default"'], 1)
        self.assertEqual(after["hpsearch_trials", 'state="RUNNING"'], 0)
        self.assertEqual(sum(v for (n, _), v in after.items() if n == "hpsearch_trials"), 12)
        self.assertEqual(after["hpsearch_workers", 'state="connected",pool="default"'], 1)
        self.assertEqual(after["hpsearch_slots", 'state="idle",kind="cpu",pool="default"'], 3)
        self.assertGreater(after["hpsearch_slot_seconds_total", 'pool="default"'], 0)
        self.assertGreater(after["hpsearch_slot_seconds_saved_total", 'pool="default"'], 0)
        self.assertGreater(after["hpsearch_store_bytes", ""], 0)
        self.assertGreater(after["hpsearch_checkpoint_free_bytes", ""], 0)
        self.assertEqual([v for (n, _), v in after.items() if n == "hpsearch_worker_versions"], [1])
        self.assertEqual(after["hpsearch_workspace_slots", 'workspace="default"'], 0)
        self.assertGreater(after["hpsearch_recovery_seconds", ""], 0)
        self.assertGreaterEqual(after["hpsearch_worker_messages_total", 'direction="received",type="HELLO"'], 1)
        self.assertGreater(after["hpsearch_worker_bytes_total", 'direction="sent"'], 0)
        self.assertEqual(after["hpsearch_reports_refused_total", ""], 0)
        self.assertGreater(after["hpsearch_store_commit_seconds_count", ""], 0)
        self.assertGreater(after["process_resident_memory_bytes", ""], 1e6)
        served = {labels for name, labels in after if name == "hpsearch_http_requests_total"}
        self.assertIn('route="/api/v1/experiments/{experiment}",method="GET",status="2xx"', served)
        described = self.described()
        self.assertEqual(described, families, "docs/metrics.md has every family, and no other")

    def test_counters_agree_with_the_log_after_a_worker_was_killed(self):
        port, worker_port = harness.free_port(), harness.free_port()
        cluster = harness.Cluster(self)
        cluster.start_daemon("--metrics-listen", str(port), "--metrics-per-experiment", "0", "--lost-after", "3")
        cluster.wait_until_up()
        cluster.start_worker(2, "steady", "--metrics", f":{worker_port}")
        doomed = cluster.start_worker(2, "doomed")
        experiment = cluster.submit(harness.experiment(
            self.ledger_path, {"name": "async_halving", "max_length": 9, "num_rungs": 3, "divisor": 3, "max_trials": 12,
                               "max_concurrent_trials": 4}, fake={"STEP_SECONDS": 0.1}))
        on_doomed = lambda: [w for w in cluster.get("/api/v1/workers")["workers"]
                             if w["name"] == "doomed" and w["slots_held"] == 2]
        harness.wait_for(on_doomed, "both slots of the worker to be busy")
        doomed.end(signal.SIGKILL)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        after, _ = self.scrape(cluster)
        counted = self.counted(cluster)
        for key, wanted in counted.items():
            self.assertEqual(after[key], wanted, key)
        self.assertGreater(counted["hpsearch_attempts_ended_total", 'cause="lost"'], 0)
        self.assertEqual(after["hpsearch_workers", 'state="lost",pool="default"'], 1)
        self.assertFalse([labels for name, labels in after if name == "hpsearch_experiment_progress_ratio"])
        cluster.start_worker(2, "doomed")  # It ends what its programs still do.
        harness.wait_for(lambda: self.scrape(cluster)[0]["hpsearch_workers", 'state="lost",pool="default"'] == 0,
                         "the worker to come back")
        self.judge_open_port(port)
        self.judge_worker(worker_port)

    def judge_open_port(self, port):
        connect = lambda: http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        status, kind, text = fetch(connect(), accept="application/openmetrics-text; version=1.0.0")
        self.assertEqual((status, kind), (200, "application/openmetrics-text; version=1.0.0; charset=utf-8"))
        self.assertTrue(text.endswith("# EOF\n"))
        self.assertRegex(text, r'hpsearch_http_request_seconds_bucket\{le="[^"]*"\} \d+ # \{request_id="[^"]+"\} ')
        families = families_by_openmetrics(text)
        if families is not None:
            self.assertIn("hpsearch_trials_created", families)
            self.assertTrue([s for s in families["hpsearch_http_request_seconds"] if s.exemplar])
        self.assertEqual(fetch(connect(), "/readyz")[0], 200)
        self.assertEqual(fetch(connect(), "/api/v1/experiments")[0], 404)

    def judge_worker(self, port):
        connect = lambda: http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        status, _, text = fetch(connect())
        self.assertEqual(status, 200)
        checked_by_promtool(self, text)
        found, families = samples(text)
        self.assertEqual(found["hpsearch_worker_connected", ""], 1)
        self.assertEqual(found["hpsearch_worker_slots", 'state="idle",kind="cpu"'], 2)
        self.assertEqual(found["hpsearch_worker_attempts", 'state="running"'], 0)
        self.assertEqual(found["hpsearch_worker_reports_unacknowledged", ""], 0)
        self.assertGreater(found["hpsearch_checkpoint_seconds_count", ""], 0)
        self.assertEqual(self.described("# Worker"), families, "docs/metrics.md has every family, and no other")
        families_by_openmetrics(fetch(connect(), accept="application/openmetrics-text")[2])
        self.assertEqual(fetch(connect(), "/")[0], 404)

    def described(self, heading="# Daemon"):
        page = (harness.ROOT / "docs" / "metrics.md").read_text()
        rows = page.split(heading + "\n")[1].split("\n## ")[0].splitlines()
        cells = [row.strip("| ").split(" | ") for row in rows if row.startswith("| `")]
        return {cell[0].strip("`"): cell[1] for cell in cells}


if __name__ == "__main__":
    unittest.main()
