"""hpsearch.tune(preload=…): interpreters that are started ahead of their trials, with the real programs."""

import json
import os
import pathlib
import signal
import sys
import textwrap
import time
import unittest

import harness

PACKAGE = harness.ROOT / "clients" / "python"
sys.path.insert(0, str(PACKAGE))

from hpsearch._local.local import process_with_lock

# What it finds when it is imported. In a spare, it makes the file ready-PID when that waits for its trial.
SLOW = """
    import os, sys, threading, time
    AT, PID, CWD = time.time(), os.getpid(), os.getcwd()
    SAW = {name: os.environ.get(name) for name in (
        "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "PYTHONHASHSEED", "HPSEARCH_TRIAL_NUMBER", "HPSEARCH_PARAMS")}
    print("imported by", PID, flush=True)

    def watch(main=threading.get_ident()):
        while sys._current_frames()[main].f_code.co_name != "_read_to_end":
            time.sleep(0.01)
        with open(os.path.join(os.path.dirname(__file__), "ready-%d" % PID), "w"):
            pass

    if "HPSEARCH_SPARE" in os.environ:
        threading.Thread(target=watch, daemon=True).start()
"""

# A trial goes on when so many interpreters wait for theirs.
TRAINING = """
    import json, os, pathlib, sys, time
    import hpsearch as hp

    def ready(packages):
        return [path for path in pathlib.Path(packages).glob("ready-*") if os.path.exists("/proc/" + path.name.split("-")[1])]

    def train(trial, *, ledger, packages, waits, pause, module):
        began = time.time()
        own = pathlib.Path(packages, "ready-%d" % os.getpid())
        if own.exists():
            own.unlink()
        preloaded = sys.modules.get(module)
        used = preloaded is not None
        slow = preloaded or (__import__(module) if module else None)
        start = trial.load()
        for epoch in trial.epochs(start):
            if waits and epoch == (start or 0) + 1:
                deadline = time.time() + 60
                while len(ready(packages)) < waits and time.time() < deadline:
                    time.sleep(0.02)
            time.sleep(pause)
            if epoch == (start or 0) + 1:
                line = dict(number=trial.number, attempt=trial.attempt, pid=os.getpid(), used=used, began=began, start=start,
                            x=trial["x"], params=json.loads(os.environ["HPSEARCH_PARAMS"]), cwd=os.getcwd(), path=sys.path[0],
                            spare=os.environ.get("HPSEARCH_SPARE"), input=os.read(0, 1).decode(), cuda=os.environ["CUDA_VISIBLE_DEVICES"],
                            mark=os.environ["HPSEARCH_ATTEMPT_MARK"], in_path=[os.getcwd() in sys.path, "/" in sys.path],
                            saw=slow and slow.SAW, at=slow and slow.AT, by=slow and slow.PID, variable=os.environ["HPSEARCH_TRIAL_NUMBER"])
                with open(ledger, "a") as file:
                    file.write(json.dumps(line) + "\\n")
            trial.report(epoch, value=trial["x"] + epoch, save=lambda: {"epoch": epoch})
"""


