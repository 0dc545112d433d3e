"""hpsearch open: from the command line into a browser, without typing a token."""

import http.client
import json
import re
import signal
import subprocess
import unittest
import urllib.parse

import harness

PROGRAM = """import sys, time
for epoch in range(1, 4):
    time.sleep(0.2)
    print(f"epoch {epoch} loss: {float(sys.argv[1]) / epoch:.4f}", flush=True)
"""

EXPERIMENT = """entrypoint: python3 train.py {lr}
hyperparameters:
  lr: {type: categorical, vals: [0.001, 0.01, 0.1, 1.0]}
searcher: {name: grid, metric: loss, max_length: {epochs: 3}}
metrics: {loss: 'loss: {number}'}
"""


class Browser:
    """What of a browser matters here: it follows an address, keeps a cookie and shows it."""

    def __init__(self, url):
        self.at = urllib.parse.urlsplit(url)
        self.cookie = self.page_key = None

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection(self.at.netloc, timeout=30)
        try:
            headers = {name.replace("_", "-"): value for name, value in headers.items()}
            if self.cookie:
                headers = {"Cookie": self.cookie, "X-Hpsearch-Page-Key": self.page_key} | headers
            if body is not None:
                headers["Content-Type"] = "application/json"
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()

    def sign_in(self):
        answer, text = self.ask("POST", "/api/v1/session", {"code": self.at.fragment.removeprefix("login=")})
        if answer.status == 200:
            self.cookie = answer.getheader("Set-Cookie").split(";")[0]
            self.page_key = json.loads(text)["page_key"]
        return answer.status

    def status(self):
        return self.ask("GET", "/api/v1/status")[0].status


