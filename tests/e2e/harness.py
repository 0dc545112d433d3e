"""What the end-to-end tests share: real daemons, real workers, the real command line, and the trainings' own ledger."""

import atexit
import collections
import http.client
import json
import os
import pathlib
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import api_answers

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BIN = pathlib.Path(os.environ.get("E2E_BIN_DIR", ROOT / "build" / "dev" / "bin")).resolve()
PROGRAMS = ("hpsearch", "hpsearchd", "hpsearch-worker", "hpsearch-shim")
FAKE_TRAINING = HERE / "fake_training.py"
# No test asserts how long anything takes; this only keeps a hanging one from hanging for ever.
PATIENCE = float(os.environ.get("E2E_PATIENCE_SECONDS", "240"))
PORTS = random.SystemRandom()  # Tests run beside each other: E2E_SEED must not give all of them the same ports.

# Tests that run beside each other don't wait for each other's slots, and read no configuration of this machine.
PLACES = {"HPSEARCH_SLOT_TABLE": tempfile.mkdtemp(prefix="hpsearch-slots-"),
          "CONFIGURATION_DIRECTORY": tempfile.mkdtemp(prefix="hpsearch-config-")}
os.chmod(PLACES["CONFIGURATION_DIRECTORY"], 0o755)  # Some programs run as other users.
os.environ |= PLACES
for place in PLACES.values():
    atexit.register(shutil.rmtree, place, ignore_errors=True)


def free_port():
    """Below the ports that the kernel hands out, so that no connection of another test takes it before it is used."""
    while True:
        port = PORTS.randrange(12_000, 28_000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def environment():
    """Ours without what a surrounding search might have left in it, and with our programs found first."""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("HPSEARCH_", "HPSEARCHD_", "DET_", "XDG_STATE_"))}
    return clean | {"PATH": f"{BIN}:{clean['PATH']}"} | PLACES


def experiment(ledger, searcher, fake=None, hyperparameters=None, seed=7, **more):
    """An experiment that runs the fake training."""
    variables = {"FAKE_LEDGER": str(ledger)} | {f"FAKE_{name}": str(value) for name, value in (fake or {}).items()}
    return {
        "entrypoint": ["/usr/bin/python3", "-IS", str(FAKE_TRAINING)],
        "hyperparameters": hyperparameters or {"x": {"type": "double", "minval": 0, "maxval": 1},
                                               "kind": {"type": "categorical", "vals": ["a", "b", 3]}},
        "searcher": {"metric": "loss"} | searcher,
        "environment": {"environment_variables": variables},
        "reproducibility": {"experiment_seed": seed},
    } | more


class Ledger:
    """What the trainings did, by their own account."""

    def __init__(self, path):
        text = path.read_text() if path.exists() else ""
        whole, _, _ = text.rpartition("\n")  # What follows is a line that is being written.
        self.lines = [json.loads(line) for line in whole.splitlines()]

    def of(self, what):
        return [line for line in self.lines if line["what"] == what]

    def alive(self):
        """Process numbers of the trainings that have not ended. Numbers come back, so the time of their start counts too."""
        found = [(line["pid"], start_time(line["pid"]), line.get("began")) for line in self.of("start")]
        return [pid for pid, now, began in found if now is not None and began in (None, now)]

    def final_lengths(self):
        """Trial → the furthest step it trained."""
        final = {}
        for line in self.of("step"):
            final[line["trial"]] = max(final.get(line["trial"], 0), line["step"])
        return final

    def most_at_once(self):
        """How many trainings were alive at the same time, at most."""
        changes = [(line["at"], 1) for line in self.of("start")] + [(line["at"], -1) for line in self.of("end")]
        alive = most = 0
        for _, change in sorted(changes):
            alive += change
            most = max(most, alive)
        return most


class Process:
    """One of our programs, its messages in a file."""

    def __init__(self, arguments, log, extra=None):
        self.arguments = [str(argument) for argument in arguments]
        self.log = log
        with open(log, "ab") as file:
            self.popen = subprocess.Popen([str(BIN / self.arguments[0]), *self.arguments[1:]], stdin=subprocess.DEVNULL,
                                          stdout=file, stderr=file, env=environment() | (extra or {}))

    def end(self, how=signal.SIGTERM, patience=60):
        if self.popen.poll() is None:
            self.popen.send_signal(how)
        try:
            return self.popen.wait(patience)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()
            raise AssertionError(f"{self.arguments} does not end; it said:\n{self.said()}")

    def said(self):
        return self.log.read_text(errors="replace")[-4000:]