class PythonPreload(harness.Case):
    def setUp(self):
        super().setUp()
        self.home = self.folder / "state"
        self.packages = self.folder / "packages"
        self.packages.mkdir()
        self.package("slow_package", SLOW)
        self.ledger_path = self.folder / "ledger"
        self.addCleanup(self.end_runs)

    def end_runs(self):
        for lock in self.home.glob("*/search/run.lock"):
            runner = process_with_lock(lock)
            if runner:
                os.kill(runner, signal.SIGTERM)
                harness.wait_for(lambda: process_with_lock(lock) is None, "the search to pause")

    def package(self, name, text):
        (self.packages / f"{name}.py").write_text(textwrap.dedent(text))

    def script(self, call, name="script"):
        path = self.folder / f"{name}.py"
        path.write_text(textwrap.dedent(TRAINING + call))
        return self.start("/usr/bin/python3", "-B", path, log=f"{name}.log", extra={
            "PYTHONPATH": f"{PACKAGE}:{self.packages}", "HPSEARCH_STATE_HOME": str(self.home), "HPSEARCH_BIN": str(harness.BIN)})

    def run_script(self, call, name="script"):
        process = self.script(call, name)
        self.assertEqual(process.popen.wait(harness.PATIENCE), 0, process.said() + self.logs())
        return process.said()

    def logs(self):
        """Of workers, for a failed test."""
        return "\n".join(path.read_text() for path in sorted(self.folder.rglob("*.log")) if "work" in path.name or "run" in path.name)

    def call(self, *, module="slow_package", waits=1, pause=0.0, preload=None, **more):
        """The text of a call of tune()."""
        preload = [module] if preload is None else preload
        words = "".join(f", {name}={value}" for name, value in more.items())
        return f"""
    if __name__ == "__main__":
        arguments = dict(ledger={str(self.ledger_path)!r}, packages={str(self.packages)!r}, waits={waits}, pause={pause}, module={module!r})
        print("trials", len(hp.tune(train, {{"x": hp.uniform(0, 1)}}, arguments=arguments, preload={preload!r}{words}).trials))
"""

    def lines(self):
        return [json.loads(line) for line in self.ledger_path.read_text().splitlines()] if self.ledger_path.exists() else []

    def programs(self, spares_only=False):
        """Programs of this test's workers."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                variables = (entry / "environ").read_bytes().split(b"\0") if entry.name.isdigit() else []
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0] if variables else "Z"
            except OSError:
                continue
            mark = next((v for v in variables if v.startswith(b"HPSEARCH_ATTEMPT_MARK=")), b"")
            if str(self.folder).encode() in mark and state not in "ZX" and (not spares_only or b"/spares/" in mark):
                found.append(int(entry.name))
        return found

    def assert_nothing_is_left(self):
        harness.wait_for(lambda: not self.programs(), "the last program to end", lambda: str(self.programs()))
        self.assertEqual(list(self.folder.rglob("spares/*")), [])

    def test_each_trial_but_the_first_runs_in_an_interpreter_that_imported_before(self):
        said = self.run_script(self.call(max_trials=4, slots=1, pause=0.2, name='"ahead"', environment={
            "environment_variables": {"PYTHONHASHSEED": "7"}}) + """
        import hpsearch._local.search_directory as directory
        events = directory.SearchTransport(directory.SearchDirectory("ahead")).get("/api/v1/events", {"experiment": 1})["events"]
        print("granted", json.dumps([event["at"] for event in events if event["type"] == "lease_granted"]))
""")
        self.assertIn("trials 4", said)
        lines = self.lines()
        for line, granted in zip(lines, json.loads(said.split("granted ")[1])):
            line["granted"] = granted
        self.assertEqual([line["used"] for line in lines], [False, True, True, True], self.logs())
        self.assertEqual(len({line["pid"] for line in lines}), 4)
        self.assertEqual(len({line["x"] for line in lines}), 4)
        for line in lines[1:]:
            self.assertEqual(line["by"], line["pid"])
            self.assertLess(line["at"], line["granted"], "it was imported when the trial was there")
            self.assertEqual(line["saw"], {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": lines[0]["saw"]["OMP_NUM_THREADS"],
                                           "PYTHONHASHSEED": "7", "HPSEARCH_TRIAL_NUMBER": None, "HPSEARCH_PARAMS": None})
        for line in lines:
            self.assertEqual(line["params"], {"x": line["x"]})
            self.assertEqual(line["variable"], str(line["number"]))
            self.assertIn(f"/attempts/1-{line['number']}-1/", line["cwd"])
            self.assertEqual(line["path"], line["cwd"])
            self.assertEqual(line["in_path"], [True, False])
            self.assertIn(f"1-{line['number']}-1", line["mark"])
            self.assertIsNone(line["spare"])
            self.assertEqual(line["input"], "")
        # What it printed when it imported is in the log of the trial that got it.
        for line in lines[1:]:
            log = next((self.home / "ahead").rglob(f"1-{line['number']}-1/stdout.log"))
            self.assertIn(f"imported by {line['pid']}\n", log.read_text())
        self.assert_nothing_is_left()

    def test_each_slot_has_its_own(self):
        self.run_script(self.call(max_trials=6, slots=2, waits=2))
        lines = self.lines()
        self.assertEqual(sorted(line["number"] for line in lines if not line["used"]), [0, 1], self.logs())
        self.assertEqual(len({line["pid"] for line in lines}), 6)
        self.assert_nothing_is_left()

    def test_a_promoted_trial_goes_on_from_its_checkpoint_in_one(self):
        self.run_script(self.call(max_trials=8, slots=1, metric='"value"', max_length=4, seed=1,
                                  searcher='hp.asha(metric="value", max_length=4, max_trials=8, divisor=2, mode="aggressive", '
                                           'stop_once=False)'))
        lines = self.lines()
        resumed = [line for line in lines if line["start"]]
        self.assertTrue(resumed, lines)
        self.assertEqual([line["used"] for line in lines], [False] + [True] * (len(lines) - 1), self.logs())
        self.assert_nothing_is_left()

    def test_a_package_that_cannot_be_imported_there_costs_no_trial(self):
        for name, text in {"dies": "import os\nif 'HPSEARCH_SPARE' in os.environ: raise ImportError('not here')",
                           "killed": "import os\nif 'HPSEARCH_SPARE' in os.environ: os.kill(os.getpid(), 9)",
                           "hangs": "import os, time\nif 'HPSEARCH_SPARE' in os.environ: time.sleep(10000)"}.items():
            with self.subTest(name):
                self.package(name, text + "\nSAW, AT, PID = {}, 0, os.getpid()\n")
                self.ledger_path.unlink(missing_ok=True)
                self.assertIn("trials 3", self.run_script(self.call(max_trials=3, slots=1, module=name, name=repr(name),
                                                                    waits=0, pause=1), name))
                self.assertEqual([(line["number"], line["attempt"], line["used"]) for line in self.lines()],
                                 [(0, 1, False), (1, 1, False), (2, 1, False)])
                log = "\n".join(path.read_text() for path in (self.home / name).rglob("*.log"))
                if name == "dies":
                    self.assertEqual(log.count("ImportError: not here"), 1, log)  # Once; no further one is started.
                self.assert_nothing_is_left()

    def test_a_directory_that_hides_a_package_starts_anew(self):
        context = self.folder / "context"
        context.mkdir()
        (context / "slow_package.py").write_text("import os\nSAW, AT, PID = 'hidden', 0, os.getpid()\n")
        self.run_script(self.call(max_trials=3, slots=1, context=repr(str(context)), pause=0.5))
        self.assertEqual([(line["used"], line["saw"]) for line in self.lines()], [(False, "hidden")] * 3)
        self.assert_nothing_is_left()

    def test_names_that_are_none_are_refused(self):
        said = self.run_script("""
    for wrong in ("torch", ["no_such_module"], ["json.no_such_module"], [3]):
        try:
            hp.tune(lambda t: 1, {}, preload=wrong)
        except (TypeError, ValueError) as error:
            print(type(error).__name__, error)
