"""hpsearch-ranks, the parent of an attempt's processes where there is one for each slot: what they find, where their output
goes, and how the whole ends.
"""

import os
import pathlib
import signal
import subprocess
import unittest

import harness

SHOW = 'echo "$RANK $LOCAL_RANK ${HPSEARCH_SOCKET-none}"; echo "to stderr" >&2'


class Ranks(harness.Case):
    def begin(self, count, first, script):
        return subprocess.Popen([str(harness.BIN / "hpsearch-ranks"), str(count), str(first), str(self.folder), "--",
                                 "/bin/sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=harness.environment() | {"HPSEARCH_SOCKET": "/a/socket", "FOLDER": str(self.folder)})

    def run_ranks(self, count, first, script, expect=0):
        running = self.begin(count, first, script)
        out, err = running.communicate(timeout=harness.PATIENCE)
        self.assertEqual(running.returncode, expect, err)
        return out, err

    def end_and_kill_the_rest(self, running, *numbers):
        """Its exit status and what came to stderr. What it leaves behind its parent would end, and still has its pipes."""
        running.wait(harness.PATIENCE)
        for number in numbers:
            file = self.folder / f"pid.{number}"
            harness.wait_for(lambda file=file: file.exists() and file.read_text().endswith("\n"), f"the pid of rank {number}")
            try:
                os.kill(int(file.read_text()), signal.SIGKILL)
            except ProcessLookupError:
                pass
        _, err = running.communicate(timeout=harness.PATIENCE)
        return running.returncode, err

    def log(self, stream, number):
        return (self.folder / f"{stream}.{number}.log").read_text()

    def wait_for_files(self, *names):
        for name in names:
            harness.wait_for((self.folder / name).exists, name)

    def test_each_has_its_rank_and_its_log(self):
        out, err = self.run_ranks(3, 6, SHOW)
        self.assertEqual((out, err), ("6 0 none\n", "to stderr\n"))
        self.assertEqual(self.log("stdout", 1), "7 1 none\n")
        self.assertEqual(self.log("stdout", 2), "8 2 none\n")
        self.assertEqual(self.log("stderr", 2), "to stderr\n")

    def test_only_the_first_of_all_has_the_socket(self):
        self.assertEqual(self.run_ranks(2, 0, SHOW)[0], "0 0 /a/socket\n")
        self.assertEqual(self.log("stdout", 1), "1 1 none\n")

    def test_one_that_fails_ends_it_and_shows_its_last_words(self):
        script = 'if [ $LOCAL_RANK = 1 ]; then echo "Traceback: too bad" >&2; exit 7; fi; exec sleep 1000'
        running = self.begin(2, 4, "echo $$ >$FOLDER/pid.$LOCAL_RANK; " + script)
        status, err = self.end_and_kill_the_rest(running, 0)
        self.assertEqual(status, 7)
        self.assertEqual(err, "hpsearch-ranks: rank 5 ended with status 7\n"
                              "hpsearch-ranks: the end of its stderr:\nTraceback: too bad\n")

    def test_a_signal_that_kills_one_is_a_failure(self):
        _, err = self.run_ranks(1, 3, "kill -SEGV $$", expect=128 + signal.SIGSEGV)
        self.assertEqual(err, f"hpsearch-ranks: rank 3 ended with signal {int(signal.SIGSEGV)}\n")

    def test_one_that_writes_without_end_hides_no_failure(self):
        running = self.begin(3, 0, "echo $$ >$FOLDER/pid.$LOCAL_RANK; case $LOCAL_RANK in "
                                   "1) exec yes;; 2) sleep 1; exit 5;; esac; exec sleep 1000")
        self.assertEqual(self.end_and_kill_the_rest(running, 0, 1)[0], 5)

    def test_a_checkpoint_signal_reaches_all_of_them(self):
        running = self.begin(2, 0, "trap 'echo saved; exit 0' USR1; touch $FOLDER/ready.$LOCAL_RANK; "
                                   "while :; do sleep 0.05; done")
        self.wait_for_files("ready.0", "ready.1")
        running.send_signal(signal.SIGUSR1)
        out, _ = running.communicate(timeout=harness.PATIENCE)
        self.assertEqual((running.returncode, out, self.log("stdout", 1)), (0, "saved\n", "saved\n"))

    def test_asked_to_end_it_waits_for_its_processes(self):
        running = self.begin(2, 0, "trap 'touch $FOLDER/asked' TERM; touch $FOLDER/ready.$LOCAL_RANK; "
                                   "until [ -e $FOLDER/go ]; do sleep 0.05; done; exit 3")
        self.wait_for_files("ready.0", "ready.1")
        running.send_signal(signal.SIGTERM)
        self.assertIsNone(running.poll())
        pathlib.Path(self.folder, "go").touch()
        running.communicate(timeout=harness.PATIENCE)
        self.assertEqual(running.returncode, 3)
        self.assertFalse((self.folder / "asked").exists(), "whoever asks the attempt signals each process of it")

    def test_what_it_does_not_understand_it_says(self):
        for arguments in ([], ["0", "0", ".", "--", "x"], ["2", "x", ".", "--", "y"], ["2", "0", ".", "x", "y"]):
            done = subprocess.run([str(harness.BIN / "hpsearch-ranks"), *arguments], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("usage: hpsearch-ranks", done.stderr)
        missing = subprocess.run([str(harness.BIN / "hpsearch-ranks"), "1", "0", str(self.folder), "--", "/no/such"],
                                 capture_output=True, text=True)
        self.assertEqual(missing.returncode, 127)
        self.assertIn("cannot run /no/such: No such file or directory", missing.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
