"""Configuration files, variables and flags of hpsearchd and hpsearch-worker; SIGHUP."""

import json
import signal
import subprocess
import unittest

import harness
from harness import wait_for

ONE = {"name": "random", "max_length": 2, "max_trials": 2}


class Configuration(harness.Case):
    def ask(self, program, *arguments, expect=0, extra=None):
        """Its whole output."""
        done = subprocess.run([harness.BIN / program, *map(str, arguments)], capture_output=True, text=True, timeout=harness.PATIENCE,
                              env=harness.environment() | (extra or {}), cwd=self.folder, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def wait_for_words(self, process, *words):
        wait_for(lambda: all(word in process.said() for word in words), f"{words} in its log", process.said)

    def test_a_daemon_starts_from_the_directory_of_its_service(self):
        self.write("etc/hpsearchd.yaml", f"state:\n  directory: {self.folder}/state\nmetrics: {{listen: 0}}\n")
        self.write("etc/hpsearchd.yaml.d/10-log.yaml", "log:\n  level: warning\n")
        place = {"CONFIGURATION_DIRECTORY": str(self.folder / "etc"), "HPSEARCHD_LOG__LEVEL": "debug"}
        printed = self.ask("hpsearchd", "--print-config", "--lost-after", "90s", extra=place)
        for words in (f'  directory: "{self.folder}/state"  # {self.folder}/etc/hpsearchd.yaml:2\n', '  level: "debug"  # HPSEARCHD_LOG__LEVEL\n',
                      '  lost_after: "90s"  # --lost-after\n', '  # forget_after: default: 7d\n'):
            self.assertIn(words, printed)
        self.assertEqual(self.ask("hpsearchd", "--check-config", extra=place),
                         f"hpsearchd: the configuration has no problems ({self.folder}/etc/hpsearchd.yaml, "
                         f"{self.folder}/etc/hpsearchd.yaml.d/10-log.yaml)\n")
        daemon = self.start("hpsearchd", log="daemon.log", extra=place)
        self.wait_for_words(daemon, "ready: ", "serves metrics on 127.0.0.1:")
        self.assertTrue((self.folder / "state" / "daemon.json").exists())

    def test_bad_files_are_named_with_their_lines_and_nothing_starts(self):
        file = self.write("c.yaml", "")
        for text, words in (("http:\n\tlisten: x\n", f"{file}:2: is not YAML: a tab indents it"),
                            ("http: {listn: x}\n", f"{file}:1: http.listn: is not a known key (did you mean `http.listen`?)"),
                            ("log: {level: info}\nlog: {level: debug}\n", f"{file}:2: log: stands twice"),
                            ("workers: {lost_after: 0}\n", f"{file}:1: workers.lost_after: is 0 (a number of seconds from 1 to "),
                            ("http: {open: true}\n", f"{file}:1: http.open: needs http.listen"),
                            ("#" * 10_000_000, f"{file}: is larger than 262144 bytes")):
            file.write_text(text)
            for wish in ([], ["--check-config"], ["--print-config"]):
                self.assertIn(words, self.ask("hpsearchd", "--config", file, "--state-dir", self.folder / "state", *wish, expect=2))
        self.assertIn(f"{self.folder}: is a directory (a YAML file)", self.ask("hpsearchd", "--config", self.folder, expect=2))
        file.write_text("slots: {offr: 1}\nprograms: {orphan_policy: never}\nkey: -----BEGIN PRIVATE KEY-----\n")
        said = self.ask("hpsearch-worker", "--config", file, "--check-config", expect=2)
        self.assertEqual(said.count("hpsearch-worker: "), 3, said)
        self.assertIn(f"{file}:1: slots.offr: is not a known key (did you mean `slots.offer`?)", said)
        self.assertIn(f"{file}:2: programs.orphan_policy: is \"never\" (continue, pause_at_rung, ", said)
        self.assertNotIn("BEGIN", said, "a value of an unknown key may be a secret")
        self.assertFalse((self.folder / "state").exists())

    def test_hang_up_changes_what_needs_no_restart(self):
        file = self.write("c.yaml", "workers: {lost_after: 60}\n")
        cluster = harness.Cluster(self)
        cluster.start_daemon("--config", file)
        cluster.wait_until_up()
        hang_up = lambda: cluster.daemon.popen.send_signal(signal.SIGHUP)
        file.write_text("workers: {lost_after: 90}\nlog: {level: debug}\nhttp: {listen: 127.0.0.1:0}\nlimits: {context: 7}\n")
        hang_up()
        self.wait_for_words(cluster.daemon, 'the configuration was read again: workers.lost_after is "90", log.level is "debug"',
                            "these options were changed and stay as they were until a restart: http.listen, limits.context")
        self.assertNotIn("http", json.loads((cluster.state / "daemon.json").read_text()))
        file.write_text("workers: {lost_after: soon}\n")
        hang_up()
        self.wait_for_words(cluster.daemon, f"the configuration stays as it was: {file}:1: workers.lost_after: is \"soon\"")
        for _ in range(100):
            hang_up()
        file.write_text("workers: {lost_after: 120}\n")
        wait_for(lambda: hang_up() or 'workers.lost_after is "120"' in cluster.daemon.said(), "the last value", cluster.daemon.said)
        self.assertEqual(cluster.call("GET", "/healthz")[0], 200)
        self.assertEqual(cluster.daemon.end(), 0)

    def test_logs_of_both_programs_can_be_json(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon("--log-format", "json")
        cluster.wait_until_up()
        worker = cluster.start_worker(1, "worker", "--log-format", "json")
        wait_for(lambda: cluster.get("/api/v1/workers")["workers"], "the worker", worker.said)
        worker.end()
        cluster.daemon.end()
        for process, words in ((cluster.daemon, "ready: clients "), (worker, "worker worker with 1 ")):
            lines = [json.loads(line) for line in process.log.read_text().splitlines()]
            self.assertTrue(any(line["msg"].startswith(words) for line in lines), lines)
            about = {"experiment", "trial", "attempt", "worker"}
            self.assertEqual({tuple(sorted(line.keys() - about)) for line in lines}, {("level", "msg", "program", "ts")})
        named = [line for line in (json.loads(line) for line in cluster.daemon.log.read_text().splitlines()) if "worker" in line]
        self.assertEqual({line["worker"] for line in named}, {"worker"})

    def test_hang_up_reads_repaired_tokens(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        make = lambda name, **more: self.run_cli("token", "create", "--name", name, "--role", "viewer", "--server", cluster.server, **more)
        make("one")
        text = (cluster.state / "tokens.json").read_text()
        cluster.kill_daemon()
        (cluster.state / "tokens.json").write_text("{")
        cluster.start_daemon()
        cluster.wait_until_up()
        self.assertIn("SIGHUP", make("two", expect=1).stderr)
        (cluster.state / "tokens.json").write_text(text)
        cluster.daemon.popen.send_signal(signal.SIGHUP)
        self.wait_for_words(cluster.daemon, "no value changed")
        make("two")
        self.assertEqual(sorted(token["name"] for token in cluster.get("/api/v1/tokens")["tokens"]), ["one", "two"])

    def test_a_worker_has_a_configuration_of_its_own_and_its_programs_have_none(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        file = self.write("etc/hpsearch-worker.yaml", f"daemon: {{address: '{cluster.workers}'}}\nstate: {{directory: {self.folder}/worker}}\n"
                                                      "worker: {name: configured, labels: [zone=a]}\nslots: {offer: 1}\n")
        # Without a terminal: on one, SIGHUP would stop it.
        worker = self.start("/usr/bin/setsid", harness.BIN / "hpsearch-worker", log="worker.log",
                            extra={"CONFIGURATION_DIRECTORY": str(file.parent), "HPSEARCH_WORKER_PROGRAMS__GRACE": "5"})
        wait_for(lambda: [one["name"] for one in cluster.get("/api/v1/workers")["workers"]] == ["configured"], "the worker", worker.said)
        tree = harness.experiment(self.ledger_path, ONE)
        tree["entrypoint"] = ["sh", "-c", f"env > {self.folder}/seen; exec " + " ".join(tree["entrypoint"])]
        experiment = cluster.submit(tree)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        seen = (self.folder / "seen").read_text()
        self.assertNotIn("CONFIGURATION_DIRECTORY", seen)
        self.assertNotIn("HPSEARCH_WORKER_PROGRAMS__GRACE", seen)
        file.write_text(file.read_text().replace("offer: 1", "offer: 2") + "log: {level: debug}\n")
        worker.popen.send_signal(signal.SIGHUP)
        self.wait_for_words(worker, 'the configuration was read again: log.level is "debug"',
                            "stay as they were until a restart: slots.offer")
        self.assertIsNone(worker.popen.poll())

    def test_private_daemons_and_workers_read_no_configuration(self):
        for program in ("hpsearchd", "hpsearch-worker"):
            self.write(f"etc/{program}.yaml", "nonsense: 1\n")
        done = subprocess.run([harness.BIN / "hpsearch", "run", self.write_experiment(harness.experiment(self.ledger_path, ONE)), "--slots", "1"],
                              env=harness.environment() | {"CONFIGURATION_DIRECTORY": str(self.folder / "etc"), "HPSEARCHD_LOG__LEVEL": "loud"},
                              cwd=self.folder, capture_output=True, text=True, timeout=harness.PATIENCE, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
