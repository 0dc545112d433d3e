"""Measures what heavy reads of one client cost the others, as JSON: measure.py BIN_DIR STORE [--readers N] [--seconds S].

STORE is a state directory with an experiment (make_store). One token reads all columns of it over N connections, again and
again; another token submits a small experiment every 0.2 s, first alone and then beside the reads. All processes share the
machine's cores, this one with its readers too.
"""

import argparse
import http.client
import json
import pathlib
import re
import socket
import subprocess
import sys
import threading
import time

SMALL = json.dumps({"config": {
    "name": "small", "entrypoint": ["true"], "hyperparameters": {"lr": {"type": "double", "minval": 0.0, "maxval": 1.0}},
    "searcher": {"name": "random", "metric": "loss", "max_trials": 1, "max_length": {"epochs": 1}}}})


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self.path)


def ask(connection, method, target, body=None, headers=None):
    connection.request(method, target, body, {"Content-Type": "application/json", **(headers or {})})
    answer = connection.getresponse()
    return answer.status, answer.read()


class Daemon:
    def __init__(self, bin_dir, state):
        self.state = pathlib.Path(state)
        self.popen = subprocess.Popen([f"{bin_dir}/hpsearchd", "--state-dir", state, "--http", "127.0.0.1:0", "--log-level",
                                       "error"], stdin=subprocess.DEVNULL)
        while True:
            try:
                self.local = UnixConnection(self.state / "api.sock")
                ask(self.local, "GET", "/healthz")
                break
            except OSError:
                if self.popen.poll() is not None:
                    sys.exit("measure: the daemon does not start")
                time.sleep(0.1)
        self.http = json.loads((self.state / "daemon.json").read_text())["http"]

    def token(self, name, role):
        status, body = ask(self.local, "POST", "/api/v1/tokens", json.dumps({"name": name, "role": role}))
        if status >= 300:
            sys.exit(f"measure: {body}")
        return {"Authorization": "Bearer " + json.loads(body)["token"]}

    def memory(self, key):
        text = pathlib.Path(f"/proc/{self.popen.pid}/status").read_text()
        return int(re.search(key + r":\s+(\d+)", text).group(1)) * 1024

    def forget_peak(self):
        pathlib.Path(f"/proc/{self.popen.pid}/clear_refs").write_text("5")

    def end(self):
        self.popen.terminate()
        self.popen.wait(60)


def submissions(daemon, token, seconds):
    """How long each answer took."""
    connection = http.client.HTTPConnection(daemon.http, timeout=120)
    times = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.monotonic()
        status, body = ask(connection, "POST", "/api/v1/experiments", SMALL, token)
        times.append(time.monotonic() - began)
        if status != 201:
            sys.exit(f"measure: a submission was answered with {status}: {body}")
        time.sleep(0.2)
    return sorted(times)


class Readers:
    def __init__(self, daemon, token, count):
        self.counts = {}
        self.lock = threading.Lock()
        self.ending = False
        self.threads = [threading.Thread(target=self.read, args=(daemon, token)) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def read(self, daemon, token):
        connection = http.client.HTTPConnection(daemon.http, timeout=120)
        while not self.ending:
            status, _ = ask(connection, "GET", "/api/v1/experiments/1/columns", None,
                            {"Accept": "application/vnd.hpsearch.columns", **token})
            with self.lock:
                self.counts[status] = self.counts.get(status, 0) + 1
            if status == 503:
                time.sleep(1)

    def end(self):
        self.ending = True
        for thread in self.threads:
            thread.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin_dir")
    parser.add_argument("state")
    parser.add_argument("--readers", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=15)
    arguments = parser.parse_args()
    daemon = Daemon(arguments.bin_dir, arguments.state)
    viewer, submitter = daemon.token("viewer", "viewer"), daemon.token("submitter", "submitter")
    submissions(daemon, submitter, 1)
    alone = submissions(daemon, submitter, arguments.seconds / 2)
    before = daemon.memory("VmRSS")
    daemon.forget_peak()
    readers = Readers(daemon, viewer, arguments.readers)
    time.sleep(1)
    beside = submissions(daemon, submitter, arguments.seconds)
    readers.end()
    peak = daemon.memory("VmHWM")
    daemon.end()
    at = lambda times, share: times[min(len(times) - 1, int(share * len(times)))]
    print(json.dumps({"readers": arguments.readers, "alone_p50": at(alone, 0.5), "alone_p99": at(alone, 0.99),
                      "beside_p50": at(beside, 0.5), "beside_p99": at(beside, 0.99), "submissions": len(beside),
                      "reads_per_second": readers.counts.get(200, 0) / (arguments.seconds + 1),
                      "refused": readers.counts.get(503, 0) + readers.counts.get(429, 0), "bytes": peak - before}))


if __name__ == "__main__":
    main()
