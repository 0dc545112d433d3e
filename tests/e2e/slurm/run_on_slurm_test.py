"""hpsearch run --on slurm: one command brings a search to a real Slurm, and leaves nothing there."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import harness
import slurm_cluster

EXAMPLES = harness.ROOT / "examples" / "own_script"
CORES = ("-p", "main", "-c", "2")


@unittest.skipIf(slurm_cluster.missing(), f"no Slurm here: {', '.join(slurm_cluster.missing())} (scripts/setup slurm)")
class RunOnSlurmCase(harness.Case):
    """A Slurm, and the census of what a search left."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        place = tempfile.TemporaryDirectory(prefix="hpsearch-slurm-")
        cls.addClassCleanup(place.cleanup)
        cls.slurm = slurm_cluster.SlurmCluster(pathlib.Path(place.name) / "slurm")
        cls.addClassCleanup(cls.slurm.stop)
        cls.slurm.start()

    def setUp(self):
        super().setUp()
        self.jobs_before = set(self.slurm.jobs())
        (self.folder / "node").mkdir()
        self.work = self.folder / "work"
        self.state = self.work / ".hpsearch"

    def write_search(self, trials, **fake):
        """A search that the ledger can be asked about."""
        self.work.mkdir()
        searcher = {"name": "random", "max_trials": trials, "max_length": {"epochs": 4}, "max_concurrent_trials": 4}
        file = self.write_experiment(harness.experiment(self.ledger_path, searcher, fake=fake))
        return file.rename(self.work / "search.yaml")

    def begin(self, *words, log="run.log"):
        """As a shell does: the command in a process group of its own, which Ctrl-C reaches as a whole."""
        with open(self.folder / log, "wb") as output:
            process = subprocess.Popen([str(harness.BIN / "hpsearch"), "run", *map(str, words)], stdout=output,
                                       stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=self.work, process_group=0,
                                       env=harness.environment() | self.slurm.environment | {"TMPDIR": str(self.folder / "node")})
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def said(self, log="run.log"):
        return (self.folder / log).read_text()

    def run_to_end(self, *words, log="run.log", expect=0):
        run = self.begin(*words, log=log)
        self.assertEqual(run.wait(harness.PATIENCE), expect, self.said(log))
        return self.said(log)

    def judge_that_nothing_is_left(self, name):
        """No job, process, invite, key, queue, worker or directory of an allocation."""
        self.assertEqual(self.slurm.unfinished(), {})
        self.assertEqual(processes_with(self.work), [])
        daemon = self.state / name / "daemon"
        self.assertEqual(list(daemon.glob("alloc/**/*")), [])
        keys = daemon / "worker_keys"
        self.assertEqual([line for line in keys.read_text().split("\n") if line and not line.startswith("#")]
                         if keys.exists() else [], [])
        invites = daemon / "invites.json"
        self.assertEqual(json.loads(invites.read_text())["invites"] if invites.exists() else [], [])
        self.assertEqual(list((self.folder / "node").iterdir()), [])
        workers = self.run_cli("workers", "--state-dir", self.state / name, "-o", "json")
        self.assertEqual(workers["workers"], [])


