"""The daemon's files are removed, renamed, replaced and hidden, while it runs and after it was killed; locks are removed and
second daemons are started by every way into the directory. Nothing that was acknowledged is lost, and nobody goes on as if
nothing had happened: a daemon whose files are gone ends and says so, and the next start is refused with what to do, which
the test then does.

E2E_STORE_STARTS starts of daemons under random disturbances (12; `scripts/soak` 1,000).
"""

import hashlib
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import unittest

import harness

STARTS = int(os.environ.get("E2E_STORE_STARTS", "12"))
# Nobody offers such slots: it is stored, and waits.
TINY = {"entrypoint": "true", "hyperparameters": {"x": 1}, "resources": {"labels": {"nobody": "has it"}},
        "searcher": {"name": "single", "metric": "loss", "max_length": {"batches": 10}}}


class StoreFiles(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.state = self.cluster.state
        self.acknowledged = []
        self.tried = 0
        self.numbers = itertools.count(1)
        self.older = self.folder / "older"

    def begin(self):
        """A daemon that has acknowledged something, an older copy of its files, and more that it has acknowledged."""
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.submit(3)
        self.copy_files()
        self.submit(5)

    def copy_files(self):
        """As they are, the lock of the daemon notwithstanding."""
        shutil.rmtree(self.older, ignore_errors=True)
        self.older.mkdir()
        for name in ("events.db", "events.db-wal"):
            shutil.copyfile(self.state / name, self.older / name)

    def submit(self, times):
        for _ in range(times):
            self.submit_one()

    def submit_one(self):
        """Whether it was acknowledged."""
        self.tried += 1
        try:
            status, answer = self.cluster.call("POST", "/api/v1/experiments", {"config": TINY, "name": f"n{self.tried}"})
        except (OSError, harness.http.client.HTTPException, ValueError):
            return False
        if status == 201:
            self.acknowledged.append((answer["experiment"], f"n{self.tried}"))
        return status == 201

    def judge_stored(self):
        """Everything that was acknowledged is there, once. What was not acknowledged may be there."""
        experiments = self.cluster.experiments()
        stored = {experiment["id"]: experiment["name"] for experiment in experiments}
        lost = [(number, name) for number, name in self.acknowledged if stored.get(number) != name]
        self.assertEqual(lost, [], f"{len(lost)} of {len(self.acknowledged)} acknowledged experiments are lost")

    def files(self):
        """What lies in the directory of a store: which file each is, and a digest of its content."""
        return {str(path.relative_to(self.state)): (path.stat().st_ino, hashlib.sha256(path.read_bytes()).hexdigest())
                for path in self.state.rglob("*") if path.name.startswith("events.db") and path.is_file()}

    def start_again(self):
        """Starts a daemon; where it is refused, does what it says and starts another. What it said, if it was refused."""
        before = self.files()
        self.start_one()
        daemon = self.cluster.daemon.popen
        harness.wait_for(lambda: daemon.poll() is not None or self.cluster.try_call("GET", "/healthz") is not None,
                         "the daemon to serve or to be refused", self.cluster.daemon.said)
        if daemon.poll() is None:
            return None
        said = self.cluster.daemon.said()
        self.assertEqual(daemon.returncode, 74, said)
        self.assertEqual(self.files(), before, "a refused start changed files")
        told = re.search(r"with: (ln -f .*)$", said, re.MULTILINE)
        self.assertIsNotNone(told, said)
        subprocess.run(["/bin/sh", "-c", told[1]], check=True)
        self.start_one()
        self.cluster.wait_until_up()
        return said

    def start_one(self):
        self.cluster.daemon = self.start("hpsearchd", "--state-dir", self.state, "--workers",
                                         self.cluster.workers, "--workers-open", log=f"start-{next(self.numbers)}.log")

    # What is done to the files.

    def remove_log(self):
        (self.state / "events.db-wal").unlink(missing_ok=True)

    def remove_database(self):
        (self.state / "events.db").unlink(missing_ok=True)

    def remove_both(self):
        for path in self.state.glob("events.db*"):
            path.unlink()

    def rename_database(self):
        (self.state / "events.db").replace(self.state / "events.db.bak")

    def put_older_files(self):
        for name in ("events.db", "events.db-wal"):
            copy = self.state / f"{name}.copy"
            shutil.copyfile(self.older / name, copy)
            copy.replace(self.state / name)

    def put_older_database(self):
        copy = self.state / "copy"
        shutil.copyfile(self.older / "events.db", copy)
        copy.replace(self.state / "events.db")
        self.remove_log()

    def put_older_log(self):
        copy = self.state / "copy"
        shutil.copyfile(self.older / "events.db-wal", copy)
        copy.replace(self.state / "events.db-wal")

    def ways(self):
        return [self.remove_log, self.remove_database, self.remove_both, self.rename_database, self.put_older_files,
                self.put_older_database, self.put_older_log]

    def test_a_killed_daemons_store_that_misses_something_is_refused_with_what_to_do(self):
        self.begin()
        for way in self.ways():
            with self.subTest(way.__name__):
                self.submit(2)
                self.cluster.kill_daemon()
                way()
                said = self.start_again()
                self.assertIsNotNone(said, "started as if nothing had happened")
                self.assertIn(str(self.state / "events.db"), said)
                self.judge_stored()
                self.copy_files()
                self.submit(2)

    def test_a_daemon_whose_files_are_taken_away_acknowledges_nothing_more_and_ends(self):
        self.begin()
        for number, way in enumerate(self.ways()):
            with self.subTest(way.__name__):
                self.submit(2)
                way()
                if number % 2 == 0:  # Otherwise nobody asks it anything.
                    self.assertFalse(self.submit_one(), "acknowledged what no start will find")
                harness.wait_for(lambda: self.cluster.daemon.popen.poll() is not None, "the daemon to end",
                                 self.cluster.daemon.said)
                self.assertEqual(self.cluster.daemon.popen.returncode, 74, self.cluster.daemon.said())
                self.assertRegex(self.cluster.daemon.said(), r"events\.db(-wal)? was (removed or renamed|replaced)")
                self.assertIsNotNone(self.start_again(), "started as if nothing had happened")
                self.judge_stored()
                self.copy_files()
                self.submit(2)

    def test_a_daemon_whose_directory_is_renamed_ends_and_goes_on_there(self):
        self.begin()
        moved = self.folder / "moved"
        self.state.rename(moved)
        self.assertFalse(self.submit_one())
        harness.wait_for(lambda: self.cluster.daemon.popen.poll() is not None, "the daemon to end", self.cluster.daemon.said)
        self.assertEqual(self.cluster.daemon.popen.returncode, 74, self.cluster.daemon.said())
        self.state = self.cluster.state = moved
        self.assertIsNone(self.start_again())
        self.judge_stored()

    def test_a_store_without_its_seal_is_refused_and_restored(self):
        self.begin()
        self.cluster.kill_daemon()
        partial = self.folder / "partial"
        partial.mkdir()
        shutil.copyfile(self.state / "events.db", partial / "events.db")  # And not its log.
        daemon = self.start("hpsearchd", "--state-dir", partial, "--workers", "tcp://127.0.0.1:0",
                            log="partial.log")
        harness.wait_for(lambda: daemon.popen.poll() is not None, "the daemon to be refused", daemon.said)
        self.assertEqual(daemon.popen.returncode, 74, daemon.said())
        self.assertIn(f"hpsearch store restore {partial / 'events.db'} --to", daemon.said())
        self.run_cli("store", "restore", partial / "events.db", "--to", self.folder / "new")
        self.cluster.state = self.state = self.folder / "new"
        self.assertIsNone(self.start_again())

    # Second daemons, by every way into the directory.

    def second_daemons(self):
        """Ways to name the directory."""
        link = self.folder / "link"
        if not link.exists():
            link.symlink_to(self.state, target_is_directory=True)
        beside = self.folder / "beside"  # Another directory, whose database is this one's.
        if not beside.exists():
            beside.mkdir()
            (beside / "events.db").symlink_to(self.state / "events.db")
        return [self.state, link, beside]

    def refuse_second(self, directory):
        second = self.start("hpsearchd", "--state-dir", directory, "--workers", "tcp://127.0.0.1:0",
                            log=f"second-{next(self.numbers)}.log")
        harness.wait_for(lambda: second.popen.poll() is not None, "the second daemon to be refused", second.said)
        return second

    def test_a_second_daemon_is_refused_by_every_way_into_the_directory(self):
        self.begin()
        (self.state / "lock").unlink()
        (self.state / "owner.json").unlink(missing_ok=True)
        for directory in self.second_daemons():
            second = self.refuse_second(directory)
            self.assertEqual(second.popen.returncode, 4, second.said())
            self.assertIn("in use", second.said())
        # Also where nothing is left that could be locked.
        self.cluster.daemon.popen.send_signal(signal.SIGSTOP)
        for path in [*self.state.iterdir()]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        second = self.refuse_second(self.state)
        self.assertEqual(second.popen.returncode, 4, second.said())
        self.assertEqual([*self.state.iterdir()], [])
        self.cluster.daemon.popen.send_signal(signal.SIGCONT)
        harness.wait_for(lambda: self.cluster.daemon.popen.poll() is not None, "the daemon to end", self.cluster.daemon.said)

    def test_nothing_acknowledged_is_lost_under_random_disturbances(self):
        rng = harness.seeded()
        self.begin()
        starts = refused = ended = before = 0
        while starts < STARTS:
            stop = threading.Event()

            def keep_asking():
                while not stop.is_set() and self.cluster.daemon.popen.poll() is None:
                    self.submit_one()

            asking = threading.Thread(target=keep_asking)
            asking.start()
            try:
                for _ in range(rng.randrange(3)):
                    if rng.random() < 0.5:
                        (self.state / rng.choice(["lock", "owner.json", "daemon.json"])).unlink(missing_ok=True)
                    second = self.refuse_second(rng.choice(self.second_daemons()))
                    starts += 1
                    # With the first one's files in their place it is refused as the second one.
                    self.assertIn(second.popen.returncode, (4, 74), second.said())
                stop.wait(rng.choice([0, 0.01, 0.05, 0.2]))
                disturbance = rng.choice([None, None, *self.ways()])
                if disturbance is not None:
                    disturbance()
                    stop.wait(rng.choice([0, 0, 0.01, 0.1, 1.5]))
                ended += self.cluster.daemon.popen.poll() is not None
                self.cluster.kill_daemon()
            finally:
                stop.set()
                asking.join()
            refused += self.start_again() is not None
            starts += 1
            self.judge_stored()
            if rng.random() < 0.5:
                self.copy_files()
            for process in [*self.processes]:
                if process.popen.poll() is not None:
                    self.processes.remove(process)
            if len(self.acknowledged) > 2000:  # Judging a longer log takes longer.
                before += len(self.acknowledged)
                self.cluster.daemon.end()
                shutil.rmtree(self.state)
                self.acknowledged.clear()
                self.begin()
        print(f"{starts} starts, {refused} refused with what to do, {ended} daemons ended by themselves; "
              f"{before + len(self.acknowledged)} acknowledged experiments, 0 lost", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
