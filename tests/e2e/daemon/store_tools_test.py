"""hpsearch store: what is sound is said to be, what is damaged is named, and nothing of it is touched."""

import contextlib
import hashlib
import json
import random
import shutil
import signal
import sqlite3
import unittest

import harness


def digests(folder):
    """Every file in there, to the byte."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in folder.iterdir() if path.name.startswith("events.db")}


def keys_of(arguments):
    return ["--without-keys"] if arguments[0] in ("backup", "restore") and "--key-file" not in arguments else []


class StoreTools(harness.Case):
    def live_a_little(self, experiments=12):
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 3, "max_trials": 4})
        cluster.start_worker(2)
        cluster.wait_until_over(cluster.submit(tree))
        for _ in range(experiments):
            cluster.submit(tree)
        cluster.call("POST", "/api/v1/experiments/2/kill")
        return cluster

    def end_all(self, cluster, how=signal.SIGTERM):
        for process in self.processes[1:]:
            process.end()
        cluster.daemon.end(how)

    def run_store(self, *arguments, expect=0):
        return self.run_cli("store", *arguments, *keys_of(arguments), expect=expect)

    def test_a_sound_store_is_called_sound_and_left_as_it_is(self):
        cluster = self.live_a_little()
        self.end_all(cluster)
        before = digests(cluster.state)
        said = self.run_store("verify", cluster.state).stdout
        self.assertIn("sound", said)
        self.assertEqual(digests(cluster.state), before)

    def test_a_killed_daemons_store_is_read_without_moving_its_write_ahead_log(self):
        cluster = self.live_a_little()
        self.end_all(cluster, signal.SIGKILL)
        before = digests(cluster.state)
        self.assertIn("events.db-wal", before)
        self.assertTrue(self.run_cli("store", "verify", cluster.state, "--output", "json")["sound"])
        self.assertEqual(digests(cluster.state), before)

    def test_a_store_in_use_is_left_to_its_daemon(self):
        cluster = self.live_a_little(1)
        for verb in (["verify"], ["export"], ["salvage", "--to", self.folder / "x"], ["restore", "--to", self.folder / "x"]):
            done = self.run_store(verb[0], cluster.state, *verb[1:], expect=4)
            self.assertIn(f"process {cluster.daemon.popen.pid}", done.stderr)

    def test_a_backup_of_a_living_daemon_is_whole_and_can_be_restored(self):
        cluster = self.live_a_little()
        backup = self.folder / "backup.db"
        told = self.run_cli("store", "backup", cluster.state, "--to", backup, "--without-keys", "--output", "json")
        status = cluster.get("/api/v1/status")
        self.assertLessEqual(told["last_lsn"], status["durable_lsn"])
        self.assertGreater(told["last_lsn"], 20)
        self.assertEqual([path.name for path in (cluster.state / "backups").iterdir()], ["last-good"])
        self.run_store("backup", cluster.state, "--to", backup, expect=4)  # Never over something.
        self.assertIn("sound", self.run_store("verify", backup).stdout)
        events = [json.loads(line) for line in self.run_store("export", backup).stdout.splitlines()]
        self.assertEqual([event["lsn"] for event in events], list(range(1, told["last_lsn"] + 1)))
        shown = cluster.get("/api/v1/experiments")
        self.end_all(cluster)

        self.run_store("restore", backup, "--to", self.folder / "restored")
        self.run_store("restore", backup, "--to", self.folder / "restored", expect=4)
        former, cluster.state = cluster.state, self.folder / "restored"
        # Trials that wait have sealed secrets, which a backup without keys does not open.
        cluster.start_daemon()
        self.assertEqual(cluster.daemon.popen.wait(harness.PATIENCE), 74, cluster.daemon.said())
        self.assertIn("Copy secrets.key from the state directory that the store comes from", cluster.daemon.said())
        self.assertFalse((cluster.state / "secrets.key").exists())
        shutil.copyfile(former / "secrets.key", cluster.state / "secrets.key")
        (cluster.state / "secrets.key").chmod(0o600)
        cluster.start_daemon()
        cluster.wait_until_up()
        self.assertEqual([experiment["id"] for experiment in cluster.experiments()],
                         [experiment["id"] for experiment in shown["experiments"]])
        self.assertGreater(cluster.get("/api/v1/status")["daemon_epoch"], 1_000_000)
        # The worker that knew the old daemon obeys the new one, and the searches go on.
        self.processes.append(cluster.start_worker(2))
        self.assertEqual(cluster.wait_until_over(3), "COMPLETED")

    def test_a_restore_can_end_at_an_event(self):
        cluster = self.live_a_little(2)
        backup = self.folder / "backup"
        self.run_store("backup", cluster.state, "--to", backup)
        self.end_all(cluster)
        events = [json.loads(line) for line in self.run_store("export", backup).stdout.splitlines()]
        upto = next(event["lsn"] for event in events if event["type"] == "trial_ended")
        done = self.run_store("restore", backup, "--to", self.folder / "late", "--upto", len(events) + 1, expect=2)
        self.assertIn(f"the last event of {backup}/events.db is {len(events)}", done.stderr)
        self.assertFalse((self.folder / "late").exists())
        self.run_store("restore", backup, "--to", self.folder / "past", "--upto", upto)
        self.assertIn("sound", self.run_store("verify", self.folder / "past").stdout)
        restored = [json.loads(line) for line in self.run_store("export", self.folder / "past").stdout.splitlines()]
        self.assertEqual(restored[-1]["type"], "store_restored")
        kept = len(restored) - 1
        self.assertEqual(restored[:-1], events[:kept])
        self.assertGreaterEqual(kept, upto)
        self.assertLess(kept, len(events))
        self.assertEqual({event["at"] for event in events[upto - 1 : kept]}, {events[upto - 1]["at"]})

    def test_a_backup_without_a_context_and_a_newer_store_in_the_way_are_named(self):
        cluster = self.live_a_little(1)
        content = b"a packed context"
        context = f"contexts/{hashlib.sha256(content).hexdigest()}.tar"
        (cluster.state / context).write_bytes(content)
        backup = self.folder / "backup"
        self.run_store("backup", cluster.state, "--to", backup)
        self.end_all(cluster)
        before = digests(cluster.state)
        done = self.run_store("restore", backup, "--to", cluster.state, expect=4)
        self.assertIn(str(cluster.state), done.stderr)
        self.assertEqual(digests(cluster.state), before)
        (backup / context).unlink()
        done = self.run_store("restore", backup, "--to", self.folder / "new", expect=74)
        self.assertIn(f"{backup}/{context} is missing or unreadable", done.stderr)
        self.assertFalse((self.folder / "new").exists())
        self.assertIn(f"{backup}/{context} is missing", self.run_store("verify", backup, expect=74).stdout)

    def test_a_failed_backup_leaves_nothing_and_does_not_count(self):
        cluster = self.live_a_little(1)
        for path in (cluster.state / "contexts").glob("*.tar"):
            path.write_bytes(b"damaged")
        (cluster.state / "contexts" / f"{'0' * 64}.tar").write_bytes(b"damaged")
        for _ in range(2):  # At the same event twice.
            done = self.run_store("backup", cluster.state, "--to", self.folder / "backup", expect=74)
            self.assertIn("is damaged", done.stderr)
            self.assertEqual(list((cluster.state / "backups").iterdir()), [])
            self.assertEqual(list(self.folder.glob("backup*")), [])
        self.assertIsNone(cluster.gauge("backup_age_seconds"))
        for path in (cluster.state / "contexts").glob("*.tar"):
            path.unlink()
        self.run_store("backup", cluster.state, "--to", self.folder / "backup")
        self.assertLess(cluster.gauge("backup_age_seconds"), 600)
        cluster.daemon.end(signal.SIGKILL)
        cluster.start_daemon()
        cluster.wait_until_up()
        self.assertLess(cluster.gauge("backup_age_seconds"), 600)

    def test_a_backup_of_a_stopped_daemons_store_counts(self):
        cluster = self.live_a_little(1)
        cluster.daemon.end(signal.SIGTERM)
        damaged = cluster.state / "contexts" / f"{'0' * 64}.tar"
        damaged.write_bytes(b"damaged")
        self.run_store("backup", cluster.state, "--to", self.folder / "backup", expect=74)
        self.assertFalse((cluster.state / "backups" / "last-good").exists())
        damaged.unlink()
        self.run_store("backup", cluster.state, "--to", self.folder / "backup")
        self.run_store("backup", self.folder / "backup", "--to", self.folder / "backup-of-it")
        self.assertFalse((self.folder / "backup" / "backups").exists())
        cluster.start_daemon()
        cluster.wait_until_up()
        self.assertLess(cluster.gauge("backup_age_seconds"), 600)

    def test_a_restored_backup_lets_workers_and_clients_in(self):
        cluster = harness.Cluster(self)
        cluster.workers = "tcp://127.0.0.1:0"
        cluster.start_daemon("--http", "127.0.0.1:0", "--tls-self-signed", workers_open=False)
        cluster.wait_until_up()
        self.run_cli("token", "create", "--name", "ci", "--role", "viewer", "--server", cluster.server)
        self.run_cli("keys", "allow", cluster.state, "node1", "ab" * 32)
        key = self.folder / "backup.key"
        key.write_text("a key file of some length\n")
        self.run_cli("store", "backup", cluster.state, "--to", self.folder / "backup", expect=2)
        self.run_store("backup", cluster.state, "--to", self.folder / "backup", "--key-file", key)
        for path in (self.folder / "backup").rglob("*"):
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)
        self.assertIn("sound", self.run_store("verify", self.folder / "backup").stdout)
        # A file of the state directory is in a backup, or it is known that it isn't.
        left_out = {"lock", "worker_keys.lock", "owner.json", "sealed", "reserve", "backups", "kept", "daemon.json", "http-port",
                    "api.sock", "workers.sock", "checkpoints", "network-filesystem", "events.db-wal", "events.db-shm", "refusals.jsonl"}
        self.run_cli("store", "restore", self.folder / "backup", "--to", self.folder / "new", expect=2)
        self.run_store("restore", self.folder / "backup", "--to", self.folder / "new", "--key-file", key)
        restored = {path.name for path in (self.folder / "new").iterdir()}
        self.assertEqual({path.name for path in cluster.state.iterdir()} - left_out - restored, set())
        for name in ("curve.key", "worker_keys", "tokens.json", "tls.crt", "tls.key", "secrets.key"):
            self.assertEqual((self.folder / "new" / name).read_bytes(), (cluster.state / name).read_bytes(), name)
            self.assertEqual((self.folder / "new" / name).stat().st_mode & 0o077, 0, name)

    def test_no_store_is_made_beside_the_write_ahead_log_of_another(self):
        cluster = self.live_a_little(2)
        self.end_all(cluster, signal.SIGKILL)
        moved = self.folder / "moved.db"
        backup = self.folder / "backup.db"
        self.run_store("backup", cluster.state, "--to", backup)
        (cluster.state / "events.db").rename(moved)
        left = cluster.state / "events.db-wal"
        before = digests(cluster.state)
        self.assertIn("events.db-wal", before)
        for verb in ("restore", "salvage"):
            done = self.run_store(verb, backup, "--to", cluster.state, expect=4)
            self.assertIn(str(left), done.stderr)
            self.assertEqual(digests(cluster.state), before)
        left.rename(self.folder / "moved.db-wal")
        done = self.run_store("restore", backup, "--to", cluster.state, expect=4)
        self.assertIn(str(cluster.state / "sealed" / "events.db"), done.stderr)
        (cluster.state / "sealed").rename(self.folder / "sealed")
        self.run_store("restore", backup, "--to", cluster.state)
        self.assertIn("sound", self.run_store("verify", cluster.state).stdout)
        self.assertIn("sound", self.run_store("verify", moved).stdout)

    def go_back_to(self, cluster, backup):
        """The daemon is killed, and the next one has an older copy of its store."""
        cluster.daemon.end(signal.SIGKILL)
        self.run_store("restore", backup, "--to", self.folder / "restored")
        shutil.copy(cluster.state / "secrets.key", self.folder / "restored")
        shutil.copytree(cluster.state / "checkpoints", self.folder / "restored" / "checkpoints", dirs_exist_ok=True)
        cluster.state = self.folder / "restored"
        cluster.start_daemon()
        cluster.wait_until_up()

    def start_a_long_training(self, cluster, length=400):
        tree = harness.experiment(self.folder / "later", {"name": "random", "max_length": length, "max_trials": 1},
                                  fake={"STEP_SECONDS": 0.02})
        return cluster.submit(tree)

    @property
    def later(self):
        return harness.Ledger(self.folder / "later")

    def wait_for_steps(self, count):
        harness.wait_for(lambda: len(self.later.of("step")) >= count, f"{count} steps")

    def attempts_on_hold(self, cluster):
        return [attempt for worker in cluster.get("/api/v1/workers")["workers"] for attempt in worker["on_hold"]]

    def judge_one_training(self, cluster, experiment, length, gone):
        """It was started once and ran to its end; of its reports none is doubled, and those of the steps `gone` may lack."""
        self.assertEqual([line["attempt"] for line in self.later.of("start")], [1], "it was started more than once")
        self.assertEqual([line["step"] for line in self.later.of("step")], list(range(1, length + 1)))
        self.assertEqual([line["why"] for line in self.later.of("end")], ["stop"])
        metrics = cluster.metrics(experiment, 0)
        stored = [report["step"] for report in metrics]
        self.assertEqual(stored, sorted(set(stored)))
        self.assertLessEqual(set(range(1, length + 1)) - set(stored), set(gone))
        self.assertEqual(len(cluster.trials(experiment)), 1)
        self.assertIn("sound", self.run_store("verify", self.backed_up(cluster)).stdout)

    def backed_up(self, cluster):
        copy = self.folder / "at the end.db"
        self.run_store("backup", cluster.state, "--to", copy)
        return copy

    def test_an_attempt_whose_later_reports_are_gone_goes_on_behind_them(self):
        cluster = self.live_a_little(0)
        experiment = self.start_a_long_training(cluster)
        stored = lambda: cluster.metrics(experiment, 0)
        harness.wait_for(lambda: len(stored()) >= 5, "reports in the store")
        self.run_store("backup", cluster.state, "--to", self.folder / "old.db")
        known = len(self.later.of("step"))
        self.wait_for_steps(known + 100)  # Acknowledged, so forgotten by the worker, and not in the copy.
        self.go_back_to(cluster, self.folder / "old.db")
        forgotten = len(self.later.of("step"))
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        self.judge_one_training(cluster, experiment, 400, gone=range(1, forgotten + 1))
        self.assertLess(len(stored()), 400, "nothing was gone: the copy was not older")
        self.assertEqual([report["step"] for report in stored()][:5], [1, 2, 3, 4, 5])

    def test_a_checkpoint_that_was_deleted_after_the_backup_is_done_without(self):
        cluster = self.live_a_little(0)
        tree = harness.experiment(self.folder / "later", {"name": "random", "max_length": 60, "max_trials": 1},
                                  fake={"STEP_SECONDS": 0.02, "CHECKPOINT_EVERY": 10}, max_restarts=0)
        experiment = cluster.submit(tree)
        saved = lambda: cluster.get(f"/api/v1/experiments/{experiment}/trials/0/checkpoints")["checkpoints"]
        harness.wait_for(saved, "a checkpoint")
        self.run_store("backup", cluster.state, "--to", self.folder / "old.db")
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        self.go_back_to(cluster, self.folder / "old.db")
        for checkpoint in saved():  # As its retention has it, sooner or later.
            shutil.rmtree(checkpoint["path"], ignore_errors=True)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual([line["step"] for line in self.later.of("start")], [0, 0])
        self.assertIn("checkpoint gone", self.run_cli("show", experiment, "--trial", "0", "--server", cluster.server).stdout)

    def test_what_is_adopted_runs_to_the_end_of_its_search(self):
        cluster = self.live_a_little(0)
        for process in self.processes[1:]:
            process.end()
        experiment = self.start_a_long_training(cluster)
        self.run_store("backup", cluster.state, "--to", self.folder / "old.db")  # The trial waits: it has no attempt yet.
        cluster.start_worker(1, "other")
        self.wait_for_steps(30)
        self.go_back_to(cluster, self.folder / "old.db")
        harness.wait_for(lambda: self.attempts_on_hold(cluster), "the attempt to be on hold", cluster.daemon.said)
        forgotten = len(self.later.of("step"))
        self.assertIn("run hpsearch adopt or hpsearch disown",
                      self.run_cli("workers", "--server", cluster.server).stdout)
        self.run_cli("adopt", "other", f"{experiment}/0/1", "--server", cluster.server)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")
        self.judge_one_training(cluster, experiment, 400, gone=range(1, forgotten + 1))
        self.assertEqual(self.attempts_on_hold(cluster), [])

    def test_what_is_disowned_ends_and_its_slot_is_free(self):
        cluster = self.live_a_little(0)
        self.run_store("backup", cluster.state, "--to", self.folder / "old.db")
        self.start_a_long_training(cluster, length=100_000)
        self.wait_for_steps(5)
        pid = self.later.of("start")[0]["pid"]
        self.go_back_to(cluster, self.folder / "old.db")
        harness.wait_for(lambda: self.attempts_on_hold(cluster), "the attempt to be on hold", cluster.daemon.said)
        steps = len(self.later.of("step"))
        self.wait_for_steps(steps + 20)
        self.assertEqual(self.later.of("end"), [], "a training was ended for being unknown")
        began = harness.start_time(pid)
        self.assertIsNotNone(began)
        self.run_cli("disown", "worker", "all", "--server", cluster.server)
        harness.wait_for(lambda: harness.start_time(pid) != began, "the training to end", cluster.daemon.said)
        harness.wait_for(lambda: not self.attempts_on_hold(cluster), "it to be forgotten", cluster.daemon.said)
        wide = harness.experiment(self.ledger_path, {"name": "random", "max_length": 2, "max_trials": 2},
                                  resources={"slots_per_trial": 2})
        self.assertEqual(cluster.wait_until_over(cluster.submit(wide)), "COMPLETED")

    def test_a_backup_of_a_stopped_store_is_the_same(self):
        cluster = self.live_a_little(2)
        self.end_all(cluster)
        self.run_store("backup", cluster.state, "--to", self.folder / "copy.db")
        self.assertEqual(self.run_store("export", self.folder / "copy.db").stdout,
                         self.run_store("export", cluster.state).stdout)

    def damage(self, state, sql):
        with sqlite3.connect(state / "events.db") as database:
            database.execute(sql)
        database.close()

    def test_each_damage_is_named_with_its_place(self):
        cluster = self.live_a_little()
        self.end_all(cluster)
        events = [json.loads(line) for line in self.run_store("export", cluster.state).stdout.splitlines()]
        report = next(event for event in events if event["type"] == "report_taken")
        for sql, said in (
                ("UPDATE event_group SET events = CAST(substr(events, 1, 30) || x'00' || substr(events, 32) AS BLOB) "
                 "WHERE first = (SELECT max(first) FROM event_group)", "does not match its checksum"),
                ("DELETE FROM event_group WHERE first = (SELECT first FROM event_group ORDER BY first LIMIT 1 OFFSET 3)",
                 "is missing; the next one is"),
                ("DELETE FROM event_group WHERE first = (SELECT max(first) FROM event_group)", "the last that was stored"),
                (f"UPDATE metric SET step = step + 1 WHERE trial = {report['trial']}", "in the table metric"),
                ("DELETE FROM trial_event WHERE lsn = (SELECT max(lsn) FROM trial_event)", "table trial_event")):
            with self.subTest(sql=sql):
                copy = self.folder / "damaged"
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(cluster.state, copy)
                self.damage(copy, sql)
                before = digests(copy)
                done = self.run_store("verify", copy, expect=74)
                self.assertIn(said, done.stdout)
                self.assertIn("DAMAGED", done.stdout)
                self.assertEqual(digests(copy), before)

    def test_a_daemon_on_a_damaged_log_says_how_to_go_on(self):
        cluster = self.live_a_little()
        self.end_all(cluster)
        events = self.run_store("export", cluster.state).stdout
        self.damage(cluster.state, "UPDATE event_group SET events = zeroblob(length(events)) "
                                   "WHERE first = (SELECT max(first) FROM event_group)")
        cluster.start_daemon()
        self.assertEqual(cluster.daemon.popen.wait(60), 74)
        said = cluster.daemon.said()
        new = self.folder / "new"
        self.assertIn("No event was changed", said)
        for command in (f"hpsearch store verify {cluster.state}.",
                        "hpsearch store restore BACKUP --to NEW,",
                        f"hpsearch store salvage {cluster.state} --to NEW"):
            self.assertIn(command, said)
        self.run_store("verify", cluster.state, expect=74)
        self.run_store("salvage", cluster.state, "--to", new)
        *kept, last = self.run_store("export", new).stdout.splitlines(keepends=True)
        self.assertTrue(kept and events.startswith("".join(kept)) and "".join(kept) != events)
        self.assertEqual(json.loads(last)["type"], "store_restored")
        cluster.state = new
        cluster.start_daemon()
        cluster.wait_until_up()

    def test_flipped_bytes_are_found_or_touch_nothing_that_counts(self):
        rng = harness.seeded()
        cluster = self.live_a_little()
        self.end_all(cluster)
        whole = self.run_store("export", cluster.state).stdout
        good = (cluster.state / "events.db").read_bytes()
        found = 0
        copy = self.folder / "flipped.db"
        for _ in range(60):
            place = rng.randrange(len(good))
            copy.write_bytes(good[:place] + bytes([good[place] ^ (1 << rng.randrange(8))]) + good[place + 1:])
            done = self.run_store("verify", copy, expect=None)
            if done.returncode == 0:
                self.assertEqual(self.run_store("export", copy).stdout, whole, f"byte {place}")
            else:
                found += 1
                self.assertIn(done.returncode, (1, 74), f"byte {place}: {done.stdout} {done.stderr}")
        self.assertGreater(found, 10)

    def test_salvage_keeps_all_before_the_damage_and_says_what_is_lost(self):
        cluster = self.live_a_little()
        self.end_all(cluster)
        whole = self.run_store("export", cluster.state).stdout.splitlines()
        with sqlite3.connect(cluster.state / "events.db") as database:
            first = database.execute("SELECT first FROM event_group ORDER BY first LIMIT 1 OFFSET 9").fetchone()[0]
        database.close()
        self.damage(cluster.state, f"UPDATE event_group SET events = zeroblob(length(events)) WHERE first = {first}")
        before = digests(cluster.state)
        self.run_store("restore", cluster.state, "--to", self.folder / "refused", expect=74)
        self.assertFalse((self.folder / "refused" / "events.db").exists())
        told = self.run_cli("store", "salvage", cluster.state, "--to", self.folder / "salvaged", "--output", "json")
        self.assertEqual(told["last_lsn"], first - 1)
        self.assertEqual(told["lost_events"], len(whole) - first + 1)
        self.assertIn(f"event {first} of the log", told["damage"])
        *kept, last = self.run_store("export", self.folder / "salvaged").stdout.splitlines()
        self.assertEqual(kept, whole[:first - 1])
        self.assertEqual(json.loads(last)["type"], "store_restored")
        self.assertIn("sound", self.run_store("verify", self.folder / "salvaged").stdout)
        self.assertEqual(digests(cluster.state), before)
        cluster.state = self.folder / "salvaged"
        cluster.start_daemon()
        cluster.wait_until_up()

    def test_what_is_no_store_is_said(self):
        (self.folder / "noise.db").write_bytes(random.Random(1).randbytes(9000))
        for path, code in ((self.folder / "absent", 3), (self.folder, 3), (self.folder / "noise.db", 74)):
            done = self.run_store("verify", path, expect=code)
            self.assertIn(str(path), done.stderr)
        self.assertIn("verify", self.run_cli("store", "verfy", expect=2).stderr)
        self.assertIn("hpsearch store --help", self.run_cli("store", expect=2).stderr)


if __name__ == "__main__":
    unittest.main()