class RunOnSlurm(RunOnSlurmCase):
    def test_a_newcomer_needs_one_command(self):
        shutil.copytree(EXAMPLES, self.work)
        file = self.work / "compress.yaml"
        file.write_text(file.read_text().replace(", count: 3", "").replace("name: grid", "name: random\n  max_trials: 100"))
        begun = time.monotonic()
        run = self.begin("compress.yaml", "--on", "slurm", "--", *CORES)
        harness.wait_for(lambda: " trial 0 started" in self.said(), "the first trial to start", self.said)
        first = time.monotonic() - begun
        self.assertEqual(run.wait(harness.PATIENCE), 0, self.said())
        said = self.said()
        print(f"from the command to the first trial: {first:.1f} s; to the end: {time.monotonic() - begun:.1f} s")
        self.assertIn("Slurm would take the job", said)
        self.assertIn("trials        100: 100 completed", said)
        self.judge_that_nothing_is_left("compress")
        kept = self.run_cli("logs", "0", "--state-dir", self.state / "compress")
        self.assertTrue(kept.stdout, "logs outlive the nodes")
        files = self.run_cli("files", "--state-dir", self.state / "compress", "-o", "json")
        self.assertTrue(files["trials"], "files outlive the nodes")
        self.run_cli("files", "get", "0", self.folder / "got", "--state-dir", self.state / "compress")
        self.assertIn("numbers.txt.gz", [file.name for file in (self.folder / "got").iterdir()])


    def test_ctrl_c_pauses_and_the_same_command_goes_on(self):
        file = self.write_search(trials=8, STEP_SECONDS=0.5)
        words = (file, "--on", "slurm", "--slots", "2", "--max-workers", "2", "--", *CORES)
        run = self.begin(*words)
        harness.wait_for(lambda: len(self.ledger.of("step")) > 6, "the search to be in full swing", self.said)
        os.killpg(run.pid, signal.SIGINT)
        self.assertEqual(run.wait(harness.PATIENCE), 130, self.said())
        self.assertIn("interrupted; the search is paused. Continue with: ", self.said())
        self.assertIn("--on slurm --slots 2 --max-workers 2 -- -p main -c 2", self.said())
        before = self.ledger
        self.assertEqual(before.alive(), [])
        self.assertLessEqual({line["why"] for line in before.of("end")}, {"pause", "stop"})
        self.judge_that_nothing_is_left("search")
        said = self.run_to_end(*words, log="again.log")
        self.assertIn("trials        8: 8 completed", said)
        steps = harness.count((line["trial"], line["step"]) for line in self.ledger.of("step"))
        self.assertEqual(set(steps.values()), {1}, "a step was trained twice")
        self.judge_that_nothing_is_left("search")

    def test_a_killed_command_finds_its_jobs_again(self):
        file = self.write_search(trials=8, STEP_SECONDS=0.5)
        words = (file, "--on", "slurm", "--slots", "2", "--max-workers", "2", "--", *CORES)
        run = self.begin(*words)
        harness.wait_for(lambda: len(self.ledger.of("step")) > 4, "the search to be in full swing", self.said)
        run.kill()
        run.wait()
        jobs = set(self.slurm.unfinished())
        self.assertTrue(jobs)
        said = self.run_to_end(*words, log="again.log")
        self.assertIn("trials        8: 8 completed", said)
        starts = harness.count(line["trial"] for line in self.ledger.of("start"))
        self.assertEqual(set(starts.values()), {1}, f"a program was started twice\n{said}")
        self.judge_that_nothing_is_left("search")

    def test_what_cannot_start_ends_in_one_sentence(self):
        file = self.write_search(trials=2)
        said = self.run_to_end(file, "--on", "slurm", "--", "-p", "nowhere", expect=2)
        self.assertIn("invalid partition", said)
        self.assertIn("Nothing was started", said)
        said = self.run_to_end(file, "--on", "slurm", "--", "-p", "short", expect=2)
        self.assertIn("partition short runs jobs for at most", said)
        said = self.run_to_end(file, "--on", "slurm", "--", "--time=5", expect=2)
        self.assertIn("use --time-limit", said)
        said = self.run_to_end(file, "--on", "slurm", "--address", "192.0.2.1", expect=2)
        self.assertIn("it must be a name or an address of this machine", said)
        self.assertEqual(set(self.slurm.jobs()), self.jobs_before)
        self.assertEqual(processes_with(self.work), [])
        self.assertFalse(self.state.exists(), "the state directory of a search that did not begin")
        said = self.run_to_end(file, "--on", "slurm", "--address", "localhost", "--time-limit", "5m", "--", "-p", "short")
        self.assertIn("trials        2: 2 completed", said, "with arguments that are right")
        self.judge_that_nothing_is_left("search")

    def test_allocations_that_fail_are_shown_with_the_reason(self):
        file = self.write_search(trials=2)
        run = self.begin(file, "--on", "slurm", "--before", "echo the licence is missing; false", "--", *CORES)
        reason = "the last allocation failed: Slurm: FAILED; it wrote: the licence is missing; the next is asked for in "
        harness.wait_for(lambda: reason in self.said(), "the reason to be printed", self.said)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(harness.PATIENCE), 130, self.said())
        self.judge_that_nothing_is_left("search")

    def test_a_waiting_allocation_is_shown_with_its_reason(self):
        self.slurm.ask("sbatch", "--nodes=3", "--exclusive", "--time=5", "--output=/dev/null", "--wrap=sleep 6", check=True)
        file = self.write_search(trials=2)
        run = self.begin(file, "--on", "slurm", "--", *CORES)
        reason = re.compile("no trial runs: 1 allocation waits for its start: (Priority|Resources)")
        harness.wait_for(lambda: reason.search(self.said()), "the reason to be printed", self.said)
        self.judge_that_strangers_are_refused(self.state / "search" / "daemon")
        self.assertEqual(run.wait(harness.PATIENCE), 0, self.said())

    def judge_that_strangers_are_refused(self, daemon):
        """Other users of the machine and the network reach two ports, and get nothing there."""
        here = json.loads((daemon / "daemon.json").read_text())
        address = here["http"].replace("0.0.0.0", "127.0.0.1")
        self.assertTrue(address.startswith("https://127.0.0.1:"), here)
        refused = self.run_cli("list", "--server", address, expect=None)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("token", refused.stderr)
        stranger = self.start(harness.BIN / "hpsearch-worker", "--daemon", here["workers"].replace("0.0.0.0", "127.0.0.1"), "--state-dir",
                              self.folder / "stranger", "--server-key", curve_key(daemon), log="stranger.log")
        harness.wait_for(lambda: "does not allow this worker's key" in stranger.said(), "the stranger to be refused", stranger.said)
        stranger.popen.terminate()
        stranger.popen.wait()

    def test_without_slurm_there_is_one_sentence(self):
        file = self.write_search(trials=2)
        tools = self.folder / "tools"
        tools.mkdir()
        done = subprocess.run([str(harness.BIN / "hpsearch"), "run", str(file), "--on", "slurm"], cwd=self.work, text=True,
                              capture_output=True, env=harness.environment() | {"PATH": str(tools)})
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("sbatch of Slurm is not on PATH; run this command on a login node of the cluster, or without --on slurm",
                      done.stderr)
        self.assertFalse(self.state.exists())


def curve_key(daemon):
    """The daemon's public key, which is no secret."""
    log = (daemon.parent / "daemon.log").read_text()
    return re.search("--server-key ([0-9a-f]+)", log)[1]


def processes_with(folder):
    """The programs of processes whose arguments name the folder."""
    found = []
    for process in os.listdir("/proc"):
        if process.isdigit() and int(process) != os.getpid():
            try:
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    words = file.read().decode(errors="replace").split("\0")
            except OSError:
                continue
            if any(str(folder) in word for word in words):
                found.append(" ".join(words[:3]))
    return found


if __name__ == "__main__":
    unittest.main()
