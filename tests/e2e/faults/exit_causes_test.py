"""How programs end, and what their user is told: each way has its cause in `hpsearch show --trial`, with the node's name.

Memory that is really used up needs a memory cgroup (version 1 or 2) that may be made here; else that row says it is skipped.
"""

import os
import pathlib
import sys
import unittest

import harness

MEMORY_LIMIT = 300 * 1024 * 1024

PROGRAM = """
import ctypes, json, os, shutil, signal, socket, subprocess, sys, time
how = json.loads(os.environ["HPSEARCH_PARAMS"])["how"]
attempt = int(os.environ["HPSEARCH_ATTEMPT"])
def report(metric="loss"):
    print('HPSEARCH {"step": 1, "%s": 0.5}' % metric, flush=True)
def use_up_memory():
    hog = [bytearray(b"x" * 2**20) for _ in range(4096)]
if how == "is well":
    report()
elif how == "says nothing":
    pass
elif how == "reports another metric":
    report("accuracy")
elif how == "exits with 1":
    sys.exit(1)
elif how == "exits with 255":
    os._exit(255)
elif how == "raises":
    raise ValueError("no such thing")
elif how == "asks to be run again":
    if attempt == 1:
        sys.exit(75)
    report()
elif how == "exits with 3 after a report of half its way":
    print('HPSEARCH {"step": 0, "loss": 0.5}', flush=True)
    sys.exit(3)
elif how == "gets no more memory":
    bytearray(2**62)
elif how == "aborts":
    os.abort()
elif how == "reads what is not there":
    ctypes.string_at(0)
elif how.startswith("SIG"):
    os.kill(os.getpid(), signal.Signals[how])
elif how == "closes its streams and exits with 4":
    os.closerange(0, 3)
    os._exit(4)
elif how == "removes its directory and exits with 5":
    shutil.rmtree(os.getcwd(), ignore_errors=True)
    os._exit(5)
elif how == "writes rubbish and exits with 6":
    os.write(1, bytes(range(256)) * 4000)
    os.write(2, b"x" * 300000)
    os._exit(6)
elif how == "leaves a child behind":
    subprocess.Popen(["/bin/sleep", "1000"], start_new_session=True)
    report()
elif how == "loses its shim":
    if attempt == 1:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(1000)
    report()
elif how == "uses up its memory":
    use_up_memory()
elif how == "uses up its memory behind a shell":
    sys.exit(subprocess.call(["/bin/sh", "-c", '"$0" -c "bytes([1]) * 2**32"; exit $?', sys.executable]))
"""

WELL = [("exit code 0", False)]
ENDS = {
    "is well": WELL,
    "exits with 1": [("exit code 1", True)],
    "exits with 255": [("exit code 255", True)],
    "raises": [("exit code 1", True)],
    "asks to be run again": [("exit code 75", True)] + WELL,
    "exits with 3 after a report of half its way": [("exit code 3", True)],
    "gets no more memory": [("out-of-memory", True)],
    "aborts": [("signal 6 (SIGABRT)", True)],
    "reads what is not there": [("signal 11 (SIGSEGV)", True)],
    "SIGKILL": [("signal 9 (SIGKILL)", True)],
    "SIGTERM": [("signal 15 (SIGTERM)", True)],
    "SIGFPE": [("signal 8 (SIGFPE)", True)],
    "SIGBUS": [("signal 7 (SIGBUS)", True)],
    "SIGUSR2": [("signal 12 (SIGUSR2)", True)],
    "closes its streams and exits with 4": [("exit code 4", True)],
    "removes its directory and exits with 5": [("exit code 5", True)],
    "writes rubbish and exits with 6": [("exit code 6", True)],
    "leaves a child behind": WELL,
    "loses its shim": [("lost", True)] + WELL,
    # Last: two of them before a value of the metric arrived would pause the search.
    "says nothing": [("missing metric", True)],
    "reports another metric": [("missing metric", True)],
}
WITH_LIMIT = {
    "uses up its memory": [("out-of-memory", True)],
    "uses up its memory behind a shell": [("out-of-memory", True)],
}


def memory_group():
    """A new cgroup with MEMORY_LIMIT, or None where none may be made."""
    mounts = [line.split()[1:4] for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()]
    groups = [line.split(":", 2) for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()]
    for place, kind, options in mounts:
        if kind == "cgroup" and "memory" in options.split(","):
            own = next(path for _, controllers, path in groups if "memory" in controllers.split(","))
            limits = {"memory.limit_in_bytes": MEMORY_LIMIT, "memory.memsw.limit_in_bytes": MEMORY_LIMIT}
        elif kind == "cgroup2":
            own = next((path for number, _, path in groups if number == "0"), "/")
            limits = {"memory.max": MEMORY_LIMIT, "memory.swap.max": 0}
        else:
            continue
        group = pathlib.Path(place + own) / f"hpsearch-e2e-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            for name, value in limits.items():
                if (group / name).exists():
                    (group / name).write_text(str(value))
            (group / next(iter(limits))).read_text()
            return group
        except OSError:
            group.rmdir()
    return None


