"""A home that is no local disk, and the places where state lies by default.

The home is a FUSE file system (bindfs) that names itself as the test likes: as one that nobody knows, or as one of a cluster.
Where nothing can be mounted these tests are skipped.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import unittest

import harness

SEARCHER = {"name": "adaptive_asha", "max_length": 16, "max_trials": 12, "divisor": 4}
UNKNOWN, CEPH = "hpsearch-test", "ceph-fuse"


def die_with_parent():
    """A test that is killed leaves no mount: without its server a FUSE file system is of no use to anyone."""
    import ctypes
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Home(harness.Case):
    """The folder `home` of a test, and what happens in it."""

    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        self.home.mkdir()

    def mount(self, subtype):
        program = shutil.which("bindfs")
        if program is None or not os.path.exists("/dev/fuse"):
            self.skipTest("no bindfs, or no /dev/fuse")
        (self.folder / "behind").mkdir()
        server = subprocess.Popen([program, "-f", "--no-allow-other", "-o", f"subtype={subtype}", self.folder / "behind",
                                   self.home], stderr=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        self.addCleanup(self.unmount, server)
        harness.wait_for(lambda: os.path.ismount(self.home) or server.poll() is not None, "the mount")
        if not os.path.ismount(self.home):
            self.skipTest(f"bindfs cannot mount here: {server.stderr.read().strip()}")

    def unmount(self, server):
        self.clean_up()  # Whoever works there goes first.
        for command in (["umount", "-l", self.home], ["fusermount3", "-u", "-z", self.home]):
            if subprocess.run(command, capture_output=True).returncode == 0:
                break
        server.terminate()
        server.communicate()

    def experiment_file(self, **fake):
        tree = harness.experiment(self.ledger_path, SEARCHER, fake={"METRIC": "equal"} | fake)
        path = self.home / "experiment.yaml"
        path.write_text(json.dumps(tree))
        return path

    def hpsearch(self, *arguments, expect=0, variables=None):
        done = subprocess.run([str(harness.BIN / "hpsearch"), *map(str, arguments)], capture_output=True, text=True,
                              timeout=harness.PATIENCE, env=harness.environment() | (variables or {}), cwd=self.home,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, expect, f"hpsearch {arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def start_run(self, *arguments):
        with open(self.folder / "run.log", "wb") as output:
            run = subprocess.Popen([str(harness.BIN / "hpsearch"), "run", *map(str, arguments)], stdout=output, stderr=output,
                                   stdin=subprocess.DEVNULL, cwd=self.home, env=harness.environment())
        self.addCleanup(self.end_run, run)
        return run

    def end_run(self, run):
        if run.poll() is None:
            run.send_signal(signal.SIGINT)  # So that its trials end with it.
        try:
            run.wait(60)
        except subprocess.TimeoutExpired:
            run.kill()
            run.wait()

    def judge_search(self, file, state):
        """It has ended, and was what it is elsewhere: nothing trained twice, nothing left out."""
        trials = json.loads(self.hpsearch("trials", "--state-dir", state, "--output", "json").stdout)["trials"]
        self.assertEqual({trial["trial"]: trial["reached"] for trial in trials}, self.ledger.final_lengths())
        preview = json.loads(self.hpsearch("preview", file, "--output", "json").stdout)
        self.assertEqual({str(length): count
                          for length, count in harness.count(self.ledger.final_lengths().values()).items()},
                         preview["final_counts"])
        steps = harness.count((line["trial"], line["step"]) for line in self.ledger.of("step"))
        self.assertEqual(set(steps.values()), {1}, "a step was trained twice")

    def sockets_below(self, top):
        found = []
        for folder, _, names in os.walk(top):  # Files come and go while the worker runs.
            for path in (pathlib.Path(folder, name) for name in names):
                with contextlib.suppress(FileNotFoundError):
                    if stat.S_ISSOCK(path.lstat().st_mode):
                        found.append(path)
        return found


class NetworkHome(Home):
    def test_an_unknown_file_system_is_refused_by_a_sentence_and_nothing_is_made(self):
        self.mount(UNKNOWN)
        file = self.experiment_file()
        done = self.hpsearch("run", file, expect=2)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        for words in (f"fuse.{UNKNOWN}", ".hpsearch/experiment", "NFS, Lustre", "--state-dir", "HPSEARCH_STATE_HOME",
                      "--allow-network-filesystem"):
            self.assertIn(words, done.stderr)
        self.assertEqual([path.name for path in self.home.iterdir()], [file.name])
        self.assertEqual(self.ledger.lines, [])
        daemon = self.start("hpsearchd", "--state-dir", self.home / "state", log="daemon.log")
        self.assertEqual(daemon.popen.wait(harness.PATIENCE), 2, daemon.said())
        self.assertIn("--allow-network-filesystem", daemon.said())

    def test_an_unknown_file_system_that_is_allowed_bears_a_search_to_its_end(self):
        self.mount(UNKNOWN)
        file = self.experiment_file(STEP_SECONDS=0.05)
        state = self.home / ".hpsearch" / "experiment"
        run = self.start_run(file, "--slots", "2", "--allow-network-filesystem")
        said = lambda: (self.folder / "run.log").read_text()
        harness.wait_for(lambda: len(self.ledger.of("step")) > 10 or run.poll() is not None, "the search to get going", said)
        # Whoever knows the directory finds the daemon; its sockets are elsewhere, for their owner alone.
        shown = json.loads(self.hpsearch("show", "--state-dir", state, "--output", "json").stdout)
        self.assertEqual(shown["state"], "ACTIVE")
        here = json.loads((state / "daemon" / "daemon.json").read_text())
        self.assertEqual(self.sockets_below(self.home), [])
        for address in (here["socket"], here["workers"]):
            socket = pathlib.Path(address.partition("://")[2])
            self.assertTrue(stat.S_ISSOCK(socket.lstat().st_mode))
            for directory in (socket.parent, socket.parent.parent):
                self.assertEqual((stat.S_IMODE(directory.stat().st_mode), directory.stat().st_uid), (0o700, os.geteuid()))
        # A daemon that dies comes back at the same sockets, and the worker to it.
        os.kill(here["pid"], signal.SIGKILL)
        self.assertEqual(run.wait(harness.PATIENCE), 0, said())
        self.assertFalse(pathlib.Path(here["socket"].partition("://")[2]).parent.exists())
        self.assertIn("hpsearchd ended unexpectedly", said())
        self.judge_search(file, state)
        self.hpsearch("run", file, "--slots", "2")  # The search keeps the permission.

    def test_a_clusters_file_system_is_accepted_with_one_warning(self):
        self.mount(CEPH)
        file = self.experiment_file()
        first = self.hpsearch("run", file, "--slots", "2")
        self.assertEqual((first.stdout + first.stderr).count("is on CephFS."), 1, first.stderr)
        self.judge_search(file, self.home / ".hpsearch" / "experiment")
        again = self.hpsearch("run", file, "--slots", "2")
        self.assertNotIn("CephFS", again.stdout + again.stderr)

    def test_a_daemon_warns_at_its_first_start_only(self):
        self.mount(CEPH)
        for warnings in (1, 0):
            daemon = self.start("hpsearchd", "--state-dir", self.home / "state", log=f"daemon-{warnings}.log")
            harness.wait_for(lambda: " ready: " in daemon.said() or daemon.popen.poll() is not None, "the daemon to serve")
            self.assertEqual(daemon.end(), 0, daemon.said())
            self.assertEqual(daemon.said().count("is on CephFS."), warnings, daemon.said())
        self.assertEqual([path.name for path in (self.home / "state").glob(".hpsearch-check*")], [])


class StateHome(Home):
    def test_runs_of_two_directories_on_files_of_one_name_are_two_searches(self):
        variables = {"HPSEARCH_STATE_HOME": str(self.folder / "state")}
        for name in ("a", "b"):
            self.home = self.folder / name
            self.home.mkdir()
            self.hpsearch("run", self.experiment_file(), "--slots", "2", "--name", name, variables=variables)
            self.assertFalse((self.home / ".hpsearch").exists())
        for name in ("a", "b"):
            self.home = self.folder / name
            shown = json.loads(self.hpsearch("show", "--output", "json", variables=variables).stdout)
            self.assertEqual(shown["name"], name)
        self.assertEqual(len(list((self.folder / "state").iterdir())), 2)

    def test_clients_find_the_daemon_that_runs_there(self):
        variables = {"XDG_STATE_HOME": str(self.folder / "xdg")}
        daemon = self.start("hpsearchd", log="daemon.log", extra=variables)
        harness.wait_for(lambda: " ready: " in daemon.said() or daemon.popen.poll() is not None, "the daemon to serve",
                         daemon.said)
        self.assertTrue((self.folder / "xdg" / "hpsearch" / "hpsearchd" / "events.db").exists())
        file = self.experiment_file()
        self.hpsearch("submit", file, variables=variables)
        self.assertIn("experiment", self.hpsearch("list", variables=variables).stdout)
        # Another home: that of the user who runs the test may have searches.
        self.hpsearch("list", expect=6, variables={"HOME": str(self.home)})

    def test_a_relative_one_is_refused_by_name(self):
        for arguments in (["run", self.experiment_file()], ["list"]):
            refused = self.hpsearch(*arguments, expect=2, variables={"HPSEARCH_STATE_HOME": "runs"})
            self.assertIn('HPSEARCH_STATE_HOME is "runs"; it must be an absolute path', refused.stderr)


class OtherHost(Home):
    def pretend_that_another_host_has(self, state):
        record = {"host": "login2", "machine": "m2", "boot": "b2", "pid": 18, "token": 2}
        (state / "daemon" / "owner.json").write_text(json.dumps(record))

    def test_a_search_of_another_host_is_left_alone_until_it_is_taken_over(self):
        file = self.experiment_file()
        state = self.home / ".hpsearch" / "experiment"
        self.hpsearch("run", file, "--slots", "2")
        self.pretend_that_another_host_has(state)
        for more in ([], ["--fresh"]):
            refused = self.hpsearch("run", file, "--slots", "2", *more, expect=4)
            for words in ("process 18 on login2", "--take-over"):
                self.assertIn(words, refused.stderr)
        self.assertEqual([path.name for path in state.parent.iterdir()], [state.name], "it was moved")
        asked = self.hpsearch("trials", "--state-dir", state, expect=6)
        self.assertIn("runs on login2 (process 18); run this command there", asked.stderr)
        self.hpsearch("run", file, "--slots", "2", "--take-over")
        self.assertFalse((state / "daemon" / "owner.json").exists())
        self.judge_search(file, state)


if __name__ == "__main__":
    unittest.main()
