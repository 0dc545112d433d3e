"""`hpsearch run` and the daemon beside another user of the same machine: a process that really has another uid."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

import harness

NOBODY = 65534
SECRET = "hunter2-of-the-searcher"

# What the other user does: reads what is readable below a directory, and connects to Unix sockets.
STRANGER = r"""
import json, os, socket, sys
task = json.load(sys.stdin)
found = {"read": [], "connected": [], "answers": {}}
for top in task["trees"]:
    for place, folders, files in os.walk(top):
        for name in files:
            try:
                open(os.path.join(place, name), "rb").read(1)
                found["read"].append(os.path.join(place, name))
            except OSError:
                pass
for path in task["sockets"]:
    with socket.socket(socket.AF_UNIX) as stream:
        stream.settimeout(5)
        try:
            stream.connect("\0" + path[1:] if path[0] == "@" else path)
            stream.sendall(b"GET /api/v1/experiments HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answer = b""
            while part := stream.recv(4096):
                answer += part
        except ConnectionError:
            answer = b""
        except OSError:
            continue
        found["connected"].append(path)
        found["answers"][path] = answer.decode(errors="replace")
for address, request in task["asks"].items():
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=30) as stream:
        stream.sendall(f"{request} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while part := stream.recv(4096):
            answer += part
    found["answers"][address] = answer.decode(errors="replace")
for pid in task["pids"]:
    for name in ("environ", "maps"):
        try:
            if open(f"/proc/{pid}/{name}", "rb").read(1):
                found["read"].append(f"/proc/{pid}/{name}")
        except OSError:
            pass
json.dump(found, sys.stdout)
"""


def as_another_user(trees=(), sockets=(), pids=(), asks=None):
    task = json.dumps({"trees": [str(tree) for tree in trees], "sockets": list(sockets), "pids": list(pids),
                       "asks": asks or {}})
    done = subprocess.run(["/usr/bin/python3", "-I", "-c", STRANGER], input=task, capture_output=True, text=True, cwd="/",
                          user=NOBODY, group=NOBODY, extra_groups=[], timeout=harness.PATIENCE, check=True)
    return json.loads(done.stdout)


def descendants(pid):
    """The process and all that it has started."""
    found = [pid]
    for one in found:
        for thread in pathlib.Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += [int(child) for child in thread.read_text().split()]
            except OSError:
                pass
    return found


def inodes_of(pids):
    inodes = set()
    for pid in pids:
        for descriptor in pathlib.Path(f"/proc/{pid}/fd").glob("*"):
            try:
                target = os.readlink(descriptor)
            except OSError:
                continue
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    return inodes


def listening_ports(inodes):
    """TCP and UDP ports on which one of these sockets listens."""
    ports = []
    for name, listening in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
        for line in pathlib.Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == listening and fields[9] in inodes:
                ports.append((name, int(fields[1].rpartition(":")[2], 16)))
    return ports


def listening_sockets(inodes):
    """Names of the Unix sockets on which one of these processes listens; @ stands for the abstract ones."""
    found = []
    for line in pathlib.Path("/proc/net/unix").read_text().splitlines()[1:]:
        fields = line.split(maxsplit=7)
        if len(fields) == 8 and fields[6] in inodes and int(fields[3], 16) & 0x10000:  # SO_ACCEPTCON
            found.append(fields[7])
    return found


class OtherUser(harness.Case):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("only root can act for another user")
        self.folder.chmod(0o755)  # What protects us has to be our own.

    def search_that_runs(self):
        """The processes of a `hpsearch run` whose first trial has started."""
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": 10_000, "max_trials": 2},
                                  fake={"STEP_SECONDS": 0.05})
        tree["environment"]["environment_variables"]["API_KEY"] = SECRET
        self.file = self.write_experiment(tree)
        log = open(self.folder / "run.log", "wb")
        self.addCleanup(log.close)
        run = subprocess.Popen([str(harness.BIN / "hpsearch"), "run", str(self.file), "--slots", "2"], cwd=self.folder,
                               stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=harness.environment())

        def end():
            run.send_signal(signal.SIGINT)
            run.send_signal(signal.SIGINT)
            run.wait(harness.PATIENCE)

        self.addCleanup(end)
        harness.wait_for(lambda: self.ledger.of("step"), "a trial to train",
                         lambda: (self.folder / "run.log").read_text(errors="replace"))
        return descendants(run.pid)

    def test_run_opens_no_port_and_nothing_to_others(self):
        pids = self.search_that_runs()
        inodes = inodes_of(pids)
        self.assertEqual(listening_ports(inodes), [], "a port that each user of this machine can reach")
        sockets = listening_sockets(inodes)
        names = [os.path.basename(name) for name in sockets]
        self.assertIn("api.sock", names)
        self.assertIn("workers.sock", names)
        found = as_another_user([self.folder / ".hpsearch"], sockets, pids)
        self.assertEqual(found, {"read": [], "connected": [], "answers": {}})
        for pid in pids:
            try:
                line = pathlib.Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
            except OSError:
                continue
            self.assertNotIn(SECRET, line, "all users can read the arguments of a process")

    def test_what_another_user_may_not_read_is_no_missing_search(self):
        self.write_experiment({"entrypoint": ["/bin/true"], "hyperparameters": {}, "searcher": {
            "name": "single", "metric": "loss", "max_length": 1}, "max_restarts": 0})
        self.run_cli("run", "experiment.yaml", "--slots", 1, expect=None)
        state = self.folder / ".hpsearch"
        for unreadable in (state / "experiment", state):
            unreadable.chmod(0o700)
            for verb in ("show", "list"):
                done = subprocess.run([str(harness.BIN / "hpsearch"), verb], cwd=self.folder, env=harness.environment() | {"HOME": "/nonexistent"},
                                      capture_output=True, text=True, stdin=subprocess.DEVNULL, user=65534, group=65534, extra_groups=[])
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f"you have no permission to read {unreadable}; run the command as its owner", done.stderr)

    def test_kernel_names_the_user_even_where_modes_are_open(self):
        self.search_that_runs()
        state = self.folder / ".hpsearch" / "experiment"
        daemon = state / "daemon"
        for folder in (state, daemon):
            folder.chmod(0o755)
        sockets = [daemon / "api.sock", daemon / "workers.sock"]
        for path in sockets:
            path.chmod(0o666)
        found = as_another_user([], [str(path) for path in sockets])
        api, workers = (found["answers"][str(path)] for path in sockets)
        self.assertTrue(api.startswith("HTTP/1.1 403 "), api)
        self.assertIn(f"uid {NOBODY} may not use this daemon", api)
        self.assertNotIn("experiments", api.partition("\r\n\r\n")[2])
        self.assertEqual(workers, "", "the daemon greets a stranger")
        self.assertEqual([each["id"] for each in self.run_cli("list", "--state-dir", state, "-o", "json")["experiments"]],
                         [1])

    def test_members_of_a_group_get_its_role_and_others_nothing(self):
        places = self.folder / "places"
        places.mkdir(0o755)
        socket = places / "api.sock"
        group = pathlib.Path("/etc/group").read_text()
        own = next(line.split(":")[0] for line in group.splitlines() if line.split(":")[2] == str(NOBODY))
        daemon = self.start("hpsearchd", "--state-dir", self.folder / "state", "--http-socket", socket, "--access-group",
                            f"{own}=viewer", log="daemon.log")
        harness.wait_for(socket.exists, "the daemon to listen", daemon.said)
        as_nobody = lambda *words: subprocess.run(
            [str(harness.BIN / "hpsearch"), *words, "--server", f"unix://{socket}"], capture_output=True, text=True, cwd="/",
            user=NOBODY, group=NOBODY, extra_groups=[], timeout=harness.PATIENCE, check=False, env=harness.environment())
        listed = as_nobody("list")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        refused = as_nobody("token", "list")
        self.assertIn(f"uid {NOBODY} is viewer; GET on this path needs admin", refused.stderr)
        stranger = subprocess.run(
            ["curl", "-s", "--unix-socket", str(socket), "http://localhost/api/v1/experiments"], capture_output=True, text=True,
            user=1, group=NOBODY, extra_groups=[NOBODY], timeout=harness.PATIENCE, check=True, cwd="/")
        self.assertIn("uid 1 may not use this daemon: only its own user and root may, and members of " + own, stranger.stdout,
                      "groups that a process has, and not its user, count for nothing")
        found = as_another_user([self.folder / "state"])
        self.assertEqual(found["read"], [])

    def test_daemon_and_worker_of_a_cluster_open_guarded_ports_only(self):
        state, workplace = self.folder / "state", self.folder / "worker"
        daemon = self.start("hpsearchd", "--state-dir", state, "--http", "127.0.0.1:0", "--workers", "tcp://127.0.0.1:0",
                            log="daemon.log")
        harness.wait_for(lambda: (state / "daemon.json").exists(), "the daemon to listen", daemon.said)
        where = json.loads((state / "daemon.json").read_text())
        endpoint, api = where["workers"], where["http"]
        shown = subprocess.run([str(harness.BIN / "hpsearch-worker"), "--state-dir", str(workplace), "--show-key"],
                               capture_output=True, text=True, check=True)
        self.run_cli("keys", "allow", state, "node-1", shown.stdout.strip())
        server_key = self.run_cli("keys", "list", state, "-o", "json")["server_key"]
        worker = self.start("hpsearch-worker", "--daemon", endpoint, "--state-dir", workplace, "--slots", 2,
                            f"--server-key={server_key}", log="worker.log")
        listed = lambda: self.run_cli("workers", "--server", f"unix://{state}/api.sock", "-o", "json")["workers"]
        harness.wait_for(listed, "the worker to join", worker.said)
        pids = [*descendants(daemon.popen.pid), *descendants(worker.popen.pid)]
        inodes = inodes_of(pids)
        port_of = lambda address: ("tcp", int(address.rpartition(":")[2]))
        self.assertEqual(sorted(listening_ports(inodes)), sorted([port_of(endpoint), port_of(api)]))
        for folder in (state, workplace):
            self.assertEqual(folder.stat().st_mode & 0o777, 0o700, folder)
        found = as_another_user([state, workplace], listening_sockets(inodes), pids)
        self.assertEqual(found, {"read": [], "connected": [], "answers": {}})
        # Ports cannot be hidden. Each route asks for a token; the port of the workers asks for a key (e2e_worker_keys).
        for request in ("GET /api/v1/experiments", "GET /api/v1/events", "POST /api/v1/experiments", "GET /api/v1/tokens"):
            answer = as_another_user(asks={api: request})["answers"][api]
            self.assertTrue(answer.startswith("HTTP/1.1 401 "), answer)
        fake = self.start("hpsearch-worker", "--daemon", endpoint, "--state-dir", self.folder / "fake", log="fake.log")
        harness.wait_for(lambda: "demands keys" in fake.said(), "a worker without a key to be refused", fake.said)
        self.assertEqual([each["name"] for each in listed()], ["node-1"])
        self.assertEqual(self.run_cli("list", "--server", f"unix://{state}/api.sock", "-o", "json")["experiments"], [])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
