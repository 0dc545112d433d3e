"""A genuine PostgreSQL in a folder of its own, on a Unix socket there. It refuses root, so root starts it as another user."""

import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile

import harness

PLACES = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
PROGRAMS = PLACES[-1].parent if PLACES else None


def missing():
    """Why there is none; "" if there is one."""
    return "" if PROGRAMS else "no PostgreSQL server here (scripts/setup test)"


def user():
    """Arguments of subprocess, and the numbers of the user and the group."""
    if os.geteuid() != 0:
        return {}, os.geteuid(), os.getegid()
    names = {one.pw_name: one for one in pwd.getpwall()}
    other = names.get("postgres") or names["nobody"]
    return {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []}, other.pw_uid, other.pw_gid


class Server:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hpsearch-postgresql-"))
        self.as_user, uid, gid = user()
        os.chown(self.folder, uid, gid)
        self.schemas = 0
        self.process = None
        subprocess.run([PROGRAMS / "initdb", "-D", self.folder / "data", "-U", "hpsearch", "-A", "trust", "-E", "UTF8",
                        "--no-locale", "--no-sync"], check=True, stdout=subprocess.DEVNULL, cwd=self.folder, **self.as_user)
        self.start()

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAMS / "postgres", "-D", self.folder / "data", "-k", self.folder, "-c", "listen_addresses=", "-c", "fsync=off"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, **self.as_user)
        harness.wait_for(lambda: self.run("SELECT 1").returncode == 0, "PostgreSQL to answer",
                         lambda: (self.folder / "log").read_text()[-2000:])

    def stop(self):
        """At once, as if it was killed."""
        if self.process:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(60)
            self.process = None

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, statement):
        return subprocess.run([PROGRAMS / "psql", "-X", "-q", "-h", self.folder, "-U", "hpsearch", "-d", "postgres", "-v",
                               "ON_ERROR_STOP=1", "-c", statement], capture_output=True, text=True)

    def new_store(self):
        """The address of a place without a store."""
        self.schemas += 1
        made = self.run(f"CREATE SCHEMA store{self.schemas}")
        assert made.returncode == 0, made.stderr
        return f"postgresql:///postgres?host={self.folder}&user=hpsearch&options=-csearch_path%3Dstore{self.schemas}"
