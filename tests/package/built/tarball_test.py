#!/usr/bin/python3
"""The tarball that scripts/package built: it runs wherever it is moved, and install.sh installs, replaces and removes it.

    tarball_test.py DIST
"""

import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
DIST = pathlib.Path(sys.argv.pop(1)).resolve()
VERSION = re.search(r"^project\(hpsearch VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.M)[1]
NAME = f"hpsearch-{VERSION}-linux-x86_64"
PROGRAMS = ["hpsearch", "hpsearchd", "hpsearch-worker", "hpsearch-shim", "hpsearch-report", "hpsearch-ranks", "hpsearch-determined"]
PATIENCE = 300
SEARCH = """\
name: moved
entrypoint: 'echo "loss {x}"'
metrics: {loss: 'loss {number}'}
hyperparameters:
  x: {type: double, minval: 0, maxval: 1}
searcher: {name: random, metric: loss, max_length: 1, max_trials: 3}
"""

if not (DIST / f"{NAME}.tar.zst").exists():
    print(f"skipped: {DIST} has no {NAME}.tar.zst: run scripts/wheel and scripts/package tarball")
    sys.exit(77)


def run(*words, expect=0, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=PATIENCE, check=False, **more)
    assert done.returncode == expect, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def files_under(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


class Tarball(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hpsearch-tarball-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        packed = subprocess.run(["zstd", "-q", "-d", "-c", DIST / f"{NAME}.tar.zst"], capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", self.folder], input=packed, check=True)
        self.tree = self.folder / NAME
        self.surroundings = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder / "home"), "LANG": "C.UTF-8"}
        (self.folder / "home").mkdir()

    def search(self, programs, name):
        folder = self.folder / "searches" / name
        folder.mkdir(parents=True)
        (folder / "search.yaml").write_text(SEARCH, encoding="utf-8")
        said = run(programs / "hpsearch", "run", "search.yaml", "-o", "json", cwd=folder, env=self.surroundings)
        self.assertIn("COMPLETED", said)

    def test_it_runs_wherever_it_is_moved(self):
        self.assertEqual(run(self.tree / "bin" / "hpsearch", "--version").strip(), f"hpsearch {VERSION}")
        self.search(self.tree / "bin", "first")
        second = self.folder / "second place"
        shutil.move(self.tree, second)
        self.search(second / "bin", "second")
        third = self.folder / "deep" / "er" / "third"
        third.parent.mkdir(parents=True)
        shutil.move(second, third)
        self.search(third / "bin", "third")

    def test_nothing_names_the_machine_that_built_it(self):
        for name in PROGRAMS:
            self.assertNotIn(str(ROOT).encode(), (self.tree / "bin" / name).read_bytes(), name)

    def test_the_client_is_with_it(self):
        self.assertEqual([path.name for path in self.tree.glob("share/hpsearch/python/*.whl")],
                         [f"hpsearch_client-{VERSION}-py3-none-any.whl"])

    def test_everything_in_it_is_readable_and_nothing_is_writable_by_others(self):
        for path in self.tree.rglob("*"):
            mode = path.lstat().st_mode & 0o777
            self.assertIn(mode, (0o644, 0o755, 0o777) if path.is_symlink() else (0o644, 0o755), path)

    def test_installed_programs_run_and_units_name_them(self):
        prefix = self.folder / "prefix"
        said = run(self.tree / "install.sh", "--prefix", prefix)
        self.assertIn(f"installed hpsearch {VERSION} in {prefix}", said)
        shutil.rmtree(self.tree)
        self.search(prefix / "bin", "installed")
        self.assertLessEqual({f"bin/{name}" for name in PROGRAMS}, files_under(prefix))
        for unit in ("hpsearchd", "hpsearch-worker"):
            text = (prefix / "lib/systemd/system" / f"{unit}.service").read_text(encoding="utf-8")
            self.assertIn(f"ExecStart={prefix}/bin/{unit} ", text)
            self.assertNotIn("/usr/bin/", text)

    def test_another_release_replaces_it_under_a_running_daemon(self):
        prefix = self.folder / "prefix"
        run(self.tree / "install.sh", "--prefix", prefix)
        state = self.folder / "state"
        daemon = subprocess.Popen([prefix / "bin" / "hpsearchd", "--state-dir", state], env=self.surroundings,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until = time.monotonic() + PATIENCE
            while not (state / "api.sock").exists():
                self.assertTrue(daemon.poll() is None and time.monotonic() < until, "the daemon doesn't start")
                time.sleep(0.05)
            # A release that has one file less and another one more.
            (self.tree / "share/man/man8/hpsearch-shim.8").unlink()
            (self.tree / "share/hpsearch/new.txt").write_text("new\n", encoding="utf-8")
            run(self.tree / "install.sh", "--prefix", prefix)
            self.assertFalse((prefix / "share/man/man8/hpsearch-shim.8").exists())
            self.assertTrue((prefix / "share/hpsearch/new.txt").exists())
            self.assertIsNone(daemon.poll())
        finally:
            daemon.send_signal(signal.SIGTERM)
            self.assertEqual(daemon.wait(PATIENCE), 0)

    def test_remove_leaves_what_it_did_not_install(self):
        prefix = self.folder / "prefix"
        (prefix / "bin").mkdir(parents=True)
        (prefix / "bin" / "own").write_text("own\n", encoding="utf-8")
        run(self.tree / "install.sh", "--prefix", prefix)
        run(prefix.parent / NAME / "install.sh", "--prefix", prefix, "--remove")
        self.assertEqual(files_under(prefix), {"bin/own"})
        self.assertIn("nothing was installed there", run(self.tree / "install.sh", "--prefix", prefix, "--remove", expect=1))

    def test_wrong_arguments_are_named(self):
        self.assertIn("--prefix DIR", run(self.tree / "install.sh", expect=2))
        self.assertIn('the prefix is "here"; it must begin with /', run(self.tree / "install.sh", "--prefix", "here", expect=2))
        self.assertIn("unknown argument --prefx", run(self.tree / "install.sh", "--prefx", "/x", expect=2))
        self.assertIn('the prefix is "/a b"', run(self.tree / "install.sh", "--prefix", "/a b", expect=2))


if __name__ == "__main__":
    unittest.main(verbosity=2)
