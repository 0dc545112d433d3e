#!/usr/bin/python3
"""The systemd units of deploy/systemd: what they harden, and that the programs can live with it.

    service_units_test.py BIN_DIR    the directory of the built programs

Without systemd-analyze or without leave to trace processes, the tests that need it are skipped, and say so.
"""

import json
import os
import pathlib
import re
import shutil
import signal
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


def analyze(*arguments):
    return subprocess.run([ANALYZE, *arguments], capture_output=True, text=True, timeout=PATIENCE)


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
        for unit in (DAEMON, WORKER):
            command = settings(unit)["ExecStart"][0].split()
            program = BIN / pathlib.Path(command[0]).name
            text = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=PATIENCE).stdout
            for option in (word for word in command[1:] if word.startswith("--")):
                self.assertRegex(text, rf"{option}\b", f"{program.name} doesn't have {option} of {unit.name}")

    @unittest.skipUnless(ANALYZE, "this machine has no systemd-analyze")
    def test_systemd_understands_them(self):
        for unit in (DAEMON, WORKER):
            with tempfile.TemporaryDirectory() as scratch:
                copy = pathlib.Path(scratch) / unit.name
                copy.write_text(unit.read_text().replace("/usr/bin/", f"{BIN}/"))
                result = analyze("verify", "--man=no", "--recursive-errors=no", str(copy))
                self.assertEqual((result.returncode, result.stderr), (0, ""), f"{unit.name}: {result.stdout}")

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
