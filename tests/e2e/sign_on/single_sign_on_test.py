"""People sign in at an OpenID provider, or at a proxy in front of the daemon."""

import http.client
import json
import pathlib
import shutil
import signal
import ssl
import subprocess
import sys
import unittest
import urllib.error
import urllib.parse
import urllib.request

import harness
from harness import wait_for

PROVIDER = pathlib.Path(__file__).with_name("openid_provider.py")
PYTHON = harness.ROOT / "build" / "openid-provider" / "bin" / "python3"  # scripts/setup test
PEOPLE = {"ann": {"email": "ann@example.org", "groups": ["nlp", "staff"]},
          "bob": {"email": "bob@example.org", "groups": ["guests"]}}
ROLES = "roles:\n- {group: nlp, role: submitter, workspaces: [nlp]}\n"


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class SingleSignOn(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.certificate, self.key = self.folder / "provider.crt", self.folder / "provider.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", self.key,
                        "-out", self.certificate], check=True, capture_output=True)
        self.port = harness.free_port()
        self.issuer = f"https://localhost:{self.port}"
        self.file = self.folder / "sign-in.yaml"
        secret = self.folder / "client.secret"
        secret.touch(0o600)
        secret.write_text("s3cret\n")

    def start_provider(self):
        (self.folder / "people.json").write_text(json.dumps(PEOPLE))
        process = subprocess.Popen([PYTHON, PROVIDER, str(self.port), self.certificate, self.key, self.folder / "people.json"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end_provider, process)
        wait_for(self.provider_answers, "the provider", patience=120)
        return process

    def end_provider(self, process):
        process.kill()
        process.wait()

    def trusting(self):
        return ssl.create_default_context(cafile=self.certificate)

    def provider_answers(self):
        try:
            with urllib.request.urlopen(f"{self.issuer}/.well-known/openid-configuration", context=self.trusting(), timeout=30) as answer:
                return json.load(answer)["issuer"] == self.issuer
        except OSError:
            return False

    def write_file(self, roles=ROLES, authorities="  authorities_file: provider.crt\n"):
        self.file.write_text(f"provider:\n  name: Example\n  issuer: {self.issuer}\n  client_id: hpsearch\n"
                             f"  client_secret_file: client.secret\n  pages: https://hpsearch.example.org\n{authorities}{roles}")
        self.file.chmod(0o600)

    def start_daemon(self, *more):
        self.cluster.start_daemon("--http", "127.0.0.1:0", "--sign-in-file", self.file, *more)
        self.cluster.wait_until_up()
        self.http = json.loads((self.cluster.state / "daemon.json").read_text())["http"]

    def ask(self, method, path, body=None, headers=None):
        """(status, answer, Set-Cookie) over TCP."""
        connection = http.client.HTTPConnection(self.http, timeout=60)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json"} | (headers or {}))
            response = connection.getresponse()
            answer = response.read()
            return response.status, json.loads(answer) if answer else None, response.getheader("Set-Cookie")
        finally:
            connection.close()

    def answer_of_provider(self, sub):
        """What the browser brings back after `sub` has signed in at the provider."""
        status, begun, _ = self.ask("POST", "/api/v1/session/provider")
        self.assertEqual(status, 200, begun)
        opener = urllib.request.build_opener(NoRedirect, urllib.request.HTTPSHandler(context=self.trusting()))
        with self.assertRaises(urllib.error.HTTPError) as redirect:
            opener.open(begun["address"], urllib.parse.urlencode({"sub": sub}).encode(), timeout=60)
        back = urllib.parse.urlsplit(redirect.exception.headers["Location"])
        self.assertEqual(f"{back.scheme}://{back.netloc}{back.path}", "https://hpsearch.example.org/login")
        query = dict(urllib.parse.parse_qsl(back.query))
        return {"state": query["state"], "code": query["code"], "key": begun["key"]}

    def sign_in(self, sub):
        """The headers of a browser that is signed in."""
        status, session, cookie = self.ask("POST", "/api/v1/session/provider/answer", self.answer_of_provider(sub))
        self.assertEqual(status, 200, session)
        return {"Cookie": cookie.split(";")[0], "X-Hpsearch-Page-Key": session["page_key"]}, session

    def test_a_person_signs_in_with_the_role_of_a_group_and_out_again(self):
        self.start_provider()
        self.write_file()
        self.start_daemon()
        self.assertEqual(self.ask("GET", "/api/v1/session/provider")[1], {"name": "Example"})
        answer = self.answer_of_provider("ann")
        other = self.answer_of_provider("ann")
        status, refused, _ = self.ask("POST", "/api/v1/session/provider/answer", answer | {"key": other["key"]})
        self.assertEqual(status, 401, "an answer for another browser")
        status, session, cookie = self.ask("POST", "/api/v1/session/provider/answer", answer)
        self.assertEqual(status, 200, session)
        browser = {"Cookie": cookie.split(";")[0], "X-Hpsearch-Page-Key": session["page_key"]}
        self.assertEqual((session["name"], session["role"], session["workspaces"]), ("ann@example.org", "submitter", ["nlp"]))
        status, refused, _ = self.ask("POST", "/api/v1/session/provider/answer", answer)
        self.assertEqual(status, 401, "a code works once")
        self.assertIn("refused the sign-in: invalid_grant", refused["detail"])
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 1, "max_trials": 1}, workspace="nlp", project="x")
        status, made, _ = self.ask("POST", "/api/v1/experiments", {"config": tree}, browser)
        self.assertEqual(status, 201, made)
        self.assertEqual(self.cluster.get(f"/api/v1/experiments/{made['experiment']}")["owner"], "ann@example.org")
        status, refused, _ = self.ask("GET", "/api/v1/tokens", None, browser)
        self.assertEqual(status, 403)
        self.assertIn("user ann@example.org is submitter", refused["detail"])
        entries = self.cluster.get("/api/v1/audit")["entries"]
        self.assertIn("session/ann@example.org", [entry.get("resource") for entry in entries])
        self.assertEqual(self.ask("DELETE", "/api/v1/session", None, browser)[0], 204)
        self.assertEqual(self.ask("GET", "/api/v1/status", None, browser)[0], 401)

    def test_changes_of_the_table_and_of_the_keys_count(self):
        provider = self.start_provider()
        self.write_file()
        self.start_daemon()
        browser, _ = self.sign_in("ann")
        self.write_file("roles:\n- {group: nlp, role: admin}\n")
        self.cluster.daemon.popen.send_signal(signal.SIGHUP)
        wait_for(lambda: self.ask("GET", "/api/v1/session", None, browser)[1].get("role") == "admin", "the new role")
        self.file.write_text("roles: [")
        self.cluster.daemon.popen.send_signal(signal.SIGHUP)
        wait_for(lambda: "provider and roles stay as they were" in self.cluster.daemon.said(), "the problem in the log")
        self.assertEqual(self.ask("GET", "/api/v1/session", None, browser)[1]["role"], "admin")
        self.end_provider(provider)
        self.start_provider()  # With another key.

        def signs_in():  # Keys are read at most every 5 seconds.
            return self.ask("POST", "/api/v1/session/provider/answer", self.answer_of_provider("ann"))[0] == 200
        wait_for(signs_in, "the new key")

    def test_refusals_say_why(self):
        self.write_file(authorities="")
        provider = self.start_provider()
        self.start_daemon()
        status, refused, _ = self.ask("POST", "/api/v1/session/provider")
        self.assertEqual(status, 503, "nothing of this machine vouches for the provider")
        self.assertIn(f"{self.issuer} can't be reached for its description: no TLS with", refused["detail"])
        self.write_file()
        self.cluster.daemon.popen.send_signal(signal.SIGHUP)
        wait_for(lambda: self.ask("POST", "/api/v1/session/provider")[0] == 200, "the file to be read")
        status, refused, _ = self.ask("POST", "/api/v1/session/provider/answer", self.answer_of_provider("bob"))
        self.assertEqual(status, 403)
        self.assertIn("bob@example.org has no role here: access.sign_in_file has a role for none of the groups guests", refused["detail"])
        answer = self.answer_of_provider("ann")
        self.end_provider(provider)
        status, refused, _ = self.ask("POST", "/api/v1/session/provider/answer", answer)
        self.assertEqual(status, 503)
        self.assertIn(f"{self.issuer} can't be reached for a token", refused["detail"])

    def test_a_proxy_names_people_and_nobody_else_does(self):
        self.file.write_text(ROLES)
        self.file.chmod(0o600)
        ann = {"X-Forwarded-User": "ann", "X-Forwarded-Groups": "staff,nlp"}
        self.start_daemon("--proxy-header", "X-Forwarded-User", "--proxy", "127.0.0.1")
        status, session, _ = self.ask("GET", "/api/v1/session", None, ann)
        self.assertEqual((status, session["name"], session["role"], session["workspaces"]), (200, "ann", "submitter", ["nlp"]))
        self.assertEqual(self.ask("GET", "/api/v1/session/provider")[1], {"name": None})
        status, refused, _ = self.ask("GET", "/api/v1/session", None, {"X-Forwarded-User": "bob"})
        self.assertEqual(status, 403)
        self.assertIn("bob has no role here: no groups came with the name", refused["detail"])
        self.assertEqual(self.cluster.call("GET", "/api/v1/status", headers=ann)[0], 403, "over the socket")
        self.cluster.daemon.end(signal.SIGTERM)
        self.start_daemon("--proxy-header", "X-Forwarded-User", "--proxy", "10.255.255.254")
        status, refused, _ = self.ask("GET", "/api/v1/session", None, ann)
        self.assertEqual(status, 403)
        self.assertIn("accepted only from the proxies in access.proxies, not from 127.0.0.1", refused["detail"])


if __name__ == "__main__":
    if not PYTHON.exists():
        sys.exit(harness.skipped("single sign-on was not tested: there is no OpenID provider (scripts/setup test)"))
    if shutil.which("openssl") is None:
        sys.exit(harness.skipped("single sign-on was not tested: openssl is not installed"))
    unittest.main()
