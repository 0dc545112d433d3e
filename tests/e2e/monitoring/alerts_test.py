"""A genuine Prometheus reads a daemon through a small search: alerts of deploy/prometheus fire when something is wrong and clear
when it is repaired, panels of deploy/grafana have data, and the counters are those of the log.

The rules are those that users get, except that no alert waits before it fires: the waiting is tested in tests/monitoring."""

import json
import signal
import subprocess
import sys
import unittest
import urllib.parse
import urllib.request

import harness
import yaml

sys.path.append(str(harness.ROOT / "tests" / "monitoring"))
import prometheus

# Panels of what this cluster doesn't have: TLS, devices, quotas, workers of other versions, and revisions of a release.
MAY_BE_EMPTY = {"Certificate expires in", "Devices", "Devices of attempts: busy", "Version"}


class Alerts(harness.Case):
    def setUp(self):
        super().setUp()
        if prometheus.program("prometheus") is None:
            self.skipTest("no prometheus (scripts/setup test)")

    def start_prometheus(self, metrics_port):
        rules = yaml.safe_load(prometheus.RULES.read_text())
        for rule in rules["groups"][0]["rules"]:
            rule.pop("for", None)
        rules["groups"][0]["interval"] = "1s"
        (self.folder / "rules.yml").write_text(yaml.safe_dump(rules))
        (self.folder / "prometheus.yml").write_text(yaml.safe_dump({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yml"],
            "scrape_configs": [{"job_name": "hpsearch", "static_configs": [{"targets": [f"127.0.0.1:{metrics_port}"]}]}]}))
        port = harness.free_port()
        with open(self.folder / "prometheus.log", "wb") as log:
            server = subprocess.Popen(
                [prometheus.program("prometheus"), f"--config.file={self.folder}/prometheus.yml",
                 f"--storage.tsdb.path={self.folder}/tsdb", f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.prometheus = f"http://127.0.0.1:{port}"

    def ask(self, path, **query):
        """The data of an answer of Prometheus; None while it starts."""
        url = f"{self.prometheus}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except OSError:
            return None

    def value(self, expression):
        found = (self.ask("query", query=expression) or {"result": []})["result"]
        return float(found[0]["value"][1]) if found else None

    def firing(self):
        alerts = self.ask("alerts")
        return {one["labels"]["alertname"] for one in alerts["alerts"] if one["state"] == "firing"} if alerts else set()

    def wait_for_alert(self, name, fires=True):
        harness.wait_for(lambda: (name in self.firing()) == fires, f"{name} to {'fire' if fires else 'clear'}",
                         lambda: f"firing: {self.firing()}")

    def test_alerts_fire_and_clear_and_panels_have_data(self):
        port = harness.free_port()
        options = ("--metrics-listen", str(port), "--lost-after", "3")
        cluster = harness.Cluster(self)
        cluster.start_daemon(*options)
        cluster.wait_until_up()
        self.start_prometheus(port)
        cluster.start_worker(2, "steady")
        doomed = cluster.start_worker(2, "doomed")
        self.wait_for_alert("BackupMissing")
        self.run_cli("store", "backup", str(cluster.state), "--to", str(self.folder / "backup"), "--without-keys")
        self.wait_for_alert("BackupMissing", fires=False)

        status, _ = cluster.call("POST", "/api/v1/tokens", {"name": "short", "role": "viewer", "expires_in_seconds": 3600})
        self.assertEqual(status, 201)
        self.wait_for_alert("TokenExpires")

        experiment = cluster.submit(harness.experiment(
            self.ledger_path, {"name": "async_halving", "max_length": 9, "num_rungs": 3, "divisor": 3, "max_trials": 12,
                               "max_concurrent_trials": 4}, fake={"STEP_SECONDS": 0.1}))
        harness.wait_for(lambda: [w for w in cluster.get("/api/v1/workers")["workers"]
                                  if w["name"] == "doomed" and w["slots_held"] == 2], "both slots of the worker to be busy")
        doomed.end(signal.SIGKILL)
        self.wait_for_alert("WorkersLost")
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        cluster.start_worker(2, "doomed")
        self.wait_for_alert("WorkersLost", fires=False)

        self.judge_numbers(cluster, experiment)
        self.judge_panels()
        cluster.kill_daemon()
        self.wait_for_alert("DaemonDown")
        cluster.start_daemon(*options)
        cluster.wait_until_up()
        self.wait_for_alert("DaemonDown", fires=False)

    def judge_numbers(self, cluster, experiment):
        trials = cluster.trials(experiment)
        attempts_ended = "sum(hpsearch_attempts_ended_total)"
        harness.wait_for(lambda: self.value('hpsearch_experiments{state="COMPLETED",workspace="default"}') == 1,
                         "Prometheus to see the end of the search")
        self.assertEqual(self.value("hpsearch_trials_created_total"), len(trials))
        self.assertEqual(self.value("sum(hpsearch_trials_ended_total)"), len(trials))
        self.assertGreater(self.value('hpsearch_attempts_ended_total{cause="lost"}'), 0)
        harness.wait_for(lambda: self.value(attempts_ended) is not None and
                         self.value(attempts_ended) >= self.value("hpsearch_attempts_started_total"), "all attempts to be over")

    def judge_panels(self):
        empty = set()
        for panel in prometheus.panels():
            answers = [self.ask("query", query=prometheus.without_variables(target["expr"])) for target in panel["targets"]]
            self.assertNotIn(None, answers, panel["title"])
            if not any(answer["result"] for answer in answers):
                empty.add(panel["title"])
        # Values that a search has only while it runs are in the past now.
        during = {"Progress of experiments", "Waiting trials", "Slots of owners"}
        for panel in prometheus.panels():
            if panel["title"] in empty & during:
                query = f"max_over_time(({prometheus.without_variables(panel['targets'][0]['expr'])})[30m:1s])"
                if self.ask("query", query=query)["result"]:
                    empty.remove(panel["title"])
        self.assertEqual(empty - MAY_BE_EMPTY, set(), "panels without data")


if __name__ == "__main__":
    unittest.main()
