"""Workers join a daemon with an invite: what works, what is refused and why, and where the secret of an invite is not."""

import json
import os
import pathlib
import re
import socket
import stat
import subprocess
import time
import unittest

import harness


class Join(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.start_daemon()

    def start_daemon(self):
        self.cluster.start_daemon("--lost-after", "3", workers_open=False)
        self.cluster.wait_until_up()

    def cli(self, *arguments, **more):
        return self.run_cli(*arguments, "--state-dir", self.cluster.state, **more)

    def invite(self, *options):
        return self.cli("worker", "invite", *options, "--output", "json")["token"]

    def invites(self):
        return self.cli("worker", "invites", "--output", "json")["invites"]

    def join(self, token, name, *options, expect=0, folder=None):
        """Only joins; what it wrote."""
        done = subprocess.run([str(harness.BIN / "hpsearch-worker"), "join", "-", "--no-start", "--state-dir",
                               str(self.folder / (folder or name)), "--name", name, *options], input=token, capture_output=True,
                              text=True, timeout=harness.PATIENCE, env=harness.environment())
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stderr

    def start_worker(self, name, *arguments):
        return self.start("hpsearch-worker", *arguments, "--state-dir", self.folder / name, "--name", name, "--slots", "1",
                          log=f"{name}.log")

    def present(self):
        return sorted(worker["name"] for worker in self.cluster.get("/api/v1/workers")["workers"] if worker["connected"])

    def wait_for_workers(self, *names):
        harness.wait_for(lambda: self.present() == sorted(names), f"workers {names}", self.cluster.daemon.said)

    def test_one_word_lets_a_worker_in_and_its_restart_needs_none(self):
        file = self.folder / "invite"
        said = self.cli("worker", "invite", "--to", file)
        self.assertEqual(said.stdout, "")
        self.assertIn(f"hpsearch-worker join @{file}", said.stderr)
        self.assertEqual(stat.S_IMODE(os.stat(file).st_mode), 0o600)
        worker = self.start_worker("one", "join", f"@{file}")
        self.wait_for_workers("one")
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": {"batches": 3}, "max_trials": 2})
        self.assertEqual(self.cluster.wait_until_over(self.cluster.submit(tree)), "COMPLETED")
        [invite] = self.invites()
        self.assertEqual((invite["state"], invite["used"], invite["workers"]), ("used up", 1, ["one"]))
        self.assertEqual(stat.S_IMODE(os.stat(self.folder / "one" / "joined.json").st_mode), 0o600)
        # Started again: without an invite, with the same one, and when the file is gone.
        for arguments in ([], ["join", f"@{file}"], ["join", f"@{file}"]):
            worker.end()
            worker = self.start_worker("one", *arguments)
            self.wait_for_workers("one")
            file.unlink(missing_ok=True) if arguments else None
        self.assertEqual(self.invites()[0]["used"], 1)
        entries = self.cli("audit", "list", "--output", "json")["entries"]
        joins = [entry for entry in entries if entry["method"] == "JOIN"]
        self.assertEqual([(entry["name"], entry["resource"], entry["channel"], entry["from"]) for entry in joins],
                         [(f"invite {invite['id']}", "workers/one", "workers", "127.0.0.1")])

    def test_each_refusal_has_its_reason(self):
        used = self.invite()
        self.join(used, "one")
        self.assertIn("is used up: a worker has joined with it", self.join(used, "two", expect=2))
        short = self.invite("--for", "1s")
        time.sleep(1.2)
        self.assertIn("expired", self.join(short, "two", expect=2))
        revoked = self.invite("--uses", "5")
        self.cli("worker", "revoke", self.invites()[-1]["id"])
        self.assertIn("was revoked", self.join(revoked, "two", expect=2))
        open_one = self.invite("--uses", "2")
        self.assertIn("belongs to another worker", self.join(open_one, "one", expect=2, folder="elsewhere"))
        self.assertIn("is damaged", self.join(open_one[:-3], "two", expect=2))
        self.assertIn("not an invite", self.join("open sesame", "two", expect=2))
        self.assertIn("has no invite", self.join("", "two", expect=2))
        token = self.cli("token", "create", "--name", "ci", "--role", "viewer").stdout.strip()
        self.assertIn("token of a client", self.join(token, "two", expect=2))
        self.assertIn("leave --daemon", self.join(open_one, "two", "--daemon", self.cluster.workers, expect=2))
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            elsewhere = self.invite("--address", f"127.0.0.1:{closed.getsockname()[1]}")
            self.assertIn("no daemon answers at tcp://127.0.0.1:", self.join(elsewhere, "two", expect=1))
        # Whoever has invites.json has no invite, and one that is forgotten is refused in the handshake.
        (self.cluster.state / "invites.json").write_text('{"invites": []}\n')
        self.assertIn("does not know this invite", self.join(open_one, "two", expect=2))
        self.assertEqual(self.present(), [])
        refused = self.cli("audit", "list", "--refusals", "--output", "json")["entries"]
        self.assertEqual({entry["status"] for entry in refused if entry["method"] == "JOIN"}, {403})
        listed = (self.cluster.state / "worker_keys").read_text()
        self.assertEqual(re.findall(r"^(\S+) [0-9a-f]{64}$", listed, re.M), ["one"])

    def test_an_invite_outlives_the_daemon_and_a_denied_worker_needs_another(self):
        token = self.invite()
        self.cluster.daemon.end()
        self.start_daemon()
        self.join(token, "one")
        worker = self.start_worker("one")
        self.wait_for_workers("one")
        self.run_cli("keys", "deny", self.cluster.state, "one")
        self.wait_for_workers()
        worker.end()
        self.join(token, "one")  # It has joined with this one before: nothing is asked.
        (self.folder / "one" / "joined.json").unlink()
        self.assertIn("is used up", self.join(token, "one", expect=2))

    def test_of_two_workers_one_gets_the_last_use(self):
        token = self.invite()
        racing = [subprocess.Popen([str(harness.BIN / "hpsearch-worker"), "join", "--no-start", "--state-dir",
                                    str(self.folder / name), "--name", name], stdin=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=harness.environment()) for name in ("one", "two")]
        said = [process.communicate(token, timeout=harness.PATIENCE)[1] for process in racing]
        self.assertEqual(sorted(process.returncode for process in racing), [0, 2], said)

    def test_a_worker_without_an_allowed_key_gains_nothing_while_an_invite_is_open(self):
        self.invite("--uses", "5")
        server = self.run_cli("keys", "list", self.cluster.state, "--output", "json")["server_key"]
        stranger = self.start_worker("stranger", "--daemon", self.cluster.workers, "--server-key", server)
        harness.wait_for(lambda: "does not allow this worker's key" in stranger.said(), "the refusal", stranger.said)
        self.assertEqual(self.present(), [])

    def test_the_secret_is_nowhere_but_in_the_token(self):
        file = self.folder / "invite"
        self.cli("worker", "invite", "--to", file, "--uses", "3")
        token = file.read_text().strip()
        words = self.invite("--uses", "2")
        by_file = self.start_worker("one", "join", f"@{file}")
        by_word = self.start_worker("two", "join", words)
        self.wait_for_workers("one", "two")
        secrets = [token, words, token[-60:-8], words[-60:-8]]
        for process in (by_file, by_word, self.cluster.daemon):
            place = pathlib.Path(f"/proc/{process.popen.pid}")
            for name in ("cmdline", "environ"):
                seen = (place / name).read_bytes().decode(errors="replace")
                self.assertEqual([secret for secret in secrets if secret in seen], [], f"{process.arguments} {name}")
        file.unlink()
        for path in self.folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                content = path.read_bytes().decode(errors="replace")
                self.assertEqual([secret for secret in secrets if secret in content], [], path)
        for answer in (self.invites(), self.cli("audit", "list", "--output", "json")):
            self.assertEqual([secret for secret in secrets if secret in json.dumps(answer)], [])

    def test_where_no_keys_are_needed_there_are_no_invites(self):
        other = harness.Cluster(self)
        other.state = self.folder / "other"
        other.start_daemon()
        other.wait_until_up()
        said = self.run_cli("worker", "invite", "--state-dir", other.state, expect=4).stderr
        self.assertIn("workers need no invite", said)


if __name__ == "__main__":
    unittest.main()
