"""Backups in a real S3 server, carried by rclone: whole ones count, old ones are removed, a restart knows the newest one, and
one command restores it where nothing else is left."""

import json
import os
import shutil
import signal
import sys
import unittest
import unittest.mock

import harness
import s3_server

KEYS = {"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "a-secret-that-no-log-has",
        "RCLONE_RETRIES": "1", "RCLONE_LOW_LEVEL_RETRIES": "1"}  # Else it tries for minutes.
SERVER = s3_server.command()


class StoredBackups(harness.Case):
    def setUp(self):
        super().setUp()
        self.server, self.address = s3_server.start(self, SERVER, "backups")
        patched = unittest.mock.patch.dict(os.environ, KEYS)
        patched.start()
        self.addCleanup(patched.stop)

    def start_with_backups(self, every="1", keep="2", key=None):
        cluster = harness.Cluster(self)
        sealing = ("--backup-key-file", key) if key else ("--backup-no-secrets",)
        self.options = ("--backup-to", "s3://backups/daily", "--backup-endpoint-url", self.address, "--backup-every", every,
                        "--backup-keep", keep, *sealing)
        cluster.start_daemon(*self.options)
        cluster.wait_until_up()
        return cluster

    def whole(self):
        """Names of whole backups, oldest first."""
        names = s3_server.names_in(self.address, "backups")
        return [name.split("/")[1] for name in names if name.startswith("daily/hpsearch-") and name.endswith("/backup.json")]

    def test_only_the_newest_stay_and_nothing_stays_on_this_machine(self):
        cluster = self.start_with_backups()
        harness.wait_for(lambda: len(self.whole()) == 2, "two backups", lambda: cluster.daemon.said())
        first = self.whole()
        harness.wait_for(lambda: not set(first) & set(self.whole()), "both to be replaced by newer ones", lambda: str(self.whole()))
        self.assertLess(cluster.gauge("backup_age_seconds"), 3600)
        self.assertEqual(cluster.gauge("backup_failures_total"), 0)
        cluster.daemon.end(signal.SIGTERM)
        self.assertEqual([path.name for path in (cluster.state / "backups").iterdir() if path.name == "upload"], [])
        self.assertNotIn(KEYS["AWS_SECRET_ACCESS_KEY"], cluster.daemon.said())

    def test_a_store_that_is_away_is_a_failure_that_is_tried_again(self):
        cluster = self.start_with_backups()
        harness.wait_for(self.whole, "a backup")
        self.server.kill()
        self.server.wait()
        failed = cluster.gauge("backup_failures_total")
        harness.wait_for(lambda: cluster.gauge("backup_failures_total") >= failed + 2, "two failures")
        self.assertIn("no backup was made: cannot", cluster.daemon.said())
        s3_server.start(self, SERVER, "backups", int(self.address.rsplit(":", 1)[1]))
        harness.wait_for(self.whole, "a backup in the store that is back", lambda: cluster.daemon.said())

    def test_a_restart_reads_the_age_of_the_newest_one(self):
        cluster = self.start_with_backups(every="1h")
        harness.wait_for(self.whole, "the first backup")
        harness.wait_for(lambda: cluster.gauge("backup_age_seconds") is not None, "its age")
        cluster.daemon.end(signal.SIGTERM)
        (cluster.state / "backups" / "last-good").unlink()
        cluster.start_daemon(*self.options)
        cluster.wait_until_up()
        harness.wait_for(lambda: cluster.gauge("backup_age_seconds") is not None, "the age from the store")
        harness.wait_for(lambda: cluster.gauge("event_loop_lag_seconds_count") >= 40, "the daemon to look several times")
        self.assertEqual(len(self.whole()), 1)

    def test_one_command_restores_it_on_another_machine(self):
        key = self.folder / "backup.key"
        key.write_text("a key file of some length\n")
        cluster = self.start_with_backups(key=key)
        cluster.start_worker(2)
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 3, "max_trials": 4})
        self.assertEqual(cluster.wait_until_over(cluster.submit(tree)), "COMPLETED")
        self.run_cli("token", "create", "--name", "ci", "--role", "viewer", "--server", cluster.server)
        tokens = (cluster.state / "tokens.json").read_bytes()
        lsn = cluster.get("/api/v1/status")["durable_lsn"]

        def last_lsn():
            names = self.whole()
            # Nothing, if it was removed between the two calls.
            record = names and s3_server.rclone(self.address, "cat", f"t:backups/daily/{names[-1]}/backup.json")
            return json.loads(record)["last_lsn"] if record else 0

        harness.wait_for(lambda: last_lsn() >= lsn, "a backup with all of it")
        for process in reversed(self.processes):
            process.end()
        shutil.rmtree(cluster.state)
        place = f"s3://backups/daily/{self.whole()[-1]}"
        new = self.folder / "new"
        endpoint = ("--endpoint-url", self.address)
        found = self.run_cli("store", "restore", "s3://backups/daily", "--to", new, *endpoint, "--key-file", key, expect=3)
        self.assertIn(f"the newest one below it is {place}", found.stderr)
        refused = self.run_cli("store", "restore", place, "--to", new, *endpoint, expect=2)
        self.assertIn(f"the keys in {place} are sealed", refused.stderr)
        self.assertIn("only hpsearch store restore reads", self.run_cli("store", "verify", place, expect=2).stderr)
        self.assertFalse(new.exists())
        self.run_cli("store", "restore", place, "--to", new, *endpoint, "--key-file", key)
        self.assertEqual((new / "tokens.json").read_bytes(), tokens)
        self.assertFalse((self.folder / "new.fetched").exists())
        cluster.state = new
        cluster.start_daemon()
        cluster.wait_until_up()
        self.assertEqual([one["state"] for one in cluster.experiments()], ["COMPLETED"])


if __name__ == "__main__":
    if shutil.which("rclone") is None:
        sys.exit(harness.skipped("backups in S3 were not tested: rclone is not installed (Debian: rclone)"))
    if SERVER is None:
        sys.exit(harness.skipped("backups in S3 were not tested: there is no S3 server (pip install 'moto[server]')"))
    unittest.main()
