#!/usr/bin/python3
"""The systemd units of deploy/systemd: what they harden, that the programs can live with it, and that the programs speak with the
manager of services (here a socket of the test).

    service_units_test.py BIN_DIR    the directory of the built programs

Without systemd-analyze or without leave to trace processes, the tests that need it are skipped, and say so.
"""

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
UNITS = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "systemd"
DAEMON = UNITS / "hpsearchd.service"
WORKER = UNITS / "hpsearch-worker.service"
INSTANCE = UNITS / "hpsearch-worker@.service"
USERS = sorted((UNITS / "user").glob("*.service"))
MOST_EXPOSURE = 3.0
ANALYZE = shutil.which("systemd-analyze")
PATIENCE = 60


def settings(unit):
    """All values of each setting, in order."""
    found = {}
    for line in unit.read_text().splitlines():
        match = re.match(r"(\w+)=(.*)", line)
        if match:
            found.setdefault(match[1], []).append(match[2])
    return found


def analyze(*arguments, env=None):
    return subprocess.run([ANALYZE, *arguments], capture_output=True, text=True, timeout=PATIENCE, env=env)


def exposure_of(text):
    """As `systemd-analyze security --offline=true` sums up this unit; and what it printed."""
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "looked-at.service"
        path.write_text(text)
        result = analyze("security", "--offline=true", "--no-pager", str(path))
    found = re.search(r"exposure level for \S+: ([0-9.]+)", result.stdout)
    assert found, f"systemd-analyze printed no exposure:\n{result.stdout}{result.stderr}"
    return float(found[1]), result.stdout


def members_of(names):
    """The system calls that a SystemCallFilter of these names means."""
    calls = set()
    for name in names:
        if not name.startswith("@"):
            calls.add(name)
            continue
        lines = [line.strip() for line in analyze("syscall-filter", name).stdout.splitlines()[1:]]
        calls |= members_of([line for line in lines if line and not line.startswith("#")])
    return calls


class Units(unittest.TestCase):
    def test_options_are_those_of_the_programs(self):
        for unit in (DAEMON, WORKER, INSTANCE, *USERS):
            command = settings(unit)["ExecStart"][0].split()
            program = BIN / pathlib.Path(command[0]).name
            text = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=PATIENCE).stdout
            for option in (word for word in command[1:] if word.startswith("--")):
                self.assertRegex(text, rf"{option}\b", f"{program.name} doesn't have {option} of {unit.name}")

    @unittest.skipUnless(ANALYZE, "this machine has no systemd-analyze")
    def test_systemd_understands_them(self):
        for unit in [*UNITS.glob("*.*"), *USERS]:
            with tempfile.TemporaryDirectory() as scratch:
                # A timer and a socket are checked with their service.
                for one in {unit, unit.with_suffix(".service")}:
                    copy = pathlib.Path(scratch) / one.name.replace("@.", "@gpus.")
                    copy.write_text(one.read_text().replace("/usr/bin/", f"{BIN}/"))
                copy = pathlib.Path(scratch) / unit.name.replace("@.", "@gpus.")
                result = analyze("verify", *(["--user"] if unit in USERS else []), "--man=no", "--recursive-errors=no", str(copy),
                                 env=os.environ | {"XDG_RUNTIME_DIR": scratch})
                self.assertEqual((result.returncode, result.stderr), (0, ""), f"{unit.name}: {result.stdout}")

    def test_programs_notify_and_can_be_reloaded(self):
        for unit in (DAEMON, WORKER, INSTANCE, *USERS):
            found = settings(unit)
            self.assertEqual((found["Type"], found["ExecReload"]), (["notify"], ["/bin/kill -HUP $MAINPID"]), unit.name)

    def test_instances_are_hardened_like_the_worker(self):
        own = {"ExecStart", "StateDirectory", "Description"}
        self.assertEqual({key: value for key, value in settings(INSTANCE).items() if key not in own},
                         {key: value for key, value in settings(WORKER).items() if key not in own})

    @unittest.skipUnless(ANALYZE, "this machine has no systemd-analyze")
    def test_daemon_is_hardly_exposed(self):
        exposure, table = exposure_of(DAEMON.read_text())
        self.assertLessEqual(exposure, MOST_EXPOSURE, table)

    @unittest.skipUnless(ANALYZE, "this machine has no systemd-analyze")
    def test_exposure_is_that_of_the_unit(self):
        bare = "\n".join(line for line in DAEMON.read_text().splitlines()
                         if not re.match(r"(Protect|Private|Restrict|SystemCall|Capability)", line))
        self.assertGreater(exposure_of(bare)[0], MOST_EXPOSURE, "a unit without protection must not pass")

    def test_worker_keeps_what_trainings_need(self):
        """Each of these breaks trainings that outlive the worker, use a GPU, compile code or run in containers."""
        forbidden = {"PrivateDevices", "DevicePolicy", "MemoryDenyWriteExecute", "PrivateTmp", "RemoveIPC",
                     "ProtectHome", "ProtectControlGroups", "ProtectProc", "RestrictNamespaces", "PrivateUsers",
                     "NoNewPrivileges", "SystemCallFilter", "SystemCallArchitectures", "RestrictAddressFamilies",
                     "RestrictRealtime", "RestrictSUIDSGID", "LockPersonality", "ProtectClock", "ProtectHostname",
                     "ProtectKernelLogs", "ProtectKernelModules", "ProtectKernelTunables"}
        self.assertEqual(forbidden & settings(WORKER).keys(), set())
        self.assertEqual(settings(WORKER)["ProtectSystem"], ["full"])


