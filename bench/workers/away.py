"""How long until workers are seen again after their daemon was away: away.py BIN_DIR [--workers N] [--away SECONDS ...].

The daemon is killed and started again after each of the times, then ten times in a row, 3 s after it answered. Times count
from the daemon's first answer. Over TCP, without CURVE.
"""

import argparse
import http.client
import json
import pathlib
import socket
import subprocess
import tempfile
import time


class Cluster:
    def __init__(self, bin_dir, folder, workers):
        self.bin_dir, self.folder, self.workers = bin_dir, pathlib.Path(folder), []
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
        self.start_daemon()
        self.workers = [self.start("hpsearch-worker", f"w{i}", "--daemon", self.address, "--name", f"w{i}", "--slots", "1")
                        for i in range(workers)]
        self.seconds_until_back()

    def start(self, program, state, *arguments):
        return subprocess.Popen([f"{self.bin_dir}/{program}", "--state-dir", str(self.folder / state), "--log-level", "error",
                                 *arguments], stdin=subprocess.DEVNULL)

    def start_daemon(self):
        self.daemon = self.start("hpsearchd", "daemon", "--workers", self.address, "--workers-open")
        while self.connected() is None:
            time.sleep(0.02)

    def kill_daemon(self):
        self.daemon.kill()
        self.daemon.wait()

    def connected(self):
        """How many workers are connected; None: the daemon doesn't answer."""
        connection = http.client.HTTPConnection("localhost", timeout=20)
        connection.sock = socket.socket(socket.AF_UNIX)
        try:
            connection.sock.connect(str(self.folder / "daemon" / "api.sock"))
            connection.request("GET", "/api/v1/workers")
            return sum(worker["connected"] for worker in json.loads(connection.getresponse().read())["workers"])
        except OSError:
            return None
        finally:
            connection.close()

    def seconds_until_back(self):
        began = time.monotonic()
        while self.connected() != len(self.workers):
            time.sleep(0.05)
        return time.monotonic() - began

    def end(self):
        for process in [*self.workers, self.daemon]:
            process.kill()
            process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin_dir")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--away", type=float, nargs="*", default=[8, 40])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hpsearch-bench-") as folder:
        cluster = Cluster(arguments.bin_dir, folder, arguments.workers)
        try:
            for seconds in arguments.away:
                cluster.kill_daemon()
                time.sleep(seconds)
                cluster.start_daemon()
                print(f"away for {seconds:g} s: all {arguments.workers} back after {cluster.seconds_until_back():.2f} s", flush=True)
            for _ in range(10):
                cluster.kill_daemon()
                cluster.start_daemon()
                time.sleep(3)
            cluster.kill_daemon()
            cluster.start_daemon()
            print(f"killed eleven times, 3 s apart: all back after {cluster.seconds_until_back():.2f} s")
        finally:
            cluster.end()


if __name__ == "__main__":
    main()
