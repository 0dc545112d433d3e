"""Logs that outlive nodes: what a training printed reads the same when its worker, or all that its worker had, is gone."""

import re
import shutil
import stat
import unittest

import harness

PROGRAM = """
import os, sys, time
size, go_on = int(sys.argv[1]), sys.argv[2]
sys.stderr.write("a warning\\n")
print("it begins")
line = "x" * 99 + "\\n"
for number in range(size // len(line)):
    sys.stdout.write(line)
print("waiting", flush=True)
open(go_on + ".waits", "w").close()
while not os.path.exists(go_on):
    time.sleep(0.02)
print('HPSEARCH {"step": 1, "loss": 1}', flush=True)
print("the last line")
"""


class KeptLogs(harness.Case):
    def setUp(self):
        super().setUp()
        self.go_on = self.folder / "go-on"
        (self.folder / "program.py").write_text(PROGRAM)
        self.cluster = harness.Cluster(self)

    def start_search(self, size=0, **more):
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.worker = self.cluster.start_worker(1, "node-7")
        tree = harness.experiment(self.ledger_path, {"name": "single", "max_length": 1}, hyperparameters={"x": 1}, **more)
        tree["entrypoint"] = ["/usr/bin/python3", "-IS", str(self.folder / "program.py"), str(size), str(self.go_on)]
        self.experiment = self.cluster.submit(tree)
        harness.wait_for(self.go_on.with_name("go-on.waits").exists, "the program to wait")

    def finish(self):
        self.go_on.touch()
        self.assertEqual(self.cluster.wait_until_over(self.experiment), "COMPLETED")

    def logs(self, *options, expect=0):
        return self.run_cli("logs", "0", "--server", self.cluster.server, *options, expect=expect)

    def kept_files(self):
        return sorted(path.relative_to(self.cluster.state / "kept").as_posix()
                      for path in (self.cluster.state / "kept").rglob("*.zst"))

    def wait_until_kept(self):
        harness.wait_for(lambda: len(self.kept_files()) == 2, "both streams to be kept")

    def forget_the_node(self):
        self.worker.popen.kill()
        self.worker.popen.wait()
        shutil.rmtree(self.folder / "node-7")

    def test_reads_the_same_without_the_node(self):
        self.start_search()
        self.finish()
        self.wait_until_kept()
        before = self.logs().stdout, self.logs("--stderr").stdout
        self.assertEqual(before, ('it begins\nwaiting\nHPSEARCH {"step": 1, "loss": 1}\nthe last line\n', "a warning\n"))
        self.assertEqual(self.kept_files(), ["1/0/1/1.0.stderr.zst", "1/0/1/1.0.stdout.zst"])
        for path in [self.cluster.state / "kept", *(self.cluster.state / "kept").rglob("*")]:
            mode = stat.S_IMODE(path.stat().st_mode)
            self.assertEqual(mode, 0o700 if path.is_dir() else 0o600, path)
        # Its files are gone and it does not know.
        for log in (self.folder / "node-7").rglob("std*.log"):
            log.unlink()
        self.assertEqual((self.logs().stdout, self.logs("--stderr").stdout), before)
        self.forget_the_node()
        self.assertEqual((self.logs().stdout, self.logs("--stderr").stdout), before)
        self.assertEqual(self.logs("-f").stdout, before[0], "following ends with the log")
        # And after a restart of the daemon.
        self.cluster.kill_daemon()
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.assertEqual((self.logs().stdout, self.logs("--stderr").stdout), before)

    def test_of_a_hundred_megabytes_the_head_and_the_tail(self):
        self.start_search(100_000_000)
        self.finish()
        self.wait_until_kept()
        self.forget_the_node()
        text = self.logs().stdout
        (gap,) = re.findall(r"^.* left out here .*$", text, re.MULTILINE)
        self.assertRegex(gap, r"^… \d+\.\d MB left out here …$")
        head, tail = text.split(gap + "\n")
        # The unfinished line before the gap is ended.
        self.assertEqual(len(head.encode()), 2**20 + 1)
        self.assertEqual(len(tail.encode()), 3 * 2**20)
        self.assertTrue(head.startswith("it begins\nxxx"))
        self.assertTrue(tail.endswith('HPSEARCH {"step": 1, "loss": 1}\nthe last line\n'))

    def test_of_an_end_while_the_daemon_is_away(self):
        self.start_search()
        self.cluster.kill_daemon()
        self.go_on.touch()
        harness.wait_for(lambda: any("the last line" in log.read_text()
                                     for log in (self.folder / "node-7").rglob("stdout.log")), "the program to end")
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.assertEqual(self.cluster.wait_until_over(self.experiment), "COMPLETED")
        self.wait_until_kept()
        self.forget_the_node()
        self.assertTrue(self.logs().stdout.endswith("the last line\n"))

    def test_of_a_worker_that_is_told_to_end(self):
        """The program is ended with its worker; its log goes before the worker does."""
        self.start_search()
        self.worker.popen.terminate()
        self.worker.popen.wait(harness.PATIENCE)
        self.wait_until_kept()
        shutil.rmtree(self.folder / "node-7")
        self.assertEqual(self.logs("--attempt", 1).stdout, "it begins\nwaiting\n")

    def test_that_stay_on_the_worker_go_with_it(self):
        self.start_search(log_storage="worker")
        self.finish()
        self.assertIn("the last line", self.logs().stdout)
        self.forget_the_node()
        gone = self.logs(expect=1)
        self.assertIn("the daemon keeps no logs of this experiment (log_storage: worker)", gone.stderr)
        self.assertEqual(self.kept_files(), [])


if __name__ == "__main__":
    unittest.main()