class Manager:
    """Where services send what they have to say, as systemd receives it."""

    def __init__(self, case, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.socket.settimeout(PATIENCE)
        self.address = address
        case.addCleanup(self.socket.close)

    def next(self):
        return self.socket.recv(65536).decode()


class Notified(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.state = self.folder / "state"
        self.log = self.folder / "log"

    def start(self, program, *arguments, launcher=(), pass_fds=(), **variables):
        """Without a terminal, on which SIGHUP would stop a worker."""
        with open(self.log, "ab") as log:
            process = subprocess.Popen([*launcher, BIN / program, *arguments, "--state-dir", self.state], stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, start_new_session=True, pass_fds=pass_fds,
                                       env=os.environ | {"CONFIGURATION_DIRECTORY": str(self.folder)} | variables)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_until_up(self, process):
        end = time.monotonic() + PATIENCE
        while not (self.state / "daemon.json").exists():
            self.assertTrue(process.poll() is None and time.monotonic() < end, self.log.read_text())
            time.sleep(0.02)
        return json.loads((self.state / "daemon.json").read_text())

    def expect(self, manager, *patterns):
        for pattern in patterns:
            message = manager.next()
            self.assertRegex(message, rf"\A{pattern}\Z", self.log.read_text())

    STARTS = r"STATUS=opens the store in \S+"
    SERVES = r"READY=1\nSTATUS=0 active experiments, log position \d+"
    RELOADS = r"RELOADING=1\nMONOTONIC_USEC=\d+"
    STOPS = r"STOPPING=1\nSTATUS=stores the last events"

    def test_daemon_says_each_step_of_its_life(self):
        for address in (str(self.folder / "notify"), f"@hpsearch-test-{os.getpid()}"):
            manager = Manager(self, address)
            daemon = self.start("hpsearchd", NOTIFY_SOCKET=address)
            self.expect(manager, self.STARTS, self.SERVES)
            self.assertTrue((self.state / "daemon.json").exists(), "it is ready only when clients find it")
            daemon.send_signal(signal.SIGHUP)
            self.expect(manager, self.RELOADS, self.SERVES)
            (self.folder / "hpsearchd.yaml").write_text("log: {level: loud}")
            daemon.send_signal(signal.SIGHUP)
            self.expect(manager, self.RELOADS, self.SERVES)
            (self.folder / "hpsearchd.yaml").unlink()
            daemon.send_signal(signal.SIGTERM)
            self.expect(manager, self.STOPS)
            self.assertEqual(daemon.wait(PATIENCE), 0)

    def test_failed_start_has_a_status_and_is_never_ready(self):
        manager = Manager(self, str(self.folder / "notify"))
        with socket.create_server(("127.0.0.1", 0)) as taken:
            daemon = self.start("hpsearchd", "--http", f"127.0.0.1:{taken.getsockname()[1]}", "--http-open", NOTIFY_SOCKET=manager.address)
            self.assertEqual(daemon.wait(PATIENCE), 1, self.log.read_text())
        self.expect(manager, self.STARTS, "STATUS=cannot listen on .*")

    def test_worker_says_each_step_of_its_life(self):
        manager = Manager(self, str(self.folder / "notify"))
        worker = self.start("hpsearch-worker", "--daemon", "tcp://127.0.0.1:1", "--slots", "cpu:2", "--name", "w", NOTIFY_SOCKET=manager.address)
        ready = "READY=1\nSTATUS=worker w offers 2 cpu slots to tcp://127.0.0.1:1"
        self.expect(manager, "STATUS=looks for devices, and for programs of an earlier run", ready)
        worker.send_signal(signal.SIGHUP)
        self.expect(manager, self.RELOADS, ready)
        worker.send_signal(signal.SIGUSR1)
        self.expect(manager, "STOPPING=1\nSTATUS=its programs run on for the next worker")
        self.assertEqual(worker.wait(PATIENCE), 0)

    def test_without_a_manager_that_listens_the_daemon_runs(self):
        for address, words in ((f"{self.folder}/nowhere", "cannot be notified"), ("/" + "a" * 200, "is longer than 107 bytes"),
                               ("vsock:2:1234", "neither a path nor @NAME")):
            daemon = self.start("hpsearchd", NOTIFY_SOCKET=address)
            self.wait_until_up(daemon)
            daemon.send_signal(signal.SIGTERM)
            self.assertEqual(daemon.wait(PATIENCE), 0)
            self.assertIn(words, self.log.read_text())

    def test_port_that_the_manager_has_opened_is_served(self):
        with socket.create_server(("127.0.0.1", 0)) as port, socket.create_server(("127.0.0.1", 0)) as other:
            address = f"127.0.0.1:{port.getsockname()[1]}"
            client = http.client.HTTPConnection(address, timeout=PATIENCE)
            client.request("GET", "/healthz")  # Before the daemon starts.
            # The process number is known only in the process.
            launcher = ["bash", "-c", f'exec 3<&{port.fileno()} 4<&{other.fileno()}; LISTEN_PID=$$ LISTEN_FDS=2 exec "$@"', "bash"]
            daemon = self.start("hpsearchd", "--http", address, "--http-open", launcher=launcher,
                                pass_fds=(port.fileno(), other.fileno()))
            self.assertEqual(client.getresponse().status, 200)
            self.assertEqual(self.wait_until_up(daemon)["http"], address)
            self.assertIn(f"passed a socket at 127.0.0.1:{other.getsockname()[1]}", self.log.read_text())
            daemon.send_signal(signal.SIGTERM)
            self.assertEqual(daemon.wait(PATIENCE), 0)
            late = http.client.HTTPConnection(address, timeout=PATIENCE)
            late.request("GET", "/healthz")  # The port is open while no daemon runs.
            self.start("hpsearchd", "--http", address, "--http-open", launcher=launcher, pass_fds=(port.fileno(), other.fileno()))
            self.assertEqual(late.getresponse().status, 200)


class DaemonInItsUnit(unittest.TestCase):
    """What a daemon asks of the kernel, from its start to its end, is what its unit allows."""

    @classmethod
    def setUpClass(cls):
        if not shutil.which("strace") or subprocess.run(["strace", "-o", "/dev/null", "true"], check=False).returncode:
            raise unittest.SkipTest("this machine doesn't let us trace system calls (strace)")
        with tempfile.TemporaryDirectory() as scratch:
            trace = pathlib.Path(scratch) / "trace"
            state = pathlib.Path(scratch) / "state"
            strace = subprocess.Popen(
                ["strace", "-f", "-qq", "--signal=none", "-o", trace, BIN / "hpsearchd", "--state-dir", state,
                 "--http", "127.0.0.1:0", "--http-open", "--workers", "tcp://127.0.0.1:0"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            try:
                cls.live(strace, state)
                strace.wait(PATIENCE)
            finally:
                if strace.poll() is None:
                    os.killpg(strace.pid, signal.SIGKILL)
                strace.wait()
            cls.calls = [match.groups() for line in trace.read_text(errors="replace").splitlines()
                         if (match := re.match(r"\d+ +(\w+)\((.*)", line))]
        assert len(cls.calls) > 100, "the trace is empty"

    @staticmethod
    def live(strace, state):
        end = time.monotonic() + PATIENCE
        while not (state / "daemon.json").exists():
            assert strace.poll() is None and time.monotonic() < end, "the daemon doesn't start"
            time.sleep(0.02)
        daemon = json.loads((state / "daemon.json").read_text())
        experiment = {"config": {
            "name": "unit", "entrypoint": ["true"],
            "hyperparameters": {"lr": {"type": "double", "minval": 0.0, "maxval": 1.0}},
            "searcher": {"name": "random", "metric": "loss", "max_trials": 2, "max_length": {"epochs": 1}}}}
        request = urllib.request.Request(f"http://{daemon['http']}/api/v1/experiments", json.dumps(experiment).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            assert answer.status in (200, 201), answer.status
        os.kill(daemon["pid"], signal.SIGTERM)

    @unittest.skipUnless(ANALYZE, "this machine has no systemd-analyze")
    def test_calls_are_in_the_filter(self):
        allowed = set()
        for value in settings(DAEMON)["SystemCallFilter"]:
            named = members_of(value.removeprefix("~").split())
            allowed = allowed - named if value.startswith("~") else allowed | named
        self.assertGreater(len(allowed), 100)
        if os.geteuid() == 0:
            allowed.add("fchown")  # SQLite gives files to the owner of their directory, but only as root.
        self.assertEqual({call for call, _ in self.calls} - allowed, set())

    def test_no_memory_is_writable_and_executable(self):
        self.assertEqual([line for line in self.calls if "PROT_WRITE" in line[1] and "PROT_EXEC" in line[1]], [])

    def test_sockets_are_of_the_allowed_families(self):
        families = {line[1].split(",")[0] for line in self.calls if line[0] in ("socket", "socketpair")}
        self.assertTrue(families)
        self.assertLessEqual(families, set(settings(DAEMON)["RestrictAddressFamilies"][0].split()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
