"""A daemon that workers reach over TCP: who has no key, another's key or a key that nobody allowed is not heard; who is allowed
while the daemon runs works at once; whose key is taken away is not heard any more, and his trials are run elsewhere."""

import os
import pathlib
import stat
import unittest

import harness


class WorkerKeys(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.start_daemon()

    def start_daemon(self):
        self.cluster.start_daemon("--lost-after", "3", workers_open=False)
        self.cluster.wait_until_up()

    def keys(self, verb, *arguments, expect=0):
        return self.run_cli("keys", verb, self.cluster.state, *arguments, expect=expect)

    def server_key(self):
        return self.run_cli("keys", "list", self.cluster.state, "--output", "json")["server_key"]

    def key_of(self, worker):
        """Of its state directory; made when there is none, whether or not the worker runs."""
        shown = harness.subprocess.run([str(harness.BIN / "hpsearch-worker"), "--state-dir", str(self.folder / worker),
                                        "--show-key"], capture_output=True, text=True, check=True, timeout=60)
        return shown.stdout.strip()

    def start_worker(self, name, *more):
        return self.cluster.start_worker(1, name, *more)

    def present(self):
        workers = self.cluster.get("/api/v1/workers")["workers"]
        return sorted(worker["name"] for worker in workers if worker["connected"])

    def wait_for_words(self, process, *words):
        harness.wait_for(lambda: all(word in process.said() for word in words), f"{words}", process.said)

    def submit(self, trials, **fake):
        return self.cluster.submit(harness.experiment(
            self.ledger_path, {"name": "random", "max_length": {"batches": 3}, "max_trials": trials}, fake=fake))

    def test_only_who_is_allowed_is_heard(self):
        server = self.server_key()
        bare = self.start_worker("bare")
        self.wait_for_words(bare, "demands keys", "--server-key")
        mistaken = self.start_worker("mistaken", "--server-key", self.key_of("mistaken"))
        self.wait_for_words(mistaken, "has another key than --server-key")
        stranger = self.start_worker("stranger", "--server-key", server)
        key = self.key_of("stranger")
        self.wait_for_words(stranger, "does not allow this worker's key", f"keys allow STATE_DIR stranger {key}")
        self.assertEqual(self.present(), [])
        # Allowed while both run; it is called what the list says.
        self.keys("allow", "node-1", key)
        harness.wait_for(lambda: self.present() == ["node-1"], "the allowed worker to join", stranger.said)
        self.assertEqual(self.cluster.wait_until_over(self.submit(3)), "COMPLETED")
        # Over a start of the daemon its key stays, and so does who is allowed.
        self.cluster.daemon.end()
        self.start_daemon()
        self.assertEqual(self.server_key(), server)
        harness.wait_for(lambda: self.present() == ["node-1"], "the allowed worker to come back", stranger.said)
        self.assertEqual(self.cluster.wait_until_over(self.submit(2)), "COMPLETED")
        self.assertEqual({process.popen.poll() for process in (bare, mistaken, stranger)}, {None})

    def test_who_is_denied_is_not_heard_any_more(self):
        server = self.server_key()
        for name in ("one", "two"):
            self.keys("allow", name, self.key_of(name))
        one = self.start_worker("one", "--server-key", server)
        harness.wait_for(lambda: self.present() == ["one"], "worker one to join", one.said)
        experiment = self.submit(1, MODE="hangs")  # The first attempt is not over before its worker is denied.
        harness.wait_for(lambda: self.ledger.of("start"), "the trial to start", one.said)
        self.keys("deny", "one")
        harness.wait_for(lambda: self.present() == [], "worker one to be let go", self.cluster.daemon.said)
        two = self.start_worker("two", "--server-key", server)
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", two.said())
        self.assertEqual(self.cluster.trials(experiment)[0]["attempts"], 2)
        self.assertNotIn("one", self.present())

    def test_the_key_of_a_forgotten_worker_goes(self):
        server = self.server_key()
        for name in ("one", "two"):
            self.keys("allow", name, self.key_of(name))
        one = self.start_worker("one", "--server-key", server)
        harness.wait_for(lambda: self.present() == ["one"], "worker one to join", one.said)
        self.run_cli("worker", "forget", "one", "--state-dir", self.cluster.state, expect=4)
        one.end()
        harness.wait_for(lambda: self.present() == [], "worker one to be away", self.cluster.daemon.said)
        self.run_cli("worker", "forget", "one", "--state-dir", self.cluster.state)
        self.assertEqual(self.cluster.get("/api/v1/workers")["workers"], [])
        listed = self.cluster.state / "worker_keys"
        harness.wait_for(lambda: self.key_of("one") not in listed.read_text(), "its key to go", self.cluster.daemon.said)
        self.assertIn(self.key_of("two"), listed.read_text())
        again = self.start_worker("one", "--server-key", server)
        self.wait_for_words(again, "does not allow this worker's key")

    def test_nobody_speaks_for_another_worker(self):
        server = self.server_key()
        self.keys("allow", "one", self.key_of("one"))
        one = self.start_worker("one", "--server-key", server)
        harness.wait_for(lambda: self.present() == ["one"], "worker one to join", one.said)
        one.end()
        # Its farewell may be lost; then its silence tells.
        harness.wait_for(lambda: self.present() == [], "worker one to be away", self.cluster.daemon.said)
        # Another key, allowed for another worker, with the first one's identity.
        (self.folder / "one" / "curve.key").unlink()
        self.keys("allow", "thief", self.key_of("one"))
        thief = self.start_worker("one", "--server-key", server)
        self.wait_for_words(thief, "is spoken for with the key of", "thief")
        self.assertEqual(self.present(), [])

    def test_keys_are_their_owners_and_bad_ones_are_named(self):
        key = self.key_of("one")
        self.assertEqual(self.key_of("one"), key)
        for secret in (self.folder / "one" / "curve.key", self.cluster.state / "curve.key"):
            self.assertEqual(stat.S_IMODE(os.stat(secret).st_mode), 0o600)
        self.assertIn("64 digits", self.keys("allow", "one", "short", expect=2).stderr)
        self.assertIn("letters, digits", self.keys("allow", "a b", key, expect=2).stderr)
        self.assertIn("no worker", self.keys("deny", "nobody", expect=3).stderr)
        self.keys("allow", "one", key)
        self.assertIn("worker one's", self.keys("allow", "two", key, expect=4).stderr)
        listed = pathlib.Path(self.cluster.state / "worker_keys")
        listed.write_text(listed.read_text() + "two words too many\n")
        refused = self.keys("allow", "two", self.key_of("two"), expect=74)
        self.assertIn(f"{listed}:3", refused.stderr)
        done = self.start("hpsearch-worker", "--daemon", self.cluster.workers, "--state-dir", self.folder / "one",
                          "--server-key", "short", log="short.log")
        harness.wait_for(lambda: done.popen.poll() is not None, "the worker to end")
        self.assertEqual(done.popen.returncode, 2)
        self.assertIn("--server-key", done.said())


if __name__ == "__main__":
    unittest.main()
