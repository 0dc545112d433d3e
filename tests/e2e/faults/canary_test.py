"""Secrets that go into a daemon by every way there is, and are found nowhere else: files, logs, answers, processes."""

import http.client
import json
import os
import pathlib
import re
import sys
import unittest

import harness

PROGRAM_SECRET = "canary-5f1c93d2"
REFUSED_SECRET = "canary-77ab04e1"


def processes_of_ours(root):
    """This process's children and theirs."""
    children = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(") ")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(entry.name))
    found, next_ones = [], [root]
    while next_ones:
        next_ones = [child for one in next_ones for child in children.get(one, [])]
        found += next_ones
    return found


class Canary(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon("--http", "127.0.0.1:0", "--log-level", "debug")
        self.cluster.wait_until_up()
        self.http = json.loads((self.cluster.state / "daemon.json").read_text())["http"]
        self.heard = []  # Requests and the texts of their answers.
        self.secrets = {"a secret of an experiment": PROGRAM_SECRET, "a secret of a refused one": REFUSED_SECRET}

    def ask(self, connection, method, path, body=None, keep=True, **headers):
        """The response and its text, which is kept unless it is the one that a secret is given with."""
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        named = {"Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, text, named)
            response = connection.getresponse()
            answer = response.read().decode()
        finally:
            connection.close()
        if keep:
            self.heard.append((f"{method} {path}", answer + str(response.headers)))
        return response, answer

    def over_tcp(self, *request, **more):
        return self.ask(http.client.HTTPConnection(self.http, timeout=30), *request, **more)

    def over_the_socket(self, *request, **more):
        return self.ask(self.cluster.connection(), *request, **more)

    def sign_in(self):
        token = json.loads(self.over_the_socket("POST", "/api/v1/tokens", {"name": "ci", "role": "admin"}, keep=False)[1])["token"]
        code = json.loads(self.over_the_socket("POST", "/api/v1/session/code", keep=False)[1])["code"]
        response, answer = self.over_tcp("POST", "/api/v1/session", {"token": token}, keep=False)
        cookie = response.getheader("Set-Cookie").partition(";")[0]
        page_key = json.loads(answer)["page_key"]
        with_code = self.over_tcp("POST", "/api/v1/session", {"code": code}, keep=False)[0].getheader("Set-Cookie").partition(";")[0]
        self.secrets |= {"a token": token.split("_", 2)[2][:43], "a code": code, "a session": cookie.partition("=")[2],
                         "its page key": page_key, "a session by code": with_code.partition("=")[2]}
        return token, cookie, page_key

    def put_in(self):
        """Every way by which a secret comes to a daemon."""
        token, cookie, page_key = self.sign_in()
        bearer = {"Authorization": f"Bearer {token}"}
        self.over_tcp("GET", "/api/v1/status", **bearer)
        self.over_tcp("GET", f"/api/v1/status?token={token}")  # A mistake, which has to be refused.
        self.over_tcp("GET", f"/api/v1/status?token={token}", **bearer)
        self.over_tcp("GET", "/api/v1/status", Authorization=f"Basic {token}")
        self.over_tcp("GET", "/api/v1/status", Cookie=cookie, X_Hpsearch_Page_Key=page_key)
        self.over_tcp("POST", "/api/v1/experiments/9/pause", Cookie=cookie, X_Hpsearch_Page_Key=page_key)
        self.over_tcp("POST", "/api/v1/session", {"token": token + "x"})
        self.over_tcp("POST", "/api/v1/session", {"code": self.secrets["a code"]})
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 50, "max_trials": 1},
                                  fake={"STEP_SECONDS": 0.1})
        tree["environment"]["environment_variables"]["API_KEY"] = PROGRAM_SECRET
        for path in ("validate", "preview"):
            self.over_tcp("POST", f"/api/v1/experiments/{path}", {"config": tree}, **bearer)
        written = {"name": "canary.yaml", "text": f"# It is {PROGRAM_SECRET}.\n{json.dumps(tree, indent=1)}\n"}
        experiment = json.loads(self.over_tcp("POST", "/api/v1/experiments", {"config": tree, "file": written},
                                              **bearer)[1])["experiment"]
        wrong = json.loads(json.dumps(tree).replace(PROGRAM_SECRET, REFUSED_SECRET))
        wrong["searcher"]["max_trials"] = "many"
        for path in ("/api/v1/experiments", "/api/v1/experiments/validate"):
            response, _ = self.over_tcp("POST", path, {"config": wrong, "file": written}, **bearer)
            self.assertIn(response.status, (200, 400))
        return experiment, bearer

    def read_all(self, experiment, bearer):
        prefix = f"/api/v1/experiments/{experiment}"
        for path in ("/healthz", "/readyz", "/version", "/metrics", "/api/v1/status", "/api/v1/events?limit=1000",
                     "/api/v1/tokens", "/api/v1/audit", "/api/v1/whoami", "/api/v1/workers", "/api/v1/slots",
                     "/api/v1/experiments", prefix, f"{prefix}/config", f"{prefix}/file", f"{prefix}/trials", f"{prefix}/trials/0",
                     f"{prefix}/trials/0/explain", f"{prefix}/columns", f"{prefix}/export", f"{prefix}/timeline"):
            response, _ = self.over_tcp("GET", path, **bearer)
            self.assertEqual(response.status, 200, path)
        self.assertEqual(self.over_tcp("POST", f"{prefix}/fork", **bearer)[0].status, 200)

    def assert_not_in(self, content, where):
        for what, secret in self.secrets.items():
            self.assertNotIn(secret.encode(), content, f"{what} is in {where}")

    def test_secrets_are_nowhere_else(self):
        experiment, bearer = self.put_in()
        worker = self.cluster.start_worker(1)
        harness.wait_for(lambda: self.ledger.of("step"), "a trial to train", worker.said)
        training = {line["pid"] for line in self.ledger.of("start")}
        looked_at = set()
        for pid in processes_of_ours(os.getpid()):
            place = pathlib.Path(f"/proc/{pid}")
            try:
                name = os.path.basename(os.readlink(place / "exe"))
                self.assert_not_in((place / "cmdline").read_bytes(), f"the arguments of {name}")
                if pid in training:
                    self.assertIn(PROGRAM_SECRET.encode(), (place / "environ").read_bytes(), "its program has to have it")
                    continue
                self.assert_not_in((place / "environ").read_bytes(), f"the environment of {name}")
                core = re.search(r"^Max core file size +(\S+)", (place / "limits").read_text(), re.MULTILINE)[1]
                self.assertEqual(core, "0", f"{name} may write a core file")
            except FileNotFoundError:
                continue  # It has just ended.
            looked_at.add(name)
        self.assertLessEqual({"hpsearchd", "hpsearch-worker", "hpsearch-shim"}, looked_at)
        self.read_all(experiment, bearer)
        for asked, answer in self.heard:
            self.assert_not_in(answer.encode(), f"the answer to {asked}: {answer[:1000]}")
        worker.end()
        self.cluster.daemon.end()
        files = [path for path in [*self.cluster.state.rglob("*"), self.cluster.daemon.log, worker.log] if path.is_file()]
        self.assertGreater(len(files), 6)
        for path in files:
            self.assert_not_in(path.read_bytes(), path)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