class Open(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)

    def open(self, *arguments, **variables):
        environment = {name: value for name, value in harness.environment().items()
                       if name not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "XDG_RUNTIME_DIR")}
        done = subprocess.run([str(harness.BIN / "hpsearch"), "open", *map(str, arguments)], capture_output=True, text=True,
                              timeout=harness.PATIENCE, env=environment | variables, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def begin(self, *more):
        self.cluster.start_daemon(*more)
        self.cluster.wait_until_up()

    def address(self):
        return self.open("--no-browser", "--server", self.cluster.server).stdout.strip()

    def test_signs_in_once_at_a_daemon_without_a_port(self):
        self.begin()
        self.assertEqual(json.loads((self.cluster.state / "daemon.json").read_text()).get("http", ""), "")
        url = self.address()
        self.assertRegex(url, r"^http://127\.0\.0\.1:\d+/#login=[\w-]{43}$")
        browser = Browser(url)
        self.assertEqual(browser.status(), 401)
        page, text = browser.ask("GET", "/")
        self.assertEqual((page.status, page.getheader("Content-Type")), (200, "text/html; charset=utf-8"))
        self.assertIn("script-src 'self'", page.getheader("Content-Security-Policy"))
        self.assertEqual(browser.sign_in(), 200)
        self.assertEqual(browser.status(), 200)
        self.assertEqual(Browser(url).sign_in(), 401, "the code is used up")
        self.assertEqual(browser.ask("POST", "/api/v1/experiments/1/pause", {}, X_Hpsearch_Page_Key="0")[0].status, 401)
        self.assertEqual(browser.ask("GET", "/api/v1/status", X_Hpsearch_Page_Key="0")[0].status, 401)
        self.assertEqual(browser.ask("POST", "/api/v1/experiments/1/pause", {})[0].status, 404)
        token = {"name": "mine", "role": "admin"}
        self.assertEqual(browser.ask("POST", "/api/v1/tokens", token)[0].status, 403)
        admin = Browser(self.open("--no-browser", "--admin", "--server", self.cluster.server).stdout.strip())
        self.assertEqual(admin.sign_in(), 200)
        self.assertEqual(admin.ask("POST", "/api/v1/tokens", token)[0].status, 201)
        # The same port again, and nothing but codes is new.
        self.assertEqual(urllib.parse.urlsplit(self.address()).netloc, browser.at.netloc)

    def test_an_open_page_finds_the_next_daemon(self):
        self.begin()
        browser = Browser(self.address())
        self.assertEqual(browser.sign_in(), 200)
        self.cluster.kill_daemon()
        self.begin()
        self.assertEqual(browser.status(), 200)
        self.assertEqual(browser.ask("DELETE", "/api/v1/session")[0].status, 204)
        self.assertEqual(browser.status(), 401)
        self.cluster.kill_daemon()
        self.begin()
        self.assertEqual(json.loads((self.cluster.state / "daemon.json").read_text()).get("http", ""), "",
                         "nobody is signed in, so no port is open")

    def test_no_argument_of_a_process_has_the_code(self):
        self.begin()
        seen = self.folder / "seen"
        fake = self.folder / "browser"
        fake.write_text(f"#!/bin/sh\necho \"$@\" > {seen}.new; mv {seen}.new {seen}\n")
        fake.chmod(0o755)
        runtime = self.folder / "runtime"
        runtime.mkdir(mode=0o700)
        done = self.open("--server", self.cluster.server, BROWSER=str(fake), XDG_RUNTIME_DIR=str(runtime))
        harness.wait_for(seen.exists, "the browser to start")
        page = runtime / "hpsearch-open.html"
        self.assertEqual(seen.read_text().strip(), f"file://{page}")
        self.assertEqual(page.stat().st_mode & 0o777, 0o600)
        url = re.search(r"url=([^\"]+)", page.read_text())[1]
        self.assertEqual(url, done.stdout.strip())
        self.assertEqual(Browser(url).sign_in(), 200)

    def test_a_search_that_runs_here_is_opened_by_the_command_that_run_prints(self):
        (self.folder / "train.py").write_text(PROGRAM)
        (self.folder / "experiment.yaml").write_text(EXPERIMENT)
        run = subprocess.Popen([str(harness.BIN / "hpsearch"), "run", "experiment.yaml", "--slots", "1"], cwd=self.folder,
                               env=harness.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(run.kill)
        line = next(line for line in run.stdout if "hpsearch open" in line)
        self.assertEqual(line.strip(), "in a browser: hpsearch open")
        browser = Browser(self.open("--no-browser", "experiment").stdout.strip())
        self.assertEqual(browser.at.path, "/e/1")
        self.assertEqual(browser.sign_in(), 200)
        listed = json.loads(browser.ask("GET", "/api/v1/experiments")[1])["experiments"]
        self.assertEqual([each["owner"] for each in listed], [subprocess.check_output(["id", "-un"], text=True).strip()])
        run.communicate(timeout=harness.PATIENCE)

        # Afterwards a daemon is started to show it, until Ctrl-C.
        shown = subprocess.Popen([str(harness.BIN / "hpsearch"), "open", "--no-browser"], cwd=self.folder,
                                 env=harness.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(shown.kill)
        later = Browser(shown.stdout.readline().strip())
        self.assertEqual(later.sign_in(), 200)
        self.assertEqual(later.status(), 200)
        shown.send_signal(signal.SIGINT)
        _, said = shown.communicate(timeout=harness.PATIENCE)
        self.assertEqual(shown.returncode, 0, said)

    def test_a_token_signs_in_over_tcp(self):
        self.begin("--http", "127.0.0.1:0")
        address = json.loads((self.cluster.state / "daemon.json").read_text()).get("http", "")
        token = self.run_cli("token", "create", "--name", "ann", "--role", "viewer", "--server", self.cluster.server).stdout
        path = self.folder / "ann.token"
        path.touch(0o600)
        path.write_text(token)
        browser = Browser(self.open("--no-browser", "--server", address, "--token-file", path).stdout.strip())
        self.assertEqual(browser.at.netloc, address)
        self.assertEqual(browser.sign_in(), 200)
        self.assertEqual(browser.ask("GET", "/api/v1/tokens")[0].status, 403)
        self.run_cli("token", "revoke", token[4:12], "--server", self.cluster.server)
        self.assertEqual(browser.status(), 401)


if __name__ == "__main__":
    unittest.main()