class Case(unittest.TestCase):
    """A test with a folder of its own, that leaves no process behind."""

    @classmethod
    def setUpClass(cls):
        missing = [name for name in PROGRAMS if not (BIN / name).exists()]
        if missing:
            raise SystemExit(f"{BIN} has no {', '.join(missing)}; to build them: "
                             "cmake --preset dev && cmake --build --preset dev (or E2E_BIN_DIR=where they are)")

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hpsearch-e2e-"))
        self.ledger_path = self.folder / "ledger"
        self.processes = []
        self.addCleanup(self.clean_up)

    def clean_up(self):
        for process in reversed(self.processes):  # Workers go before the daemon: they end their trainings.
            if process.popen.poll() is None:
                process.end()
        if sys.exc_info()[0] is None and not self.has_failed():
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            print(f"what was left: {self.folder}", file=sys.stderr)

    def has_failed(self):
        result = getattr(self._outcome, "result", None)
        return bool(result) and any(test is self for test, _ in result.failures + result.errors)

    def start(self, *arguments, log, extra=None):
        """`extra` are variables of its environment."""
        process = Process(arguments, self.folder / log, extra)
        self.processes.append(process)
        return process

    def run_cli(self, *arguments, expect=0, cwd=None, **more):
        """Runs hpsearch to its end and returns what it wrote to stdout (parsed when JSON was asked for)."""
        done = subprocess.run([str(BIN / "hpsearch"), *map(str, arguments)], capture_output=True, text=True,
                              timeout=PATIENCE, env=environment(), cwd=cwd or self.folder, stdin=subprocess.DEVNULL, **more)
        if expect is not None:
            self.assertEqual(done.returncode, expect,
                             f"hpsearch {' '.join(map(str, arguments))}\n{done.stdout}\n{done.stderr}")
        if expect == 0 and "json" in arguments:
            return json.loads(done.stdout)
        return done

    def write_experiment(self, tree, name="experiment.yaml"):
        path = self.folder / name
        path.write_text(json.dumps(tree, indent=1))  # JSON is YAML too.
        return path

    @property
    def ledger(self):
        return Ledger(self.ledger_path)

    def disturb(self, rng, times, is_over, kill, start, longest_gap):
        """Kills and starts again, at moments from "hardly up" to "in the thick of it"; how often before it was over."""
        for done in range(times):
            time.sleep(rng.choice([rng.uniform(0, 0.05), rng.uniform(0, 0.5), rng.uniform(0.3, 1.5)]))
            if is_over():
                return done
            kill()
            time.sleep(rng.choice([0, rng.uniform(0, 0.3), rng.uniform(0, longest_gap)]))
            start()
        return times

    def judge(self, cluster, experiment, slots, ledger=None):
        """Compares what the trainings wrote down with what the daemon knows: nothing lost, doubled or disturbed."""
        ledger = ledger or self.ledger
        trials = cluster.trials(experiment)
        starts = count((line["trial"], line["attempt"]) for line in ledger.of("start"))
        self.assertEqual(set(starts.values()), {1}, "an attempt was started twice")
        # An agent may die between lease and start; the daemon then knows an attempt that never was.
        self.assertLessEqual(set(starts), {(trial["trial"], attempt) for trial in trials
                                           for attempt in range(1, trial["attempts"] + 1)})
        self.assertLessEqual({line["why"] for line in ledger.of("end")}, {"pause", "stop"}, "a training was disturbed")
        self.assertEqual(len(ledger.of("end")), len(starts))
        steps = count((line["trial"], line["step"]) for line in ledger.of("step"))
        self.assertEqual(set(steps.values()), {1}, "a step was trained twice: a process was replaced")
        final = ledger.final_lengths()
        self.assertEqual(final, {trial["trial"]: trial["reached"] for trial in trials})
        self.assertLessEqual(ledger.most_at_once(), slots)
        for trial in trials:
            number = trial["trial"]
            metrics = cluster.metrics(experiment, number)
            self.assertEqual([report["step"] for report in metrics], list(range(1, final[number] + 1)),
                             f"reports of trial {number}")


    def judge_reports(self, cluster, experiment):
        """Of attempts that may have been cut off: each report that was answered is there, once and in order; the last one of
        who was cut off may be."""
        ledger = self.ledger
        told, ended = {}, set()
        for line in ledger.lines:
            key = line["trial"], line["attempt"]
            if line["what"] == "start":
                # Who begins at its length has nothing to train and reports where it is.
                told[key] = [line["step"]] if line["step"] >= line["length"] else []
            elif line["what"] == "step":
                told[key].append(line["step"])
            elif line["why"] in ("stop", "pause"):
                ended.add(key)
        for trial in cluster.trials(experiment):
            number = trial["trial"]
            stored = {}
            for report in cluster.metrics(experiment, number):
                stored.setdefault((number, report["attempt"]), []).append(report["step"])
            for attempt in range(1, trial["attempts"] + 1):
                whole = told.get((number, attempt), [])
                allowed = [whole] if (number, attempt) in ended else [whole, whole[:-1]]
                self.assertIn(stored.pop((number, attempt), []), allowed, f"reports of attempt {attempt} of trial {number}")
            self.assertEqual(stored, {}, "reports of attempts that never were")


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Cluster:
    """A daemon that may be killed and started again on the same ports, and its workers."""

    def __init__(self, case, workers_port=None):
        self.case = case
        self.state = case.folder / "daemon"
        self.workers = f"tcp://127.0.0.1:{workers_port or free_port()}"
        self.daemon = None

    @property
    def server(self):
        return f"unix://{self.state}/api.sock"

    def start_daemon(self, *more, workers_open=True, extra=None):
        """`workers_open`: workers need no key. `extra` are variables of its environment."""
        self.daemon = self.case.start("hpsearchd", "--state-dir", self.state, "--workers", self.workers,
                                      *(["--workers-open"] if workers_open else []), *more, log="daemon.log", extra=extra)

    def kill_daemon(self):
        self.daemon.popen.kill()
        self.daemon.popen.wait()

    def wait_until_up(self):
        wait_for(lambda: self.try_call("GET", "/healthz") is not None or self.case.assertIsNone(
            self.daemon.popen.poll(), f"the daemon has ended:\n{self.daemon.said()}"), "the daemon to answer")

    def start_worker(self, slots, name="worker", *more, extra=None, launcher=()):
        """`launcher` are words before its command."""
        return self.case.start(*launcher, BIN / "hpsearch-worker", "--daemon", self.workers, "--state-dir",
                               self.case.folder / name, "--slots", slots, "--name", name, *more, log=f"{name}.log", extra=extra)

    def connection(self, timeout=30):
        return UnixConnection(self.state / "api.sock", timeout)

    def call(self, method, path, body=None, headers=None):
        """(status, parsed answer); ConnectionError while nobody listens."""
        connection = self.connection()
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"Content-Type": "application/json"} | (headers or {}))
            response = connection.getresponse()
            answer = response.read()
            answer = json.loads(answer) if answer else None
            api_answers.check(self.case, method, path, response.status, answer)
            return response.status, answer
        finally:
            connection.close()

    def try_call(self, method, path):
        """The answer, or None while the daemon is away."""
        try:
            status, answer = self.call(method, path)
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            return None
        return answer if status == 200 else None

    def get(self, path):
        status, answer = self.call("GET", path)
        self.case.assertEqual(status, 200, answer)
        return answer

    def submit(self, tree):
        status, answer = self.call("POST", "/api/v1/experiments", {"config": tree, "name": "e2e"})
        self.case.assertEqual(status, 201, answer)
        return answer["experiment"]

    def state_of(self, experiment_id):
        """The experiment's state, or None while the daemon is away."""
        answer = self.try_call("GET", f"/api/v1/experiments/{experiment_id}")
        return answer and answer["state"]

    def wait_until_over(self, experiment_id):
        over = ("COMPLETED", "CANCELED", "FAILED")
        wait_for(lambda: self.state_of(experiment_id) in over, f"experiment {experiment_id} to end",
                 lambda: json.dumps(self.try_call("GET", f"/api/v1/experiments/{experiment_id}"))[:3000])
        return self.state_of(experiment_id)

    def wait_until_kills_by(self, way):
        """The one worker has introduced itself and says that it finds so what belongs to a program."""
        told = lambda: [worker["kills_by"] for worker in self.get("/api/v1/workers")["workers"] if worker["connected"]]
        wait_for(told, "the worker to introduce itself")
        self.case.assertEqual(told(), [way])
        print(f"kills by {way}", file=sys.stderr)

    def all_of(self, path, name):
        """The whole list of that name: the answer has it in pages."""
        everything, query = [], ""
        while True:
            page = self.get(path + query)
            everything += page[name]
            if page["next"] is None:
                return everything
            query = f"?after={page['next']}"

    def experiments(self):
        return self.all_of("/api/v1/experiments", "experiments")

    def gauge(self, name):
        """A number of GET /metrics without labels, None if it isn't there."""
        connection = self.connection()
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
        return next((float(line.split()[1]) for line in lines if line.startswith(f"hpsearch_{name} ")), None)

    def metrics(self, experiment, trial):
        """All metrics reports of a trial."""
        return self.all_of(f"/api/v1/experiments/{experiment}/trials/{trial}/metrics", "metrics")

    def trials(self, experiment_id):
        return self.all_of(f"/api/v1/experiments/{experiment_id}/trials", "trials")


