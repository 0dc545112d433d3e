"""Tokens: what a daemon asks for on its TCP port, and how people give it."""

import http.client
import json
import signal
import subprocess
import sys
import unittest

import harness


class Access(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.home = self.folder / "home"
        self.home.mkdir()
        self.begin()

    def begin(self):
        self.cluster.start_daemon("--http", "127.0.0.1:0")
        self.cluster.wait_until_up()
        self.http = json.loads((self.cluster.state / "daemon.json").read_text())["http"]

    def hpsearch(self, *arguments, expect=0, text=None, variables=None):
        """What a person types at home, where contexts are remembered."""
        environment = harness.environment() | {"HOME": str(self.home)} | (variables or {})
        environment.pop("XDG_CONFIG_HOME", None)
        done = subprocess.run([str(harness.BIN / "hpsearch"), *map(str, arguments)], capture_output=True, text=True,
                              timeout=harness.PATIENCE, env=environment, cwd=self.home, input=text or "")
        self.assertEqual(done.returncode, expect, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def token(self, name, role, *more):
        return self.hpsearch("token", "create", "--name", name, "--role", role, "--server", self.cluster.server,
                             *more).stdout.strip()

    def token_file(self, name, token):
        path = self.folder / f"{name}.token"
        path.touch(0o600)
        path.write_text(token + "\n")
        return path

    def over_tcp(self, path, token=None, method="GET", body=None):
        connection = http.client.HTTPConnection(self.http, timeout=30)
        try:
            headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def test_a_token_opens_what_its_role_may(self):
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 1, "max_trials": 1})
        path = self.write_experiment(tree)
        for arguments in (["list"], ["submit", path], ["token", "list"], ["kill", "1"]):
            refused = self.hpsearch(*arguments, "--server", self.http, expect=1)
            self.assertIn("a token is needed", refused.stderr)
            self.assertIn("--token-file", refused.stderr)
        viewer = self.token_file("viewer", self.token("reader", "viewer"))
        operator = self.token_file("operator", self.token("laptop", "operator"))
        self.hpsearch("list", "--server", self.http, "--token-file", viewer)
        refused = self.hpsearch("submit", path, "--server", self.http, "--token-file", viewer, expect=1)
        self.assertIn("token reader is viewer", refused.stderr)
        self.assertIn("needs submitter", refused.stderr)
        self.hpsearch("submit", path, "--server", self.http, "--token-file", operator)
        self.hpsearch("list", "--server", self.http, variables={"HPSEARCH_TOKEN_FILE": str(viewer)})
        self.hpsearch("list", "--server", self.http, "--token-file", "-", text=viewer.read_text())
        refused = self.hpsearch("token", "list", "--server", self.http, "--token-file", operator, expect=1)
        self.assertIn("needs admin", refused.stderr)
        listed = self.cluster.get("/api/v1/tokens")["tokens"]
        self.assertEqual({token["name"]: token["role"] for token in listed}, {"reader": "viewer", "laptop": "operator"})
        harness.wait_for(lambda: all(token["last_used_day"] for token in self.cluster.get("/api/v1/tokens")["tokens"]),
                         "the day of their use to be noted")

    def test_tokens_outlive_the_daemon_and_end_when_revoked(self):
        token = self.token("laptop", "viewer")
        self.assertEqual(self.over_tcp("/api/v1/whoami", token), (200, {
            "name": "token laptop", "owner": "laptop", "role": "viewer", "workspaces": ["*"], "unix_user": ""}))
        self.cluster.kill_daemon()
        self.begin()
        self.assertEqual(self.over_tcp("/api/v1/whoami", token)[0], 200)
        found = json.loads(self.hpsearch("token", "list", "--server", self.cluster.server, "-o", "json").stdout)["tokens"]
        rotated = self.hpsearch("token", "rotate", found[0]["id"], "--server", self.cluster.server).stdout.strip()
        self.assertEqual(self.over_tcp("/api/v1/whoami", token)[0], 401)
        self.assertEqual(self.over_tcp("/api/v1/whoami", rotated)[0], 200)
        self.hpsearch("token", "revoke", found[0]["id"], "--server", self.cluster.server)
        self.assertEqual(self.over_tcp("/api/v1/whoami", rotated)[0], 401)
        self.cluster.daemon.end(signal.SIGTERM)
        self.begin()
        self.assertEqual(self.over_tcp("/api/v1/whoami", rotated)[0], 401)

    def test_no_token_lies_anywhere(self):
        tokens = [self.token("one", "admin"), self.token("two", "admin", "--expires", "never")]
        for token in tokens:
            self.over_tcp("/api/v1/status", token)
            self.over_tcp(f"/api/v1/events?token={token}", None)
        self.cluster.daemon.end(signal.SIGTERM)
        searched = 0
        for path in [*self.cluster.state.rglob("*"), self.cluster.daemon.log]:
            if path.is_file():
                content = path.read_bytes()
                searched += 1
                for token in tokens:
                    self.assertNotIn(token[13:56].encode(), content, path)
        self.assertGreater(searched, 3)

    def test_secrets_of_an_experiment_are_nowhere_but_in_its_program(self):
        canary = "canary-93d1c5"
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 2, "max_trials": 2})
        variables = tree["environment"]["environment_variables"]
        tree["entrypoint"] = ["sh", "-c", 'printf %s "$API_KEY" > ' + str(self.folder / "seen") + "; exec " +
                              " ".join(tree["entrypoint"])]
        tree["environment"]["environment_variables"] = variables | {"API_KEY": canary}
        experiment = self.cluster.submit(tree)
        worker = self.cluster.start_worker(1)
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED")
        self.assertEqual((self.folder / "seen").read_text(), canary)
        backup = self.folder / "backup"
        (self.folder / "backup.key").write_text("a key file of some length")
        self.hpsearch("store", "backup", self.cluster.state, "--to", backup, "--key-file", self.folder / "backup.key")
        said = self.hpsearch("config", experiment, "--server", self.cluster.server).stdout
        self.assertIn("********", said)
        said += self.hpsearch("show", experiment, "--trial", "0", "--server", self.cluster.server).stdout
        said += json.dumps(self.cluster.get("/api/v1/events?limit=1000"))
        self.cluster.daemon.end(signal.SIGTERM)
        said += self.hpsearch("store", "export", self.cluster.state).stdout
        self.assertIn("sealed:", said)
        self.assertNotIn(canary, said)
        searched = [path for path in [*self.cluster.state.rglob("*"), *backup.rglob("*"), self.cluster.daemon.log, worker.log]
                    if path.is_file()]
        self.assertGreater(len(searched), 5)
        for path in searched:
            self.assertNotIn(canary.encode(), path.read_bytes(), path)

    def test_a_damaged_file_of_tokens_leaves_the_socket(self):
        token = self.token("laptop", "admin")
        self.cluster.kill_daemon()
        (self.cluster.state / "tokens.json").write_text("{")
        self.begin()
        self.assertIn("tokens.json", self.cluster.daemon.said())
        self.assertEqual(self.over_tcp("/api/v1/status", token)[0], 401)
        self.assertEqual(self.cluster.experiments(), [])
        refused = self.hpsearch("token", "create", "--name", "x", "--role", "viewer", "--server", self.cluster.server,
                                expect=1)
        self.assertIn("tokens.json", refused.stderr)

    def test_contexts_remember_daemons_and_their_tokens(self):
        token = self.token("laptop", "operator")
        self.hpsearch("context", "add", "cluster", self.http, "--token-file", "-", text=token)
        self.hpsearch("context", "add", "here", self.cluster.server)
        kept = self.home / ".config" / "hpsearch" / "contexts.json"
        self.assertEqual(kept.stat().st_mode & 0o777, 0o600)
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 1, "max_trials": 1})
        self.hpsearch("submit", self.write_experiment(tree))  # To the first one added: it is the current one.
        self.assertEqual(len(self.cluster.experiments()), 1)
        self.hpsearch("token", "list", expect=1)
        self.hpsearch("context", "use", "here")
        self.hpsearch("token", "list")  # Which takes an admin: over the socket.
        listed = json.loads(self.hpsearch("context", "list", "-o", "json").stdout)["contexts"]
        self.assertEqual([(each["name"], each["current"], each["has_token"]) for each in listed],
                         [("cluster", False, True), ("here", True, False)])
        self.assertNotIn(token, self.hpsearch("context", "list").stdout)
        self.hpsearch("context", "remove", "here")
        self.hpsearch("context", "use", "nowhere", expect=3)
        refused = self.hpsearch("context", "add", "x", "nonsense", expect=2)
        self.assertIn('"nonsense"', refused.stderr)
        self.assertIn("HOST:PORT", refused.stderr)

    def test_token_files_that_others_may_read_are_refused(self):
        path = self.token_file("laptop", self.token("laptop", "viewer"))
        path.chmod(0o644)
        refused = self.hpsearch("list", "--server", self.http, "--token-file", path, expect=2)
        self.assertIn("chmod 600", refused.stderr)
        self.hpsearch("list", "--server", self.http, "--token-file", self.folder / "nowhere", expect=2)

    def test_other_machines_are_served_over_tls_only(self):
        token = self.token("laptop", "operator")
        self.cluster.daemon.end(signal.SIGTERM)
        refused = self.start("hpsearchd", "--state-dir", self.cluster.state, "--workers", "tcp://127.0.0.1:0", "--http",
                             "0.0.0.0:0", log="bare.log")
        self.assertEqual(refused.popen.wait(harness.PATIENCE), 2, refused.said())
        for way in ("--tls-self-signed", "--tls-cert", "--behind-proxy", "0.0.0.0:0"):
            self.assertIn(way, refused.said())
        self.cluster.start_daemon("--http", "0.0.0.0:0", "--tls-self-signed")
        self.cluster.wait_until_up()
        address = json.loads((self.cluster.state / "daemon.json").read_text())["http"]
        address, _, fingerprint = address.replace("0.0.0.0", "127.0.0.1").partition("#")
        self.hpsearch("context", "add", "cluster", address, "--fingerprint", fingerprint, "--token-file", "-", text=token)
        self.hpsearch("list")
        refused = self.hpsearch("list", "--server", address, "--token-file", "-", text=token, expect=6)
        self.assertIn("fingerprint", refused.stderr)
        refused = self.hpsearch("list", "--server", f"{address}#{'0' * 64}", "--token-file", "-", text=token, expect=6)
        self.assertIn("another certificate", refused.stderr)
        place = address.removeprefix("https://")

        def handshake(*options):
            return subprocess.run(["openssl", "s_client", "-connect", place, *options], input="", text=True,
                                  capture_output=True, timeout=harness.PATIENCE)

        for good in (["-tls1_2"], ["-tls1_3"]):
            self.assertIn("CONNECTED", handshake(*good).stdout)
            self.assertEqual(handshake(*good).returncode, 0, handshake(*good).stderr)
        # The client has to be willing, or it would be what refuses.
        for bad in (["-tls1", "-cipher", "ALL:@SECLEVEL=0"], ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"],
                    ["-tls1_2", "-cipher", "AES128-SHA:@SECLEVEL=0"]):
            self.assertNotEqual(handshake(*bad).returncode, 0, bad)
        # Another certificate is read while the daemon runs.
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=other", "-days", "2",
                        "-keyout", str(self.cluster.state / "tls.key"), "-out", str(self.cluster.state / "tls.crt")],
                       check=True, capture_output=True)
        self.cluster.daemon.popen.send_signal(signal.SIGHUP)
        harness.wait_for(lambda: "expires in" in self.cluster.daemon.said(), "the new certificate to be read")
        self.assertIn("certificate was read again", self.cluster.daemon.said())
        self.hpsearch("list", expect=6)

    def test_open_only_on_loopback_and_never_silently(self):
        self.cluster.daemon.end(signal.SIGTERM)
        for http_address in ("0.0.0.0:0", ""):
            more = ["--http", http_address] if http_address else []
            refused = self.start("hpsearchd", "--state-dir", self.cluster.state, "--workers", "tcp://127.0.0.1:0",
                                 "--http-open", *more, log="open.log")
            self.assertEqual(refused.popen.wait(harness.PATIENCE), 2, refused.said())
            self.assertIn("--http-open", refused.said())
        self.cluster.start_daemon("--http", "127.0.0.1:0", "--http-open")
        self.cluster.wait_until_up()
        self.http = json.loads((self.cluster.state / "daemon.json").read_text())["http"]
        self.assertIn("--http-open", self.cluster.daemon.said())
        self.assertEqual(self.over_tcp("/api/v1/tokens")[0], 200)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
