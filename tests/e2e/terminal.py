"""A program on a terminal (a pty)."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

import harness

SEQUENCE = re.compile(rb"\x1b(\[[0-9;?]*[A-Za-z]|\([0-9A-B]|[=>])")


class Terminal:
    """A program on a pty."""

    def __init__(self, case, *arguments, environment=None, rows=24, columns=80, program=None):
        """`program` is hpsearch if missing."""
        self.case = case
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.popen = subprocess.Popen([str(program or harness.BIN / "hpsearch"), *map(str, arguments)], stdin=slave,
                                      stdout=slave, stderr=slave, start_new_session=True, cwd=case.folder,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                                      env=harness.environment() | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"} | (environment or {}))
        case.addCleanup(self.close)
        self.output = b""

    def read(self, patience=0.2):
        while select.select([self.master], [], [], patience)[0]:
            try:
                self.output += os.read(self.master, 65536)
            except OSError:
                return

    def text(self):
        """What it wrote, without escape sequences."""
        return SEQUENCE.sub(b"", self.output).decode(errors="replace")

    def wait_for_text(self, text):
        def has_it():
            self.read()
            return text in self.text()
        harness.wait_for(has_it, f"{text!r} on the terminal", lambda: self.text()[-4000:])

    def press(self, key):
        os.write(self.master, key)

    def end(self):
        deadline = time.monotonic() + harness.PATIENCE
        while self.popen.poll() is None and time.monotonic() < deadline:
            self.read()
        self.read()
        return self.popen.poll()

    def close(self):
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait()
        os.close(self.master)
        os.close(self.slave)