def start_time(pid):
    """When the process began, in ticks after boot: with its number it names one process. None when it is gone."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def kill_exactly(pid, is_it):
    """SIGKILL to this process, which is_it() looks at once more: a number may be somebody else's by now. Returns when it is
    gone: the moment of the kill, or None if it had ended by itself."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    try:
        if not is_it():
            return None
        at = time.monotonic()
        signal.pidfd_send_signal(process, signal.SIGKILL)
    except OSError:
        return None
    else:
        if not select.select([process], [], [], PATIENCE)[0]:
            raise AssertionError(f"process {pid} does not end after SIGKILL")
        return at
    finally:
        os.close(process)


def own_cgroup():
    """Where cgroups of version 2 are mounted first, which is where a worker looks, and this process's one there; or None."""
    mounts = [line.split()[1:3] for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()]
    groups = [line.split(":", 2) for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()]
    place = next((place for place, kind in mounts if kind == "cgroup2"), None)
    own = next((path for number, _, path in groups if number == "0"), None)
    return (pathlib.Path(place), pathlib.Path(place + own)) if place and own else None


def without_cgroups(case):
    """What to put before a worker's command so that it can make no cgroup and goes by the process table."""
    found = own_cgroup()
    if found is None:
        return []
    # A tmpfs over the mount point, for it alone.
    hidden = ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", 'mount -t tmpfs tmpfs "$0" && exec "$@"', str(found[0])]
    tried = subprocess.run([*hidden, "/bin/true"], capture_output=True, text=True)
    if tried.returncode != 0:
        case.skipTest(f"cgroups are here and cannot be hidden: {tried.stderr.strip()}")
    return hidden


