"""A real daemon with a store of many trials, for benches that read them. The store is written by make_store."""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))

import hpsearch as hp

BIN = pathlib.Path(os.environ.get("HPSEARCH_BIN", "build/release/bin"))


@contextlib.contextmanager
def daemon_with(trials, *more):
    """The process of the daemon, and its experiment with so many trials."""
    with tempfile.TemporaryDirectory(prefix="hpsearch-bench-") as folder:
        subprocess.run([str(BIN.parent / "tests" / "clients" / "web" / "make_store"), folder, "--trials", str(trials), *more], check=True,
                       stdout=subprocess.DEVNULL)
        daemon = subprocess.Popen([str(BIN / "hpsearchd"), "--state-dir", folder, "--log-level", "error"], stdin=subprocess.DEVNULL)
        try:
            client = _connected(folder, daemon)
            yield daemon, next(one for one in (client.experiment(known.id) for known in client.experiments())
                               if one.now().raw["trials_total"] == trials)
        finally:
            daemon.terminate()
            daemon.wait(60)


def _connected(folder, daemon):
    while True:
        try:
            client = hp.Client(state_dir=folder)
            client.experiments()
            return client
        except (hp.NotFound, hp.Unreachable):
            if daemon.poll() is not None:
                sys.exit("the daemon does not start")
            time.sleep(0.2)
