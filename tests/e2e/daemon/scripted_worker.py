"""A worker that is a script: the worker protocol (proto/SCHEMA.md) written down a second time, without any of our code.

It runs no programs. What a program would report follows from its hyperparameters and is reported as fast as the daemon
takes it, so that a life of a daemon holds many reports and decisions. It keeps what is not acknowledged, tells it again
in every session, and repeats some of what was acknowledged. All that it said and heard stands in its ledger, a file, a
line each, there before the next frame leaves.
"""

import collections
import json
import os
import select
import socket
import struct
import threading
import time

WIRE_VERSION = 1
UNDER_WAY = 4  # Reports of an attempt without an acknowledgement.
TOLD_AGAIN = 2  # Acknowledged reports that are said once more in each session.
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
READY = b"\x05READY\x0bSocket-Type\0\0\0\6DEALER"
LONG, COMMAND = 2, 4


def pack(value):
    """The msgpack of it. Texts are texts, floats doubles."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return b"\xcf" + struct.pack(">Q", value) if value >= 0 else b"\xd3" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        text = value.encode()
        return b"\xdb" + struct.pack(">I", len(text)) + text
    if isinstance(value, list):
        return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(pack, value))
    if isinstance(value, dict):
        return b"\xdf" + struct.pack(">I", len(value)) + b"".join(pack(key) + pack(of) for key, of in value.items())
    raise TypeError(f"no msgpack for {value!r}")


class Unpacker:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, form):
        return struct.unpack(">" + form, self.take(struct.calcsize(form)))[0]

    def value(self):
        tag = self.number("B")
        if tag < 0x80:
            return tag
        if tag >= 0xe0:
            return tag - 0x100
        if tag < 0x90:
            return self.map(tag & 0x0f)
        if tag < 0xa0:
            return [self.value() for _ in range(tag & 0x0f)]
        if tag < 0xc0:
            return self.take(tag & 0x1f).decode()
        if tag in (0xc0, 0xc2, 0xc3):
            return {0xc0: None, 0xc2: False, 0xc3: True}[tag]
        if 0xc4 <= tag <= 0xc6:
            return self.take(self.number("BHI"[tag - 0xc4]))
        if 0xca <= tag <= 0xd3:
            return self.number("fdBHIQbhiq"[tag - 0xca])
        if 0xd9 <= tag <= 0xdb:
            return self.take(self.number("BHI"[tag - 0xd9])).decode()
        if tag in (0xdc, 0xdd):
            return [self.value() for _ in range(self.number("HI"[tag - 0xdc]))]
        if tag in (0xde, 0xdf):
            return self.map(self.number("HI"[tag - 0xde]))
        raise ValueError(f"msgpack of another kind: {tag:#x}")

    def map(self, count):
        return {self.value(): self.value() for _ in range(count)}


class Wire:
    """One ZMTP 3.0 connection; OSError when there is none or it ends."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.arrived = b""

    def greet(self):
        self.socket.sendall(GREETING + self.framed(COMMAND, READY))
        while len(self.arrived) < len(GREETING):
            self.read()
        self.arrived = self.arrived[len(GREETING):]

    def close(self):
        self.socket.close()

    @staticmethod
    def framed(flags, body):
        if len(body) > 255:
            return bytes([flags | LONG]) + struct.pack(">Q", len(body)) + body
        return bytes([flags, len(body)]) + body

    def send(self, body):
        self.socket.sendall(self.framed(0, body))

    def read(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionError("the daemon has closed the connection")
        self.arrived += data

    def frames(self, patience):
        """The messages that arrive, at most `patience` seconds later."""
        if select.select([self.socket], [], [], patience)[0]:
            self.read()
        while len(self.arrived) >= 2:
            is_long = self.arrived[0] & LONG
            head = 9 if is_long else 2
            if len(self.arrived) < head:
                return
            size = struct.unpack(">Q", self.arrived[1:9])[0] if is_long else self.arrived[1]
            if len(self.arrived) < head + size:
                return
            flags, body = self.arrived[0], self.arrived[head:head + size]
            self.arrived = self.arrived[head + size:]
            if not flags & COMMAND:
                yield body
            elif body.startswith(b"\x04PING"):
                self.socket.sendall(self.framed(COMMAND, b"\x04PONG" + body[7:]))


class Attempt:
    """A program that trains nothing, and what of its reports is not acknowledged."""

    def __init__(self, lease):
        self.key = {name: lease[name] for name in ("experiment", "trial", "attempt", "lease")}
        self.hparams = lease["hparams"]
        self.metric = lease["metric"]
        self.root = lease["checkpoint_root"]
        self.slots = lease["slots"]
        self.length = lease["length"]
        self.step = lease.get("latest_step", 0)
        self.checkpoint_at = self.step
        self.reports = []  # All it made: number n stands at n - 1.
        self.acknowledged = 0
        self.told = 0
        self.decision = 0
        self.waits = False  # For a decision.
        self.exited = False

    def next_report(self):
        """What its program says now; None while it waits for an answer or has ended."""
        if self.waits or self.exited:
            return None
        if self.step < self.length:
            self.step += 1
        if self.step == self.length and self.checkpoint_at < self.step:
            self.checkpoint_at = self.step
            self.step -= 1  # The report of the step comes after it.
            path = "{root}/{experiment}/{trial}/{attempt}-{step}".format(root=self.root, step=self.step + 1, **self.key)
            os.makedirs(path)
            return {"type": "checkpoint", "step": self.step + 1, "path": path, "files": 1, "bytes": 1}
        self.waits = self.step >= self.length
        loss = (self.hparams["x"] - 0.3) ** 2 + 1.0 / self.step
        return {"type": "metrics", "step": self.step, "metrics": {self.metric: loss}}

    def decide(self, directive, length):
        """What it does about it; its last report when that is to end."""
        if directive == "continue":
            self.length = length
            self.waits = False
            return None
        self.exited = True
        return {"type": "exit", "cause": "exited"}


class ScriptedWorker(threading.Thread):
    """It knocks at the port until it is ended. `problem` is what it heard that no daemon may say."""

    def __init__(self, port, slots, ledger):
        super().__init__(daemon=True)
        self.port, self.slots = port, slots
        self.ledger = open(ledger, "a", encoding="utf-8")
        self.attempts = {}
        self.cluster = self.epoch = self.session = self.hellos = self.messages = 0
        self.uid = os.urandom(16).hex()
        self.ending = threading.Event()
        self.problem = None
        self.acknowledged = 0  # Reports, of all attempts.

    def end(self):
        self.ending.set()
        self.join(60)
        self.ledger.close()

    def note(self, what, attempt, **more):
        self.ledger.write(json.dumps({"what": what, **attempt.key, **more}) + "\n")
        self.ledger.flush()

    def run(self):
        while not self.ending.is_set() and not self.problem:
            wire = None
            try:
                wire = Wire(self.port)
                wire.greet()
                self.converse(wire)
            except OSError:
                time.sleep(0.01)
            except Exception as error:  # The test looks at it: a thread has nobody else.
                self.problem = repr(error)
                raise
            finally:
                if wire:
                    wire.close()

    def say(self, wire, kind, body):
        self.messages += 1
        wire.send(pack([WIRE_VERSION, kind, self.cluster, self.epoch, self.session, self.messages, body]))

    def converse(self, wire):
        """One connection, to its end."""
        self.session = 0
        self.hellos += 1
        self.messages = self.hellos - 1  # HELLO counts the HELLOs.
        self.say(wire, "HELLO", {
            "speaks_from": WIRE_VERSION, "speaks_to": WIRE_VERSION, "uid": self.uid, "name": "script", "incarnation": 1,
            "boot_id": "boot", "pid": os.getpid(), "slots": self.slots, "slot_kind": "cpu",
            "held": [attempt.key | {"exited": attempt.exited, "last_seq": len(attempt.reports), "last_decision":
                                    attempt.decision, "first_seq": attempt.acknowledged + 1, "slots": attempt.slots,
                                    "length": attempt.length} for attempt in self.attempts.values()]})
        self.messages = 0
        beaten = progressed = time.monotonic()
        while not self.ending.is_set() and not self.problem:
            for frame in wire.frames(0.05):
                progressed = time.monotonic()
                if not self.hear(wire, frame):
                    return
            now = time.monotonic()
            if now - progressed > 2:  # A full disk drops what it cannot keep.
                progressed = now
                for attempt in self.attempts.values():
                    attempt.told = attempt.acknowledged
            if self.session and now - beaten > 2:
                beaten = now
                self.say(wire, "BEAT", {})
            if self.session:
                self.train(wire)

    def hear(self, wire, frame):
        """False when a new connection is asked for."""
        _, kind, cluster, epoch, session, _, body = Unpacker(frame).value()
        key = (body.get("experiment"), body.get("trial"), body.get("attempt"))
        attempt = self.attempts.get(key)
        if kind == "RESYNC":
            return False
        if kind == "WELCOME":
            self.cluster, self.epoch, self.session = cluster, epoch, session
            for fate in body.get("attempts", []):
                of = self.attempts[(fate["experiment"], fate["trial"], fate["attempt"])]
                if fate["fate"] != "go_on" or fate.get("new_lease"):
                    self.problem = f"a training would have been disturbed: {fate}"
                    return False
                self.acknowledge(of, fate.get("upto", 0))
                of.told = max(0, of.acknowledged - TOLD_AGAIN)
        elif kind == "LEASE":
            if attempt is None:
                attempt = self.attempts[key] = Attempt(body)
                self.note("start", attempt, step=attempt.step, length=attempt.length)
            elif attempt.key["lease"] != body["lease"]:
                self.problem = f"leased twice: {attempt.key}, then {body['lease']}"
                return False
            self.say(wire, "STARTED", attempt.key)
        elif kind == "RETRY_AFTER" and session:
            pass  # A full disk takes no reports; what is not acknowledged is said again.
        elif kind in ("FENCED", "HOLD", "REFUSED", "RETRY_AFTER"):
            self.problem = f"{kind} {body}"
            return False
        elif attempt is None:
            pass  # Of an attempt that has been told wholly.
        elif kind == "ACK":
            self.acknowledge(attempt, body["upto"])
        elif kind == "NACK":
            attempt.told = body["expect"] - 1
        elif kind == "DECISION":
            if body["decision"] > attempt.decision:
                attempt.decision = body["decision"]
                self.note("decision", attempt, decision=body["decision"], directive=body["directive"],
                          length=body.get("length", 0))
                last = attempt.decide(body["directive"], body.get("length", 0))
                if last:
                    self.make(attempt, last)
            self.say(wire, "DECISION_ACK", attempt.key | {"decision": body["decision"]})
        return True

    def acknowledge(self, attempt, upto):
        if upto > len(attempt.reports):
            self.problem = f"acknowledged what was never said: {attempt.key}, {upto}"
        elif upto > attempt.acknowledged:
            self.acknowledged += upto - attempt.acknowledged
            attempt.acknowledged = upto
            attempt.told = max(attempt.told, upto)
            self.note("acknowledged", attempt, upto=upto)
        if attempt.exited and attempt.acknowledged == len(attempt.reports):
            self.attempts.pop((attempt.key["experiment"], attempt.key["trial"], attempt.key["attempt"]), None)

    def make(self, attempt, report):
        attempt.reports.append(report)
        self.note("report", attempt, seq=len(attempt.reports), report=report)

    def train(self, wire):
        for attempt in self.attempts.values():
            while len(attempt.reports) - attempt.acknowledged < UNDER_WAY:
                report = attempt.next_report()
                if report is None:
                    break
                self.make(attempt, report)
            if attempt.told < len(attempt.reports):
                self.say(wire, "REPORTS", attempt.key | {"first_seq": attempt.told + 1,
                                                         "reports": attempt.reports[attempt.told:]})
                attempt.told = len(attempt.reports)


class Account:
    """What a scripted worker's ledger says, beside what a store holds (`store export`, a line an event)."""

    def __init__(self, ledger, exported):
        self.ledger = [json.loads(line) for line in ledger.read_text().splitlines()]
        self.events = [json.loads(line) for line in exported.splitlines()]

    @staticmethod
    def of(line):
        return line["experiment"], line["trial"], line["attempt"]

    def compare(self, case):
        """Nothing acknowledged is lost, nothing counts twice, nothing was told that is not in the store."""
        said = {(*self.of(line), line["seq"]): line["report"] for line in self.ledger if line["what"] == "report"}
        taken = collections.defaultdict(list)
        for event in self.events:
            if event["type"] == "report_taken":
                taken[self.of(event)].append(event["seq"])
                told = dict(said.get((*self.of(event), event["seq"])) or {})
                stored = event["report"].get("path")
                if stored and not stored.startswith("/"):  # A store's own places are relative to it.
                    case.assertTrue(told["path"].endswith("/" + stored), told)
                    told["path"] = stored
                case.assertEqual(event["report"], told, "nobody said that")
        for attempt, numbers in taken.items():
            case.assertEqual(numbers, list(range(1, len(numbers) + 1)), f"doubled, or out of order: {attempt}")
        acknowledged = 0
        for line in self.ledger:
            if line["what"] == "acknowledged":
                case.assertLessEqual(line["upto"], len(taken[self.of(line)]), f"acknowledged, then lost: {line}")
        acknowledged = sum({self.of(line): line["upto"] for line in self.ledger if line["what"] == "acknowledged"}.values())
        stored, numbers_from = {}, 0
        for event in self.events:
            numbers_from = event.get("numbers_from", numbers_from)  # A restored store numbers what follows anew.
            stored[numbers_from + event["lsn"]] = event
        for line in self.ledger:
            if line["what"] == "start":
                lease = stored.get(line["lease"], {})
                case.assertEqual((lease.get("type"), lease.get("attempt")), ("lease_granted", line["attempt"]),
                                 f"leased, then forgotten: {line}")
            elif line["what"] == "decision":
                decided = stored.get(line["decision"], {})
                case.assertEqual((decided.get("experiment"), decided.get("trial")), (line["experiment"], line["trial"]),
                                 f"decided, then forgotten: {line}")
        return acknowledged

    def decisions(self):
        """Experiment → all that was decided in it, in order, without the numbers that a disturbed life makes others."""
        decided = collections.defaultdict(list)
        for event in self.events:
            if event["type"].startswith(("trial_", "length_", "lease_", "experiment_ended")):
                decided[event["experiment"]].append({name: value for name, value in event.items() if name not in (
                    "lsn", "at", "lease", "worker", "slots", "trial_id")})
        return decided
