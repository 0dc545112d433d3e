#!/usr/bin/env python3
"""What a crowd of workers costs a daemon: the processor's time while all are idle, and how long a report waits while they join.

    bench/workers/crowd.py BIN [--workers 10000] [--searches 200] [--allocations 0] [--seconds 30]

BIN is the directory of the programs. The workers are connections of this process (ZMTP without keys) that say HELLO, come
again when they have to, take leases and send heartbeats at the interval that they are given. One more worker has been
there before, and reports the next step as soon as its last report is acknowledged, 20 ms later. Prints JSON.
"""

import argparse
import heapq
import http.client
import json
import os
import pathlib
import random
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL" + bytes(16) + b"\x00" + bytes(31)
READY = b"\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER\x08Identity\x00\x00\x00\x00"
PATIENCE = 300


def packed(value):
    """msgpack, as much of it as workers send."""
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return bytes([value]) if value < 128 else b"\xcf" + struct.pack(">Q", value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        text = value.encode()
        return b"\xd9" + bytes([len(text)]) + text
    if isinstance(value, list):
        return b"\xdc" + struct.pack(">H", len(value)) + b"".join(map(packed, value))
    return b"\xde" + struct.pack(">H", len(value)) + b"".join(packed(k) + packed(v) for k, v in value.items())


def unpacked(data, at=0):
    """The value at that place, and where it ends."""
    kind = data[at]
    at += 1
    if kind < 0x80:
        return kind, at
    if kind >= 0xe0:
        return kind - 256, at
    if kind < 0x90 or kind in (0xde, 0xdf):
        size, at = (kind & 15, at) if kind < 0x90 else sized(data, at, {0xde: ">H", 0xdf: ">I"}[kind])
        found = {}
        for _ in range(size):
            key, at = unpacked(data, at)
            found[key], at = unpacked(data, at)
        return found, at
    if kind < 0xa0 or kind in (0xdc, 0xdd):
        size, at = (kind & 15, at) if kind < 0xa0 else sized(data, at, {0xdc: ">H", 0xdd: ">I"}[kind])
        found = []
        for _ in range(size):
            value, at = unpacked(data, at)
            found.append(value)
        return found, at
    texts = {0xc4: ">B", 0xc5: ">H", 0xc6: ">I", 0xd9: ">B", 0xda: ">H", 0xdb: ">I"}
    if kind < 0xc0 or kind in texts:
        size, at = (kind & 31, at) if kind < 0xc0 else sized(data, at, texts[kind])
        return bytes(data[at:at + size]).decode(errors="replace"), at + size
    plain = {0xc0: None, 0xc2: False, 0xc3: True}
    if kind in plain:
        return plain[kind], at
    return sized(data, at, {0xca: ">f", 0xcb: ">d", 0xcc: ">B", 0xcd: ">H", 0xce: ">I", 0xcf: ">Q", 0xd0: ">b", 0xd1: ">h",
                            0xd2: ">i", 0xd3: ">q"}[kind])


def sized(data, at, form):
    return struct.unpack_from(form, data, at)[0], at + struct.calcsize(form)


class Worker:
    def __init__(self, crowd, number, slots, allocation=None):
        self.crowd, self.number, self.slots, self.allocation = crowd, number, slots, allocation
        self.socket = socket.create_connection(("127.0.0.1", crowd.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.data, self.greeted = bytearray(), False
        self.envelope, self.messages = [0, 0, 0], 0
        self.beat_every = None
        self.socket.send(GREETING)
        crowd.by_descriptor[self.socket.fileno()] = self
        crowd.poll.register(self.socket, select.EPOLLIN)

    def say(self, kind, body):
        self.messages += 1
        frame = packed([1, kind, *self.envelope, self.messages, body])
        head = b"\x00" + bytes([len(frame)]) if len(frame) < 256 else b"\x02" + struct.pack(">Q", len(frame))
        self.socket.send(head + frame)

    def greet(self):
        self.envelope[2] = 0
        hello = {"speaks_from": 1, "speaks_to": 1, "uid": f"crowd-{self.number}", "name": f"node-{self.number}",
                 "incarnation": 1, "slots": self.slots, "slot_kind": "cpu"}
        if self.allocation:
            hello["allocation"] = self.allocation
        self.say("HELLO", hello)

    def beat(self):
        self.say("BEAT", {})
        self.crowd.at(self.beat_every * random.uniform(0.8, 1.2), self.beat)

    def readable(self):
        try:
            got = self.socket.recv(262_144)
        except BlockingIOError:
            return
        if not got:
            sys.exit(f"worker {self.number} was disconnected")
        self.data += got
        if not self.greeted and len(self.data) >= 64:
            del self.data[:64]
            self.greeted = True
            self.socket.send(b"\x04" + bytes([len(READY)]) + READY)
        while self.greeted and len(self.data) >= 2:
            flags = self.data[0]
            start = 9 if flags & 2 else 2
            if len(self.data) < start:
                return
            size = struct.unpack_from(">Q", self.data, 1)[0] if flags & 2 else self.data[1]
            if len(self.data) < start + size:
                return
            body = bytes(self.data[start:start + size])
            del self.data[:start + size]
            if flags & 4:
                self.command(body)
            else:
                self.hear(unpacked(body)[0])

    def command(self, body):
        if body.startswith(b"\x05READY"):
            self.greet()
        elif body.startswith(b"\x04PING"):
            pong = b"\x04PONG" + body[7:]
            self.socket.send(b"\x04" + bytes([len(pong)]) + pong)

    def hear(self, message):
        _, kind, *self.envelope, _, body = message
        if kind == "WELCOME":
            self.beat_every = body["beat_every_ms"] / 1000
            self.crowd.welcomed += 1
            self.crowd.at(self.beat_every * random.uniform(0, 1), self.beat)
        elif kind == "RETRY_AFTER":
            self.crowd.refused_for_now += 1
            self.crowd.at(random.uniform(0, body["after_ms"] / 1000), self.greet)
        elif kind == "LEASE":
            self.leased({name: body[name] for name in ("experiment", "trial", "attempt", "lease")})
        elif kind == "ACK":
            self.acknowledged(body)

    def leased(self, key):
        self.say("STARTED", key)

    def acknowledged(self, body):
        pass


class Reporter(Worker):
    """Reports one step after the other."""

    key, step, waits, quiet = None, 0, [], False

    def leased(self, key):
        super().leased(key)
        if self.key is None:
            self.key = key
            self.report()

    def report(self):
        if self.quiet:
            return
        self.step += 1
        self.sent = time.monotonic()
        self.say("REPORTS", self.key | {"first_seq": self.step, "reports": [
            {"type": "metrics", "step": self.step, "metrics": {"loss": 1 / self.step}}]})

    def acknowledged(self, body):
        if body["upto"] == self.step and self.sent:
            self.waits.append((self.sent, time.monotonic() - self.sent))
            self.sent = None
            self.crowd.at(0.02, self.report)


class Crowd:
    def __init__(self, port):
        self.port, self.poll, self.by_descriptor = port, select.epoll(), {}
        self.timers, self.count = [], 0
        self.welcomed = self.refused_for_now = 0

    def at(self, seconds, call):
        self.count += 1
        heapq.heappush(self.timers, (time.monotonic() + seconds, self.count, call))

    def run(self, is_over):
        limit = time.monotonic() + PATIENCE
        while not is_over():
            now = time.monotonic()
            if now > limit:
                sys.exit(f"not over after {PATIENCE} s: {self.welcomed} welcomed")
            while self.timers and self.timers[0][0] <= now:
                heapq.heappop(self.timers)[2]()
            wait = max(0, min(0.05, self.timers[0][0] - now if self.timers else 0.05))
            for descriptor, _ in self.poll.poll(wait, 512):
                self.by_descriptor[descriptor].readable()

    def run_for(self, seconds):
        end = time.monotonic() + seconds
        self.run(lambda: time.monotonic() >= end)


def call(socket_path, method, path, body=None):
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(socket_path))
    connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status >= 300:
        sys.exit(f"{method} {path}: {answer.status} {text[:500]}")
    return json.loads(text)


def scheduler(folder):
    """The programs of a Slurm that takes every job and says that it runs; a directory for PATH."""
    programs = {"sbatch": '''
jobs=$(dirname "$0")/jobs
for word; do case $word in --comment=*) comment=${word#--comment=} ;; esac; done
echo "x" >>"$jobs.count"
id=$(wc -l <"$jobs.count")
echo "$id|RUNNING|$comment|None" >>"$jobs"
echo "$id"''', "squeue": 'cat "$(dirname "$0")/jobs" 2>/dev/null; exit 0', "scancel": "exit 0", "scontrol": "exit 0"}
    place = folder / "slurm"
    place.mkdir()
    for name, line in programs.items():
        (place / name).write_text(f"#!/bin/sh\n{line}\n")
        (place / name).chmod(0o755)
    return place


def add_queue(api, given):
    """Allocations come as trials wait, and there are enough of them for every worker."""
    subprocess.run([given.bin / "hpsearch", "alloc", "add", "slurm", "--server", f"unix://{api}", "--name", "crowd",
                    "--time-limit", "48h", "--idle-timeout", "24h", "--workers-per-alloc", str(given.workers // given.allocations), "--slots", "1",
                    "--max-workers", str(given.workers), "--backlog", str(given.allocations), "--no-check"], check=True)


def join_as_allocations_start(crowd, api, given):
    joined = 0
    while joined < given.allocations:
        running = call(api, "GET", "/api/v1/queues/crowd")["running"]
        for allocation in range(joined, running):
            for number in range(allocation, given.workers, given.allocations):
                Worker(crowd, number, 1, f"crowd/{allocation + 1}")
        joined = max(joined, running)
        print(f"{joined} allocations, {crowd.welcomed} workers", file=sys.stderr)
        crowd.run_for(5)


def milliseconds(programs, api, *words):
    """The median of 11 calls of the command line."""
    times = []
    for _ in range(11):
        began = time.monotonic()
        subprocess.run([programs / "hpsearch", *words, "--server", f"unix://{api}"], check=True, stdout=subprocess.DEVNULL)
        times.append(1e3 * (time.monotonic() - began))
    return round(sorted(times)[5], 1)


def search(number, trials_at_once):
    return {"name": f"search-{number}", "entrypoint": "true", "hyperparameters": {"x": {"type": "double", "minval": 0, "maxval": 1}},
            "searcher": {"name": "random", "metric": "loss", "max_length": {"batches": 1_000_000}, "max_trials": 1000,
                         "max_concurrent_trials": 1 if number == 0 else trials_at_once}}


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--workers", type=int, default=10_000)
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--allocations", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=30)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hpsearch-crowd-"))
    state = folder / "state"
    with open(folder / "log", "wb") as log:
        daemon = subprocess.Popen([given.bin / "hpsearchd", "--state-dir", state, "--workers", "tcp://127.0.0.1:0",
                                   "--workers-open", "--log-level", "error"], stdout=log, stderr=log,
                                  env=dict(os.environ, PATH=f"{scheduler(folder)}:{os.environ['PATH']}"))
    try:
        while not (state / "daemon.json").exists():
            time.sleep(0.05)
        port = int(json.loads((state / "daemon.json").read_text())["workers"].rpartition(":")[2])
        api = state / "api.sock"
        at_once = 2 * given.workers // given.searches if given.allocations else 16
        for number in range(given.searches):
            call(api, "POST", "/api/v1/experiments", {"config": search(number, at_once)})
        crowd = Crowd(port)
        reporter = Reporter(crowd, given.workers, 1)
        crowd.run(lambda: len(reporter.waits) > 20)
        alone = sorted(wait for _, wait in reporter.waits)
        began, cpu = time.monotonic(), processor_seconds(daemon.pid)
        if given.allocations:
            add_queue(api, given)
            join_as_allocations_start(crowd, api, given)
        else:
            for number in range(given.workers):
                Worker(crowd, number, 1)
                if number % 16 == 0:
                    crowd.run_for(0.002)
        crowd.run(lambda: crowd.welcomed > given.workers)
        joined, cpu_joined = time.monotonic(), processor_seconds(daemon.pid)
        during = sorted(wait for sent, wait in reporter.waits if sent + wait >= began)
        reporter.quiet = True
        crowd.run_for(20)
        before, idle_began = processor_seconds(daemon.pid), time.monotonic()
        crowd.run_for(given.seconds)
        idle = (processor_seconds(daemon.pid) - before) / (time.monotonic() - idle_began)
        lists = {} if not given.allocations else {
            "workers": milliseconds(given.bin, api, "workers"), "alloc list": milliseconds(given.bin, api, "alloc", "list"),
            "alloc show": milliseconds(given.bin, api, "alloc", "show", "crowd")}
        print(json.dumps({
            "workers": given.workers, "searches": given.searches, "load": os.getloadavg()[0],
            "report_alone_ms": {"median": round(1e3 * alone[len(alone) // 2], 1), "most": round(1e3 * alone[-1], 1)},
            "joins": {"seconds": round(joined - began, 1), "processor_seconds": round(cpu_joined - cpu, 1),
                      "refused_for_now": crowd.refused_for_now, "reports": len(during),
                      "report_ms": {"median": round(1e3 * during[len(during) // 2], 1),
                                    "99 %": round(1e3 * during[int(len(during) * 0.99)], 1), "most": round(1e3 * during[-1], 1)}},
            "idle": {"percent_of_a_core": round(100 * idle, 2)}, "allocations": given.allocations, "commands_ms": lists}, indent=1))
    finally:
        daemon.send_signal(signal.SIGKILL)
        daemon.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
