"""Trainings in real containers: what they are given, that they pause, go on and outlive their agent, and that nothing of them is
left, neither processes nor containers. A file of tests for each runtime says which one (container_podman_test.py).

Their image is empty: it is given this machine's /usr to read.
"""

import json
import os
import subprocess
import sys
import tarfile
import time

import harness
from escape_test import survivors
from kill_shim_test import shims

IMAGE = "localhost/hpsearch-e2e:1"
SLOTS = 2
# Runtimes take their time on a busy machine.
GRACE = ["--grace", "2"]


class Runtime:
    """A runtime whose images and containers are in a folder of their own, or why there is none."""

    program = ""

    def __init__(self, folder):
        self.folder = folder
        self.variables = {}  # Of who uses it.
        self.why_not = None

    def run(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=harness.PATIENCE, env=harness.environment() | self.variables)

    def make_archive(self):
        archive = self.folder / "image.tar"
        with tarfile.open(archive, "w") as image:
            for name in ("usr", "etc", "tmp", "proc", "sys", "dev", "run"):
                place = tarfile.TarInfo(name)
                place.type, place.mode = tarfile.DIRTYPE, 0o755
                image.addfile(place)
            for name in ("bin", "sbin", "lib", "lib64"):
                link = tarfile.TarInfo(name)
                link.type, link.linkname = tarfile.SYMTYPE, f"usr/{name}"
                image.addfile(link)
        return str(archive)

    def try_out(self, archive):
        """Why it cannot run a container of that archive's image, or None."""
        for words in (("import", archive, IMAGE),
                      ("run", "--rm", "--network=host", "--pid=host", "--volume", "/usr:/usr:ro", IMAGE, "true")):
            done = self.run(*words)
            if done.returncode != 0:
                return f"{self.program} {words[0]} fails: {done.stderr.strip()[-300:]}"
        return None

    def containers(self):
        done = self.run("ps", "--all", "--quiet")
        if done.returncode != 0:
            raise AssertionError(f"{self.program} ps fails: {done.stderr}")
        return done.stdout.split()


