"""Several searches of one user on one machine share its slots: none takes what another has, each gets its turn, people see who
has what, and what was killed has nothing any more."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import unittest

import harness

LIBRARY = harness.BIN / "fake_nvml.so"
CORES = sorted(os.sched_getaffinity(0))[:2]
PACKAGE = harness.ROOT / "clients" / "python"

# Trains until a file is there, or for some steps.
PROGRAM = """
import json, os, sys, time
def note(what):
    line = json.dumps(dict(what=what, search=sys.argv[2], at=time.monotonic(), pid=os.getpid(),
                           gpu=os.environ.get("CUDA_VISIBLE_DEVICES"))) + "\\n"
    ledger = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(ledger, line.encode())
note("start")
until = time.monotonic() + float(sys.argv[3])
while time.monotonic() < until and not any(map(os.path.exists, (sys.argv[4], f"{sys.argv[4]}-{os.getpid()}"))):
    time.sleep(0.01)
note("end")
print('HPSEARCH {"step": 1, "loss": 0.5}', flush=True)
"""

TUNE = """
import hpsearch as hp, json, os, sys, time
LEDGER = sys.argv[1]
def note(what):
    ledger = os.open(LEDGER, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(ledger, (json.dumps(dict(what=what, search="tune", at=time.monotonic(), pid=os.getpid())) + "\\n").encode())
def train(trial):
    note("start")
    time.sleep(0.2)
    note("end")
    return trial["x"]
hp.tune(train, {"x": hp.uniform(0, 1)}, metric="loss", max_trials=4, name="beside")
"""


class SharedSlots(harness.Case):
    def setUp(self):
        super().setUp()
        if len(CORES) < 2:
            self.skipTest("this machine has one core only")
        self.table = self.folder / "slots"
        self.extra = {"HPSEARCH_SLOT_TABLE": str(self.table)}
        self.program = self.folder / "program.py"
        self.program.write_text(PROGRAM)
        self.go = self.folder / "go"

    def search(self, name, *arguments, trials=4, seconds=0.3, extra=None, **resources):
        """Starts `hpsearch run` of a search on a machine of two cores."""
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": {"epochs": 1}, "max_trials": trials,
                                                     "max_concurrent_trials": 0}, max_restarts=0, name=name)
        tree["entrypoint"] = ["/usr/bin/python3", "-IS", str(self.program), str(self.ledger_path), name, str(seconds),
                              str(self.go)]
        if resources:
            tree["resources"] = resources
        file = self.write_experiment(tree, f"{name}.yaml")
        return self.start("/usr/bin/taskset", "-c", ",".join(map(str, CORES)), str(harness.BIN / "hpsearch"), "run", file,
                          "--state-dir", self.folder / name, *arguments, log=f"{name}.log",
                          extra=self.extra | (extra or {}))

    def wait_for_starts(self, number, *searches):
        harness.wait_for(lambda: len(self.ledger.of("start")) >= number, f"{number} trainings",
                         lambda: "\n".join(search.said() for search in searches))

    def wait_until_over(self, *searches):
        for search in searches:
            self.assertEqual(search.popen.wait(harness.PATIENCE), 0, search.said())

    def starts_of(self, name):
        return [line for line in self.ledger.of("start") if line["search"] == name]

    def test_two_searches_never_train_more_than_the_machine_has_slots_and_both_end(self):
        first = self.search("first", seconds=600)
        self.wait_for_starts(2, first)
        second = self.search("second", seconds=600)
        harness.wait_for(lambda: self.starts_of("second") or "no trial runs" in second.said(), "the second search",
                         second.said)
        self.go.touch()
        self.wait_until_over(first, second)
        self.assertEqual([len(self.starts_of("first")), len(self.starts_of("second"))], [4, 4])
        self.assertLessEqual(self.ledger.most_at_once(), 2)
        self.assertEqual([path.name for path in self.table.iterdir() if "@" in path.name], [], "slots of nobody")

    def test_a_search_that_waits_says_for_whom_and_gets_the_next_slot(self):
        first = self.search("first", trials=6, seconds=600)
        self.wait_for_starts(2, first)
        second = self.search("second", trials=2)
        state = ["--state-dir", self.folder / "second"]
        held = f"2 in use by search first (process {first.popen.pid})"
        harness.wait_for(lambda: "no trial runs: 0 of 2 slots are free, " + held in second.said(), "the note", second.said)
        self.assertIn(held, self.run_cli("show", *state).stdout)
        self.assertIn(f"slot 0: in use by search first (process {first.popen.pid})",
                      self.run_cli("workers", *state).stdout)
        self.assertEqual(self.starts_of("second"), [])
        pathlib.Path(f"{self.go}-{self.starts_of('first')[0]['pid']}").touch()
        harness.wait_for(lambda: self.starts_of("second"), "a training of the second search", second.said)
        self.assertEqual(len(self.starts_of("first")), 2, "the search that has slots stands behind the one that has none")
        self.go.touch()
        self.wait_until_over(first, second)

    def test_killing_everything_of_a_search_frees_its_slots(self):
        first = self.search("first", seconds=600)
        self.wait_for_starts(2, first)
        second = self.search("second", trials=2)
        for pid in self.processes_of("first"):
            # Each that dies takes others with it.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.wait_until_over(second)
        self.assertEqual(len(self.starts_of("second")), 2)

    def processes_of(self, name):
        """Of the search with this state directory: hpsearch, daemon, worker, shims and trainings."""
        found = []
        for process in pathlib.Path("/proc").iterdir():
            try:
                words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            mine = any(str(self.folder / name) in word for word in words) or str(self.ledger_path) in words and name in words
            if process.name.isdigit() and int(process.name) != os.getpid() and mine:
                found.append(int(process.name))
        return found

    def test_killing_the_worker_alone_frees_no_slot_of_a_training(self):
        first = self.search("first", seconds=600, trials=2)
        self.wait_for_starts(2, first)
        for pid in self.processes_of("first"):
            # A process that does not last may have ended by now.
            with contextlib.suppress(OSError):
                if pathlib.Path(f"/proc/{pid}/comm").read_text().startswith("hpsearch-worker"):
                    os.kill(pid, signal.SIGKILL)
        second = self.search("second", trials=1)
        harness.wait_for(lambda: "in use by search first" in second.said(), "the note", second.said)
        self.assertEqual(self.starts_of("second"), [])
        self.go.touch()
        self.wait_until_over(first, second)

    def test_chosen_slots_wait_for_nobody_and_are_seen(self):
        first = self.search("first", seconds=600, trials=2)
        self.wait_for_starts(2, first)
        exact = self.search("exact", "--slots", "2", seconds=600, trials=2)
        self.wait_for_starts(4, exact)
        third = self.search("third", trials=1)
        os.kill(first.popen.pid, signal.SIGINT)
        first.popen.wait(harness.PATIENCE)
        harness.wait_for(lambda: "2 in use by search exact" in third.said(), "the note", third.said)
        self.assertEqual(self.starts_of("third"), [])
        self.go.touch()
        self.wait_until_over(exact, third)

    def test_trials_of_two_slots_get_both_together(self):
        first = self.search("first", trials=8)
        self.wait_for_starts(2, first)
        second = self.search("second", trials=2, slots_per_trial=2)
        self.wait_until_over(first, second)
        at = [(line["at"], 2 if line["search"] == "second" else 1) for line in self.ledger.of("start")]
        at += [(line["at"], -2 if line["search"] == "second" else -1) for line in self.ledger.of("end")]
        slots = most = 0
        for _, change in sorted(at):
            slots += change
            most = max(most, slots)
        self.assertEqual(most, 2)

    def test_tune_beside_a_run(self):
        script = self.folder / "script.py"
        script.write_text(TUNE)
        first = self.search("first", trials=6)
        self.wait_for_starts(1, first)
        done = subprocess.run(["/usr/bin/taskset", "-c", ",".join(map(str, CORES)), sys.executable, str(script),
                               str(self.ledger_path)], capture_output=True, text=True, timeout=harness.PATIENCE,
                              env=harness.environment() | self.extra | {
                                  "PYTHONPATH": str(PACKAGE), "HPSEARCH_BIN": str(harness.BIN),
                                  "HPSEARCH_STATE_HOME": str(self.folder / "home")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.wait_until_over(first)
        self.assertEqual(len(self.starts_of("tune")), 4)
        self.assertLessEqual(self.ledger.most_at_once(), 2)

    def test_tune_has_a_limit_of_its_own_for_free_memory(self):
        script = self.folder / "script.py"
        script.write_text("""if True:
            import hpsearch as hp, os
            hp.tune(lambda x: x, {"x": hp.uniform(0, 1)}, max_trials=1, gpu_free=60, progress=False)
            with hp.local(gpu_free=60) as client:
                experiment = client.submit(hp.experiment(
                    ["sh", "-c", "echo CUDA $CUDA_VISIBLE_DEVICES; echo 'HPSEARCH {\\"step\\": 1, \\"loss\\": 1}'"],
                    space={"x": 1}, searcher=hp.single(metric="loss", max_length=1)))
                print(experiment.wait().trials[0].log())
            """)
        self.driver_says("uuid=GPU-aaaa bus=1 memory=1000 free=599", "uuid=GPU-bbbb bus=2 memory=1000 free=601")
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=harness.PATIENCE,
                              env=harness.environment() | self.extra | {
                                  "PYTHONPATH": str(PACKAGE), "HPSEARCH_BIN": str(harness.BIN), "HPSEARCH_STATE_HOME": str(self.folder / "home"),
                                  "HPSEARCH_NVML_LIBRARY": str(LIBRARY), "FAKE_NVML": str(self.folder / "gpus")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("CUDA 1", done.stdout)

    def driver_says(self, *lines):
        new = self.folder / "gpus.new"
        new.write_text("".join(line + "\n" for line in lines))
        new.rename(self.folder / "gpus")

    def test_gpus_that_others_use_are_left_out_until_they_are_free(self):
        stranger = subprocess.Popen(["/bin/sleep", "600"])
        self.addCleanup(stranger.wait)
        self.addCleanup(stranger.kill)
        driver = {"HPSEARCH_NVML_LIBRARY": str(LIBRARY), "FAKE_NVML": str(self.folder / "gpus")}
        idle = "uuid=GPU-aaaa bus=1 memory=1000 free=1000"
        used = f"uuid=GPU-bbbb bus=2 memory=1000 free=950 process={stranger.pid}:50"
        full = "uuid=GPU-cccc bus=3 memory=1000 free=899"
        self.driver_says(idle, used, full)
        search = self.search("first", trials=3, seconds=600, extra=driver)
        self.wait_for_starts(1, search)
        harness.wait_for(lambda: "slot 2" in self.run_cli("workers", "--state-dir", self.folder / "first").stdout, "the worker")
        shown = self.run_cli("workers", "--state-dir", self.folder / "first").stdout
        self.assertIn(f"slot 1: GPU 1 is left out: process {stranger.pid} of another program uses it", shown)
        self.assertIn("slot 2: GPU 2 is left out: 899 of 1000 MiB are free, less than 90 % (--gpu-free)", shown)
        self.assertEqual([line["gpu"] for line in self.ledger.of("start")], ["0"])
        self.driver_says(idle, "uuid=GPU-bbbb bus=2 memory=1000 free=1000", full)
        self.wait_for_starts(2, search)
        self.assertEqual(self.ledger.of("start")[1]["gpu"], "1")
        self.go.touch()
        self.wait_until_over(search)


if __name__ == "__main__":
    unittest.main()
