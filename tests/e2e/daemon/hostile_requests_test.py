"""A corpus of hostile requests, and hostile ways to send, against a real daemon.

Each line of hostile_requests.jsonl is a case: what is sent, and which status it is answered with. Of what is sent,
[TEXT, TIMES] repeats a text, and [TEXT, TIMES, BETWEEN] does so with its number in place of %d. A case that `ends` is
answered once, whatever stands behind it, and its connection is closed.
"""

import json
import pathlib
import re
import resource
import socket
import sys
import threading
import time
import unittest

import harness

CORPUS = pathlib.Path(__file__).with_name("hostile_requests.jsonl")
MOST_GROWTH = 64 << 20


def text_of(pieces):
    """The bytes that the pieces stand for."""
    text = ""
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
        elif len(piece) == 2:
            text += piece[0] * piece[1]
        else:
            text += piece[2].join(piece[0] % number for number in range(piece[1]))
    return text.encode("latin-1")


def request_of(case):
    if "send" in case:
        return text_of(case["send"])
    body = text_of(case["body"])
    head = (f"{case['method']} {case['path']} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n")
    return head.encode() + body


def send_all(connection, data):
    """Whatever the other end takes of it."""
    try:
        connection.sendall(data)
    except OSError:
        pass


def answers_of(connection, until_the_end):
    """All statuses that come: up to the end of the first answer, or of the connection. True: it was closed."""
    received = b""
    while True:
        heads = [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", received)]
        if heads and not until_the_end and b"\r\n\r\n" in received:
            return heads, False
        try:
            some = connection.recv(65536)
        except ConnectionResetError:
            return heads, True
        except TimeoutError:
            return heads, False
        if not some:
            return heads, True
        received += some


class Bystander(threading.Thread):
    """Asks for something small all the time, as others do meanwhile, and notes how long each answer takes."""

    def __init__(self, connect):
        super().__init__(daemon=True)
        self.connect = connect
        self.seconds = []
        self.over = threading.Event()

    def run(self):
        connection = self.connect()
        while not self.over.wait(0.005):
            began = time.monotonic()
            connection.sendall(b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n")
            if not connection.recv(4096):
                raise AssertionError("the daemon has closed the connection of somebody else")
            self.seconds.append(time.monotonic() - began)
        connection.close()

    def end(self):
        self.over.set()
        self.join()
        if not self.seconds:
            raise AssertionError("nobody else was answered")
        ordered = sorted(self.seconds)
        return (f"{len(ordered)} requests of others: median {ordered[len(ordered) // 2] * 1e3:.1f} ms, "
                f"p99 {ordered[len(ordered) * 99 // 100] * 1e3:.1f} ms, longest {ordered[-1] * 1e3:.1f} ms")


class HostileRequests(harness.Case):
    def setUp(self):
        super().setUp()
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8_192) if hard > 0 else 8_192, hard))
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon("--http", "127.0.0.1:0", "--http-open")
        self.cluster.wait_until_up()
        address = json.loads((self.cluster.state / "daemon.json").read_text())["http"]
        self.address = (address.rsplit(":", 1)[0], int(address.rsplit(":", 1)[1]))
        # The routes about an experiment and its trials have something to look at.
        self.cluster.submit(harness.experiment(self.ledger_path, {"name": "random", "max_length": 1, "max_trials": 2}))

    def connect(self):
        connection = socket.create_connection(self.address, timeout=60)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def memory(self, what):
        """Bytes; `what` is VmRSS, or VmHWM for the most there ever was."""
        status = pathlib.Path(f"/proc/{self.cluster.daemon.popen.pid}/status").read_text()
        return int(re.search(rf"^{what}:\s+(\d+) kB", status, re.MULTILINE)[1]) * 1024

    def beside_a_bystander(self, what):
        """Runs it, says how others fared, and checks that the daemon is up and has not grown."""
        for _ in range(20):
            self.cluster.get("/api/v1/status")
        bystander = Bystander(self.connect)
        bystander.start()
        growth = what()
        fared = bystander.end()
        self.assertIsNone(self.cluster.daemon.popen.poll(), self.cluster.daemon.said())
        self.assertEqual(self.cluster.call("GET", "/healthz")[0], 200)
        print(f"{self._testMethodName}: {fared}; the daemon had {growth / (1 << 20):.1f} MiB more at most",
              file=sys.stderr)
        self.assertLess(growth, MOST_GROWTH)

    def growth_by(self, what):
        """How many bytes more the daemon had at most while this was done than before."""
        before = self.memory("VmRSS")
        pathlib.Path(f"/proc/{self.cluster.daemon.popen.pid}/clear_refs").write_text("5")  # VmHWM begins anew.
        what()
        return self.memory("VmHWM") - before

    def play(self, case):
        """Sends it and returns what is wrong with the answer."""
        with self.connect() as connection:
            data = request_of(case)
            ends = case.get("ends", False)
            sender = threading.Thread(target=send_all, args=(connection, data))
            sender.start()
            statuses, closed = answers_of(connection, ends)
            connection.close() if not sender.is_alive() else connection.shutdown(socket.SHUT_RDWR)
            sender.join()
        if len(statuses) != 1 or statuses[0] not in case["expect"] or (ends and not closed):
            return (f"{case['subject']}, {case['name']}: answered {statuses}{' and closed' if closed else ''}, "
                    f"not {case['expect']}{' and closed' if ends else ''}")
        return None

    def play_all(self, *subjects):
        cases = [case for case in map(json.loads, CORPUS.read_text().splitlines()) if case["subject"] in subjects]
        self.assertTrue(cases)
        wrong = []

        def play(case):
            wrong.append(self.play(case))

        self.beside_a_bystander(lambda: max(self.growth_by(lambda case=case: play(case)) for case in cases))
        wrong = [one for one in wrong if one]
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_corpus(self):
        self.play_all("smuggling", "limits", "injection", "submissions", "archive")

    crowded = 0

    def crowd(self, count, data):
        """So many connections that have sent this and go on no further. No address may have many of them."""
        connections = []
        for _ in range(count):
            source = (f"127.0.1.{1 + self.crowded // 50}", 0)
            self.crowded += 1
            connection = socket.create_connection(self.address, timeout=60, source_address=source)
            self.addCleanup(connection.close)
            connection.sendall(data)
            connections.append(connection)
        return connections

    def end_of(self, connections):
        """Waits until the daemon has ended all of them; what it sends is not looked at."""
        for connection in connections:
            try:
                while connection.recv(65536):
                    pass
            except ConnectionResetError:
                pass

    def test_slow_clients(self):
        """A thousand heads that do not end, bodies that do not come, and answers that nobody reads."""
        values = [number % 100 for number in range(40_000)]
        large = self.cluster.submit(harness.experiment(
            self.ledger_path, {"name": "random", "max_length": 1, "max_trials": 1},
            hyperparameters={"x": {"type": "categorical", "vals": values}}))
        target = f"GET /api/v1/experiments/{large}/config HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        head = b"POST /api/v1/experiments HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

        def disturb():
            readers = self.crowd(50, target * 40)
            heads = self.crowd(1_000, b"GET /version HTTP/1.1\r\nHost: localhost\r\nX-A: a")
            bodies = self.crowd(200, head + b"Content-Length: 1000000\r\n\r\n{")
            huge = self.crowd(50, head + b"Content-Length: 100000000\r\n\r\n" + b" " * 65536)
            self.end_of(heads + bodies + huge)
            for reader in readers:
                reader.close()

        self.beside_a_bystander(lambda: self.growth_by(disturb))


if __name__ == "__main__":
    unittest.main()
