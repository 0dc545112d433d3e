"""hpsearchd --notify: webhooks, Slack and mail arrive, signed, at least once, also after refusals and kill -9."""

import base64
import hashlib
import hmac
import html
import http.server
import json
import signal
import sys
import threading
import unittest

import harness
from harness import wait_for

SECRET = b"0123456789abcdef"
FAILING = {"entrypoint": f"{sys.executable} -c 'raise SystemExit(3)'", "hyperparameters": {"x": {"type": "double", "minval": 0, "maxval": 1}},
           "searcher": {"name": "random", "metric": "loss", "max_trials": 3, "max_length": 1}, "max_restarts": 0, "pause_on_failures": 0}


class Receiver:
    """A web server that keeps what it gets, and answers with the status that the test wants."""

    def __init__(self, case):
        self.got, self.refuses = [], {}  # By path: how many requests are refused.
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                refused = receiver.refuses.get(self.path, 0) > 0
                if refused:
                    receiver.refuses[self.path] -= 1
                receiver.got.append((self.path, dict(self.headers), body, refused))
                self.send_response(503 if refused else 204)
                self.end_headers()

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        case.addCleanup(self.server.server_close)
        case.addCleanup(self.server.shutdown)

    def taken(self, path):
        return [json.loads(body) for at, _, body, refused in self.got if at == path and not refused]