class RealContainers:
    """The tests, for a harness.Case with make_runtime(folder)."""

    def setUp(self):
        super().setUp()
        place = self.folder / "runtime"
        place.mkdir()
        self.runtime = self.make_runtime(place)
        if self.runtime.why_not:
            self.skipTest(self.runtime.why_not)
        self.addCleanup(self.remove_what_is_left)
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        self.start_worker()

    def remove_what_is_left(self):
        """While the folder with the runtime is there."""
        for process in reversed(self.processes):
            process.end()
        for container in self.runtime.containers():
            self.runtime.run("rm", "--force", container)

    def start_worker(self):
        self.worker = self.cluster.start_worker(SLOTS, "worker", *GRACE, extra=self.runtime.variables)

    def kill_worker(self):
        self.worker.popen.kill()
        self.worker.popen.wait()

    def experiment(self, searcher, program=harness.FAKE_TRAINING, fake=None, **more):
        tree = harness.experiment(self.ledger_path, searcher, fake=fake, **more)
        tree["entrypoint"] = ["/usr/bin/python3", "-IS", str(program)]
        tree["environment"]["image"] = IMAGE
        tree["bind_mounts"] = [{"host_path": "/usr", "container_path": "/usr", "read_only": True},
                               {"host_path": str(harness.HERE), "container_path": str(harness.HERE), "read_only": True},
                               {"host_path": str(self.folder), "container_path": str(self.folder)}]
        return tree

    def check_nothing_is_left(self):
        harness.wait_for(lambda: not self.runtime.containers(), "containers to be gone", lambda: str(self.runtime.containers()))
        self.assertEqual(self.ledger.alive(), [], "trainings are left")

    def test_a_search_pauses_and_goes_on_in_containers(self):
        searcher = {"name": "async_halving", "num_rungs": 3, "divisor": 2, "max_length": 8, "max_trials": 6,
                    "max_concurrent_trials": SLOTS}
        experiment = self.cluster.submit(self.experiment(searcher))
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", self.cluster.trials(experiment))
        self.judge(self.cluster, experiment, SLOTS)
        self.assertGreater(len([line for line in self.ledger.of("end") if line["why"] == "pause"]), 0)
        self.check_nothing_is_left()

    def test_what_a_program_is_given(self):
        data = self.folder / "data"
        data.mkdir()
        (data / "seen").write_text("yes\n")
        seen = self.folder / "seen.json"
        witness = self.folder / "witness.py"
        witness.write_text(f"""
import json, os, sys
try:
    open("/data/written", "w")
    wrote = True
except OSError:
    wrote = False
with open({str(seen)!r}, "w") as file:
    json.dump(dict(argv=sys.argv[1:], env=dict(os.environ), root=sorted(os.listdir("/")), uid=os.getuid(), wrote=wrote,
                   data=open("/data/seen").read(), cwd=os.getcwd(),
                   hps=open("/ml/input/config/hyperparameters.json").read()), file)
print('HPSEARCH {{"step": 1, "loss": 0.5}}')
""")
        hostile = "a 'b' $(touch /tmp/no) \"c\"\n-rf ünïcode"
        tree = self.experiment({"name": "single", "max_length": 1}, program=witness, layout="/ml",
                               hyperparameters={"text": hostile, "lr": 0.25})
        tree["entrypoint"] += ["--text={text}", "--lr={lr}"]
        tree["environment"]["environment_variables"] |= {"HOME": "/the/program's", "TOKEN": "se cret"}
        tree["bind_mounts"].append({"host_path": str(data), "container_path": "/data", "read_only": True})
        experiment = self.cluster.submit(tree)
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", self.cluster.trials(experiment))
        told = json.loads(seen.read_text())
        self.assertEqual(told["argv"], [f"--text={hostile}", "--lr=0.25"])
        self.assertEqual((told["data"], told["wrote"], told["uid"]), ("yes\n", False, os.getuid()))
        self.assertEqual(json.loads(told["hps"]), {"text": hostile, "lr": "0.25"})
        self.assertEqual((told["env"]["HOME"], told["env"]["TOKEN"]), ("/the/program's", "se cret"))
        self.assertEqual(json.loads(told["env"]["HPSEARCH_PARAMS"]), {"text": hostile, "lr": 0.25})
        self.assertIn("ml", told["root"])
        self.assertNotIn("root", told["root"], "this is the machine, not the image")
        self.assertNotIn("CONTAINERS_CONF", told["env"], "what is the worker's is not the program's")

    def test_agents_come_and_go(self):
        fake = {"STEP_SECONDS": 0.1}
        experiment = self.cluster.submit(self.experiment(
            {"name": "random", "max_length": 40, "max_trials": 2 * SLOTS, "max_concurrent_trials": SLOTS}, fake=fake,
            max_restarts=0))
        for _ in range(4):
            known = len(self.ledger.of("step"))
            harness.wait_for(lambda: len(self.ledger.of("step")) > known + 5 or
                             self.cluster.state_of(experiment) != "ACTIVE", "trainings to go on")
            self.kill_worker()
            time.sleep(0.5)
            self.start_worker()
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", self.cluster.trials(experiment))
        self.judge(self.cluster, experiment, SLOTS)
        self.check_nothing_is_left()

    def test_a_dead_shim_takes_the_container_with_it(self):
        experiment = self.cluster.submit(self.experiment(
            {"name": "random", "max_length": 60, "max_trials": SLOTS, "max_concurrent_trials": SLOTS},
            fake={"STEP_SECONDS": 0.1}, max_restarts=0))
        harness.wait_for(lambda: len(self.ledger.of("step")) > 5, "trainings to report")
        chosen = shims(self.folder)[0]
        self.assertIsNotNone(harness.kill_exactly(chosen, lambda: chosen in shims(self.folder)))
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", self.cluster.trials(experiment))
        trials = self.cluster.trials(experiment)
        self.assertEqual(sorted((trial["attempts"], trial["restarts"]) for trial in trials), [(1, 0), (2, 0)])
        self.judge_reports(self.cluster, experiment)
        self.check_nothing_is_left()

    def test_what_wants_to_stay_does_not(self):
        locks = self.folder / "locks"
        locks.mkdir()
        tree = self.experiment({"name": "random", "max_length": 1, "max_trials": 8, "max_concurrent_trials": SLOTS},
                               program=harness.HERE / "faults" / "escaping_training.py", max_restarts=3)
        tree["environment"]["environment_variables"] |= {"FAKE_LOCKS": str(locks), "FAKE_SLOTS": str(SLOTS)}
        tree["environment"]["finish_within"] = "1s"  # Some never end by themselves.
        experiment = self.cluster.submit(tree)
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", self.cluster.trials(experiment))
        self.assertEqual(self.ledger.of("double-booked"), [])
        self.assertEqual(self.worker.end(), 0, self.worker.said())
        self.assertEqual(survivors(str(locks)), [])
        print(f"{len(self.ledger.of('start'))} trainings, {len(self.ledger.of('escaped'))} escapes", file=sys.stderr)
        self.check_nothing_is_left()