""")
        self.assertEqual(said.splitlines(), [
            "TypeError preload is 'torch'; it must be a list of modules, as [\"torch\"]",
            "ValueError preload has 'no_such_module'; this Python finds no such module",
            "ValueError preload has 'json.no_such_module'; this Python finds no such module",
            "TypeError preload is [3]; it must be a list of modules, as [\"torch\"]"])

    # --- a cluster ---

    def start_cluster(self, slots=1):
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        return self.cluster.start_worker(slots)

    def on_cluster(self, name, **more):
        return self.script(self.call(on=f"hp.Client({self.cluster.server!r})", **more), name)

    def spare(self):
        """The one there is, when it has imported."""
        def found():
            return [pid for pid in self.programs(spares_only=True) if (self.packages / f"ready-{pid}").exists()]
        harness.wait_for(lambda: len(found()) == 1, "a spare", self.logs)
        return found()[0]

    def test_it_has_the_gpu_of_its_slot(self):
        library = harness.BIN / "fake_nvml.so"
        if not library.exists():
            self.skipTest("the driver's library for tests is not built")
        gpus = self.folder / "gpus"
        gpus.write_text("uuid=GPU-aaaa bus=3 memory=1024 free=1000\nuuid=GPU-bbbb bus=7 memory=1024 free=1000\n")
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        worker = self.start("hpsearch-worker", "--daemon", self.cluster.workers, "--state-dir", self.folder / "worker", "--slots",
                            "auto", "--name", "worker", log="worker.log", extra={"HPSEARCH_NVML_LIBRARY": str(library),
                                                                                  "FAKE_NVML": str(gpus)})
        script = self.on_cluster("search", max_trials=6, waits=2)
        self.assertEqual(script.popen.wait(harness.PATIENCE), 0, script.said() + self.logs())
        lines = self.lines()
        self.assertEqual(sum(line["used"] for line in lines), 4, self.logs())
        for line in lines:
            self.assertEqual(line["saw"]["CUDA_VISIBLE_DEVICES"], line["cuda"])
        self.assertEqual(len({line["cuda"] for line in lines if line["used"]}), 2)
        worker.end()
        self.assert_nothing_is_left()

    def test_it_ends_when_its_worker_is_killed_and_the_trials_go_on(self):
        worker = self.start_cluster()
        script = self.on_cluster("search", max_trials=3, waits=0, pause=3)
        spare = self.spare()
        trial = [pid for pid in self.programs() if pid != spare]
        self.assertEqual(len(trial), 1, self.logs())
        worker.end(signal.SIGKILL)
        harness.wait_for(lambda: spare not in self.programs(), "the spare to end with its worker")
        self.assertEqual(self.programs(), trial)
        worker = self.cluster.start_worker(1)  # It has no spare for the next trial; the one after that gets one.
        self.assertEqual(script.popen.wait(harness.PATIENCE), 0, script.said())
        self.assertEqual([line["attempt"] for line in self.lines()], [1, 1, 1], "a trial was lost")
        self.assertEqual([line["used"] for line in self.lines()], [False, False, True], self.logs())
        worker.end()
        self.assert_nothing_is_left()

    def test_a_trial_in_one_is_taken_over_by_the_next_worker_and_ended_by_it(self):
        worker = self.start_cluster()
        script = self.on_cluster("search", max_trials=2, waits=1, pause=4)
        harness.wait_for(lambda: len(self.lines()) == 1, "the first trial", self.logs)
        harness.wait_for(lambda: self.cluster.state_of(1) == "ACTIVE" and any(
            trial["state"] == "RUNNING" and trial["trial"] == 1 for trial in self.cluster.trials(1)), "the second", self.logs)
        harness.wait_for(lambda: len(self.programs()) == 2, "its spare", lambda: str(self.programs()))
        worker.end(signal.SIGKILL)
        worker = self.cluster.start_worker(1)
        self.assertEqual(script.popen.wait(harness.PATIENCE), 0, script.said())
        self.assertEqual([(line["attempt"], line["used"]) for line in self.lines()], [(1, False), (1, True)], self.logs())
        worker.end()
        self.assert_nothing_is_left()

    def test_it_ends_with_a_worker_that_is_asked_to_and_outlives_the_daemon_as_its_worker_does(self):
        worker = self.start_cluster()
        script = self.on_cluster("search", max_trials=2, waits=0, pause=5)
        spare = self.spare()
        self.cluster.kill_daemon()
        time.sleep(0.5)
        self.assertIn(spare, self.programs())
        script.end(signal.SIGKILL)
        worker.end(signal.SIGTERM)
        self.assert_nothing_is_left()

    def test_it_ends_with_all_of_a_search_of_this_machine(self):
        script = self.script(self.call(max_trials=3, slots=1, name='"mine"', waits=0, pause=1000))
        spare = self.spare()
        script.end(signal.SIGKILL)
        time.sleep(0.3)
        self.assertIn(spare, self.programs(), "the search ended with its script")
        for lock in ("run.lock", "worker/lock", "daemon/lock"):
            process = process_with_lock(self.home / "mine/search" / lock)
            if process:
                os.kill(process, signal.SIGKILL)
        harness.wait_for(lambda: spare not in self.programs(), "the spare to end")
        for trial in self.programs():  # Which may outlive its worker.
            os.kill(trial, signal.SIGKILL)
        self.assert_nothing_is_left()

    def test_a_shim_that_is_killed_takes_it_along_and_the_next_trial_starts(self):
        worker = self.start_cluster()
        script = self.on_cluster("search", max_trials=2, waits=0, pause=3)
        spare = self.spare()
        shim = int(pathlib.Path(f"/proc/{spare}/stat").read_text().rpartition(")")[2].split()[1])
        self.assertIn(b"--ahead", pathlib.Path(f"/proc/{shim}/cmdline").read_bytes())
        os.kill(shim, signal.SIGKILL)
        harness.wait_for(lambda: spare not in self.programs(), "the spare to end")
        self.assertEqual(script.popen.wait(harness.PATIENCE), 0, script.said() + self.logs())
        self.assertEqual([(line["attempt"], line["used"]) for line in self.lines()], [(1, False)] * 2)
        worker.end()
        self.assertEqual(self.programs(), [])

    def test_another_experiment_in_the_slot_ends_it(self):
        worker = self.start_cluster()
        first = self.on_cluster("first", max_trials=2, waits=0, pause=1.5, seed=1)
        spare = self.spare()
        second = self.on_cluster("second", max_trials=2, waits=0, pause=1.5, preload=[], seed=2)
        for script in (first, second):
            self.assertEqual(script.popen.wait(harness.PATIENCE), 0, script.said() + self.logs())
        self.assertEqual(len(self.lines()), 4)
        self.assertTrue(all(line["attempt"] == 1 for line in self.lines()))
        self.assertNotIn(spare, self.programs())
        worker.end()
        self.assert_nothing_is_left()


if __name__ == "__main__":
    unittest.main()