class Notifications(harness.Case):
    def setUp(self):
        super().setUp()
        self.receiver = Receiver(self)
        (self.folder / "secret").write_bytes(SECRET)
        (self.folder / "secret").chmod(0o600)
        sendmail = self.folder / "sendmail"
        sendmail.write_text(f"#!/bin/sh\n{{ echo \"$@\"; cat; }} >> {self.folder}/mail\n")
        sendmail.chmod(0o755)
        self.file = self.folder / "notify.yaml"
        self.file.write_text(json.dumps({
            "pages": "https://hpsearch.example.org", "sendmail": str(sendmail), "new_best_every": 1,
            "receivers": {
                "all": {"webhook": self.receiver.address + "/all", "secret_file": "secret", "on": ["ended", "failed", "paused"]},
                "best": {"webhook": self.receiver.address + "/best", "on": ["new_best"]},
                "team": {"slack": self.receiver.address + "/slack", "labels": ["paper"]},
                "workers": {"webhook": self.receiver.address + "/workers", "on": ["worker_lost"]},
                "me": {"mail": ["ann@example.org"], "on": ["failed"]}}}))
        self.file.chmod(0o600)
        self.cluster = harness.Cluster(self)

    def start_daemon(self):
        self.cluster.start_daemon("--notify", self.file, "--lost-after", "10")
        self.cluster.wait_until_up()

    def wait_for_types(self, path, types):
        wait_for(lambda: [one["type"] for one in self.receiver.taken(path)] == types, f"{types} at {path}",
                 lambda: f"{self.receiver.got}\n{self.cluster.daemon.said()}")
        return self.receiver.taken(path)

    def test_each_receiver_gets_what_it_asked_for(self):
        self.start_daemon()
        worker = self.cluster.start_worker(2)
        stream = self.cluster.connection()
        stream.request("GET", "/api/v1/stream?topics=experiments")
        stream.getresponse().read(1)
        stream.close()  # A stream that ends must leave the receivers their events.
        self.cluster.submit(FAILING | {"name": "wrong"})
        failed = self.wait_for_types("/all", ["failed"])[0]
        self.assertEqual((failed["experiment"], failed["name"], failed["state"], failed["link"]),
                         (1, "wrong", "FAILED", "https://hpsearch.example.org/experiments/1"))
        self.assertRegex(failed["text"], r'^search "wrong" \(experiment 1\) failed: .*; no result$')
        _, headers, body, _ = self.receiver.got[0]
        signed = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
        self.assertEqual(headers["webhook-signature"], "v1," + base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest()).decode())
        self.assertEqual(headers["webhook-id"], failed["id"])
        wait_for(lambda: (self.folder / "mail").exists() and "\r\npage: " in (self.folder / "mail").read_bytes().decode(), "the mail")
        mail = (self.folder / "mail").read_bytes().decode()
        self.assertTrue(mail.startswith("-i -- ann@example.org\nTo: ann@example.org\r\nSubject: [hpsearch] search \"wrong\""), mail)
        self.assertEqual(self.receiver.taken("/slack"), [])

        self.cluster.submit(self.training("a<b&c", labels=["paper"], max_trials=6))
        ended = self.wait_for_types("/all", ["failed", "ended"])[1]
        self.assertRegex(ended["text"], r'^search "a<b&c" \(experiment 2\) completed.*; best loss [0-9.e-]+ \(trial [0-9]\)$')
        wait_for(lambda: self.receiver.taken("/slack"), "Slack")
        self.assertEqual(self.receiver.taken("/slack"), [{"text": html.escape(ended["text"], quote=False) + "\n" + ended["link"]}])
        worker.popen.kill()
        self.assertEqual(self.wait_for_types("/workers", ["worker_lost"])[0]["name"], "worker")
        other = self.cluster.start_worker(1, "other")
        self.cluster.submit(FAILING | {"name": "by the other one"})
        self.wait_for_types("/all", ["failed", "ended", "failed"])
        other.end()
        wait_for(lambda: 'worker "other" left' in self.cluster.daemon.said(), "a goodbye", self.cluster.daemon.said)
        self.cluster.submit(FAILING | {"name": "waits"})
        self.cluster.call("POST", "/api/v1/experiments/4/cancel")
        canceled = self.wait_for_types("/all", ["failed", "ended", "failed", "ended"])[3]
        self.assertIn(' was canceled', canceled["text"])
        self.wait_for_types("/workers", ["worker_lost"])  # One that says goodbye is not lost.

    def training(self, name, **more):
        searcher = FAILING["searcher"] | {"max_trials": more.pop("max_trials", 3)}
        seconds = more.pop("seconds", 0)
        program = (f"import time, os, json; time.sleep({seconds}); x = json.loads(os.environ['HPSEARCH_PARAMS'])['x']; "
                   "print('HPSEARCH', json.dumps({'step': 1, 'loss': x / 10 ** int(os.environ['HPSEARCH_TRIAL_NUMBER'])}))")
        (self.folder / "program.py").write_text(program)
        return FAILING | {"name": name, "entrypoint": f"{sys.executable} {self.folder}/program.py", "searcher": searcher} | more

    def test_what_is_refused_comes_again_with_the_same_id_and_nothing_is_lost_over_a_kill(self):
        self.start_daemon()
        self.cluster.start_worker(1)
        self.receiver.refuses["/all"] = 1
        self.cluster.submit(self.training("first"))
        self.wait_for_types("/all", ["ended"])
        ids = [headers["webhook-id"] for path, headers, _, _ in self.receiver.got if path == "/all"]
        self.assertEqual(len(ids), 2)
        self.assertEqual(ids[0], ids[1])
        self.receiver.refuses["/all"] = 10 ** 6
        self.cluster.submit(self.training("second"))
        wait_for(lambda: self.cluster.state_of(2) == "COMPLETED" and len([1 for path, *_ in self.receiver.got if path == "/all"]) > 2,
                 "a refused notification")
        self.cluster.kill_daemon()
        self.receiver.refuses.clear()
        self.start_daemon()
        names = [one["name"] for one in self.wait_for_types("/all", ["ended", "ended"])]
        self.assertEqual(names, ["first", "second"])

    def test_a_new_best_is_notified_and_the_first_result_is_not(self):
        self.start_daemon()
        self.cluster.start_worker(1)
        self.cluster.submit(self.training("long", max_trials=12, seconds=0.7))
        wait_for(lambda: self.receiver.taken("/best"), "a new best", lambda: self.cluster.daemon.said())
        best = self.receiver.taken("/best")
        self.assertEqual((best[0]["type"], best[0]["metric"]), ("new_best", "loss"))
        self.cluster.wait_until_over(1)
        values = [one["best_metric"] for one in self.receiver.taken("/best")]
        self.assertEqual(values, sorted(values, reverse=True))
        self.assertEqual(len(set(values)), len(values))

    def test_hang_up_reads_the_receivers_again(self):
        self.start_daemon()
        self.cluster.start_worker(1)
        self.cluster.submit(FAILING | {"name": "first"})
        self.wait_for_types("/all", ["failed"])
        receivers = json.loads(self.file.read_text())
        receivers["receivers"]["more"] = {"webhook": self.receiver.address + "/more", "on": ["failed"]}
        self.file.write_text("receivers: {}")
        self.cluster.daemon.popen.send_signal(signal.SIGHUP)
        wait_for(lambda: "notifications stay as they were" in self.cluster.daemon.said(), "the refusal", self.cluster.daemon.said)
        self.file.write_text(json.dumps(receivers))
        self.cluster.daemon.popen.send_signal(signal.SIGHUP)
        progress = self.cluster.state / "notifications" / "more.json"
        wait_for(progress.exists, "the new receiver", self.cluster.daemon.said)
        self.cluster.submit(FAILING | {"name": "second"})
        self.wait_for_types("/all", ["failed", "failed"])
        self.assertEqual([one["name"] for one in self.wait_for_types("/more", ["failed"])], ["second"])

    def test_a_wrong_file_keeps_the_daemon_from_starting_and_a_test_reaches_all(self):
        self.file.write_text('receivers:\n  a:\n    webhook: https://x\n    on: [end]\n')
        self.cluster.start_daemon("--notify", self.file)
        self.assertEqual(self.cluster.daemon.popen.wait(30), 2)
        self.assertIn(f"{self.file}:4: receivers.a.on: has \"end\"", self.cluster.daemon.said())
        self.file.write_text(json.dumps({"receivers": {"a": {"webhook": self.receiver.address + "/a"}, "b": {"slack": "http://127.0.0.1:9/b"}}}))
        done = self.run_cli("notify", self.file, expect=1)
        self.assertRegex(done.stdout, r"a +notified\nb +no answer from 127.0.0.1:9: Connection refused\n")
        self.assertEqual([one["type"] for one in self.receiver.taken("/a")], ["test"])


if __name__ == "__main__":
    unittest.main()
