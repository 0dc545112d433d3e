"""A worker with --run-as submitter: programs run as the Unix user of the token that submitted them, and as nobody else.

Needs root, and makes two users of the machine and a group, which it removes again.
"""

import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import unittest
import uuid

import harness

SECRET = "for the eyes of root"
ROOT = 0

# What a user tries on the files, sockets and processes of the worker; all that worked is the answer.
SPY = r"""
import json, os, socket, sys
task = json.load(sys.stdin)
worked = []
for path in task["files"]:
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        worked.append("read " + path)
    except OSError:
        pass
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        worked.append("write " + path)
    except OSError:
        pass
for path in task["directories"]:
    try:
        os.listdir(path)
        worked.append("list " + path)
    except OSError:
        pass
for path in task["sockets"]:
    with socket.socket(socket.AF_UNIX) as stream:
        try:
            stream.connect(path)
            worked.append("connect " + path)
        except OSError:
            pass
for pid in task["pids"]:
    try:
        os.kill(pid, 0)
        worked.append("signal %d" % pid)
    except OSError:
        pass
json.dump(worked, sys.stdout)
"""


class User:
    """A user that this machine gets for the test."""

    def __init__(self, name, group):
        self.name = name
        subprocess.run(["useradd", "--no-create-home", "--home-dir", f"/home/{name}", "--user-group", "--groups", group, name],
                       check=True, capture_output=True, timeout=harness.PATIENCE)
        entry = pwd.getpwnam(name)
        self.uid, self.gid = entry.pw_uid, entry.pw_gid
        self.groups = sorted(os.getgrouplist(name, self.gid))

    def remove(self):
        subprocess.run(["userdel", "--force", self.name], capture_output=True, timeout=harness.PATIENCE)

    def tries(self, tree, pids):
        """What of a directory and these processes the user gets at."""
        task = {"files": [], "directories": [], "sockets": [], "pids": pids}
        for place, folders, files in os.walk(tree):
            task["directories"].append(place)
            for name in files:
                path = os.path.join(place, name)
                kind = "sockets" if pathlib.Path(path).is_socket() else "files"
                if not os.path.islink(path):
                    task[kind].append(path)
        done = subprocess.run(["/usr/bin/python3", "-I", "-c", SPY], input=json.dumps(task), capture_output=True, text=True,
                              cwd="/", user=self.uid, group=self.gid, extra_groups=self.groups, timeout=harness.PATIENCE,
                              check=True)
        return json.loads(done.stdout)


