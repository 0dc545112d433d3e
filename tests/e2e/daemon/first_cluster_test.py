"""From bare machines to the first finished search, as docs/operating/cluster.md describes it: three machines, which are network
namespaces, one user that is not root on all of them, and another user who looks for secrets."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

import harness

USER, OTHER = 2001, 2002


def ip(*arguments, check=True):
    return subprocess.run(["ip", *arguments], check=check, capture_output=True, text=True)


class Network:
    """A namespace for the head and two for nodes. Each node reaches the head's first address over a cable of its own."""

    def __init__(self, case):
        mark = os.getpid() % 100_000
        self.head = f"hpsearch-h{mark}"
        self.nodes = [f"hpsearch-n{mark}", f"hpsearch-m{mark}"]
        third = os.getpid() % 250 + 1
        self.address = f"10.214.{third}.1"
        for name in (self.head, *self.nodes):
            made = ip("netns", "add", name, check=False)
            if made.returncode != 0:
                case.skipTest(f"needs network namespaces, which are refused here: {made.stderr.strip()}")
            case.addCleanup(ip, "netns", "delete", name, check=False)
            ip("-n", name, "link", "set", "lo", "up")
        for number, node in enumerate(self.nodes):
            cable, end = f"hpc{number}-{mark}", f"hpe{number}-{mark}"
            made = ip("link", "add", cable, "netns", self.head, "type", "veth", "peer", "name", end, "netns", node, check=False)
            if made.returncode != 0:
                case.skipTest(f"needs virtual interfaces, which are refused here: {made.stderr.strip()}")
            ip("-n", self.head, "address", "add", f"10.214.{third}.{1 + 4 * number}/30", "dev", cable)
            ip("-n", node, "address", "add", f"10.214.{third}.{2 + 4 * number}/30", "dev", end)
            ip("-n", self.head, "link", "set", cable, "up")
            ip("-n", node, "link", "set", end, "up")
            if number > 0:
                ip("-n", node, "route", "add", f"{self.address}/32", "dev", end)


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("ip") and shutil.which("setpriv"),
                     "needs root, ip and setpriv to make machines and users")
class FirstCluster(harness.Case):
    def setUp(self):
        super().setUp()
        self.network = Network(self)
        self.folder.chmod(0o711)
        self.home = self.folder / "home"
        self.shared = self.folder / "shared"
        for place in (self.home, self.shared):
            place.mkdir()
            os.chown(place, USER, USER)
        seen = subprocess.run(self.on(self.network.head, "/bin/cat", str(harness.FAKE_TRAINING)), capture_output=True)
        tried = subprocess.run(self.on(self.network.head, str(harness.BIN / "hpsearch"), "--version"), capture_output=True)
        if seen.returncode != 0 or tried.returncode != 0:
            self.skipTest(f"user {USER} cannot run the programs in {harness.BIN}")

    def on(self, machine, *command, user=USER):
        return ["ip", "netns", "exec", machine, "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]

    def environment(self):
        return harness.environment() | {"HOME": str(self.home)}

    def run_on(self, machine, *command, user=USER, expect=0, **more):
        done = subprocess.run(self.on(machine, *map(str, command), user=user), capture_output=True, text=True, cwd=self.home,
                              timeout=harness.PATIENCE, env=self.environment(), stdin=subprocess.DEVNULL, **more)
        self.assertEqual(done.returncode, expect, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def begin(self, machine, log, *command):
        process = harness.Process.__new__(harness.Process)
        process.arguments, process.log = [log], self.folder / f"{log}.log"
        with open(process.log, "ab") as file:
            process.popen = subprocess.Popen(self.on(machine, *map(str, command)), stdin=subprocess.DEVNULL, stdout=file,
                                             stderr=file, env=self.environment(), cwd=self.home)
        self.processes.append(process)
        return process

    def cli(self, *arguments, **more):
        return self.run_on(self.network.head, harness.BIN / "hpsearch", *arguments, **more)

    def test_three_commands_to_the_first_finished_search(self):
        began = time.monotonic()
        state, head = self.home / "hpsearchd", self.network.head
        ports = "--http-port", harness.free_port(), "--workers-port", harness.free_port()
        made = json.loads(self.cli("cluster", "init", state, "--checkpoint-root", self.shared, *ports, "--output", "json"))
        self.assertEqual(made["workers"], f"tcp://{self.network.address}:{ports[3]}")
        daemon = self.begin(head, "daemon", *made["daemon_command"])
        node, other_node = self.network.nodes
        for machine, name in ((node, "node-1"), (other_node, "node-2")):
            self.begin(machine, name, "/bin/sh", "-c",
                       f"exec {made['join']} --state-dir {self.home / name} --name {name} --slots 1")
        server = "--server", made["server"]
        harness.wait_for(lambda: "ready:" in daemon.said(), "the daemon", daemon.said)
        present = lambda: [worker["name"] for worker in json.loads(self.cli("workers", *server, "--output", "json"))["workers"]
                           if worker["connected"]]
        harness.wait_for(lambda: sorted(present()) == ["node-1", "node-2"], "both workers",
                         lambda: "\n".join(process.said() for process in self.processes))
        # A search whose program the nodes fetch from the daemon, and whose checkpoints are in the shared directory.
        program = self.home / "program"
        program.mkdir()
        shutil.copy(harness.FAKE_TRAINING, program / "train.py")
        ledger = self.home / "ledger"
        tree = harness.experiment(ledger, {"name": "random", "max_length": {"batches": 3}, "max_trials": 4})
        tree["entrypoint"] = ["/usr/bin/python3", "-IS", "train.py"]
        (self.home / "experiment.yaml").write_text(json.dumps(tree))
        subprocess.run(["chown", "-R", f"{USER}:{USER}", str(self.home)], check=True)
        self.cli("submit", *server, self.home / "experiment.yaml", program)
        self.cli("wait", *server, "1")
        found = json.loads(self.cli("show", *server, "1", "--output", "json"))
        self.assertEqual(found["state"], "COMPLETED")
        print(f"from nothing to a finished search: {time.monotonic() - began:.0f} s", file=sys.stderr)
        self.look_for_the_secret(made)

    def look_for_the_secret(self, made):
        """Another user reads no file with it, and finds it in the arguments of no process; nor do we in any environment."""
        invite = pathlib.Path(made["invite_file"])
        token = invite.read_text().strip()
        for file in (invite, self.home / "node-1" / "joined.json", self.home / "hpsearchd" / "invites.json"):
            self.run_on(self.network.head, "/bin/cat", file, user=OTHER, expect=1)
        looking = "import pathlib, sys; token = sys.stdin.read(); print(len(token), any(token in file.read_bytes().decode(" \
                  "errors='replace') for file in pathlib.Path('/proc').glob('[0-9]*/cmdline')))"
        done = subprocess.run(self.on(self.network.head, "/usr/bin/python3", "-IS", "-c", looking, user=OTHER), input=token,
                              capture_output=True, text=True, check=True, timeout=harness.PATIENCE)
        self.assertEqual(done.stdout.strip(), f"{len(token)} False")
        for place in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                self.assertNotIn(token, place.read_bytes().decode(errors="replace"))
            except OSError:
                continue
        for process in self.processes:
            self.assertNotIn(token, process.log.read_text(errors="replace"))


if __name__ == "__main__":
    unittest.main()
