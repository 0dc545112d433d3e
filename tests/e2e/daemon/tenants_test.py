"""Two groups on one daemon: each sees and changes its own, and neither gets slots beyond its quota."""

import http.client
import json
import re
import subprocess
import unittest

import harness
from event_stream import Subscriber


class TokenConnection(http.client.HTTPConnection):
    """Sends a token with each request."""

    def __init__(self, address, token, timeout):
        super().__init__(address, timeout=timeout)
        self.token = token

    def request(self, method, url, body=None, headers=None, **more):
        super().request(method, url, body, {"Authorization": f"Bearer {self.token}"} | (headers or {}), **more)


class Client:
    """What a holder of a token gets, as a Subscriber wants it."""

    def __init__(self, address, token):
        self.address, self.token = address, token

    def connection(self, timeout=30):
        return TokenConnection(self.address, self.token, timeout)

    def get(self, path):
        connection = self.connection()
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()


class Tenants(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon("--http", "127.0.0.1:0", "--http-base-path", "/search")
        self.cluster.wait_until_up()
        self.http = json.loads((self.cluster.state / "daemon.json").read_text())["http"]

    def hpsearch(self, *arguments, expect=0, token=None):
        server = ["--server", self.http if token else self.cluster.server]
        if token:
            path = self.folder / "token"
            path.touch(0o600)
            path.write_text(token + "\n")
            server += ["--token-file", str(path)]
        done = subprocess.run([str(harness.BIN / "hpsearch"), *map(str, arguments), *server], capture_output=True, text=True,
                              timeout=harness.PATIENCE, env=harness.environment(), cwd=self.folder)
        self.assertEqual(done.returncode, expect, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def token(self, name, role, *workspaces):
        named = [word for workspace in workspaces for word in ("--workspace", workspace)]
        return self.hpsearch("token", "create", "--name", name, "--role", role, *named).stdout.strip()

    def search(self, workspace, trials=6, fake=None):
        return self.write_experiment(
            harness.experiment(self.ledger_path, {"name": "random", "max_length": 2, "max_trials": trials}, fake=fake,
                               workspace=workspace, project="letters"), f"{workspace}.yaml")

    def test_each_sees_its_own(self):
        self.hpsearch("workspace", "create", "nlp")
        self.hpsearch("workspace", "create", "vision")
        ann, bob = self.token("ann", "submitter", "nlp"), self.token("bob", "submitter", "vision")
        seen = Subscriber(Client(self.http, bob), "/api/v1/stream?topics=experiments")
        self.assertEqual(seen.connect(), 200)
        events = Subscriber(Client(self.http, bob), "/api/v1/events")
        self.assertEqual(events.connect(), 200)
        self.hpsearch("submit", self.search("nlp"), token=ann)
        refused = self.hpsearch("submit", self.search("nlp"), token=bob, expect=1)
        self.assertIn("token bob may submit to vision, not to workspace nlp", refused.stderr)
        self.hpsearch("submit", self.search("vision"), token=bob)
        refused = self.hpsearch("pause", "1", token=bob, expect=3)
        self.assertIn("there is no experiment 1", refused.stderr)
        self.hpsearch("pause", "1", token=ann)

        listed = json.loads(self.hpsearch("list", "--output", "json", token=bob).stdout)
        self.assertNotIn("nlp", json.dumps(listed))
        self.assertIn("vision", json.dumps(listed))
        told = ""
        for _, _, data in seen.messages():
            told += data or ""
            if "vision" in told:
                break
        self.assertNotIn("nlp", told)
        told = ""
        for _, name, data in events.messages():
            told += data or ""
            if name == "experiment_created":
                break
        self.assertNotIn("nlp", told)
        self.assertIn("vision", told)
        seen.cut()
        events.cut()
        shown = self.hpsearch("events", "1", token=ann).stdout
        self.assertIn("the experiment is paused by ann", shown)

    def test_a_quota_is_kept_and_named(self):
        self.hpsearch("workspace", "create", "nlp")
        shown = self.hpsearch("workspace", "quota", "nlp", "--slots", "1", "--experiments", "1")
        self.assertRegex(shown.stdout, r"max_slots +0 +1 ")
        ann = self.token("ann", "submitter", "nlp")
        self.hpsearch("submit", self.search("nlp"), token=ann)
        refused = self.hpsearch("submit", self.search("nlp"), token=ann, expect=4)
        self.assertIn("max_active_experiments", refused.stderr)
        self.cluster.start_worker(3)
        self.assertEqual(self.cluster.wait_until_over(1), "COMPLETED")
        self.assertEqual(self.ledger.most_at_once(), 1)
        self.hpsearch("workspace", "quota", "nlp", "--slots", "0", "--experiments", "none")
        self.hpsearch("submit", self.search("nlp"), token=ann)
        waits = self.cluster.get("/api/v1/experiments/2")["waits_for"]
        self.assertEqual(waits, 'workspace "nlp" uses 0 slots, a trial needs 1, and the quota is 0 (max_slots)')
        refused = self.hpsearch("workspace", "quota", "nlp", "--slots", "many", expect=2)
        self.assertIn("or none", refused.stderr)

    def test_context_bytes_are_kept_and_named(self):
        self.hpsearch("workspace", "quota", "default", "--context-bytes", "30000")
        (self.folder / "job").mkdir()
        file = self.folder / "job" / "e.yaml"
        file.write_text(self.search("default").read_text())
        shared = self.folder / "job" / "data.bin"
        shared.write_bytes(b"a" * 20_000)
        self.hpsearch("submit", file)
        self.hpsearch("submit", file)
        shared.write_bytes(b"b" * 20_000)
        refused = self.hpsearch("submit", file, expect=4)
        self.assertRegex(refused.stderr, r"stores \d+ bytes of contexts, this one has \d+ bytes, and its quota is 30000 "
                                         r"\(max_context_bytes\)")
        for number in ("1", "2"):
            self.hpsearch("kill", number)
            self.cluster.wait_until_over(int(number))
            self.hpsearch("delete", number, "--yes")
        self.hpsearch("submit", file)

    def test_slot_hours_are_kept_and_named(self):
        self.hpsearch("submit", self.search("default"))
        shown = self.hpsearch("workspace", "quota", "default", "--slot-hours", "0")
        self.assertRegex(shown.stdout, r"slot_hours_per_30d +0\.00 +0 +--slot-hours")
        self.cluster.start_worker(1)
        waits = lambda: self.cluster.get("/api/v1/experiments/1")["waits_for"]
        said = ('workspace "default" has used 0 slot hours in the last 30 days, and the quota is 0 (slot_hours_per_30d); '
                "no trial starts until it is raised")
        harness.wait_for(lambda: waits() == said, "the experiment to wait for slot hours", waits)
        refused = self.hpsearch("submit", self.search("default"), expect=4)
        self.assertIn("slot_hours_per_30d", refused.stderr)
        self.assertEqual(self.ledger.of("step"), [])
        self.hpsearch("workspace", "quota", "default", "--slot-hours", "1")
        self.assertEqual(self.cluster.wait_until_over(1), "COMPLETED")
        used = json.loads(self.hpsearch("workspace", "list", "--output", "json").stdout)["workspaces"][0]["used"]
        usage = json.loads(self.hpsearch("usage", "--by", "workspace", "--since", "30d", "--output", "json").stdout)["usage"]
        self.assertGreater(used["slot_hours_per_30d"], 0)
        self.assertAlmostEqual(used["slot_hours_per_30d"] * 3600, usage[0]["slot_seconds"], places=3)

    def test_each_limit_has_its_option_and_its_line_in_the_documentation(self):
        root = harness.ROOT
        page = (root / "docs/operating/tenants.md").read_text()
        manual = (root / "docs/man/man1/hpsearch-workspace.1").read_text().replace("\\-", "-")
        shown = json.loads(self.hpsearch("workspace", "quota", "default", "--output", "json").stdout)
        table = self.hpsearch("workspace", "quota", "default").stdout
        for name in shown["quota"]:
            option = re.search(rf"^{name} .*(--[a-z-]+)", table, re.MULTILINE)[1]
            self.assertIn(f"| `{name}` | `{option}` |", page)
            self.assertIn(f"\n\\fB{option}\\fR ", manual)

    def test_pages_and_sign_in_are_below_the_path_too(self):
        ann = self.token("ann", "viewer", "nlp")
        self.assertEqual(Client(self.http, ann).get("/search/api/v1/whoami")[1]["workspaces"], ["nlp"])
        connection = http.client.HTTPConnection(self.http, timeout=30)
        connection.request("GET", "/search")
        response = connection.getresponse()
        response.read()
        self.assertEqual((response.status, response.getheader("Location")), (308, "/search/"))
        connection.close()
        connection = http.client.HTTPConnection(self.http, timeout=30)
        connection.request("POST", "/search/api/v1/session", json.dumps({"token": ann}), {"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        self.assertEqual(response.status, 200)
        self.assertIn("Path=/search/;", response.getheader("Set-Cookie"))
        connection.request("GET", "/search/")
        response = connection.getresponse()
        self.assertEqual(response.status, 200)
        self.assertIn("text/html", response.getheader("Content-Type"))
        connection.close()


if __name__ == "__main__":
    unittest.main()