def in_a_cgroup(case):
    """What to put before a worker's command so that it is in a cgroup of its own and can make more there: and that cgroup."""
    found = own_cgroup()
    if found is None:
        case.skipTest("no cgroup of version 2 is mounted here")
    group = found[1] / f"hpsearch-e2e-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        case.skipTest(f"no cgroup may be made here: {error}")
    case.addCleanup(lambda: [each.rmdir() for each in [*group.glob("*/"), group]])
    case.addCleanup(case.clean_up)  # The worker is in it.
    if not (group / "cgroup.kill").exists():
        case.skipTest("cgroups of this kernel cannot be killed: it is older than 5.14")
    return ["/bin/sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(group)], group


def skipped(why):
    """Says why nothing was tested; the exit status that CTest counts as skipped."""
    print(f"skipped: {why}", file=sys.stderr)
    return 77


def wait_for(holds, what, describe=lambda: "", patience=PATIENCE):
    deadline = time.monotonic() + patience
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {patience:.0f} s for {what}\n{describe()}")
        time.sleep(0.02)


def seeded():
    """A generator whose seed is printed and can be given: E2E_SEED=… repeats what can be repeated."""
    seed = int(os.environ.get("E2E_SEED") or random.SystemRandom().randrange(2**31))
    print(f"E2E_SEED={seed}", file=sys.stderr)
    return random.Random(seed)


def count(values):
    return dict(collections.Counter(values))
