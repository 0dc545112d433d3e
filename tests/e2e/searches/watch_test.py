"""`hpsearch watch` on a terminal of 80 x 24 (a pty), and as lines where there is none."""

import signal
import termios
import unittest

import harness
from terminal import Terminal

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
        self.assertRegex(terminal.text(), "[\u2801-\u28ff]")
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