class ExitCauses(harness.Case):
    def causes_of(self, experiment, trial):
        shown = self.run_cli("show", experiment, "--trial", trial, "--server", self.cluster.server, "--output", "json")
        self.assertEqual({attempt["worker"] for attempt in shown["attempts_made"]}, {"worker"})
        return [(attempt["cause"], attempt["failed"]) for attempt in shown["attempts_made"]], shown

    def begin(self, group=None):
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon()
        self.cluster.wait_until_up()
        join = ("/bin/sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', group) if group else ()
        self.worker = self.start(*join, *([harness.BIN / "hpsearch-worker"] if group else ["hpsearch-worker"]), "--daemon",
                                 self.cluster.workers, "--state-dir", self.folder / "worker", "--slots", 4, "--name", "worker",
                                 log="worker.log")

    def judge(self, ends):
        program = self.folder / "program.py"
        program.write_text(PROGRAM)
        tree = harness.experiment(self.ledger_path, {"name": "grid", "max_length": 1},
                                  hyperparameters={"how": {"type": "categorical", "vals": list(ends)}}, max_restarts=0)
        tree["entrypoint"] = ["/usr/bin/python3", "-IS", str(program)]
        experiment = self.cluster.submit(tree)
        self.cluster.wait_until_over(experiment)
        trials = self.cluster.trials(experiment)
        self.assertEqual(len(trials), len(ends))
        for trial in trials:
            how = trial["hparams"]["how"]
            with self.subTest(how=how):
                self.assertEqual(self.causes_of(experiment, trial["trial"])[0], ends[how])
        return experiment, {trial["hparams"]["how"]: trial for trial in trials}

    def test_every_end_has_its_cause(self):
        self.begin()
        experiment, trials = self.judge(ENDS)
        failed = [how for how, ends in ENDS.items() if ends[-1][1]]
        self.assertEqual({trials[how]["state"] for how in failed} - {"FAILED", "STOPPED"}, set())
        _, raised = self.causes_of(experiment, trials["raises"]["trial"])
        self.assertEqual(raised["failed_log"]["stream"], "stderr")
        self.assertIn("ValueError: no such thing", raised["failed_log"]["text"])
        table = self.run_cli("trials", experiment, "--server", self.cluster.server).stdout
        self.assertIn("ended by signal 11 (SIGSEGV)", table)
        self.assertIn("ran out of memory: MemoryError", table)

        missing = harness.experiment(self.ledger_path, {"name": "random", "max_length": 1, "max_trials": 1}, max_restarts=0)
        missing["entrypoint"] = ["/there/is/no/such/program"]
        experiment = self.cluster.submit(missing)
        self.cluster.wait_until_over(experiment)
        self.assertEqual(self.causes_of(experiment, 0)[0], [("could not start", True)])

    def test_trials_that_run_out_of_memory_pause_no_search(self):
        self.begin()
        program = self.folder / "program.py"
        program.write_text(PROGRAM)
        tree = harness.experiment(self.ledger_path, {"name": "grid", "max_length": 1}, max_restarts=0, hyperparameters={
            "how": {"type": "categorical", "vals": ["gets no more memory", "is well"]},
            "size": {"type": "int", "minval": 1, "maxval": 5, "count": 5}})
        tree["entrypoint"] = ["/usr/bin/python3", "-IS", str(program)]
        experiment = self.cluster.submit(tree)
        self.cluster.wait_until_over(experiment)  # A search that paused itself would not be.
        states = [(trial["hparams"]["how"], trial["state"]) for trial in self.cluster.trials(experiment)]
        self.assertEqual(sorted(states), [("gets no more memory", "FAILED")] * 5 + [("is well", "COMPLETED")] * 5)

    def test_memory_that_is_used_up(self):
        group = memory_group()
        if group is None:
            self.skipTest("no memory cgroup may be made here")
        self.addCleanup(group.rmdir)
        self.begin(group)
        self.addCleanup(self.worker.end)
        _, trials = self.judge(WITH_LIMIT)
        print({how: trial["last_failure"].splitlines()[0] for how, trial in trials.items()}, file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
