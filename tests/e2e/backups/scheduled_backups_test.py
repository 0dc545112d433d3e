"""A daemon makes backups by itself: old ones go after a new one was checked, failures are counted and tried again, and what a
restore makes of one is a daemon with the same searches."""

import json
import signal
import unittest

import harness


class ScheduledBackups(harness.Case):
    def setUp(self):
        super().setUp()
        self.backups = self.folder / "backups"

    def start_with_backups(self, *more, every="1", keep="2", key=None):
        cluster = harness.Cluster(self)
        sealing = ("--backup-key-file", key) if key else ("--backup-no-secrets",)
        self.options = ("--backup-to", self.backups, "--backup-every", every, "--backup-keep", keep, *sealing, *more)
        cluster.start_daemon(*self.options)
        cluster.wait_until_up()
        return cluster

    def whole(self):
        """Names of whole backups, oldest first."""
        return sorted(path.parent.name for path in self.backups.glob("hpsearch-*Z/backup.json"))

    def test_only_the_newest_stay_and_files_of_others_are_left_alone(self):
        self.backups.mkdir()
        foreign = [self.backups / "hpsearch-0123456789abcdef-20200101T000000Z", self.backups / "notes"]
        for path in foreign:
            path.mkdir()
            (path / "backup.json").write_text("{}")
        cluster = self.start_with_backups()
        harness.wait_for(lambda: len(set(self.whole()) - {path.name for path in foreign}) == 2, "two backups")
        first = [name for name in self.whole() if name != foreign[0].name]
        harness.wait_for(lambda: not set(first) & set(self.whole()), "both to be replaced by newer ones", lambda: str(self.whole()))
        self.assertTrue(all((path / "backup.json").exists() for path in foreign))
        self.assertLess(cluster.gauge("backup_age_seconds"), 3600)
        self.assertEqual(cluster.gauge("backup_failures_total"), 0)
        self.assertEqual([path.name for path in (cluster.state / "backups").glob("*") if path.name == "last-good"], ["last-good"])

    def test_a_failure_is_counted_and_tried_again_and_removes_nothing(self):
        cluster = self.start_with_backups(every="1")
        harness.wait_for(lambda: cluster.gauge("backup_failures_total") >= 2, "two failures without the directory")
        self.assertIn(f"{self.backups} is not a directory", cluster.daemon.said())
        self.assertFalse(self.backups.exists())
        self.backups.mkdir()
        harness.wait_for(lambda: len(self.whole()) == 2, "two backups after the directory is there")
        damaged = cluster.state / "contexts" / f"{'0' * 64}.tar"
        damaged.write_bytes(b"damaged")
        failed = cluster.gauge("backup_failures_total")
        harness.wait_for(lambda: cluster.gauge("backup_failures_total") >= failed + 3, "failures with a damaged context")
        self.assertEqual(len(self.whole()), 2)
        self.assertIn("is damaged", cluster.daemon.said())

    def test_a_killed_backup_leaves_nothing_after_the_next_one(self):
        self.backups.mkdir()
        cluster = self.start_with_backups(every="1")
        harness.wait_for(self.whole, "a backup")
        store = self.whole()[0].rsplit("-", 1)[0]
        cluster.kill_daemon()
        for ending in ("unfinished", "removed"):
            (self.backups / f"{store}-20200101T000000Z.{ending}").mkdir()
            (self.backups / f"{store}-20200101T000000Z.{ending}" / "events.db").write_bytes(b"half")
        cluster.start_daemon(*self.options)
        cluster.wait_until_up()
        harness.wait_for(lambda: not list(self.backups.glob("*20200101*")), "the remains to be removed")

    def test_a_restart_does_not_make_the_next_one_due(self):
        self.backups.mkdir()
        cluster = self.start_with_backups(every="1h")
        harness.wait_for(self.whole, "the first backup")
        cluster.daemon.end(signal.SIGTERM)
        cluster.start_daemon(*self.options)
        cluster.wait_until_up()
        # The daemon looks each second whether one is due; this is counted ten times a second.
        harness.wait_for(lambda: cluster.gauge("event_loop_lag_seconds_count") >= 40, "the daemon to look several times")
        self.assertEqual(len(self.whole()), 1)

    def test_a_restored_one_has_the_searches_and_lets_clients_in(self):
        self.backups.mkdir()
        key = self.folder / "backup.key"
        key.write_text("a key file of some length\n")
        cluster = self.start_with_backups(key=key)
        cluster.start_worker(2)
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 3, "max_trials": 4})
        self.assertEqual(cluster.wait_until_over(cluster.submit(tree)), "COMPLETED")
        self.run_cli("token", "create", "--name", "ci", "--role", "viewer", "--server", cluster.server)
        lsn = cluster.get("/api/v1/status")["durable_lsn"]

        def last_lsn():
            names = self.whole()
            try:
                return json.loads((self.backups / names[-1] / "backup.json").read_text())["last_lsn"] if names else 0
            except FileNotFoundError:  # It was removed between the two calls.
                return 0

        harness.wait_for(lambda: last_lsn() >= lsn, "a backup with all of it")
        for process in reversed(self.processes):
            process.end()
        newest = self.backups / self.whole()[-1]
        self.assertIn("sound", self.run_cli("store", "verify", newest).stdout)
        for name in ("one", "two"):  # The same backup twice.
            self.run_cli("store", "restore", newest, "--to", self.folder / name, "--key-file", key)
            self.assertEqual((self.folder / name / "tokens.json").read_bytes(), (cluster.state / "tokens.json").read_bytes())
        cluster.state = self.folder / "two"
        cluster.start_daemon()
        cluster.wait_until_up()
        self.assertEqual([one["state"] for one in cluster.experiments()], ["COMPLETED"])


if __name__ == "__main__":
    unittest.main()
