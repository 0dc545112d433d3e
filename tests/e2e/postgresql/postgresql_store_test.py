"""The store of a daemon in PostgreSQL: searches move there and back, outlive the database's absence, and one daemon has it."""

import shutil
import signal
import unittest

import harness
import postgresql_server


@unittest.skipIf(postgresql_server.missing(), postgresql_server.missing())
class PostgresqlStore(harness.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = postgresql_server.Server()
        cls.addClassCleanup(cls.server.remove)

    def test_a_search_moves_into_a_database_while_its_trainings_run(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.start_worker(2)
        experiment = cluster.submit(harness.experiment(self.ledger_path, {"name": "random", "max_trials": 4, "max_length": 40},
                                                       fake={"STEP_SECONDS": 0.2}, max_restarts=0))
        harness.wait_for(lambda: len({line["trial"] for line in self.ledger.of("step")}) == 2, "two trainings to run")
        in_use = self.run_cli("store", "copy", "--from", cluster.state, "--to", "postgresql:///nowhere", expect=4)
        self.assertIn("stop it first", in_use.stderr)
        cluster.daemon.end()

        store = self.server.new_store()
        copied = self.run_cli("store", "copy", "--from", cluster.state, "--to", store)
        self.assertIn(f"copy {store}: ", copied.stdout)
        self.assertIn("events, checked", copied.stdout)
        cluster.start_daemon("--store", store)
        cluster.wait_until_up()
        trained = len(self.ledger.of("step"))
        harness.wait_for(lambda: len(self.ledger.of("step")) > trained, "the trainings to go on")

        # A killed daemon of the same directory needn't wait.
        cluster.kill_daemon()
        cluster.start_daemon("--store", store)
        cluster.wait_until_up()

        # While the database is away, trainings go on.
        self.server.stop()
        try:
            harness.wait_for(lambda: (cluster.try_call("GET", "/healthz") or {}).get("storage") == "away",
                             "the daemon to miss its database")
            trained = len(self.ledger.of("step"))
            harness.wait_for(lambda: len(self.ledger.of("step")) > trained, "the trainings to go on")
        finally:
            self.server.start()
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        self.judge(cluster, experiment, 2)

        # Tools read the database while the daemon has it; a backup is the same as of any daemon.
        self.assertIn("sound", self.run_cli("store", "verify", store).stdout)
        self.run_cli("store", "backup", cluster.state, "--to", self.folder / "backup", "--without-keys")
        self.assertIn("sound", self.run_cli("store", "verify", self.folder / "backup").stdout)
        used = self.run_cli("store", "copy", "--from", store, "--to", self.folder / "x", expect=4)
        self.assertIn("is in use by hpsearchd on ", used.stderr)

        # And back.
        cluster.daemon.end()
        self.run_cli("store", "copy", "--from", cluster.state, "--to", self.folder / "back")
        self.assertIn("sound", self.run_cli("store", "verify", self.folder / "back").stdout)
        cluster.state = self.folder / "back"
        cluster.start_daemon()
        cluster.wait_until_up()
        self.assertEqual([one["state"] for one in cluster.experiments()], ["COMPLETED"])

    def test_a_daemon_whose_store_was_taken_ends(self):
        store = self.server.new_store()
        first = harness.Cluster(self)
        first.start_daemon("--store", store)
        first.wait_until_up()
        second = harness.Cluster(self)
        second.state = self.folder / "second"
        second.start_daemon("--store", store)
        self.assertEqual(second.daemon.popen.wait(harness.PATIENCE), 4, second.daemon.said())
        self.assertIn("is in use by hpsearchd on ", second.daemon.said())

        second.start_daemon("--store", store, "--take-over")
        second.wait_until_up()
        self.assertEqual(first.daemon.popen.wait(harness.PATIENCE), 4, first.daemon.said())
        self.assertIn(f"process {second.daemon.popen.pid}) has taken over the store {store}", first.daemon.said())
        self.assertEqual(second.get("/api/v1/status")["daemon_epoch"], 2)

        # The directory remembers where its store is, and gets no other one.
        second.daemon.end()
        second.start_daemon()
        self.assertEqual(second.daemon.popen.wait(harness.PATIENCE), 4, second.daemon.said())
        self.assertIn("give it as --store", second.daemon.said())
        self.assertFalse((second.state / "events.db").exists())

    def test_a_standby_takes_over_from_a_killed_daemon_and_trainings_go_on(self):
        store = self.server.new_store()
        options = ["--store", store, "--take-over-after", "10"]
        cluster = harness.Cluster(self)
        cluster.start_daemon(*options)
        cluster.wait_until_up()
        cluster.start_worker(2)
        experiment = cluster.submit(harness.experiment(self.ledger_path, {"name": "random", "max_trials": 2, "max_length": 60},
                                                       fake={"STEP_SECONDS": 0.2}, max_restarts=0))
        harness.wait_for(lambda: len({line["trial"] for line in self.ledger.of("step")}) == 2, "two trainings to run")
        # The files of the state directory that a standby needs. Its address is that of the first daemon, as behind a name that moves.
        second = self.folder / "second"
        second.mkdir(mode=0o700)
        shutil.copy(cluster.state / "secrets.key", second)
        killed = cluster.daemon
        cluster.state = second
        cluster.start_daemon(*options, "--standby")
        harness.wait_for(lambda: "this daemon takes it over 10 seconds after" in cluster.daemon.said(), "the standby to wait")
        self.assertIsNone(killed.popen.poll(), killed.said())
        killed.end(signal.SIGKILL)
        cluster.wait_until_up()
        self.assertEqual(cluster.get("/api/v1/status")["daemon_epoch"], 2)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        self.judge(cluster, experiment, 2)

    def test_a_directory_of_another_store_is_refused(self):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        cluster.daemon.end()
        store = self.server.new_store()
        cluster.start_daemon("--store", store)
        self.assertEqual(cluster.daemon.popen.wait(harness.PATIENCE), 4, cluster.daemon.said())
        self.assertIn(f"hpsearch store copy --from {cluster.state} --to {store}", cluster.daemon.said())
        # The refused start leaves a store without events, into which the copy goes.
        self.run_cli("store", "copy", "--from", cluster.state, "--to", store)
        cluster.start_daemon("--store", store)
        cluster.wait_until_up()


class Passwords(harness.Case):
    def test_a_password_in_the_address_is_refused_and_not_shown(self):
        for store in ("postgresql://me:hunter2@db/hpsearch", "postgresql://db/hpsearch?password=hunter2"):
            cluster = harness.Cluster(self)
            cluster.start_daemon("--store", store)
            self.assertEqual(cluster.daemon.popen.wait(harness.PATIENCE), 2)
            self.assertIn("~/.pgpass", cluster.daemon.said())
            self.assertNotIn("hunter2", cluster.daemon.said())
            done = self.run_cli("store", "verify", store, expect=2)
            self.assertIn("~/.pgpass", done.stderr)
            self.assertNotIn("hunter2", done.stderr)


if __name__ == "__main__":
    unittest.main()
