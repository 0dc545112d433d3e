"""Measures a daemon's streams and prints the figures as JSON: measure.py BIN_DIR STORE [--subscribers N] [--changes N].

STORE is a state directory with events (make_store). A change is a pause or a resume of an experiment: one event that is
decided, stored and synced before it is answered. All processes of the measurement share the machine's cores, this one
with its subscribers too: what it says of them is an upper bound.
"""

import argparse
import http.client
import json
import multiprocessing
import pathlib
import re
import select
import socket
import statistics
import subprocess
import sys
import time

CONNECTIONS_OF_ONE_ADDRESS = 60  # The daemon serves 64.
ID = re.compile(rb"^id: (\d+)$", re.MULTILINE)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self.path)


def ask(connection, method, target):
    connection.request(method, target)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    if answer.status >= 300:
        sys.exit(f"measure: {method} {target}: {body}")
    return body


class Daemon:
    def __init__(self, bin_dir, state):
        self.state = pathlib.Path(state)
        self.popen = subprocess.Popen([f"{bin_dir}/hpsearchd", "--state-dir", state, "--http", "127.0.0.1:0", "--http-open",
                                       "--log-level", "error"], stdin=subprocess.DEVNULL)
        socket_path = self.state / "api.sock"
        while True:
            try:
                connection = UnixConnection(socket_path)
                ask(connection, "GET", "/healthz")
                break
            except OSError:
                if self.popen.poll() is not None:
                    sys.exit("measure: the daemon does not start")
                time.sleep(0.1)
        self.connection = connection
        self.http = json.loads((self.state / "daemon.json").read_text())["http"]
        self.experiment = ask(connection, "GET", "/api/v1/experiments?limit=1")["experiments"][0]["id"]

    def status(self):
        return ask(self.connection, "GET", "/api/v1/status")

    def memory(self):
        text = pathlib.Path(f"/proc/{self.popen.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1)) * 1024

    def end(self):
        self.popen.terminate()
        self.popen.wait(60)


def subscribe(http, target, number):
    """An open stream from one of many addresses, each of which may have some."""
    host, port = http.rsplit(":", 1)
    connection = socket.create_connection((host, int(port)), 30,
                                          source_address=(f"127.0.1.{1 + number // CONNECTIONS_OF_ONE_ADDRESS}", 0))
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: {http}\r\nAccept: text/event-stream\r\n\r\n".encode())
    return connection


def read_all(http, targets, results, stop):
    """In a process of its own: tells when each event came at each subscriber, {lsn: [moments]}."""
    poll = select.epoll()
    streams = {}
    for number, target in enumerate(targets):
        stream = subscribe(http, target, number)
        stream.setblocking(False)
        streams[stream.fileno()] = stream
        poll.register(stream.fileno(), select.EPOLLIN)
    results.put("ready")
    came = {}
    while not stop.is_set():
        for descriptor, _ in poll.poll(0.1):
            try:
                text = streams[descriptor].recv(1 << 16)
            except BlockingIOError:
                continue
            now = time.monotonic()
            if not text:
                results.put("a stream was cut")
                return
            for lsn in ID.findall(text):
                came.setdefault(int(lsn), []).append(now)
    results.put(came)


def change(daemon, count, pause):
    """Makes changes, one after the other; for each: its LSN, how long the answer took, and when it came."""
    made = []
    for number in range(count):
        begin = time.monotonic()
        ask(daemon.connection, "POST", f"/api/v1/experiments/{daemon.experiment}/{'resume' if number % 2 else 'pause'}")
        end = time.monotonic()
        made.append((end - begin, end))
        time.sleep(pause)
    return made


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def with_subscribers(daemon, targets, changes):
    """Latency of answers with these subscribers, arrival of events at them, and what each of them costs in memory."""
    before = daemon.memory()
    results, stop = multiprocessing.Queue(), multiprocessing.Event()
    reader = multiprocessing.Process(target=read_all, args=(daemon.http, targets, results, stop), daemon=True)
    reader.start()
    results.get()
    time.sleep(2)
    memory = daemon.memory() - before
    first = daemon.status()["lsn"]
    made = change(daemon, changes, 0.05)
    last = daemon.status()["lsn"]
    time.sleep(1)
    stop.set()
    came = results.get()
    reader.join()
    if isinstance(came, str):
        sys.exit(f"measure: {came}")
    # A pause and a resume are one event each: the n-th answer is that of the n-th event.
    delays, missing = [], 0
    if last - first == changes:
        for place, (_, answered) in enumerate(made):
            arrivals = came.get(first + 1 + place, [])
            missing += len(targets) - len(arrivals)
            delays += [max(0.0, arrival - answered) for arrival in arrivals]
    return {"answers": [took for took, _ in made], "delays": delays, "missing": missing,
            "bytes_each": memory / max(1, len(targets))}


def resume(daemon, most):
    """Events a second that one subscriber gets from the beginning of the log."""
    last = min(daemon.status()["durable_lsn"], most)
    stream = UnixConnection(daemon.state / "api.sock")
    stream.request("GET", "/api/v1/events", headers={"Accept": "text/event-stream"})
    answer = stream.getresponse()
    begin, rest, count, size = time.monotonic(), b"", 0, 0
    while count < last:
        text = answer.read1(1 << 18)
        size += len(text)
        count += (rest + text).count(b"\nid: ")
        rest = text[-4:]
    seconds = time.monotonic() - begin
    stream.close()
    return {"events": count, "seconds": seconds, "bytes": size}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin_dir")
    parser.add_argument("store")
    parser.add_argument("--subscribers", type=int, default=1000)
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--resumed", type=int, default=1_000_000)
    arguments = parser.parse_args()
    daemon = Daemon(arguments.bin_dir, arguments.store)
    try:
        if ask(daemon.connection, "GET", f"/api/v1/experiments/{daemon.experiment}")["state"] not in ("ACTIVE", "PAUSED"):
            made = json.dumps({"config": {"entrypoint": ["true"], "hyperparameters": {"x": {"type": "double", "minval": 0, "maxval": 1}},
                                          "searcher": {"name": "random", "metric": "loss", "max_trials": 2,
                                                       "max_length": {"batches": 1}}}})
            daemon.connection.request("POST", "/api/v1/experiments", made, {"Content-Type": "application/json"})
            daemon.experiment = json.loads(daemon.connection.getresponse().read())["experiment"]
        resumed = resume(daemon, arguments.resumed)
        alone = [change(daemon, arguments.changes, 0.05)]
        events = f"/api/v1/events?after={daemon.status()['lsn']}"
        subscribed = with_subscribers(daemon, [events] * arguments.subscribers, arguments.changes)
        alone.append(change(daemon, arguments.changes, 0.05))
        page = f"/api/v1/stream?topics=experiments,experiment:{daemon.experiment},trials:{daemon.experiment},workers,cluster"
        paged = with_subscribers(daemon, [page] * arguments.pages, arguments.changes)
        answers = [took for part in alone for took, _ in part]
        print(json.dumps({
            "subscribers": arguments.subscribers, "pages": arguments.pages, "changes": arguments.changes,
            "alone_p50": statistics.median(answers), "alone_p99": quantile(answers, 0.99),
            "subscribed_p50": statistics.median(subscribed["answers"]), "subscribed_p99": quantile(subscribed["answers"], 0.99),
            "paged_p50": statistics.median(paged["answers"]), "paged_p99": quantile(paged["answers"], 0.99),
            "delay_p50": statistics.median(subscribed["delays"] or [float("nan")]),
            "delay_p99": quantile(subscribed["delays"] or [float("nan")], 0.99), "missing": subscribed["missing"],
            "bytes_each": subscribed["bytes_each"],
            "resumed_events": resumed["events"], "resumed_per_second": resumed["events"] / resumed["seconds"],
            "resumed_bytes_per_second": resumed["bytes"] / resumed["seconds"]}))
    finally:
        daemon.end()


if __name__ == "__main__":
    main()
