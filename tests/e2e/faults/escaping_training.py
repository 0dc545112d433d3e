#!/usr/bin/python3 -IS
"""A training that starts processes which want to stay: in sessions of their own, deaf to SIGTERM, with and without the
environment they came with, and forking on. It and all of them hold one lock, of as many as there are slots.

Half of the trainings end by themselves and leave them behind; the others must be killed.
"""

import fcntl
import json
import os
import signal
import socket
import sys
import time

ENV = os.environ
TRIAL = int(ENV["HPSEARCH_TRIAL_NUMBER"])


def note(what, **more):
    line = json.dumps({"what": what, "trial": TRIAL, **more}) + "\n"
    ledger = os.open(ENV["FAKE_LEDGER"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(ledger, line.encode())
    os.close(ledger)


def detached(run):
    """Runs `run` in a grandchild that is nobody's child."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    run()
    os._exit(0)


def fork_on():
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
    note("escaped", pid=os.getpid())
    while True:
        time.sleep(1000)


def hold_a_slot():
    """Takes one of as many locks as the worker has slots; whatever is started from here on holds it too."""
    for slot in range(int(ENV["FAKE_SLOTS"])):
        lock = os.open(os.path.join(ENV["FAKE_LOCKS"], str(slot)), os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        os.set_inheritable(lock, True)
        return True
    return False


def main():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if not hold_a_slot():
        note("double-booked")
    detached(fork_on)
    detached(lambda: os.execve("/bin/sleep", ["/bin/sleep", "1000.25"], {}))
    note("start", pid=os.getpid())
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(ENV["HPSEARCH_SOCKET"])
    stream = connection.makefile("rw")
    stream.write(json.dumps({"type": "report", "step": 1, "metrics": {"loss": TRIAL}}) + "\n")
    stream.flush()
    stream.readline()
    if TRIAL % 2:
        sys.exit(0)
    while True:
        time.sleep(1000)


main()