def status_of(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return {name: [int(word, 8 if name == "Umask" else 10) for word in fields[name].split()]
            for name in ("Uid", "Gid", "Groups", "PPid", "Umask")}


def environment_of(pid):
    pieces = pathlib.Path(f"/proc/{pid}/environ").read_text(errors="replace").split("\0")
    return dict(piece.split("=", 1) for piece in pieces if "=" in piece)


class RunAs(harness.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if shutil.which("useradd") is None:
            raise unittest.SkipTest("useradd is not on the PATH, so no users can be made")
        tag = uuid.uuid4().hex[:8]
        cls.group = f"hps{tag}"
        made = subprocess.run(["groupadd", cls.group], capture_output=True, text=True, timeout=harness.PATIENCE)
        if made.returncode != 0:
            raise unittest.SkipTest(f"no group can be made here: {made.stderr.strip()}")
        cls.addClassCleanup(subprocess.run, ["groupdel", cls.group], capture_output=True)
        cls.users = []
        for name in ("ann", "bob"):
            user = User(f"{name}{tag}", cls.group)
            cls.addClassCleanup(user.remove)
            cls.users.append(user)
        cls.ann, cls.bob = cls.users

    def setUp(self):
        super().setUp()
        self.folder.chmod(0o711)  # Users pass through it, as through /var/lib.
        self.ledger_path.touch()
        self.ledger_path.chmod(0o666)
        self.cluster = harness.Cluster(self)
        self.cluster.start_daemon("--http", "127.0.0.1:0")
        self.cluster.wait_until_up()
        self.http = json.loads((self.cluster.state / "daemon.json").read_text())["http"]
        self.state = self.folder / "worker"
        self.worker = None

    def start_worker(self, slots=2):
        self.worker = self.cluster.start_worker(slots, "worker", "--run-as", "submitter",
                                                extra={"XDG_RUNTIME_DIR": "/run/of-root", "HOME": "/root"})

    def hpsearch(self, *arguments, token=None):
        server = ["--server", self.http if token else self.cluster.server]
        if token:
            path = self.folder / "token"
            path.touch(0o600)
            path.write_text(token + "\n")
            server += ["--token-file", str(path)]
        answer = self.run_cli(*arguments, *server)
        return answer if "json" in arguments else answer.stdout

    def token(self, name, *more):
        return self.hpsearch("token", "create", "--name", name, "--role", "submitter", *more).strip()

    def submit(self, token, command="exec /usr/bin/python3 -IS fake_training.py", length=2, fake=None, trials=1, setup=lambda job: None,
               **more):
        """With a context that only its owner may read; the number of the experiment."""
        job = self.folder / "job"
        job.mkdir(0o700, exist_ok=True)
        shutil.copy(harness.FAKE_TRAINING, job / "fake_training.py")
        (job / "fake_training.py").chmod(0o600)
        tree = harness.experiment(self.ledger_path, {"name": "random", "max_length": length, "max_trials": trials}, fake=fake, **more)
        setup(job)
        tree["entrypoint"] = command
        (job / "e.yaml").write_text(json.dumps(tree))
        return self.hpsearch("submit", job / "e.yaml", "--output", "json", token=token)["experiment"]

    def starts(self, count):
        harness.wait_for(lambda: len(self.ledger.of("start")) >= count, f"{count} starts",
                         lambda: f"{self.worker.said()}\n{self.cluster.get('/api/v1/experiments')}")
        return self.ledger.of("start")

    def of_attempt(self, experiment):
        place, = self.state.glob(f"attempts/{experiment}-0-*")
        return place

    def assert_over(self, experiment):
        self.assertEqual(self.cluster.wait_until_over(experiment), "COMPLETED", self.worker.said())

    def published(self, experiment):
        return sorted(self.cluster.state.glob(f"checkpoints/{experiment}/0/*/step"))

    def test_each_program_runs_as_its_submitter(self):
        self.start_worker()
        experiments = {}
        for user in self.users:
            token = self.token(user.name, "--unix-user", user.name)
            self.assertEqual(self.hpsearch("token", "list", "--output", "json")["tokens"][-1]["unix_user"], user.name)
            command = "id > /dev/stdout && id >&2 && exec /usr/bin/python3 -IS fake_training.py"
            experiments[user] = self.submit(token, command, length=100, fake={"STEP_SECONDS": 0.1})
        by_uid = {status_of(line["pid"])["Uid"][0]: line["pid"] for line in self.starts(2)}
        self.assertEqual(sorted(by_uid), sorted(user.uid for user in self.users))
        for user in self.users:
            pid = by_uid[user.uid]
            status = status_of(pid)
            self.assertEqual(status["Uid"], [user.uid] * 4)
            self.assertEqual(status["Gid"], [user.gid] * 4)
            self.assertEqual(sorted(status["Groups"]), user.groups)
            self.assertNotIn(ROOT, status["Groups"])
            self.assertEqual(status["Umask"], [0o022])
            environment = environment_of(pid)
            self.assertEqual([environment.get(name) for name in ("HOME", "USER", "LOGNAME", "XDG_RUNTIME_DIR")],
                             [f"/home/{user.name}", user.name, user.name, None])
            place = self.of_attempt(experiments[user])
            self.assertEqual((place / "ml").stat().st_mode & 0o7777, 0o700)
            self.assertEqual({path.lstat().st_uid for path in [place / "ml", *(place / "ml").rglob("*")]}, {user.uid})
            # Its parent, the shim, is root's. Of all that the worker has, the user gets at its own and nothing else.
            shim = status["PPid"][0]
            self.assertEqual(status_of(shim)["Uid"], [ROOT] * 4)
            for what in user.tries(self.state, [self.worker.popen.pid, shim, *by_uid.values()]):
                way, _, which = what.partition(" ")
                own = which.startswith((f"{place}/ml", f"{place}/params.json", f"{place}/socket",
                                        f"{self.state}/setups/uid-{user.uid}"))
                self.assertTrue(own or (way, which) == ("signal", str(pid)), f"{user.name} can {what}")

        # An agent that dies is followed by one that knows as whom they run, whatever it starts others as.
        self.worker.popen.kill()
        self.worker.popen.wait()
        self.worker = self.cluster.start_worker(2)
        for user in self.users:
            self.assert_over(experiments[user])
        self.assertEqual(len(self.ledger.of("start")), 2, "a program was started again")
        for user in self.users:
            saved = self.published(experiments[user])
            self.assertTrue(saved)
            self.assertEqual({path.stat().st_uid for path in saved}, {user.uid})
            said = self.hpsearch("logs", experiments[user], "0")
            self.assertIn(f"uid={user.uid}({user.name}) gid={user.gid}", said)
            self.assertIn(self.group, said)
            self.assertNotIn("(root)", said)

    def test_a_trial_goes_on_from_its_checkpoint_after_a_pause_and_a_start_of_the_daemon(self):
        self.start_worker(1)
        token = self.token("ann", "--unix-user", self.ann.name)
        experiment = self.submit(token, length=60, fake={"STEP_SECONDS": 0.1})
        self.starts(1)
        self.hpsearch("pause", experiment)
        harness.wait_for(lambda: self.ledger.of("end"), "the program to end")
        self.cluster.daemon.end()
        self.cluster.start_daemon("--http", "127.0.0.1:0")
        self.cluster.wait_until_up()
        self.hpsearch("resume", experiment)
        self.assert_over(experiment)
        first, second = self.ledger.of("start")
        self.assertGreater(second["step"], first["step"])
        self.assertEqual({path.stat().st_uid for path in self.published(experiment)}, {self.ann.uid})

    def test_what_its_user_may_not_read_is_not_taken(self):
        self.start_worker(1)
        secret = self.folder / "secret"
        secret.write_text(SECRET)
        secret.chmod(0o600)
        token = self.token("ann", "--unix-user", self.ann.name)
        ready, go = self.folder / "shared" / "ready", self.folder / "shared" / "go"
        ready.parent.mkdir()
        ready.parent.chmod(0o777)
        command = (f"ln -s {secret} $HPSEARCH_CHECKPOINT_DIR/soft; ln -s {secret} soft; echo mine > kept; : > {ready}; "
                   f"while ! test -e {go}; do sleep 0.05; done; exec /usr/bin/python3 -IS fake_training.py")
        experiment = self.submit(token, command, max_restarts=0)
        harness.wait_for(ready.exists, "the program to begin", self.worker.said)
        place = self.of_attempt(experiment)
        # As the user itself could where the kernel doesn't protect hard links (fs.protected_hardlinks = 0).
        os.link(secret, place / "ml/output/checkpoints/hard")
        os.link(secret, place / "ml/usercode/hard")
        go.touch()
        harness.wait_for(lambda: "hard" in self.worker.said() and "is not kept" in self.worker.said(), "the file to be left out",
                         self.worker.said)
        self.cluster.wait_until_over(experiment)
        self.assertRegex(self.worker.said(), "a checkpoint was not taken: .*/hard: Permission denied")
        for tree in (self.cluster.state, self.state / "trials"):
            for path in tree.rglob("*"):
                if path.is_file() and not path.is_symlink():
                    self.assertNotIn(SECRET, path.read_text(errors="replace"), path)
        self.assertEqual([path.read_text() for path in self.state.glob("trials/*/*/0/files/kept")], ["mine\n"])
        self.assertEqual(secret.read_text(), SECRET)

    def test_nobody_else_may_put_a_program_there(self):
        ann = self.token("ann", "--unix-user", self.ann.name)
        experiment = self.submit(ann)
        other = self.hpsearch("token", "create", "--name", "bob", "--role", "operator", "--unix-user", self.bob.name).strip()
        connection = harness.http.client.HTTPConnection(self.http, timeout=30)
        self.addCleanup(connection.close)
        for token, status in ((other, 403), (ann, 400)):  # A digest that is none is looked at later.
            connection.request("POST", f"/api/v1/experiments/{experiment}/program", '{"context_digest": 1}',
                               {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
            response = connection.getresponse()
            said = response.read().decode()
            self.assertEqual(response.status, status, said)
        self.start_worker(1)
        self.assert_over(experiment)

    def test_who_may_not_be_run_as_is_refused_by_name(self):
        self.start_worker(3)
        # It never gets a user: one attempt is enough to know.
        nobody = self.submit(self.token("nobody named"), trials=40)
        self.assertEqual(self.cluster.wait_until_over(nobody), "FAILED", self.worker.said())
        told = self.cluster.get(f"/api/v1/experiments/{nobody}")
        self.assertIn("submitted without a Unix user", told["reason"])
        self.assertLessEqual(len(self.cluster.trials(nobody)), 3)
        cases = {"root": (["--unix-user", "root"], "user root has uid 0; it must be at least 1000, and never 0"),
                 "daemon": (["--unix-user", "daemon"], "user daemon has uid 1; it must be at least 1000 (--min-uid)"),
                 "stranger": (["--unix-user", "no-such-user"], "this machine has no user no-such-user")}
        for name, (more, why) in cases.items():
            experiment = self.submit(self.token(name, *more), trials=3)
            self.assert_paused_by(experiment, why)
        ann = self.token("ann", "--unix-user", self.ann.name)
        self.assert_paused_by(self.submit(ann, trials=3, checkpoint_storage={"host_path": "/"}),
                              f"checkpoint_storage: user {self.ann.name} cannot")
        self.assertEqual(self.ledger.of("start"), [])

    def test_checkpoints_go_where_the_user_may_write(self):
        self.start_worker(1)
        place = self.folder / "of-ann"
        place.mkdir(0o700)
        os.chown(place, self.ann.uid, self.ann.gid)
        experiment = self.submit(self.token("ann", "--unix-user", self.ann.name), checkpoint_storage={"host_path": str(place)})
        self.assert_over(experiment)
        saved = list(place.glob(f"*/{experiment}/0/*/step"))
        self.assertTrue(saved, self.worker.said())
        self.assertEqual({path.stat().st_uid for path in saved}, {self.ann.uid})

    def test_a_context_in_place_is_entered_with_the_users_rights(self):
        self.start_worker(1)
        token = self.token("ann", "--unix-user", self.ann.name)
        job = self.folder / "job"
        self.assert_paused_by(self.submit(token, trials=3, source="in_place"), "Permission denied")  # Only root enters it.
        self.assertEqual(self.ledger.of("start"), [])
        shutil.rmtree(job)
        job.mkdir()
        experiment = self.submit(token, "exec /usr/bin/python3 -IS fake_training.py", source="in_place", setup=self.give_away)
        self.assert_over(experiment)

    def give_away(self, job):
        for path in (job, job / "fake_training.py"):
            os.chown(path, self.ann.uid, self.ann.gid)

    def assert_paused_by(self, experiment, why):
        told = lambda: self.cluster.get(f"/api/v1/experiments/{experiment}")
        harness.wait_for(lambda: told()["state"] == "PAUSED", f"experiment {experiment} to pause itself", lambda: str(told()))
        self.assertIn(why, told()["reason"])

    def test_a_worker_that_is_not_root_is_refused(self):
        for name in ("hpsearch-worker", "hpsearch-shim"):  # Where this user finds them.
            shutil.copy(harness.BIN / name, self.folder / name)
        done = subprocess.run([self.folder / "hpsearch-worker", "--daemon", self.cluster.workers, "--state-dir",
                               self.folder / "of-ann", "--run-as", "submitter", "--slots", "cpu:1"], capture_output=True,
                              text=True, user=self.ann.uid, group=self.ann.gid, extra_groups=[], timeout=harness.PATIENCE)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(f"--run-as submitter needs root, and this worker runs as uid {self.ann.uid}", done.stderr)

    def test_a_place_that_users_cannot_enter_is_refused(self):
        closed = self.folder / "closed"
        closed.mkdir(0o700)
        worker = self.start("hpsearch-worker", "--daemon", self.cluster.workers, "--state-dir", closed / "state", "--run-as",
                            "submitter", "--slots", "1", log="closed.log")
        self.assertEqual(worker.popen.wait(harness.PATIENCE), 2)
        self.assertIn(f"other users cannot enter {closed}", worker.said())


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit(harness.skipped("it runs programs as other users, which only root may"))
    unittest.main(verbosity=2)
