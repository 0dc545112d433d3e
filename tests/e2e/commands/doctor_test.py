"""hpsearch doctor on a real daemon and a real worker, and a bundle for a bug report that holds no secret."""

import json
import os
import subprocess
import tarfile
import unittest

import harness

STATUS = {"ok": 0, "skipped": 0, "warning": 1, "error": 2}


class DoctorTest(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon("--http", "127.0.0.1:0")
        self.cluster.wait_until_up()
        self.cluster.start_worker(2)
        harness.wait_for(lambda: [one for one in self.cluster.get("/api/v1/workers")["workers"] if one["connected"]], "a worker")

    def doctor(self, *arguments, environment=None):
        """The result of each check."""
        done = subprocess.run([harness.BIN / "hpsearch", "doctor", *map(str, arguments), "--output", "json"], capture_output=True,
                              text=True, timeout=harness.PATIENCE, cwd=self.folder, check=False,
                              env=harness.environment() | (environment or {}))
        self.said = done.stdout + done.stderr
        answer = json.loads(done.stdout)
        self.assertEqual(done.returncode, STATUS[answer["worst"]], self.said)
        for one in answer["checks"]:
            self.assertEqual(bool(one["remedy"]), one["result"] in ("warning", "error"), one)
        return {one["check"]: one["result"] for one in answer["checks"]}

    def find(self, *arguments, **expected):
        """The result of each check once those named, with _ for -, are as expected: a busy daemon may answer too late."""
        names = {name.replace("_", "-"): result for name, result in expected.items()}
        def holds():
            self.found = self.doctor(*arguments)
            return {name: self.found.get(name) for name in names} == names
        harness.wait_for(holds, f"doctor to find {names}", lambda: self.said)
        return self.found

    def test_looks_at_a_daemon_its_directory_and_a_worker_and_changes_nothing(self):
        before = set(os.listdir(self.cluster.state))
        found = self.find("--state-dir", self.cluster.state, "--worker", daemon_answers="ok", daemon_ready="ok", daemon_version="ok",
                          workers_open="warning", http_open="ok", workers_lost="ok", worker_versions="ok", checkpoint_place="ok",
                          backup_age="warning", queues="ok", state_permissions="ok", state_owner="ok", secret_files="ok", state_lock="ok",
                          store_format="ok", store_growth="skipped", worker_programs="ok", devices="ok")
        self.assertNotEqual(found["sync-time"], "skipped")
        self.assertEqual(set(os.listdir(self.cluster.state)) - before, set(), "it left files")
        of_server = self.find("--server", self.cluster.server, daemon_answers="ok", state_permissions="ok")  # Its directory is here.
        self.assertNotIn("worker-programs", of_server)
        self.assertIn("daemon-answers", self.run_cli("doctor", "--list").stdout)

    def test_finds_problems(self):
        self.run_cli("token", "create", "--name", "ci", "--role", "viewer", "--server", self.cluster.server)
        self.cluster.state.chmod(0o755)
        (self.cluster.state / "tokens.json").chmod(0o644)
        self.find("--state-dir", self.cluster.state, state_permissions="error", secret_files="error")
        text = self.run_cli("doctor", "--state-dir", self.cluster.state, expect=2).stdout
        self.assertIn("error  secret-files: ", text)
        self.assertIn("chmod 600", text)
        self.cluster.kill_daemon()
        self.find("--server", self.cluster.server, daemon_answers="error", daemon_ready="skipped")
        alone = self.find("--state-dir", self.cluster.state, state_lock="ok", store_format="ok")
        self.assertNotIn("daemon-answers", alone)
        self.run_cli("doctor", "--state-dir", self.folder / "absent", expect=3)

    def unpacked(self, bundle):
        tar = self.folder / "bundle.tar"
        tar.write_bytes(subprocess.run(["zstd", "-dc", bundle], check=True, capture_output=True).stdout)
        with tarfile.open(tar) as archive:
            return {one.name: archive.extractfile(one).read().decode(errors="replace") for one in archive.getmembers()}

    def test_a_bundle_has_what_a_report_needs_and_no_secret(self):
        token = self.run_cli("token", "create", "--name", "ci", "--role", "admin", "--server", self.cluster.server).stdout.strip()
        token_file = self.folder / "token"
        token_file.touch(0o600)
        token_file.write_text(token)
        secrets = {token.split("_", 2)[2], "canary-1", "canary-2", "canary-3", "canary-4", "canary-5"}
        for name in ("curve.key", "secrets.key", "tls.key"):
            if (self.cluster.state / name).exists():
                secrets.add((self.cluster.state / name).read_bytes().decode(errors="replace").strip())
        log = self.folder / "daemon.txt"
        log.write_text("".join(f"line {number}\n" for number in range(2500)) + f"the token {token} came\n" +
                       "connects to https://ann:canary-1@example.org/\npassword=canary-2\nAuthorization: Bearer canary-3\njoins with hpi_canary-5\n")
        bundle = self.folder / "report.tar.zst"
        expected = {"findings.json", "versions.txt", "mounts.txt", "configuration.json", "status.json", "metrics.txt", "store.txt",
                    "logs/1-daemon.txt"}
        def is_whole():
            bundle.unlink(missing_ok=True)
            self.doctor("--state-dir", self.cluster.state, "--worker", "--bundle", bundle, "--log", log,
                        environment={"AWS_SECRET_ACCESS_KEY": "canary-4", "HPSEARCH_TOKEN_FILE": str(token_file)})
            return expected <= set(self.unpacked(bundle))
        harness.wait_for(is_whole, f"a bundle with {expected}", lambda: self.said)
        self.assertEqual(bundle.stat().st_mode & 0o777, 0o600)
        files = self.unpacked(bundle)
        for name, text in [*files.items(), ("its output", self.said)]:
            for secret in secrets:
                self.assertNotIn(secret, text, name)
        lines = files["logs/1-daemon.txt"].splitlines()
        self.assertEqual((len(lines), lines[0], lines[1994]), (2000, "line 505", "line 2499"))
        self.assertIn("<masked>", files["logs/1-daemon.txt"])
        self.assertIn("glibc", files["versions.txt"])
        self.assertIn({"key": "workers.open", "values": ["true"], "from": "--workers-open"}, json.loads(files["configuration.json"])["options"])
        self.assertIn("hpsearch_build_info", files["metrics.txt"])
        self.run_cli("doctor", "--state-dir", self.cluster.state, "--bundle", bundle, expect=4)

        self.cluster.kill_daemon()
        second = self.folder / "second.tar.zst"
        self.doctor("--state-dir", self.cluster.state, "--bundle", second)
        self.assertIn("sound", self.unpacked(second)["store.txt"])


if __name__ == "__main__":
    unittest.main()
