"""Files that outlive nodes: what a program left in its working directory can be had when its worker is gone."""

import random
import shutil
import stat
import tarfile
import unittest

import harness

PROGRAM = """
import os, pathlib, random, sys
pathlib.Path("runs/deep").mkdir(parents=True)
pathlib.Path("runs/deep/model.bin").write_bytes(random.Random(int(sys.argv[1])).randbytes(3_000_000))
pathlib.Path("notes.txt").write_text("as it was")
pathlib.Path("empty").touch()
pathlib.Path("run.sh").write_text("exit 0")
os.chmod("run.sh", 0o755)
os.symlink("runs/deep/model.bin", "last")
os.symlink("/etc/passwd", "elsewhere")
print('HPSEARCH {"step": 1, "loss": 1}', flush=True)
"""


class FilesAtTheDaemon(harness.Case):
    def test_are_had_exactly_when_their_worker_is_gone(self):
        (self.folder / "program.py").write_text(PROGRAM)
        cluster = harness.Cluster(self)
        cluster.start_daemon()
        cluster.wait_until_up()
        worker = cluster.start_worker(1, "node-7")
        tree = harness.experiment(self.ledger_path, {"name": "single", "max_length": 1}, hyperparameters={"x": 1})
        seed = 20261127
        tree["entrypoint"] = ["/usr/bin/python3", "-IS", str(self.folder / "program.py"), str(seed)]
        experiment = cluster.submit(tree)
        self.assertEqual(cluster.wait_until_over(experiment), "COMPLETED")

        def files(*words, expect=0):
            return self.run_cli("files", *words, "--server", cluster.server, expect=expect)

        def listed():
            return files(experiment, 0, "--output", "json")["files"]

        harness.wait_for(lambda: len(listed()) == 6, "the daemon to have all files")
        worker.popen.kill()
        worker.popen.wait()
        shutil.rmtree(self.folder / "node-7")
        cluster.kill_daemon()
        cluster.start_daemon()
        cluster.wait_until_up()
        self.assertIn("runs/deep/model.bin", files(experiment, 0).stdout)
        trials = files("--output", "json")["trials"]
        self.assertEqual([(one["trial"], one["files"], one["left"]) for one in trials], [(0, 6, 0)])
        copy = self.folder / "copy"
        self.assertIn("left out: elsewhere", files("get", experiment, 0, copy).stderr)
        self.assertEqual((copy / "runs/deep/model.bin").read_bytes(), random.Random(seed).randbytes(3_000_000))
        self.assertEqual((copy / "notes.txt").read_text(), "as it was")
        self.assertEqual((copy / "empty").read_bytes(), b"")
        self.assertTrue((copy / "run.sh").stat().st_mode & stat.S_IXUSR)
        self.assertEqual(str((copy / "last").readlink()), "runs/deep/model.bin")
        self.assertFalse((copy / "elsewhere").is_symlink(), "it leads out of the copy")
        self.assertIn("already exists", files("get", experiment, 0, copy, expect=4).stderr)
        archive = self.folder / "files.tar"
        self.assertIn("left out: elsewhere", files("tar", experiment, 0, archive).stderr)
        with tarfile.open(archive) as opened:
            self.assertEqual(opened.getnames(), ["attempt-1/" + name for name in ("empty", "last", "notes.txt", "run.sh", "runs/deep/model.bin")])
            self.assertEqual(opened.extractfile("attempt-1/runs/deep/model.bin").read(), random.Random(seed).randbytes(3_000_000))
            self.assertEqual(opened.getmember("attempt-1/last").linkname, "runs/deep/model.bin")
            self.assertTrue(opened.getmember("attempt-1/run.sh").mode & stat.S_IXUSR)
        self.assertIn("already exists", files("tar", experiment, 0, archive, expect=4).stderr)
        files("tar", experiment, 0, self.folder / "again.tar")
        self.assertEqual((self.folder / "again.tar").read_bytes(), archive.read_bytes())
        for path in (cluster.state / "kept").rglob("*"):
            mode = stat.S_IMODE(path.stat().st_mode)
            self.assertEqual(mode, 0o700 if path.is_dir() else 0o600, path)
        # Content that is damaged on the daemon's disk is not passed on as if it were whole.
        largest = max((path for path in (cluster.state / "kept").rglob("*") if path.is_file()),
                      key=lambda path: path.stat().st_size)
        with open(largest, "r+b") as content:
            content.seek(1_000_000)
            content.write(b"damage")
        broken = files("get", experiment, 0, self.folder / "broken", expect=1)
        self.assertIn("runs/deep/model.bin is damaged at the daemon", broken.stderr)
        self.assertFalse((self.folder / "broken").exists())


if __name__ == "__main__":
    unittest.main()
