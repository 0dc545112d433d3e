"""`hpsearch watch` on a terminal of 80 x 24 (a pty), and as lines where there is none."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

import harness

SEQUENCE = re.compile(rb"\x1b(\[[0-9;?]*[A-Za-z]|\([0-9A-B]|[=>])")


class Terminal:
    """A program on a pty."""

    def __init__(self, case, *arguments, environment=None, rows=24, columns=80):
        self.case = case
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.popen = subprocess.Popen([str(harness.BIN / "hpsearch"), *map(str, arguments)], stdin=slave, stdout=slave,
                                      stderr=slave, start_new_session=True, cwd=case.folder,
                                      env=harness.environment() | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"} | (environment or {}))
        case.addCleanup(self.close)
        self.output = b""

    def read(self, patience=0.2):
        while select.select([self.master], [], [], patience)[0]:
            try:
                self.output += os.read(self.master, 65536)
            except OSError:
                return

    def wait_for_text(self, text):
        def has_it():
            self.read()
            return text.encode() in SEQUENCE.sub(b"", self.output)
        harness.wait_for(has_it, f"{text!r} on the terminal", lambda: SEQUENCE.sub(b"", self.output).decode(errors="replace")[-4000:])

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


class WatchTest(harness.Case):
    def setUp(self):
        super().setUp()
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.cluster.start_worker(2)

    def submit(self, seconds):
        searcher = {"name": "async_halving", "max_trials": 8, "max_length": {"batches": 9}, "num_rungs": 2, "divisor": 3}
        return self.cluster.submit(harness.experiment(self.ledger_path, searcher, fake={"STEP_SECONDS": seconds}))

    def test_shows_the_search_and_gives_the_terminal_back(self):
        self.submit(0.1)
        terminal = Terminal(self, "watch", "1", "--server", self.cluster.server)
        for text in ("experiment 1", "RUNGS", "BEST TRIAL", "WORKERS", "LAST DECISIONS", "COMPLETED"):
            terminal.wait_for_text(text)
        self.assertIn(b"\x1b[?1049h", terminal.output, "it uses the other screen")
        self.assertRegex(SEQUENCE.sub(b"", terminal.output).decode(errors="replace"), "[\u2801-\u28ff]")
        terminal.press(b"q")
        self.assertEqual(terminal.end(), 0)
        self.assertIn(b"\x1b[?1049l", terminal.output, "the first screen is back")
        self.assertEqual(termios.tcgetattr(terminal.slave), terminal.before)

    def test_an_interrupt_gives_the_terminal_back(self):
        self.submit(0.3)
        terminal = Terminal(self, "watch", "1", "--server", self.cluster.server, environment={"NO_COLOR": "1"})
        terminal.wait_for_text("LAST DECISIONS")
        self.assertNotRegex(terminal.output, rb"\x1b\[[0-9;]*3[0-7]m", "NO_COLOR")
        terminal.popen.send_signal(signal.SIGTERM)
        self.assertEqual(terminal.end(), 130)
        self.assertEqual(termios.tcgetattr(terminal.slave), terminal.before)

    def test_without_a_terminal_there_are_lines_until_the_end(self):
        self.submit(0.05)
        said = self.run_cli("watch", "1", "--server", self.cluster.server).stdout
        self.assertNotIn("\x1b", said)
        self.assertIn("trial 7", said)
        self.assertEqual(self.cluster.state_of(1), "COMPLETED")


if __name__ == "__main__":
    unittest.main()
